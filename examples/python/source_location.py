#!/usr/bin/env python3
"""Finds where and when a source was from what receivers around it recorded, PyTorch.

    source_location.py                      192 x 192 cells on the GPU, else on the CPU, which is slow
    source_location.py --cells 40

Each cell of a lattice may be a source, of a series that is not known. The gradient of the misfit with respect to all series,
from zeros on, is the records sent back in time as each of these cells sees them: where it is strongest the source was.
"""

import argparse
import math

import stencil_tune.torch as stt
import torch
from stencil_tune import models

SPACING, VELOCITY, WAVELENGTH = 10.0, 2000.0, 10  # m, m/s, cells
LATTICE = 2  # cells from one candidate to the next


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=192)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"

    n = options.cells
    layer = max(n // 12, 5)
    wave = models.acoustic((n, n), SPACING, VELOCITY, layer=layer)
    near, far = layer + 2, n - layer - 3
    steps = int(1.2 * n * SPACING / VELOCITY / wave.dt)
    frequency = VELOCITY / (WAVELENGTH * SPACING)
    phase = (math.pi * frequency * (wave.dt * torch.arange(steps, device=device) - 1.2 / frequency)) ** 2
    ricker = ((1 - 2 * phase) * torch.exp(-phase))[:, None] * wave.dt**2
    around = [*((z, x) for z in (near, far) for x in range(near, far, 2)), *((z, x) for z in range(near, far, 2) for x in (near, far))]
    fields = {"v": torch.full((n, n), (VELOCITY * wave.dt / SPACING) ** 2, device=device)}

    def record(sources, series):
        return stt.propagate(wave, fields, steps=steps, sources={"p_next": sources}, series=series,
                             receivers={"p": around}).records

    place = (int(0.4 * n), int(0.62 * n))
    recorded = record([place], ricker)
    candidates = [(z, x) for z in range(near + 4, far - 4, LATTICE) for x in range(near + 4, far - 4, LATTICE)]
    series = torch.zeros(steps, len(candidates), device=device, requires_grad=True)
    misfit = 0.5 * (record(candidates, series) - recorded).square().sum()
    (back,) = torch.autograd.grad(misfit, series)
    step, column = divmod(int(back.abs().argmax()), len(candidates))
    found = candidates[column]
    print(f"{len(candidates)} candidates; the source was at {place}, its peak at step {1.2 / frequency / wave.dt:.0f}; "
          f"found at {found}, step {step}")
    return 0 if max(abs(a - b) for a, b in zip(place, found)) <= LATTICE else 1


if __name__ == "__main__":
    raise SystemExit(main())
