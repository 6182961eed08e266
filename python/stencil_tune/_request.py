"""What a kernel is wanted for: a stencil on a grid of some type, boundary and run."""

from __future__ import annotations

import ctypes as c
import dataclasses
import functools
from typing import Any, Mapping, Sequence

from . import _arrays, _native, _values
from ._errors import ArgumentError
from ._stencil import Stencil, as_stencil

_AXES = "xyz"


@dataclasses.dataclass(frozen=True)
class Grid:
    """Extents from x on, as the project counts them; arrays have them the other way round."""

    extents: tuple[int, ...]
    pitch: int  # cells from one row to the next; 0: dense
    dtype: str
    boundary: str
    steps: int
    slabs: bool = False  # arrays of fields in layers hold these alone

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the arrays: z, y, x."""
        return self.extents[::-1]

    @property
    def row(self) -> int:
        """Cells from one row to the next."""
        return self.pitch or self.extents[0]

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides of the arrays, in cells."""
        plane = self.row * (self.extents[1] if len(self.extents) > 1 else 1)
        return (1, self.row, plane)[:len(self.extents)][::-1]

    @property
    def cells(self) -> int:
        """Cells of an array, with the padding of rows."""
        count = self.row
        for extent in self.extents[1:]:
            count *= extent
        return count


def boundary_text(boundary: str | Mapping[str, str]) -> str:
    """"hold", or "x=periodic,y=hold" from {"x": "periodic", "y": "hold"}."""
    if isinstance(boundary, str):
        return _values.text(boundary, "boundary")
    if not isinstance(boundary, Mapping):
        _values.refuse(boundary, "boundary", 'a text is needed, such as "hold" or "x=periodic,y=hold", or a dict by axis')
    return ",".join(f"{axis}={_values.text(kind, f'boundary {axis}')}"
                    for axis, kind in _values.named(boundary, "boundary").items())


def said_extents(dims: int | Sequence[int] | None, shape: Sequence[int] | None) -> int | tuple[int, ...] | None:
    """Extents of the grid, x first, or one for all axes; None where an array says them. Raises ArgumentError."""
    if dims is not None and (hasattr(type(dims), "__index__") and getattr(dims, "ndim", 0) == 0 or
                             isinstance(dims, float)):
        return _values.whole(dims, "dims")
    if dims is not None:
        return tuple(_values.whole(extent, "an extent of dims")
                     for extent in _values.several(dims, "dims", "extents (nx, ny, nz) are needed"))
    if shape is None:
        return None
    return tuple(_values.whole(extent, "an extent of shape")
                 for extent in _values.several(shape, "shape", "extents (nz, ny, nx) are needed"))[::-1]


def said_rank(extents: int | tuple[int, ...] | None) -> int:
    """Axes of the grid; 3 where it does not say."""
    return len(extents) if isinstance(extents, tuple) else 3


def as_steps(steps: Any) -> int:
    """Steps of a typical run. Raises ArgumentError."""
    return _values.whole(steps, "steps", 1, _values.INT32)


def asked_grid(stencil: Any, *, like: Any, dims: int | Sequence[int] | None, shape: Sequence[int] | None, dtype: Any,
               boundary: str | Mapping[str, str], steps: int, pitch: int,
               slabs: bool = False) -> tuple[Stencil, Grid, _arrays.Layout | None]:
    """What lookup() and tune() are given. Raises ArgumentError where it does not say a stencil on one grid."""
    if sum(given is not None for given in (like, dims, shape)) != 1:
        raise ArgumentError("say the grid once: like= an array, dims= (nx, ny, nz), or shape= (nz, ny, nx)")
    layout = None
    said = said_extents(dims, shape)
    chosen = as_stencil(stencil, said_rank(said))
    pitch = _values.whole(pitch, "pitch", 0)
    if like is not None:
        if isinstance(like, (int, list, tuple)):
            _values.refuse(like, "like", "an array is needed; dims=(nx, ny, nz) or shape=(nz, ny, nx) says a grid by numbers")
        layout = _arrays.read_any(like) if chosen.storages else _arrays.read(like)
        if dtype is not None and not chosen.storages and _arrays.dtype_name(dtype) != layout.dtype:
            raise ArgumentError(f"the array has cells of {layout.dtype}, {_arrays.dtype_name(dtype)} was asked for")
        extents, pitch = _arrays.grid_of(layout, chosen.rank, "the array")
        name = layout.dtype
        if chosen.storages:  # whose array it is, nobody says
            own = layout.dtype if _arrays.is_floating(layout.dtype) else "f32"
            name = _arrays.dtype_name(dtype if dtype is not None else chosen.element or own)
    else:
        extents = said if isinstance(said, tuple) else (said or 0,) * chosen.rank
        name = _arrays.dtype_name(dtype if dtype is not None else chosen.element or "f32")
    if len(extents) != chosen.rank:
        raise ArgumentError(f"{len(extents)} extents: stencil '{chosen.name}' has {chosen.rank} axes")
    asked = Grid(extents, 0 if pitch == extents[0] else pitch, name, boundary_text(boundary), as_steps(steps),
                 bool(_values.flag(slabs, "slabs")))
    return chosen, checked(chosen, asked), layout


def native_request(stencil: Stencil, grid: Grid, **more: Any) -> _native.Request:
    """The request as the C interface takes it."""
    request = _native.Request(struct_size=c.sizeof(_native.Request), parsed=stencil._handle, type=grid.dtype.encode(),
                              boundary=grid.boundary.encode(), pitch=grid.pitch, steps=grid.steps, slabs=grid.slabs,
                              **more)
    request.extents[:] = [*grid.extents, 1, 1][:_native.MAX_RANK]
    return request


@functools.lru_cache(maxsize=4096)
def array_of(stencil: Stencil, grid: Grid, place: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides, in cells, of the array of a field of the whole grid, or in layers."""
    native, numbers = _native.library(), c.c_int64 * _native.MAX_RANK
    extents, strides = numbers(), numbers()
    native.check(native.field_array(c.byref(native_request(stencil, grid, device=-1)), place, extents, strides))
    rank = stencil.rank
    return tuple(extents[:rank][::-1]), tuple(strides[:rank][::-1])


@functools.lru_cache(maxsize=256)
def checked(stencil: Stencil, grid: Grid) -> Grid:
    """The grid with what the definition says of its boundary. Raises ArgumentError for what no GPU could run."""
    native = _native.library()
    text = native.text(native.check_request, c.byref(native_request(stencil, grid, device=-1)))
    return dataclasses.replace(grid, boundary=text)


def describe(grid: Grid) -> str:
    """"f32, 512 x 512 x 512 (x, y, z), boundary hold"."""
    axes = ", ".join(_AXES[:len(grid.extents)])
    return f"{grid.dtype}, {' x '.join(map(str, grid.extents))} ({axes}), boundary {grid.boundary}"
