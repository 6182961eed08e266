"""Sources and receivers of runs: where they are, and the arrays that go with them."""

from __future__ import annotations

import ctypes as c
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from . import _arrays, _native, _values
from ._arguments import KernelBase
from ._errors import ArgumentError, error_of

if TYPE_CHECKING:
    from ._kernel import Kernel

_CORNERS = 8
Positions = Mapping[str, Iterable[Sequence[float]]]


def as_positions(given: Positions | None, what: str) -> dict[str, list[list[float]]]:
    """As numbers. Raises ArgumentError."""
    found = {}
    for name, positions in ({} if given is None else _values.named(given, what)).items():
        coordinate, position = f"a coordinate of {what} of {name}", f"a position of {name}"
        found[name] = [[_values.number(value, coordinate)
                        for value in _values.several(each, position, "coordinates in cells are needed")]
                       for each in _values.several(positions, f"{what} of {name}", "a list of positions is needed")]
    return found


class PointsBase:
    """What runs do at points, wherever they are made.

    Attributes:
        sources: columns of a series, one for each position, field by field in the order that was given.
        receivers: columns of the records.
        every: steps from one record to the next.
        dtype: of series and records: "f64" for kernels of f64, else "f32".
    """

    def __init__(self, kernel: KernelBase, sources: Positions | None, receivers: Positions | None, every: int):
        self._source_cells, self.sources = _cells(kernel, sources, "sources")
        self._receiver_cells, self.receivers = _cells(kernel, receivers, "receivers")
        self.every = _values.whole(every, "every", 1, _values.INT32)
        self.dtype = "f64" if kernel.dtype == "f64" else "f32"
        self._kernel = kernel

    def records(self, steps: int) -> int:
        """Rows that a run of so many steps records."""
        return _values.whole(steps, "steps", 0) // self.every

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._kernel.stencil.name}: {self.sources} sources, {self.receivers} receivers>"

    def _as_list(self) -> _native.PointList:
        """As the C interface takes it."""
        return _native.PointList(
            struct_size=c.sizeof(_native.PointList), source_cells=self._source_cells, receiver_cells=self._receiver_cells,
            source_cell_count=len(self._source_cells), receiver_cell_count=len(self._receiver_cells),
            sources=self.sources, receivers=self.receivers, every=self.every)

    def _check_arrays(self, kernel: KernelBase, device: int | None, steps: int, series: Any, records: Any,
                      stream: int | None = None) -> tuple[int | None, int | None]:
        """Addresses of series and records; None for what the points do not take. Raises ArgumentError."""
        if kernel is not self._kernel:
            raise ArgumentError("these points were placed for another kernel: place them for this one")
        return (self._address("series", series, steps, self.sources, device, stream),
                self._address("records", records, self.records(steps), self.receivers, device, stream))

    def _address(self, name: str, array: Any, rows: int, columns: int, device: int | None,
                 stream: int | None) -> int | None:
        if rows * columns == 0:
            return None
        if array is None:
            raise ArgumentError(f"these points take {name}: an array of shape {(rows, columns)} and type {self.dtype}")
        layout = _arrays.read(array, stream)
        if layout.device is not None and layout.device != device:
            where = "in host memory" if device == _arrays.HOST else f"on GPU {device}"
            raise ArgumentError(f"{name} is not {where}, where the run is")
        if (layout.shape != (rows, columns) or layout.dtype != self.dtype or
                layout.strides not in (None, _arrays.dense_strides(layout.shape))):
            raise ArgumentError(f"{name} has shape {layout.shape} and type {layout.dtype}: a dense array of shape "
                                f"{(rows, columns)} and type {self.dtype} is needed")
        if name == "records" and not layout.writable:
            raise ArgumentError("records is read-only, and a run writes it")
        return layout.address


class Points(PointsBase):
    """What runs do at points; Kernel.place_points() makes it. It serves one stream at a time.

    Attributes:
        sources, receivers, every, dtype: as for PointsBase.
        fused_steps: that one launch of a run with these points makes.
        notes: what runs with these points go without, and why.
    """

    def __init__(self, kernel: "Kernel", sources: Positions | None, receivers: Positions | None, every: int):
        super().__init__(kernel, sources, receivers, every)
        native = kernel._native
        self._handle = native.handle(native.place_points_on_device, kernel._handle, c.byref(self._as_list()))
        weakref.finalize(self, _release, kernel, self._handle).atexit = False
        self.fused_steps: int = native.points_fused_steps(self._handle)
        self.notes: tuple[str, ...] = tuple(native.points_notes(self._handle).decode().splitlines())


def _release(kernel: "Kernel", handle: int) -> None:
    if not _native.has_forked():
        kernel._native.release_points_on_device(kernel._handle, handle)


def _cells(kernel: KernelBase, given: Positions | None, what: str) -> tuple[Any, int]:
    """The cells around each position, as the C interface takes them, and how many positions there are."""
    native, stencil = kernel._native, kernel.stencil
    found: list[_native.PointCell] = []
    number = 0
    room = (_native.PointCell * _CORNERS)()
    for name, positions in as_positions(given, what).items():
        if name not in stencil.fields:
            raise ArgumentError(f"'{name}' is no field; stencil '{stencil.name}' has {', '.join(stencil.fields)}",
                                "unknown_name")
        for values in positions:
            if len(values) != stencil.rank:
                axes = ", ".join("zyx"[3 - stencil.rank:])
                raise ArgumentError(f"a point of {name} at {tuple(values)}: positions are ({axes}) in cells, as arrays are "
                                    "indexed")
            where = (c.c_double * 3)(*[*reversed(values), 0, 0][:3])
            count = native.spread(number, stencil.fields.index(name), where, room)
            if count == 0:
                raise error_of("invalid_argument", native.error_message().decode(errors="replace"))
            found += [_native.PointCell.from_buffer_copy(room[i]) for i in range(count)]
            number += 1
    return (_native.PointCell * len(found))(*found), number
