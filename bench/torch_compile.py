#!/usr/bin/env python3
"""What torch.compile reaches on the stencil of README's chart: the 3D 7-point star, f32, one sweep at a time.

    bench/torch_compile.py [NX NY NZ]      PyTorch 2 and a GPU; 512 512 512 where nothing is given

Prints GStencil/s, cells updated: the median of samples of CUDA events, two buffers taking turns, boundary hold. The
result is compared with plain slices in f64 first. With and without max-autotune; the better one is the figure.
"""

import statistics
import sys

import torch

COEFFICIENTS = [0.1, 0.2, 0.15, 0.12, 0.18, 0.13, 0.12]  # one a point, as star3d1r has; their sum is 1


def sweep(u, out, c):
    """out's inner cells = the weighted sum over the star; its edges stay (hold)."""
    out[1:-1, 1:-1, 1:-1] = (c[0] * u[1:-1, 1:-1, 1:-1]
                             + c[1] * u[1:-1, 1:-1, :-2] + c[2] * u[1:-1, 1:-1, 2:]
                             + c[3] * u[1:-1, :-2, 1:-1] + c[4] * u[1:-1, 2:, 1:-1]
                             + c[5] * u[:-2, 1:-1, 1:-1] + c[6] * u[2:, 1:-1, 1:-1])


def check(compiled, u):
    out, expected = u.clone(), u.double()
    compiled(u, out, COEFFICIENTS)
    wide = u.double()
    sweep(wide, expected, COEFFICIENTS)
    worst = (out.double() - expected).abs().max().item()
    if not worst < 1e-5:
        sys.exit(f"wrong result: off by {worst:g}")


def seconds_a_sweep(compiled, u, samples=21, repeats=20):
    buffers = [u, u.clone()]

    def step(i):
        compiled(buffers[i % 2], buffers[(i + 1) % 2], COEFFICIENTS)

    for i in range(2 * repeats):
        step(i)
    times = []
    for _ in range(samples):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for i in range(repeats):
            step(i)
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3 / repeats)
    return statistics.median(times)


def main():
    nx, ny, nz = [int(word) for word in sys.argv[1:]] or [512, 512, 512]
    if not torch.cuda.is_available():
        sys.exit("no GPU here")
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {nx}x{ny}x{nz} f32")
    torch.manual_seed(1)
    u = torch.rand(nz, ny, nx, device="cuda")
    cells = (nx - 2) * (ny - 2) * (nz - 2)
    for name, mode in [("default", None), ("max-autotune", "max-autotune-no-cudagraphs")]:
        torch._dynamo.reset()
        compiled = torch.compile(sweep, mode=mode)
        check(compiled, u)
        print(f"torch.compile, {name}: {cells / seconds_a_sweep(compiled, u) / 1e9:.1f} GStencil/s")


if __name__ == "__main__":
    main()
