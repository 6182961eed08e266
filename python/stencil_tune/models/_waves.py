"""Sound and elastic waves."""

from __future__ import annotations

import itertools
import math
from typing import Any, Sequence

from .._errors import ArgumentError
from .._reference import _numpy
from ._equation import Cells, Equation, Layer, Model, grid_of

_NO_SHEAR = 1e30  # in place of 1 / 0: its sums are finite


def acoustic(shape: Sequence[int], spacing: Cells, velocity: Cells, *, layer: Layer = 20, accuracy: int = 4,
             reflection: float = 1e-6, frequency: float | None = None, dt: float | None = None,
             dtype: Any = "f32") -> Model:
    """Acoustic waves of constant density, p_tt = c^2 laplacian(p) + s, leapfrog in time. 2D and 3D.

    A source of `p_next` is s. Layers as D. Pasalic, R. McGarry, SEG Annual Meeting 2010.
    """
    grid = grid_of(shape, spacing, layer, accuracy, dtype)
    cells = grid.material(velocity, "velocity")
    speed = float(cells.max())
    dt = grid.step(dt, grid.largest_step(speed, False))
    equation = Equation("acoustic", grid, ["p", "p_prev"], ["v"], older={"p": "p_prev"})
    equation.stage(p=f"2*p - p_prev + v*({' + '.join(equation.second(axis, 'p') for axis in grid.axes)})")
    return equation.model(dt, speed, {"v": (cells * dt / grid.unit)**2}, {"p": dt**2}, reflection, frequency)


def viscoacoustic(shape: Sequence[int], spacing: Cells, velocity: Cells, density: Cells, quality: Cells, reference: float, *,
                  layer: Layer = 20, accuracy: int = 4, reflection: float = 1e-6, frequency: float | None = None,
                  dt: float | None = None, dtype: Any = "f32") -> Model:
    """Sound that decays: pressure p and velocities vx, vy, vz on a staggered grid, and the memory r of one standard linear
    solid. J. O. A. Robertsson, J. O. Blanch, W. W. Symes, Geophysics 59 (1994).

    Velocity vx stands half a cell ahead of its cell in x. Sources: of `p_next` a rate of pressure, of `vx_next` a force a
    volume.

    Args:
        velocity: of the phase, at the frequency `reference` in Hz.
        quality: the factor Q at that frequency.
    """
    numpy, grid = _numpy(), grid_of(shape, spacing, layer, accuracy, dtype)
    if not 0 < reference < math.inf:
        raise ArgumentError(f"reference is {reference}: a frequency above 0 is needed")
    rho, phase_speed, q = (grid.material(given, what) for given, what in
                           ((density, "density"), (velocity, "velocity"), (quality, "quality")))
    omega = 2 * math.pi * reference
    tau_stress = (numpy.sqrt(1 + q**-2) - 1 / q) / omega
    tau = 1 / (omega * tau_stress)**2 - 1  # of strain over that of stress, less 1
    modulus = (1 + 1j * omega * (1 + tau) * tau_stress) / (1 + 1j * omega * tau_stress)
    relaxed = rho * (phase_speed * numpy.real(modulus**-0.5))**2
    speed = float(numpy.max(numpy.sqrt(relaxed * (1 + tau) / rho)))
    dt = grid.step(dt, grid.largest_step(speed, True))
    equation = Equation("viscoacoustic", grid, ["p", *("v" + a for a in grid.axes), "r"], ["rho", "stiffness", "lost", "rate"],
                        {"dt": dt / grid.unit})
    equation.stage(**{"v" + a: f"v{a} - dt*2/(rho + rho[{a}+1])*({equation.first(a, 'p', 'forward')})" for a in grid.axes})
    divergence = " + ".join(equation.first(a, f"v{a}_next", "backward") for a in grid.axes)
    memory = f"((1 - rate)*r - lost*({divergence}))/(1 + rate)"
    equation.stage(p=f"p - stiffness*({divergence}) - 0.5*(r + {memory})", r=memory)
    rate = 0.5 * dt / tau_stress
    constants = {"rho": rho, "stiffness": relaxed * (1 + tau) * dt / grid.unit,
                 "lost": 2 * rate * relaxed * tau * dt / grid.unit, "rate": rate}
    return equation.model(dt, speed, constants, {"p": dt} | {"v" + a: dt / rho for a in grid.axes}, reflection, frequency)


def elastic(shape: Sequence[int], spacing: Cells, velocity: Cells, shear_velocity: Cells, density: Cells, *,
            free_surface: bool = False, layer: Layer = 20, accuracy: int = 4, reflection: float = 1e-6,
            frequency: float | None = None, dt: float | None = None, dtype: Any = "f32") -> Model:
    """Elastic waves, velocity and stress on a staggered grid; the fields are vx, vy, sxx, syy, sxy, in 3D also vz, szz, ...

    Velocity vx stands half a cell ahead of its cell in x, stress sxy in x and y, sxx at the cell. Sources: a force a volume
    of velocities (`vy_next`), the rate of a moment a volume of stresses. J. Virieux, Geophysics 51 (1986); A. R. Levander,
    Geophysics 53 (1988); means of density and modulus by P. Moczo et al., Bulletin of the Seismological Society of America 92
    (2002); layers as D. Komatitsch, R. Martin, Geophysics 72 (2007).

    Args:
        velocity, shear_velocity: of P and S waves; 0 of S in a fluid. In layers let materials go on as they are where the
            layers begin: contrasts of solid and fluid from cell to cell make waves grow there.
        free_surface: whether the first row of the last axis is the earth's surface: row 0 of y in 2D, z in 3D. There are no
            layers at that end. Derivatives across the next rows are those of accuracy order 2 (R. W. Graves, Bulletin of the
            Seismological Society of America 86, 1996).
        frequency: in 2D alone, as definitions have at most 64 fields.
    """
    numpy, grid = _numpy(), grid_of(shape, spacing, layer, accuracy, dtype, accuracies=(2, 4))
    axes, down = grid.axes, grid.axes[-1]
    if frequency is not None and len(axes) == 3:
        raise ArgumentError("elastic waves in 3D take no frequency")
    if grid.dtype == "f16":
        raise ArgumentError("elastic waves take f32 and f64: moduli are beyond what f16 holds")
    if free_surface:
        grid = grid._replace(layers=grid.layers | {down: (0, grid.layers[down][1])})
    rho, p_speed = grid.material(density, "density"), grid.material(velocity, "velocity")
    shear, speed = rho * grid.material(shear_velocity, "shear_velocity", False)**2, float(p_speed.max())
    dt = grid.step(dt, grid.largest_step(speed, True))
    equation = Equation("elastic", grid, [*("v" + a for a in axes), *(f"s{a}{b}" for a, b in _stresses(axes))],
                        ["rho", "lame", "stiffness", "softness"], {"dt": dt / grid.unit}, shifted=len(axes) == 2,
                        boundary={down: "zero"} | dict.fromkeys((f"rho.{down}", f"softness.{down}"), "reflect")
                        if free_surface else {})  # with zero the last row would be too light
    _add_elastic_stages(equation, free_surface)
    with numpy.errstate(divide="ignore"):
        softness = numpy.minimum(1 / shear, _NO_SHEAR)
    stiffness = rho * p_speed**2
    sources = {"v" + a: dt / rho for a in axes} | {f"s{a}{a}": dt for a in axes}
    return equation.model(dt, speed, {"rho": rho, "lame": stiffness - 2 * shear, "stiffness": stiffness, "softness": softness},
                          sources, reflection, frequency)


def _stresses(axes: str) -> list[tuple[str, str]]:
    return [*zip(axes, axes), *itertools.combinations(axes, 2)]


def _add_elastic_stages(equation: Equation, free_surface: bool) -> None:
    axes, down = equation.grid.axes, equation.grid.axes[-1]
    at_top = f"{down}_before[{down}-1]"  # 1 in the first row

    def across(axis: str, of: str, side: str) -> str:
        """A derivative, at a free surface too: stresses are odd about it, those half a row below it twice the difference."""
        if not free_surface or axis != down:
            return equation.first(axis, of, side)
        text = equation.first(axis, of, side, coarse=f"{down}_before[{down}-2]" if equation.grid.accuracy > 2 else "")
        return f"(1 + {at_top})*({text})" if of[0] == "s" and side == "backward" else text

    velocities = {}
    for a in axes:
        force = " + ".join(across(b, "s" + "".join(sorted(a + b)), "forward" if a == b else "backward") for b in axes)
        velocities["v" + a] = f"v{a} + dt*2/(rho + rho[{a}+1])*({force})"
    equation.stage(**velocities)
    strain = {a: f"({across(a, f'v{a}_next', 'backward')})" for a in axes}
    if free_surface:  # which no normal stress pulls
        strain[down] = f"select({at_top}, -lame/stiffness*({' + '.join(strain[a] for a in axes[:-1])}), {strain[down]})"
    stresses = {}
    for a, b in _stresses(axes):
        if a == b:
            others = " + ".join(strain[c] for c in axes if c != a)
            text = f"s{a}{a} + dt*(stiffness*{strain[a]} + lame*({others}))"
            stresses[f"s{a}{a}"] = f"select({at_top}, 0, {text})" if free_surface and a == down else text
        else:
            soft = f"softness + softness[{a}+1] + softness[{b}+1] + softness[{a}+1, {b}+1]"
            bent = f"{across(b, f'v{a}_next', 'forward')} + {across(a, f'v{b}_next', 'forward')}"
            stresses[f"s{a}{b}"] = f"s{a}{b} + dt*4/({soft})*({bent})"
    equation.stage(**stresses)
