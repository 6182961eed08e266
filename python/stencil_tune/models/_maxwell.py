"""Maxwell's equations on Yee's grid."""

from __future__ import annotations

from typing import Any, Literal, Sequence

from .._errors import ArgumentError
from .._reference import _numpy
from ._equation import Cells, Equation, Layer, Model, grid_of

_LIGHT = 299792458.0  # m/s
_VACUUM = 8.8541878128e-12  # F/m
_POLARIZATIONS = {"tm": ("z", "xy"), "te": ("xy", "z")}  # components of the electric and of the magnetic field


def maxwell(shape: Sequence[int], spacing: Cells, permittivity: Cells = 1.0, *, conductivity: Cells | None = None,
            polarization: Literal["tm", "te"] = "tm", layer: Layer = 20, accuracy: int = 2, reflection: float = 1e-6,
            frequency: float | None = None, dt: float | None = None, dtype: Any = "f32") -> Model:
    """Maxwell's equations; in 2D of ez, hx, hy ("tm") or hz, ex, ey ("te"). Lengths in m, time in s.

    The magnetic field times the vacuum's impedance is kept, so that all fields are in V/m. Component ex stands half a
    cell ahead of its cell in x, hx in y and z, and so on. A source of `ez_next` is a current density in A/m^2.
    K. S. Yee, IEEE Transactions on Antennas and Propagation 14 (1966); A. Taflove, S. C. Hagness, Computational
    Electrodynamics, 3rd ed. (2005), section 3.6 for the loss; layers as J. A. Roden, S. D. Gedney, Microwave and Optical
    Technology Letters 27 (2000).

    Args:
        permittivity: relative.
        conductivity: in S/m; None: the medium conducts nowhere.
    """
    return _yee("maxwell", shape, spacing, permittivity, conductivity, None, polarization, layer, accuracy, reflection,
                frequency, dt, dtype)


def drude(shape: Sequence[int], spacing: Cells, plasma_frequency: Cells, collision_rate: Cells, permittivity: Cells = 1.0, *,
          conductivity: Cells | None = None, polarization: Literal["tm", "te"] = "tm", layer: Layer = 20, accuracy: int = 2,
          reflection: float = 1e-6, frequency: float | None = None, dt: float | None = None, dtype: Any = "f32") -> Model:
    """maxwell() in a metal or a plasma: permittivity - w_p^2 / (w^2 - i w g), one pole, by an equation for its current.

    Layers are right where no metal reaches into them. T. Kashiwa, I. Fukai, Microwave and Optical Technology Letters 3
    (1990); A. Taflove, S. C. Hagness, Computational Electrodynamics, 3rd ed. (2005), section 9.4.

    Args:
        plasma_frequency: w_p, in rad/s; 0 where there is no metal.
        collision_rate: g, in 1/s.
    """
    return _yee("drude", shape, spacing, permittivity, conductivity, (plasma_frequency, collision_rate), polarization, layer,
                accuracy, reflection, frequency, dt, dtype)


def _yee(name: str, shape: Sequence[int], spacing: Cells, permittivity: Cells, conductivity: Cells | None,
         pole: tuple[Cells, Cells] | None, polarization: str, layer: Layer, accuracy: int, reflection: float,
         frequency: float | None, dt: float | None, dtype: Any) -> Model:
    numpy, grid = _numpy(), grid_of(shape, spacing, layer, accuracy, dtype)
    if polarization not in _POLARIZATIONS:
        raise ArgumentError(f"polarization is {polarization!r}: tm and te are known")
    electric, magnetic = _POLARIZATIONS[polarization] if len(grid.axes) == 2 else ("xyz", "xyz")
    relative = grid.material(permittivity, "permittivity")
    conducting = grid.material(0 if conductivity is None else conductivity, "conductivity", False)
    plasma, collisions = (grid.material(given, what, False) for given, what in
                          zip(pole or (0, 0), ("plasma_frequency", "collision_rate")))
    speed = _LIGHT / float(numpy.min(relative))**0.5
    dt = grid.step(dt, grid.largest_step(speed, True, float(numpy.max(plasma**2 / relative))))
    loss = 0.5 * dt * conducting / (_VACUUM * relative)
    friction = 0.5 * dt * collisions
    constants = {"ca": _LIGHT * dt / grid.unit / relative / (1 + loss), "kept": (1 - loss) / (1 + loss),
                 "kj": (1 - friction) / (1 + friction),
                 "cj": plasma**2 * dt * grid.unit / _LIGHT / (1 + friction)}
    used = ["ca"] + ["kept"] * (conductivity is not None) + ["kj", "cj"] * (pole is not None)
    state = [*("e" + a for a in electric), *("h" + a for a in magnetic), *("j" + a for a in electric if pole)]
    equation = Equation(name, grid, state, used, {"ch": _LIGHT * dt / grid.unit})

    def curl(axis: str, of: str, side: str) -> str:
        """A component of the curl of what `of` writes of a component."""
        after, last = "yzx"["xyz".index(axis)], "zxy"["xyz".index(axis)]
        has = electric if of == "e{}" else magnetic
        terms = [f"{sign}({equation.first(along, of.format(component), side)})"
                 for sign, along, component in ((" + ", after, last), (" - ", last, after))
                 if along in grid.axes and component in has]
        return "".join(terms).removeprefix(" + ")

    currents = {"j" + a: f"kj*j{a} + cj*e{a}" for a in electric if pole}
    equation.stage(**{"h" + a: f"h{a} - ch*({curl(a, 'e{}', 'forward')})" for a in magnetic}, **currents)
    old = "kept*" if conductivity is not None else ""
    equation.stage(**{"e" + a: f"{old}e{a} + ca*({curl(a, 'h{}_next', 'backward')}{f' - j{a}_next' * bool(pole)})"
                      for a in electric})
    added = -dt / (_VACUUM * relative * (1 + loss))
    return equation.model(dt, speed, {name: constants[name] for name in used}, {"e" + a: added for a in electric},
                          reflection, frequency)
