"""What a kernel is wanted for: a stencil on a grid of some type, boundary and run."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Sequence

from . import _arrays
from ._errors import ArgumentError
from ._stencil import Stencil

_AXES = "xyz"


@dataclasses.dataclass(frozen=True)
class Grid:
    """Extents from x on, as the project counts them; arrays have them the other way round."""

    extents: tuple[int, ...]
    pitch: int  # cells from one row to the next; 0: dense
    dtype: str
    boundary: str
    steps: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the arrays: z, y, x."""
        return self.extents[::-1]

    @property
    def row(self) -> int:
        """Cells from one row to the next."""
        return self.pitch or self.extents[0]

    @property
    def strides(self) -> tuple[int, ...]:
        """Of the arrays, in cells."""
        plane = self.row * (self.extents[1] if len(self.extents) > 1 else 1)
        return (1, self.row, plane)[:len(self.extents)][::-1]

    @property
    def cells(self) -> int:
        """With the padding of rows."""
        count = self.row
        for extent in self.extents[1:]:
            count *= extent
        return count


def boundary_text(boundary: str | Mapping[str, str]) -> str:
    """"hold", or "x=periodic,y=hold" from {"x": "periodic", "y": "hold"}."""
    if isinstance(boundary, str):
        return boundary
    return ",".join(f"{axis}={kind}" for axis, kind in boundary.items())


def said_rank(dims: int | Sequence[int] | None, shape: Sequence[int] | None) -> int:
    """Axes of the grid that lookup() and tune() are given; 3 where it does not say."""
    if dims is not None:
        return 3 if isinstance(dims, int) else len(dims)
    return 3 if shape is None else len(shape)


def _extents(stencil: Stencil, dims: int | Sequence[int] | None, shape: Sequence[int] | None) -> tuple[int, ...]:
    if isinstance(dims, int):
        dims = (dims,) * stencil.rank
    given = tuple(dims) if dims is not None else tuple(shape or ())[::-1]
    if len(given) != stencil.rank:
        raise ArgumentError(f"{len(given)} extents: stencil '{stencil.name}' has {stencil.rank} axes")
    return tuple(int(extent) for extent in given)


def grid_and_layout(stencil: Stencil, *, like: Any, dims: int | Sequence[int] | None, shape: Sequence[int] | None,
                    dtype: Any, boundary: str | Mapping[str, str], steps: int,
                    pitch: int) -> tuple[Grid, _arrays.Layout | None]:
    """From what lookup() and tune() are given. Raises ArgumentError where it does not say one grid."""
    if sum(given is not None for given in (like, dims, shape)) != 1:
        raise ArgumentError("say the grid once: like= an array, dims= (nx, ny, nz), or shape= (nz, ny, nx)")
    layout = None
    if like is not None:
        layout = _arrays.read(like)
        if dtype is not None and _arrays.dtype_name(dtype) != layout.dtype:
            raise ArgumentError(f"the array has cells of {layout.dtype}, {_arrays.dtype_name(dtype)} was asked for")
        extents, pitch = _arrays.grid_of(layout, stencil.rank, "the array")
        name = layout.dtype
    else:
        extents = _extents(stencil, dims, shape)
        name = _arrays.dtype_name(dtype if dtype is not None else stencil.element or "f32")
    return Grid(extents, 0 if pitch == extents[0] else pitch, name, boundary_text(boundary), steps), layout


def describe(grid: Grid) -> str:
    """"f32, 512 x 512 x 512 (x, y, z), boundary hold"."""
    axes = ", ".join(_AXES[:len(grid.extents)])
    return f"{grid.dtype}, {' x '.join(map(str, grid.extents))} ({axes}), boundary {grid.boundary}"
