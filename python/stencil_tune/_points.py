"""Sources and receivers of runs: where they are, and the arrays that go with them."""

from __future__ import annotations

import ctypes as c
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from . import _arrays, _native
from ._errors import ArgumentError

if TYPE_CHECKING:
    from ._kernel import Kernel
    from .distributed import Grid

_CORNERS = 8
Positions = Mapping[str, Iterable[Sequence[float]]]


class Points:
    """What runs do at points; Kernel.place_points() makes it. It serves one stream at a time.

    Attributes:
        sources: columns of a series, one for each position, field by field in the order that was given.
        receivers: columns of the records.
        every: steps from one record to the next.
        dtype: of series and records: "f64" for kernels of f64, else "f32".
        fused_steps: that one launch of a run with these points makes.
        notes: what runs with these points go without, and why.
    """

    def __init__(self, kernel: "Kernel", sources: Positions, receivers: Positions, every: int):
        native = kernel._native
        source_cells, self.sources = _cells(kernel, sources)
        receiver_cells, self.receivers = _cells(kernel, receivers)
        self.every = every
        self.dtype = "f64" if kernel.dtype == "f64" else "f32"
        given = _native.PointList(
            struct_size=c.sizeof(_native.PointList), source_cells=source_cells, receiver_cells=receiver_cells,
            source_cell_count=len(source_cells), receiver_cell_count=len(receiver_cells), sources=self.sources,
            receivers=self.receivers, every=every)
        self._kernel = kernel
        self._handle = native.handle(native.place_points_on_device, kernel._handle, c.byref(given))
        weakref.finalize(self, _release, kernel, self._handle).atexit = False
        self.fused_steps: int = native.points_fused_steps(self._handle)
        self.notes: tuple[str, ...] = tuple(native.points_notes(self._handle).decode().splitlines())

    def records(self, steps: int) -> int:
        """Rows that a run of so many steps records."""
        return steps // self.every

    def __repr__(self) -> str:
        return f"<Points of {self._kernel.stencil.name}: {self.sources} sources, {self.receivers} receivers>"

    def _address(self, name: str, array: Any, rows: int, columns: int, stream: int) -> int | None:
        """Of series or records. Raises ArgumentError for another layout."""
        if rows * columns == 0:
            return None
        if array is None:
            raise ArgumentError(f"these points take {name}: an array of shape {(rows, columns)} and type {self.dtype}")
        layout = _arrays.read(array, stream)
        device = self._kernel.device
        if layout.device is not None and layout.device != device:
            raise ArgumentError(f"{name} is not on GPU {device}, where the run is")
        if (layout.shape != (rows, columns) or layout.dtype != self.dtype or
                layout.strides not in (None, _arrays.dense_strides(layout.shape))):
            raise ArgumentError(f"{name} has shape {layout.shape} and type {layout.dtype}: a dense array of shape "
                                f"{(rows, columns)} and type {self.dtype} is needed")
        if name == "records" and not layout.writable:
            raise ArgumentError("records is read-only, and a run writes it")
        return layout.address

    def _addresses(self, kernel: "Kernel", steps: int, series: Any, records: Any, stream: int):
        if kernel is not self._kernel:
            raise ArgumentError("these points were placed for another kernel: place them for this one")
        return (self._address("series", series, steps, self.sources, stream),
                self._address("records", records, self.records(steps), self.receivers, stream))


def _release(kernel: "Kernel", handle: int) -> None:
    if not _native.has_forked():
        kernel._native.release_points_on_device(kernel._handle, handle)


def _cells(kernel: "Kernel | Grid", given: Positions) -> tuple[Any, int]:
    """The cells around each position, as the C interface takes them, and how many positions there are."""
    native, stencil = kernel._native, kernel.stencil
    found: list[_native.PointCell] = []
    number = 0
    room = (_native.PointCell * _CORNERS)()
    for name, positions in given.items():
        if name not in stencil.fields:
            raise ArgumentError(f"'{name}' is no field; stencil '{stencil.name}' has {', '.join(stencil.fields)}",
                                "unknown_name")
        for position in positions:
            values = [float(value) for value in position]
            if len(values) != stencil.rank:
                axes = ", ".join("zyx"[3 - stencil.rank:])
                raise ArgumentError(f"a point of {name} at {tuple(values)}: positions are ({axes}) in cells, as arrays are "
                                    "indexed")
            where = (c.c_double * 3)(*[*reversed(values), 0, 0][:3])
            count = native.spread(number, stencil.fields.index(name), where, room)
            found += [_native.PointCell.from_buffer_copy(room[i]) for i in range(count)]
            number += 1
    return (_native.PointCell * len(found))(*found), number
