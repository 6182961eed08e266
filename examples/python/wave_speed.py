#!/usr/bin/env python3
"""Learns a wave speed by gradients: from what a run with the true speed left behind, PyTorch.

    wave_speed.py                 256 x 256 cells on the GPU, else on the CPU, which is slow
    wave_speed.py --cells 32
"""

import argparse

import stencil_tune as st
import stencil_tune.torch as stt
import torch

WAVE = """
rank = 2
fields = ["p", "p_prev", "c2", "p_next"]
[update]
p_next = "2*p - p_prev + c2 * laplacian(p)"
[rotate]
p_next = "p"
p = "p_prev"
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=60)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    n, steps = options.cells, options.cells // 2

    wave = st.stencil(WAVE)
    y, x = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    pulse = torch.exp(-((x - n // 2)**2 + (y - n // 2)**2) / (n / 16)**2).double().to(device)
    true = torch.full((n, n), 0.2, dtype=torch.float64, device=device)
    true[:, n // 2:] = 0.3

    def run(c2):
        return stt.advance(wave, pulse, pulse, c2, steps=steps, boundary="zero")[0]

    recorded = run(true)
    speeds = torch.tensor([0.25, 0.25], dtype=torch.float64, device=device, requires_grad=True)  # left and right half
    optimizer = torch.optim.Adam([speeds], lr=0.01)
    for iteration in range(options.iterations):
        optimizer.zero_grad()
        loss = (run(torch.where(x.to(device) < n // 2, speeds[0], speeds[1])) - recorded).square().sum()
        loss.backward()
        optimizer.step()
        if iteration % 10 == 0:
            print(f"{iteration:3d}  loss {loss.item():.3e}  c2 {speeds[0].item():.4f} {speeds[1].item():.4f}")
    found = speeds.detach().cpu()
    print(f"found {found[0]:.4f} and {found[1]:.4f}, true 0.2000 and 0.3000")
    return 0 if (found - torch.tensor([0.2, 0.3])).abs().max() < 0.005 else 1


if __name__ == "__main__":
    raise SystemExit(main())
