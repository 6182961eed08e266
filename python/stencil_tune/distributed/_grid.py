"""A grid over many GPUs: one rank's part of it, its kernel and its fields."""

from __future__ import annotations

import ctypes as c
import os
import weakref
from typing import Any, Callable, Mapping, Sequence

from .. import _arrays, _library, _native, _streams, _values
from .._arguments import KernelBase
from .._errors import ArgumentError
from .._points import PointsBase, Positions
from .._request import asked_grid, native_request
from .._stencil import Stencil
from ._ranks import Callbacks, Nccl, as_ranks


class GridPoints(PointsBase):
    """Sources and receivers of a grid; Grid.place_points() makes it."""

    def __init__(self, grid: "Grid", sources: Positions | None, receivers: Positions | None, every: int):
        super().__init__(grid, sources, receivers, every)
        self._handle = grid._made(grid._native.grid_place_points, grid._handle, c.byref(self._as_list()))
        weakref.finalize(self, grid._native.release_points, self._handle).atexit = False


class Grid(KernelBase):
    """One rank's part of a grid. Every rank makes the same calls in the same order, on the thread that made the grid,
    whose current GPU becomes `device`. Arrays are dense, in host memory, and indexed [z, y, x].
    """

    def __init__(self, stencil: Stencil | str | os.PathLike[str], *, ranks: Any, dims: int | Sequence[int] | None = None,
                 shape: Sequence[int] | None = None, dtype: Any = None, boundary: str | Mapping[str, str] = "hold",
                 steps: int = 1, cut: Sequence[int] | None = None, steps_per_exchange: int = 0, overlap: bool = False,
                 timeout: float = 0, device: int = 0, stream: int = 0, database: str | os.PathLike[str] | None = None):
        """Cuts the grid, looks up and compiles this rank's kernel, and makes its fields, zero at first.

        Args:
            stencil, dims, shape, dtype, boundary, steps, database: of the whole grid, as for lookup().
            ranks: nccl(...), an mpi4py communicator, or Ranks of your own.
            cut: parts along each axis, as arrays are indexed; None: those for which least is sent.
            steps_per_exchange: halos are as deep as these need; 0: as many as the kernel fuses, or what is clearly
                faster by known rates and by exchanges that are measured.
            overlap: halos travel while cells are updated that need nothing of them.
            timeout: seconds that a rank waits for another by NCCL; 0: 300.
            device: this rank's GPU.
            stream: the CUDA stream of all its work, by address.

        Raises:
            ArgumentError: ranks ask for different grids, or the grid cannot be cut so.
            Error: there is no GPU, NCCL or database, or another rank is lost.
        """
        chosen, grid, _ = asked_grid(stencil, like=None, dims=dims, shape=shape, dtype=dtype, boundary=boundary,
                                     steps=steps, pitch=0)
        super().__init__(chosen, grid)
        how = _native.Cut(struct_size=c.sizeof(_native.Cut), overlap=_values.flag(overlap, "overlap"),
                          steps_per_exchange=_values.whole(steps_per_exchange, "steps_per_exchange", 0, _values.INT32),
                          timeout_s=_values.finite(timeout, "timeout"))
        if cut is not None:
            parts = [_values.whole(part, "a number of parts", 1, _values.INT32)
                     for part in _values.several(cut, "cut", "a number of parts along each axis is needed")]
            if len(parts) != chosen.rank:
                raise ArgumentError(f"cut {tuple(parts)}: the grid has {chosen.rank} axes")
            how.parts[:] = [*reversed(parts), 1, 1][:_native.MAX_RANK]
        group, stream = as_ranks(ranks), _streams.address_of(stream)
        request = native_request(chosen, grid, device=_values.ordinal(device))
        _native.use_gpu()
        native = self._native
        native.check(native.use_device(request.device))
        self._callbacks = None
        library = _library.handle_of(database)
        if isinstance(group, Nccl):
            self._handle = native.handle(native.distribute, library, group.address, c.byref(request), c.byref(how),
                                         stream or None)
        else:
            self._callbacks = Callbacks(group)
            self._handle = self._made(native.distribute_over, library, c.byref(self._callbacks.native),
                                      c.byref(request), c.byref(how), stream or None)
        # Ranks outlive the handle.
        weakref.finalize(self, _release, native, self._handle, group, self._callbacks).atexit = False

    @property
    def owned(self) -> tuple[slice, ...]:
        """The cells of the grid that this rank owns, as an index of an array of the whole."""
        low, high = (c.c_int64 * 3)(), (c.c_int64 * 3)()
        self._native.grid_owned(self._handle, low, high)
        rank = self.stencil.rank
        return tuple(slice(low[axis], high[axis]) for axis in reversed(range(rank)))

    @property
    def evidence(self) -> str:
        """Why this rank's kernel."""
        return str(self._native.grid_evidence(self._handle).decode())

    @property
    def steps_per_exchange(self) -> int:
        """The same on all ranks."""
        return int(self._native.grid_steps_per_exchange(self._handle))

    def write(self, field: str, cells: Any) -> None:
        """Sets this rank's own cells of a field. One that varies along some axes alone, or with time, is
        set whole, on every rank."""
        number = self._field(field)
        shape = self._own_shape(number)
        if shape == ():  # of time: as long as its owner likes
            shape = (_arrays.read(cells).shape + (1,))[:1]
        self._check(self._native.grid_write, number, *self._host("cells", cells, shape))

    def read(self, field: str, into: Any) -> Any:
        """The way back. Returns the array."""
        number = self._field(field)
        self._check(self._native.grid_read, number, *self._host("into", into, self._own_shape(number), written=True))
        return into

    def scatter(self, field: str, cells: Any = None, root: int = 0) -> None:
        """All cells of the grid, which `root` passes, to their owners."""
        self._check(self._native.grid_scatter, self._field(field), _rank(root), *self._host("cells", cells, self.shape))

    def gather(self, field: str, into: Any = None, root: int = 0) -> Any:
        """The way back: `root` passes room for all cells. Returns it."""
        self._check(self._native.grid_gather, self._field(field), _rank(root),
                    *self._host("into", into, self.shape, written=True))
        return into

    def advance(self, steps: int, *, coefficients: Mapping[str, float] | None = None,
                origin: Sequence[int] | None = None, step: int = 0, points: GridPoints | None = None,
                series: Any = None, records: Any = None) -> None:
        """`steps` steps, asynchronous. origin, step: as for Kernel.advance. series, records: addresses of device memory,
        the whole series on every rank, and room for all records; a rank writes its own share, 0 for other receivers."""
        values, count = self._coefficients(coefficients)
        steps, step, first = _values.whole(steps, "steps", 0), _values.whole(step, "step"), self._origin(origin)
        if points is None:
            self._check(self._native.grid_advance, steps, values, count, first, step)
            return
        addresses = [None if given is None else _values.address(given, name)
                     for given, name in ((series, "series"), (records, "records"))]
        self._check(self._native.grid_advance_with_points, _handle_of(points), *addresses, steps, values, count, first, step)

    def refresh(self) -> None:
        """Exchanges halos of fields that were written: before the stream is captured in a graph."""
        self._check(self._native.grid_refresh)

    def wait(self) -> None:
        """Until all work is done."""
        self._check(self._native.grid_wait)

    def place_points(self, sources: Positions | None = None, receivers: Positions | None = None, *,
                     every: int = 1) -> GridPoints:
        """Sources and receivers, as Kernel.place_points has them, counted from the first cell of the whole grid."""
        return GridPoints(self, sources, receivers, every)

    def gather_records(self, points: GridPoints, records: int, steps: int, into: Any = None, root: int = 0) -> Any:
        """The sum of all ranks' shares of records (an address), to `root`'s array of shape [record, receiver]."""
        handle, address = _handle_of(points), _values.address(records, "records")
        shape = (points.records(steps), points.receivers)
        self._check(self._native.grid_gather_records, handle, address, steps, _rank(root),
                    *self._host("into", into, shape, written=True, dtype=points.dtype))
        return into

    def save(self, path: str | os.PathLike[str], steps: int) -> None:
        """Own cells of all fields to the file `path`.RANK of each rank, with the number of steps made so far."""
        self._check(self._native.grid_save, os.fsencode(_values.path(path, "path")), _values.whole(steps, "steps"))

    def load(self, path: str | os.PathLike[str]) -> int:
        """The way back. Returns the number of steps."""
        steps = c.c_int64()
        self._check(self._native.grid_load, os.fsencode(_values.path(path, "path")), c.byref(steps))
        return steps.value

    # ---- what the methods above have in common

    def _check(self, function: Callable[..., int], *arguments: Any) -> None:
        status = function(self._handle, *arguments)
        if status != 0 and self._callbacks is not None:
            self._callbacks.raise_failure()
        self._native.check(status)

    def _made(self, function: Callable[..., int], *arguments: Any) -> int:
        made = c.c_void_p()
        status = function(*arguments, c.byref(made))
        if status != 0 and self._callbacks is not None:
            self._callbacks.raise_failure()
        self._native.check(status)
        return made.value or 0

    def _field(self, name: str) -> int:
        if _values.text(name, "field") in self.stencil.fields:
            return self.stencil.fields.index(name)
        raise ArgumentError(f"'{name}' is no field; stencil '{self.stencil.name}' has {', '.join(self.stencil.fields)}",
                            "unknown_name")

    def _own_shape(self, field: int) -> tuple[int, ...]:
        profile = self._profiles[field]
        if profile is not None:
            return profile
        return tuple(part.stop - part.start for part in self.owned)

    def _host(self, name: str, array: Any, shape: tuple[int, ...], *, written: bool = False,
              dtype: str | None = None) -> tuple[int | None, int]:
        """Address and bytes of a dense array in host memory; none where there is no array."""
        if array is None:
            return None, 0
        layout = _arrays.read(array)
        wanted = dtype or self.dtype
        if layout.device != _arrays.HOST:
            raise ArgumentError(f"{name} is not in host memory")
        if (layout.shape != shape or layout.dtype != wanted or
                layout.strides not in (None, _arrays.dense_strides(layout.shape))):
            raise ArgumentError(f"{name} has shape {layout.shape} and type {layout.dtype}: a dense array of shape {shape} "
                                f"and type {wanted} is needed")
        if written and not layout.writable:
            raise ArgumentError(f"{name} is read-only")
        cells = 1
        for extent in shape:
            cells *= extent
        return layout.address, cells * _arrays.BYTES[wanted]


def _rank(root: Any) -> int:
    return _values.whole(root, "root", 0, _values.INT32)


def _handle_of(points: Any) -> int:
    if not isinstance(points, GridPoints):
        _values.refuse(points, "points", "place_points() of the grid makes them")
    return points._handle


def _release(native: _native.Library, handle: int, _ranks: Any, _callbacks: Any) -> None:
    if not _native.has_forked():
        native.grid_release(handle)
