"""Shallow water and heat."""

from __future__ import annotations

import math
from typing import Any, Mapping, Sequence

from .. import _values
from .._errors import ArgumentError
from ._equation import Cells, Equation, Layer, Model, grid_of

_GRAVITY = 9.81  # m/s^2


def shallow_water(shape: Sequence[int], spacing: Cells, depth: Cells, *, layer: Layer = 20, accuracy: int = 2,
                  reflection: float = 1e-6, frequency: float | None = None, dt: float | None = None,
                  dtype: Any = "f32") -> Model:
    """Long waves on water that is `depth` deep where it is still: height eta above that, velocities u and v. 2D.

    Velocity u stands half a cell ahead of its cell in x. Velocities do not carry themselves, so waves are to be low. A
    source of `eta_next` is a rate of rise. A. Sielecki, Monthly Weather Review 96 (1968); layers as I. M. Navon, B. Neta,
    M. Y. Hussaini, Monthly Weather Review 132 (2004), by convolution.
    """
    grid = grid_of(shape, spacing, layer, accuracy, dtype, ranks=(2,))
    deep = grid.material(depth, "depth")
    speed = math.sqrt(_GRAVITY * float(deep.max()))
    dt = grid.step(dt, grid.largest_step(speed, True))
    equation = Equation("shallow_water", grid, ["eta", "u", "v"], ["depth"], {"dt": dt / grid.unit, "g": _GRAVITY})
    velocities = {"x": "u", "y": "v"}
    equation.stage(**{name: f"{name} - dt*g*({equation.first(a, 'eta', 'forward')})" for a, name in velocities.items()})
    fluxes = [equation.first(a, f"0.5*(eta + eta[{a}+1] + depth + depth[{a}+1])*{name}_next", "backward", name=name)
              for a, name in velocities.items()]
    equation.stage(eta=f"eta - dt*({' + '.join(fluxes)})")
    return equation.model(dt, speed, {"depth": deep}, {"eta": dt}, reflection, frequency)


def heat(shape: Sequence[int], spacing: Cells, diffusivity: Cells, *, exchange: float | Mapping[str, float] = 0.0,
         outside: float = 0.0, dt: float | None = None, dtype: Any = "f32") -> Model:
    """Heat, u_t = k laplacian(u) + s, between walls that pass heat to what is outside (Robin's condition). 1D to 3D.

    The walls stand in the middle of the first and last cells of each axis. A source of `u_next` is s. J. Crank, The
    Mathematics of Diffusion, 2nd ed. (1975), section 8.2.

    Args:
        diffusivity: k; it may vary as a heat capacity does. The conductivity is the same everywhere.
        exchange: b of du/dn = -b (u - outside), 1 over a length: of all walls, 0 for those that insulate, or by wall,
            {"x.low": 0.5}.
        outside: the temperature there, a coefficient of the stencil.
    """
    grid = grid_of(shape, spacing, 0, 2, dtype, ranks=(1, 2, 3))
    spread = grid.material(diffusivity, "diffusivity")
    walls = [f"{axis}.{side}" for axis in grid.axes for side in ("low", "high")]
    given = dict.fromkeys(walls, exchange) if not isinstance(exchange, Mapping) else exchange
    if not set(given) <= set(walls) or not all(_values.number(b, "exchange") >= 0 for b in given.values()):
        raise ArgumentError(f"exchange is {exchange}: a number from 0 on, or such for some of {', '.join(walls)}, is needed")
    passing = {wall: 2 * float(b) * grid.unit**2 / grid.spacing[wall[0]] for wall, b in given.items() if b}
    most = float(spread.max()) * (sum(4 / h**2 for h in grid.spacing.values()) + sum(passing.values()) / grid.unit**2)
    dt = grid.step(dt, 2 / most)
    equation = Equation("heat", grid, ["u"], ["k"], {f"at_{wall.replace('.', '_')}": b for wall, b in passing.items()} |
                        ({"outside": float(outside)} if passing else {}), boundary=dict.fromkeys(grid.axes, "reflect"))
    flow = " + ".join(equation.second(axis, "u") for axis in grid.axes)
    for wall in passing:
        axis, place = wall[0], "before[{0}-1]" if wall.endswith("low") else "after[{0}+1]"
        flow += f" - at_{wall.replace('.', '_')}*{axis}_{place.format(axis)}*(u - outside)"
    equation.stage(u=f"u + k*({flow})")
    return equation.model(dt, 0.0, {"k": spread * dt / grid.unit**2}, {"u": dt})
