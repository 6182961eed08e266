#!/usr/bin/env python3
"""Inverse design in 2D: a piece of silicon that splits the light of one waveguide into two, PyTorch.

    splitter.py                             on the GPU, else on the CPU, which is slow
    splitter.py --scale 1 --iterations 6
    splitter.py --picture splitter.png      the design and the light in it, by matplotlib

A density between 0 (glass) and 1 (silicon) in each cell of the design is blurred, so that nothing is finer than can be made,
and pushed towards 0 and 1 the more the longer the search lasts. Its gradient is that of Maxwell's equations with absorbing
layers, step by step.
"""

import argparse
import math

import stencil_tune.torch as stt
import torch
from stencil_tune import models

SILICON, GLASS = 12.0, 2.1  # relative permittivities
LIGHT = 299792458.0  # m/s
WAVELENGTH = 1.55e-6  # m, in vacuum


class Device:
    """A grid with a guide from the left, two to the right, and a square between that is to be designed."""

    def __init__(self, scale, where):
        self.scale, self.spacing, self.where = scale, 5e-8 / scale, where
        layer, guide, side = 10, 4 * scale, 16 * scale  # cells: guides of 0.2 um, a square of 0.8 um
        width, height = 2 * layer + 3 * side, 2 * layer + 2 * side
        self.model = models.maxwell((height, width), self.spacing, GLASS, layer=layer, dtype="f32")
        middle, left = height // 2, layer + side
        self.square = slice(middle - side // 2, middle + side // 2), slice(left, left + side)
        self.fixed = torch.zeros(height, width, device=where)
        self.fixed[middle - guide // 2:middle + guide // 2, :left] = 1
        outputs = [middle - side // 2 + guide // 2, middle + side // 2 - guide // 2]
        for row in outputs:
            self.fixed[row - guide // 2:row + guide // 2, left + side:] = 1
        rows = range(-guide // 2, guide // 2)
        self.source = [(middle + row, layer + 4) for row in rows]
        self.ports = [[(output + row, width - layer - 4) for row in rows] for output in outputs]
        period = WAVELENGTH / LIGHT / self.model.dt  # steps
        self.steps = int(12 * period)
        time = torch.arange(self.steps, device=where)
        pulse = torch.sin(2 * math.pi * time / period) * torch.exp(-((time - 3 * period) / (1.5 * period)) ** 2)
        self.series = pulse[:, None].expand(-1, len(self.source)).contiguous()

    def material(self, design, sharpness):
        """What the electric field's update has of the design: `ca`, the reciprocal of the permittivity."""
        blurred = torch.nn.functional.avg_pool2d(design[None, None], 2 * self.scale + 1, 1, self.scale, count_include_pad=False)[0, 0]
        middle = torch.tensor(0.5 * sharpness, device=self.where)
        sharp = (torch.tanh(middle) + torch.tanh(sharpness * (blurred - 0.5))) / (2 * torch.tanh(middle))
        density = self.fixed.clone()
        density[self.square] = sharp
        of_glass = LIGHT * self.model.dt / self.spacing
        return of_glass / (GLASS + (SILICON - GLASS) * density), sharp

    def light(self, material):
        """What arrives at each port."""
        records = stt.propagate(self.model, {"ca": material}, steps=self.steps, sources={"ez_next": self.source},
                                series=self.series, receivers={"ez": [*self.ports[0], *self.ports[1]]}).records
        return records.square().reshape(self.steps, 2, -1).sum((0, 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=3, help="cells in 50 nm")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--picture", metavar="FILE")
    options = parser.parse_args()
    where = "cuda" if torch.cuda.is_available() else "cpu"
    device = Device(options.scale, where)
    side = device.square[0].stop - device.square[0].start

    design = torch.full((side, side), 0.5, device=where, requires_grad=True)
    optimizer = torch.optim.Adam([design], lr=0.1)
    arrived = []
    for iteration in range(options.iterations):
        optimizer.zero_grad()
        material, sharp = device.material(design, 2 + 14 * iteration / options.iterations)
        light = device.light(material)
        loss = -torch.log(light[0]) - torch.log(light[1])  # more of both
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            design.clamp_(0, 1)
        arrived.append(light.tolist())
        print(f"{iteration:3d}  at the ports {arrived[-1][0]:.3e} {arrived[-1][1]:.3e}  "
              f"cells that are neither: {float((4 * sharp * (1 - sharp)).mean()):.2f}")
    if options.picture:
        draw(options.picture, device, device.material(design.detach(), 16)[0], arrived)
    gains = [last / first for first, last in zip(arrived[0], arrived[-1])]
    print(f"the light at the ports grew {gains[0]:.1f} and {gains[1]:.1f} times")
    return 0 if min(gains) > 1.2 else 1


def draw(path, device, material, arrived):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = stt.propagate(device.model, {"ca": material}, steps=device.steps // 2, sources={"ez_next": device.source},
                          series=device.series[:device.steps // 2]).state["ez"]
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(15, 4), layout="constrained")
    left.imshow(1 / material.cpu(), cmap="gray_r")
    left.set_title("permittivity")
    middle.imshow(shown.cpu(), cmap="seismic", vmin=-float(shown.abs().max()), vmax=float(shown.abs().max()))
    middle.set_title("electric field, half way")
    right.semilogy(arrived)
    right.set_title("light at the ports over iterations")
    figure.savefig(path)


if __name__ == "__main__":
    raise SystemExit(main())
