#!/usr/bin/env python3
"""Full-waveform inversion: finds a body in a layered ground from what receivers around it recorded, PyTorch.

    fwi.py                                  256 x 256 cells on the GPU, else on the CPU, which is slow
    fwi.py --cells 24 --iterations 6 --shots 1
    fwi.py --picture fwi.png                models and misfit, by matplotlib
"""

import argparse
import math

import stencil_tune.torch as stt
import torch
from stencil_tune import models

SPACING = 10.0  # m
WAVES = 3  # across the ground at the source's frequency: with many more the body delays them by half a period


def ground(n, device):
    """Velocities in m/s of three layers, and of a fast body within them."""
    depth, x = torch.meshgrid(torch.arange(n, device=device) / n, torch.arange(n, device=device) / n, indexing="ij")
    layers = 1800.0 + 200 * (depth > 0.35) + 300 * (depth > 0.7)
    return layers, layers + 250 * (((x - 0.5) ** 2 + (depth - 0.5) ** 2) < 0.15**2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=256)
    parser.add_argument("--shots", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"

    n = options.cells
    start, true = ground(n, device)
    layer = max(n // 12, 4)
    wave = models.acoustic((n, n), SPACING, 1.1 * float(true.max()), layer=layer)  # its time step is stable for all that come
    near, far = layer + 3, n - layer - 4
    steps = int(1.5 * n * SPACING / 1800 / wave.dt)
    time = wave.dt * torch.arange(steps, device=device)
    frequency = 1800 / (n / WAVES * SPACING)
    phase = (math.pi * frequency * (time - 1.2 / frequency)) ** 2
    ricker = ((1 - 2 * phase) * torch.exp(-phase))[:, None] * wave.dt**2
    line = range(near, far + 1, 2)
    receivers = {"p": [*((near, x) for x in line), *((far, x) for x in line)]}
    shots = [near + (far - near) * (shot + 0.5) / options.shots for shot in range(options.shots)]

    def record(velocity, x):
        v = (velocity * wave.dt / SPACING) ** 2
        return stt.propagate(wave, {"v": v}, steps=steps, sources={"p_next": [(near, x)]}, series=ricker,
                             receivers=receivers).records

    recorded = [record(true, x) for x in shots]
    scale = sum(each.square().sum() for each in recorded)
    velocity = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([velocity], lr=15.0)  # m/s
    misfits = []
    for iteration in range(options.iterations):
        optimizer.zero_grad()
        misfit = 0.0
        for x, seen in zip(shots, recorded):  # a shot at a time: the states of one are kept
            loss = (record(velocity, x) - seen).square().sum() / scale
            loss.backward()
            misfit += loss.item()
        optimizer.step()
        misfits.append(misfit)
        print(f"{iteration:3d}  misfit {misfit:.3e}")
    if options.picture:
        draw(options.picture, {"start": start, "found": velocity.detach(), "true": true}, misfits)
    fall = misfits[0] / min(misfits)
    print(f"the misfit fell {fall:.1f} times")
    return 0 if fall > 4 else 1


def draw(path, grounds, misfits):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 4, figsize=(16, 4), layout="constrained")
    low, high = (float(extreme(grounds["true"])) for extreme in (torch.min, torch.max))
    for place, (name, velocity) in zip(axes, grounds.items()):
        image = place.imshow(velocity.cpu(), vmin=low, vmax=high)
        place.set_title(f"{name}, m/s")
    figure.colorbar(image, ax=axes[:3])
    axes[3].semilogy(misfits)
    axes[3].set_title("misfit over iterations")
    figure.savefig(path)


if __name__ == "__main__":
    raise SystemExit(main())
