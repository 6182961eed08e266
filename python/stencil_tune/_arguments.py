"""What kernels on a GPU and the reference on the CPU have in common: evidence, arguments and their checks."""

from __future__ import annotations

import ctypes as c
import dataclasses
import struct
from typing import Any, Mapping, NamedTuple, NoReturn, Sequence, TypeVar

from . import _arrays, _native, _values
from ._errors import ArgumentError
from ._request import Grid, array_of, describe
from ._stencil import Stencil

#: The type of the arrays that a run is given. A run returns one of them where the state is one field, a tuple where it is
#: several. No type says how many fields a stencil has: `Array | Any` holds a type checker to the first.
Array = TypeVar("Array")


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Why this kernel. Where nothing was tuned, all but match, sentence, code and notes is empty or 0."""

    #: "exact", "stale", "same form", "nearest size", "same architecture", "predicted", "default"; "reference" on the CPU
    match: str
    sentence: str  #: all of it, for people
    code: str  #: the candidate that runs
    tuned_code: str  #: the winner it comes from
    gpu: str  #: model, then
    driver: str  #: then
    nvrtc: str  #: then
    tuned_at: str  #: ISO 8601, UTC
    tuned_extents: tuple[int, ...]  #: nx, ny, nz where the winner won
    gstencils: float  #: GStencil/s then: 10^9 cells updated a second
    share: float  #: rate over the copy ceiling's then, 0 to 1
    fused_steps: int  #: steps that one launch of it makes in advance()
    notes: tuple[str, ...]  #: what a careful reader would want to know

    def __str__(self) -> str:
        return self.sentence


class FieldOrder:
    """Addresses in the order of the fields, as kernels take them; functions of arrays have the inputs, then the others."""

    def __init__(self, stencil: Stencil):
        self.count = len(stencil.fields)
        self.argument_at = [stencil._order.index(place) for place in range(self.count)]  #: place among them, by field
        self.is_same = self.argument_at == list(range(self.count))
        self.pack = struct.Struct(f"{self.count}P").pack  #: addresses, by field, of a call that only reads them
        self.array = c.c_void_p * self.count  #: the same of a run, which says where each field went


def _shape_of(along: str, grid: Grid) -> tuple[int, ...] | None:
    """Of a profile's array; of time an empty one, as it is as long as its owner likes. None: a field of the whole grid."""
    if not along:
        return None
    return tuple(grid.extents["xyz".index(axis)] for axis in reversed(along)) if along != "t" else ()


def numbers_of(values: Sequence[float]) -> tuple[Any, int]:
    """Numbers as the C interface takes them, and how many."""
    return (c.c_double * len(values))(*values), len(values)


class History(NamedTuple):
    """The arrays of a field in the steps of a run: `stack[first]`, `stack[first + by]`, and so on."""

    stack: Any
    first: int
    by: int  #: 1, or -1: backwards


class KernelBase:
    """A stencil on a grid, and the arrays that it takes."""

    def __init__(self, stencil: Stencil, grid: Grid):
        self.stencil = stencil
        self._grid = grid
        self._native = _native.library()
        self._types = [stencil.storages.get(name, grid.dtype) for name in stencil.fields]  # what cells are, by field
        self._profiles = [_shape_of(along, grid) for along in stencil._along]  # shapes; None: a field of the whole grid
        slabs = stencil.layer_fields if grid.slabs else {}
        self._slabs = {place: array_of(stencil, grid, place)  # shapes and strides, by field
                       for place, name in enumerate(stencil.fields) if name in slabs}

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the arrays that it takes: (nz, ny, nx), the last axis is x."""
        return self._grid.shape

    def shape_of(self, field: str) -> tuple[int, ...]:
        """Shape of the array of one field: `shape`, that along its axes, or with `slabs` that of its layers, of which
        those at the low end come first, and those at the high end last. Of a field of time it is empty."""
        if field not in self.stencil.fields:
            raise ArgumentError(f"'{field}' is no field; stencil '{self.stencil.name}' has {', '.join(self.stencil.fields)}")
        return self._shape(self.stencil.fields.index(field))

    def _shape(self, place: int) -> tuple[int, ...]:
        profile = self._profiles[place]
        return profile if profile is not None else self._whole(place)[0]

    def _whole(self, place: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape and strides of the array of a field that varies along no axes alone."""
        return self._slabs.get(place) or (self._grid.shape, self._grid.strides)

    @property
    def dims(self) -> tuple[int, ...]:
        """The same from x on: (nx, ny, nz)."""
        return self._grid.extents

    @property
    def pitch(self) -> int:
        """Cells from one row to the next."""
        return self._grid.row

    @property
    def dtype(self) -> str:
        """"f64", "f32", "f16" or "bf16"."""
        return self._grid.dtype

    @property
    def boundary(self) -> str:
        """"hold", or "x=periodic,y=hold"; on axes of which the definition says it itself the definition's."""
        return self._grid.boundary

    def _in_order(self, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Positional arrays and those by name as the stencil's arguments."""
        names = self.stencil.arguments
        if not named and len(arrays) == len(names):
            return list(arrays)
        given = dict(zip(names, arrays))
        for name, array in named.items():
            if name not in names or name in given:
                raise ArgumentError(f"'{name}' is " + ("given twice" if name in given else "no field") +
                                    f"; stencil '{self.stencil.name}' takes {', '.join(names)}")
            given[name] = array
        if len(arrays) > len(names) or len(given) != len(names):
            raise ArgumentError(f"stencil '{self.stencil.name}' takes {len(names)} arrays, {', '.join(names)}; "
                                f"{len(arrays) + len(named)} were given")
        return [given[name] for name in names]

    def _refuse(self, name: str, layout: _arrays.Layout, device: int) -> None:
        """Raises ArgumentError that says why a layout is not the kernel's."""
        where = {None: "a GPU", _arrays.HOST: "host memory"}.get(layout.device, f"GPU {layout.device}")
        mine = "host memory" if device == _arrays.HOST else f"GPU {device}"
        if layout.device is not None and layout.device != device:
            more = "; device=\"cpu\" looks up the reference, which is slow" if layout.device == _arrays.HOST else ""
            raise ArgumentError(f"{name} is in {where}, the kernel was looked up for {mine}{more}")
        self._refuse_type(name, layout)
        shape, strides = self._whole(self.stencil.fields.index(name))
        extents, pitch = _arrays.grid_of(layout, self.stencil.rank, name)
        if extents != shape[::-1]:
            raise ArgumentError(f"{name} has shape {layout.shape}, the kernel was looked up for {shape}")
        row = strides[-2] if len(shape) > 1 else shape[0]
        if (pitch or extents[0]) != row and any(extent > 1 for extent in extents[1:]):
            raise ArgumentError(f"{name} has {pitch or extents[0]} cells from one row to the next, the kernel was looked "
                                f"up for {row}: look it up like this array")

    def _refuse_type(self, name: str, layout: _arrays.Layout) -> None:
        """Raises ArgumentError unless cells are of the field's type."""
        wanted = self._types[self.stencil.fields.index(name)]
        if layout.dtype != wanted:
            of = "the definition stores it as" if name in self.stencil.storages else "the kernel was looked up for"
            raise ArgumentError(f"{name} has cells of {layout.dtype}, {of} {wanted}")

    def _refuse_profile(self, name: str, layout: _arrays.Layout, shape: tuple[int, ...], made: range) -> None:
        """Raises ArgumentError unless the layout is that of a profile. made: numbers of the steps that are made."""
        if shape:
            along, fits = "along " + ", ".join(self.stencil.profiles[name]), layout.shape == shape
            wanted = f"one row of {shape[0]} neighbouring cells" if len(shape) == 1 else f"a dense array of shape {shape}"
        else:
            along, fits = "with time", len(layout.shape) == 1 and 0 <= made.start and made.stop <= layout.shape[0]
            wanted = f"one row of neighbouring entries, the ones of steps {made.start} to {made.stop - 1} among them"
        dense = layout.strides in (None, (), _arrays.dense_strides(layout.shape)) or max(layout.shape, default=0) == 1
        if not fits or not dense:
            raise ArgumentError(f"{name} varies {along} alone: it is {wanted}; this one has shape {layout.shape}")

    def _origin(self, origin: Sequence[int] | None) -> Any:
        """Coordinates of the first cell from x on."""
        if origin is None:
            return None
        return (c.c_int64 * _native.MAX_RANK)(*_values.coordinates(origin, "origin", self.stencil.rank, "the arrays have"))

    def _coefficients(self, given: Mapping[str, float] | None) -> tuple[Any, int]:
        if given is None:
            return None, 0
        return numbers_of(self.stencil.coefficient_values(given))

    def _measured(self, numbers: Sequence[float]) -> dict[str, float]:
        return dict(zip(self.stencil.measures, numbers))

    def _result(self, fields: Sequence[Array]) -> Array | Any:
        """The arrays that hold the state after a run: one, or a tuple where the state has several fields."""
        state = [fields[place] for place in self.stencil._state]
        return state[0] if len(state) == 1 else tuple(state)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a kernel stays in its process: send its stencil, and look the kernel up there")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.stencil.name}: {describe(self._grid)}>"
