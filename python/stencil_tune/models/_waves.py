"""Sound and elastic waves."""

from __future__ import annotations

from typing import Any, Sequence

from .._reference import _numpy
from ._equation import Cells, Equation, Layer, Model, grid_of


def acoustic(shape: Sequence[int], spacing: Cells, velocity: Cells, *, layer: Layer = 20, accuracy: int = 4,
             reflection: float = 1e-4, frequency: float | None = None, dt: float | None = None,
             dtype: Any = "f32") -> Model:
    """Acoustic waves of constant density, p_tt = c^2 laplacian(p) + s, leapfrog in time. 2D and 3D.

    A source of `p_next` is s. Layers as D. Pasalic, R. McGarry, SEG Annual Meeting 2010.
    """
    numpy, grid = _numpy(), grid_of(shape, spacing, layer, accuracy, dtype)
    speed = float(numpy.max(velocity))
    dt = grid.step(dt, speed, False)
    equation = Equation("acoustic", grid, ["p", "p_prev"], ["v"], older={"p": "p_prev"})
    equation.stage(p=f"2*p - p_prev + v*({' + '.join(equation.second(axis, 'p') for axis in grid.axes)})")
    courant = numpy.asarray(velocity, float) * dt / grid.unit
    return equation.model(dt, speed, {"v": courant**2}, {"p": dt**2}, reflection, frequency)
