#!/usr/bin/env python3
"""Heat conduction in a box with cold walls: a product of sines, whose decay is known exactly. Draws it with matplotlib.

    heat.py                       512 x 512 x 512 cells, 1000 steps, CuPy
    heat.py --cells 24 --cpu      the reference, NumPy
    heat.py --tune                first tunes for a minute
"""

import argparse
import math

import stencil_tune as st


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=512)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    if options.cpu:
        import numpy as xp
    else:
        import cupy as xp

    n, alpha = options.cells, 0.15
    heat = st.stencil("u_next = u + alpha * laplacian(u); alpha = 0.15", rank=3)
    line = xp.sin(math.pi * xp.arange(n) / (n - 1))
    line[-1] = 0  # the walls, which boundary hold keeps
    first = (line[:, None, None] * line[None, :, None] * line[None, None, :]).astype(xp.float32)
    u = first.copy()
    if options.tune:
        print(st.tune(heat, like=u, steps=options.steps))
    kernel = st.lookup(heat, like=u, steps=options.steps, device="cpu" if options.cpu else None)
    print(kernel.evidence)
    u = kernel.advance([u, xp.empty_like(u)], steps=options.steps)

    decay = (1 - 6 * alpha * (1 - math.cos(math.pi / (n - 1))))**options.steps
    error = float(abs(u - decay * first).max())
    print(f"after {options.steps} steps the middle has {float(u[n // 2, n // 2, n // 2]):.6f} of its heat, exactly "
          f"{decay * float(first[n // 2, n // 2, n // 2]):.6f}; largest error {error:.2g}")
    if options.picture:
        import matplotlib.pyplot as plot

        plot.imshow(u[n // 2] if options.cpu else u[n // 2].get(), cmap="inferno")
        plot.savefig(options.picture)
    return 0 if error < 1e-4 else 1


if __name__ == "__main__":
    raise SystemExit(main())
