"""device="cpu": the evaluator that kernels are verified against, on arrays of NumPy. For teaching and tests: slow."""

from __future__ import annotations

import ctypes as c
import os
from typing import Any, Iterable, Iterator, Mapping, Sequence

from . import _arrays, _native, _values
from ._arguments import Array, Evidence, History, KernelBase
from ._errors import ArgumentError, Error
from ._gradients.edges import edges_of
from ._kernel import Until
from ._points import PointsBase, Positions
from ._regions import slices_of
from ._request import Grid
from ._stencil import Stencil

_library: c.CDLL | None = None
_MESSAGE_BYTES = 4096
_ONE_LAUNCH = -1


class _Call(c.Structure):
    """ReferenceCall of python/native/reference.cpp."""

    _fields_ = [("text", c.c_char_p), ("derivatives", c.c_char_p), ("type", c.c_char_p), ("boundary", c.c_char_p),
                ("source", c.c_int32), ("rank", c.c_int32), ("extents", c.c_int64 * _native.MAX_RANK), ("steps", c.c_int64),
                ("origin", c.c_int64 * _native.MAX_RANK), ("step", c.c_int64), ("coefficients", c.c_void_p),
                ("fields", c.c_void_p), ("source_cells", c.POINTER(_native.PointCell)),
                ("receiver_cells", c.POINTER(_native.PointCell)), ("source_cell_count", c.c_int64),
                ("receiver_cell_count", c.c_int64), ("series", c.c_void_p), ("records", c.c_void_p),
                ("sources", c.c_int32), ("receivers", c.c_int32), ("every", c.c_int32)]


def _load() -> c.CDLL:
    global _library
    if _library is None:
        folder = _native.FOLDER / "lib"
        _library = c.CDLL(str(os.environ.get("STENCIL_TUNE_REFERENCE") or folder / "libstencil_tune_reference.so"))
    return _library


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        raise Error("device=\"cpu\" needs NumPy: pip install numpy", "missing_library") from error
    return numpy


def _numpy_array(array: Any) -> Any:
    return _numpy().asarray(array) if hasattr(array, "__array__") else _numpy().from_dlpack(array)


class ReferencePoints(PointsBase):
    """What runs of the reference do at points; ReferenceKernel.place_points() makes it."""

    fused_steps = 1
    notes: tuple[str, ...] = ()

    def __init__(self, kernel: "ReferenceKernel", sources: Positions | None, receivers: Positions | None, every: int):
        super().__init__(kernel, sources, receivers, every)
        kernel._evaluate(0, points=self)  # which checks them


class ReferenceKernel(KernelBase):
    """Runs a stencil cell by cell on the CPU, in f64 with the type's rounding. The interface is Kernel's."""

    device = "cpu"

    def __init__(self, stencil: Stencil, grid: Grid, layout: _arrays.Layout | None):
        super().__init__(stencil, grid)
        _numpy()
        if "bf16" in (grid.dtype, *self._types):
            raise ArgumentError("device=\"cpu\" takes f64, f32 and f16: NumPy has no bf16", "unknown_name")
        if layout is not None and layout.device not in (_arrays.HOST, None):
            raise ArgumentError(f"the array is on GPU {layout.device}, device=\"cpu\" was asked for")

    @property
    def evidence(self) -> Evidence:
        return Evidence("reference", "the reference on the CPU, cell by cell: for teaching and tests, slow", "reference",
                        "", "", "", "", "", (), 0, 0, 1, ())

    match = "reference"
    fused_steps = 1

    def prepare(self, stream: Any = None) -> "ReferenceKernel":
        return self

    def __call__(self, *arrays: Any, stream: Any = None, coefficients: Mapping[str, float] | None = None,
                 region: Sequence[slice] | None = None, origin: Sequence[int] | None = None, step: int = 0,
                 **named: Any) -> None:
        """One step, as Kernel's."""
        given = self._in_order(arrays, named)
        cells = (...,) if region is None else slices_of(region, self.stencil.rank)
        after = self._run(given, _ONE_LAUNCH, coefficients, origin, step)
        for place, array in enumerate(given):
            if place in self.stencil._writes:
                self._writable(array, place)[cells] = after[place][cells]

    def update_regions(self, *arrays: Any, regions: Sequence[Sequence[slice]], stream: Any = None,
                       coefficients: Mapping[str, float] | None = None) -> None:
        """One step in several regions."""
        for region in self.prepared_regions(regions):
            self(*arrays, region=region, coefficients=coefficients)

    def prepared_regions(self, regions: Iterable[Sequence[slice]]) -> list[Sequence[slice]]:
        """For update_regions()."""
        return [slices_of(region, self.stencil.rank)
                for region in _values.several(regions, "regions", "a list of regions is needed")]

    def place_points(self, sources: Positions | None = None, receivers: Positions | None = None, *,
                     every: int = 1) -> ReferencePoints:
        """Sources and receivers, as Kernel.place_points() has them."""
        return ReferencePoints(self, sources, receivers, every)

    def advance(self, arrays: Sequence[Array], *, steps: int, stream: Any = None,
                coefficients: Mapping[str, float] | None = None, origin: Sequence[int] | None = None, step: int = 0,
                points: ReferencePoints | None = None, series: Any = None, records: Any = None,
                same_layers: bool = False) -> Array | Any:
        """Steps as Kernel's: arrays take turns, and a list is reordered in place. series, records: arrays of NumPy."""
        arrays = _values.arrays(arrays)
        steps = _values.whole(steps, "steps", 0)
        _values.flag(same_layers, "same_layers")
        given = self._in_order(arrays, {})
        after = self._run(given, steps, coefficients, origin, step, points, series, records)
        fields: list[Any] = list(given)
        for _ in range(steps):
            fields = [fields[place] for place in self.stencil._next]
        moved = set(self.stencil._writes) | {place for place, taken in enumerate(self.stencil._next) if taken != place}
        for place, array in enumerate(fields):
            if place in moved and steps > 0:
                self._writable(array, place)[...] = after[place]
        if isinstance(arrays, list):
            arrays[:] = fields
        return self._result(fields)

    def advance_through(self, arrays: list[Any], histories: Mapping[str, History], *, steps: int, step: int = 0,
                        series: Any = None, records: Any = None, **more: Any) -> None:
        """Steps as Kernel's."""
        for made in range(steps):
            for name, history in histories.items():
                arrays[self.stencil.fields.index(name)] = history.stack[history.first + made * history.by]
            now = slice(made, made + 1)
            self.advance(arrays, steps=1, step=step + made, series=None if series is None else series[now],
                         records=None if records is None else records[now], **more)

    def measure(self, arrays: Sequence[Any], *, stream: Any = None, coefficients: Mapping[str, float] | None = None,
                origin: Sequence[int] | None = None, step: int = 0) -> dict[str, float]:
        """What the definition measures, of the arrays as they stand."""
        numpy, measured = _numpy(), self.stencil.measured()
        given = self._in_order(arrays, {})
        values = [self._of_grid(self._view(array, place, range(step, step + 1)), place)
                  for place, array in enumerate(given)]
        nothing = [numpy.full(self.shape, numpy.nan) for _ in measured.outputs]
        cells = ReferenceKernel(measured, self._grid, None)
        cells._evaluate(_ONE_LAUNCH, values + nothing, measured.coefficient_values(coefficients), origin, step)
        edges = edges_of(measured, self.boundary, self.shape)
        inner = tuple(slice(edge.held[0], edge.extent - edge.held[1]) for edge in edges)
        joined = {"sum": numpy.sum, "min": numpy.min, "max": numpy.max}
        return {name: float(joined[how](cell[inner])) for (name, how), cell in zip(self.stencil.measures.items(), nothing)}

    def advance_until(self, arrays: Sequence[Any], *, steps: int, every: int, until: Until, stream: Any = None,
                      coefficients: Mapping[str, float] | None = None, origin: Sequence[int] | None = None,
                      step: int = 0) -> tuple[Any, int]:
        """Steps as Kernel's, which end where it would."""
        arrays, every = _values.arrays(arrays), _values.whole(every, "every", 1)
        given, made, asked, stops = list(arrays), 0, None, False
        while True:
            now = min(every, _values.whole(steps, "steps", 0) - made)
            result = self.advance(given, steps=now, coefficients=coefficients, origin=origin, step=step + made)
            made += now
            measured = self.measure(given, coefficients=coefficients, origin=origin, step=step + made)
            if asked is not None:
                stops = bool(until(*asked))
            asked = made, measured
            if stops or made == steps:
                until(*asked)
                break
        if isinstance(arrays, list):
            arrays[:] = given
        return result, made

    def _view(self, array: Any, place: int, made: range = range(0)) -> Any:
        layout, name, profile = _arrays.read_any(array), self.stencil.fields[place], self._profiles[place]
        if layout.device != _arrays.HOST:
            self._refuse(name, layout, _arrays.HOST)
        self._refuse_type(name, layout)
        if profile is not None:
            self._refuse_profile(name, layout, profile, made)
        elif layout.shape != self._shape(place):
            raise ArgumentError(f"{name} has shape {layout.shape}, the kernel was looked up for {self._shape(place)}")
        return _numpy_array(array)

    def _of_grid(self, view: Any, place: int) -> Any:
        """The cells as f64, of a field in layers on the whole grid."""
        numpy = _numpy()
        if place not in self._slabs:
            return numpy.array(view, dtype=numpy.float64, order="C")
        cells = numpy.zeros(self.shape)
        for there, here in self._parts(place):
            cells[there] = view[here]
        return cells

    def _of_array(self, cells: Any, place: int) -> Any:
        """The other way round."""
        if place not in self._slabs:
            return cells
        array = _numpy().zeros(self._shape(place))
        for there, here in self._parts(place):
            array[here] = cells[there]
        return array

    def _parts(self, place: int) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
        """Where the cells of a field in layers are: on the grid, and in its array."""
        axis = "xyz".index(self.stencil.layer_fields[self.stencil.fields[place]])
        at, (low, high) = self.stencil.rank - 1 - axis, (self.stencil._widths or [])[axis]
        n, kept = self.shape[at], self._shape(place)[at]
        before = (slice(None),) * at
        ends = [(slice(0, n), slice(0, n))] if n == kept else [(slice(0, low), slice(0, low)),
                                                              (slice(n - high, n), slice(kept - high, kept))]
        for there, here in ends:
            yield (*before, there), (*before, here)

    def _writable(self, array: Any, place: int) -> Any:
        view = self._view(array, place)
        if not view.flags.writeable:
            raise ArgumentError(f"{self.stencil.fields[place]} is read-only, and a step writes it")
        return view

    def _run(self, given: Sequence[Any], steps: int, coefficients: Mapping[str, float] | None,
             origin: Sequence[int] | None, step: int, points: ReferencePoints | None = None, series: Any = None,
             records: Any = None) -> list[Any]:
        """What each field holds afterwards, as f64, in the stencil's order. Writes the records."""
        numpy = _numpy()
        step = _values.whole(step, "step")
        numbers = range(step, step + (1 if steps == _ONE_LAUNCH else steps))
        views: list[Any] = [self._view(array, place, numbers) for place, array in enumerate(given)]
        self._refuse_overlap(views)
        with numpy.errstate(invalid="ignore"):  # outputs may hold nothing yet
            values = [self._of_grid(view, place) for place, view in enumerate(views)]
        made: dict[str, Any] = {}
        if points is None:
            if series is not None or records is not None:
                raise ArgumentError("series and records go with points=")
        elif not isinstance(points, ReferencePoints):
            _values.refuse(points, "points", "place_points() makes them")
        else:
            takes = points._check_arrays(self, _arrays.HOST, steps, series, records)
            if takes[0] is not None:
                made["series"] = numpy.array(_numpy_array(series), dtype=numpy.float64, order="C")
            if takes[1] is not None:
                made["records"] = numpy.zeros((points.records(steps), points.receivers))
        self._evaluate(steps, values, self.stencil.coefficient_values(coefficients), origin, step, points, made)
        if "records" in made:
            _numpy_array(records)[...] = made["records"]
        return [self._of_array(value, place) for place, value in enumerate(values)]

    def _evaluate(self, steps: int, values: Sequence[Any] = (), coefficients: Sequence[float] = (),
                  origin: Sequence[int] | None = None, step: int = 0, points: PointsBase | None = None,
                  made: Mapping[str, Any] | None = None) -> None:
        """Overwrites the values. Without any it only checks the points."""
        kind, text, derivatives = self.stencil._source
        numbers = (c.c_double * len(coefficients))(*coefficients)
        fields = (c.c_void_p * len(values))(*[value.ctypes.data for value in values])
        call = _Call(text=os.fsencode(text), derivatives=derivatives.encode(), type=self.dtype.encode(),
                     boundary=self._grid.boundary.encode(), source=kind, rank=self.stencil._text_rank, steps=steps,
                     step=step, coefficients=c.addressof(numbers),
                     fields=c.addressof(fields) if values else None, every=1)
        call.extents[:] = [*self.dims, 1, 1][:_native.MAX_RANK]
        call.origin[:] = self._origin(origin) or (0, 0, 0)
        if points is not None:
            said = points._as_list()
            for name in ("source_cells", "receiver_cells", "source_cell_count", "receiver_cell_count", "sources",
                         "receivers", "every"):
                setattr(call, name, getattr(said, name))
        for name, array in (made or {}).items():
            setattr(call, name, array.ctypes.data)
        message = c.create_string_buffer(_MESSAGE_BYTES)
        if _load().stencil_tune_reference_run(c.byref(call), message, c.c_size_t(_MESSAGE_BYTES)):
            raise ArgumentError(message.value.decode(errors="replace"))

    def _refuse_overlap(self, views: Sequence[Any]) -> None:
        numpy = _numpy()
        for place in self.stencil._writes:
            for other, view in enumerate(views):
                if other != place and numpy.may_share_memory(views[place], view):
                    raise ArgumentError(f"{self.stencil.fields[place]} and {self.stencil.fields[other]} overlap")
