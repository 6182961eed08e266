#!/usr/bin/env python3
"""Reverse-time migration: an image of what reflects in the ground, from shots and receivers at its surface, PyTorch.

    migration.py                            256 x 256 cells on the GPU, else on the CPU, which is slow
    migration.py --cells 48 --shots 2
    migration.py --picture migration.png    the ground and its image, by matplotlib

What the receivers heard, less what a ground without reflectors would give, is sent back in time by the adjoint wave; where
it meets the wave of the source, something has reflected. That product, over all steps and shots, is the gradient of the
misfit with respect to the velocity.
"""

import argparse
import math

import stencil_tune.torch as stt
import torch
from stencil_tune import models

SPACING, ABOVE, BELOW = 10.0, 2000.0, 2400.0  # m, m/s
WAVELENGTH = 10  # cells
REFLECTOR = 0.55  # its depth, as a share of the ground's


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=256)
    parser.add_argument("--shots", type=int, default=8)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"

    n = options.cells
    layer = max(n // 12, 8)
    wave = models.acoustic((n, n), SPACING, BELOW, layer=layer)
    depth = torch.arange(n, device=device)[:, None].expand(n, n)
    smooth = torch.full((n, n), ABOVE, device=device)
    true = torch.where(depth < REFLECTOR * n, ABOVE, BELOW).to(smooth)
    top = layer + 2
    steps = int(2.6 * REFLECTOR * n * SPACING / ABOVE / wave.dt)
    frequency = ABOVE / (WAVELENGTH * SPACING)
    phase = (math.pi * frequency * (wave.dt * torch.arange(steps, device=device) - 1.2 / frequency)) ** 2
    ricker = ((1 - 2 * phase) * torch.exp(-phase))[:, None] * wave.dt**2
    receivers = {"p": [(top, x) for x in range(layer + 2, n - layer - 2)]}

    def record(velocity, x):
        v = (velocity * wave.dt / SPACING) ** 2
        return stt.propagate(wave, {"v": v}, steps=steps, sources={"p_next": [(top, x)]}, series=ricker,
                             receivers=receivers).records

    velocity = smooth.requires_grad_()
    for shot in range(options.shots):
        x = layer + 2 + (n - 2 * layer - 4) * (shot + 0.5) / options.shots
        heard = record(true, x)
        (0.5 * (record(velocity, x) - heard).square().sum()).backward()
        print(f"shot {shot + 1} of {options.shots}")
    # Waves that go the same way correlate all along their path; the Laplacian leaves what reflects.
    image = torch.nn.functional.conv2d(velocity.grad[None, None], torch.tensor(
        [[[[0.0, 1, 0], [1, -4, 1], [0, 1, 0]]]], device=device), padding=1)[0, 0]
    if options.picture:
        draw(options.picture, true, image)
    inside = slice(top + WAVELENGTH, n - layer)
    strength = image[inside, n // 3:2 * n // 3].square().sum(1)
    found = top + WAVELENGTH + int(strength.argmax())
    print(f"the reflector lies at row {REFLECTOR * n:.0f}; the image is strongest at row {found}")
    return 0 if abs(found - REFLECTOR * n) <= WAVELENGTH / 3 else 1


def draw(path, velocity, image):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 5), layout="constrained")
    figure.colorbar(left.imshow(velocity.cpu()), ax=left)
    left.set_title("velocity, m/s")
    bound = float(image[len(image) // 3:].abs().max())
    right.imshow(image.cpu(), cmap="gray", vmin=-bound, vmax=bound)
    right.set_title("image")
    figure.savefig(path)


if __name__ == "__main__":
    raise SystemExit(main())
