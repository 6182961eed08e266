"""device="cpu": the evaluator that kernels are verified against, on arrays of NumPy. For teaching and tests: slow."""

from __future__ import annotations

import ctypes as c
import os
from typing import Any, Iterable, Mapping, Sequence

from . import _arrays, _native
from ._arguments import Evidence, KernelBase
from ._errors import ArgumentError, Error
from ._request import Grid
from ._stencil import Stencil

_library: c.CDLL | None = None
_MESSAGE_BYTES = 4096
_ONE_LAUNCH = -1


def _load() -> c.CDLL:
    global _library
    if _library is None:
        folder = _native.FOLDER / "lib"
        _library = c.CDLL(str(os.environ.get("STENCIL_TUNE_REFERENCE") or folder / "libstencil_tune_reference.so"))
    return _library


def _numpy():
    try:
        import numpy
    except ImportError as error:
        raise Error("device=\"cpu\" needs NumPy: pip install numpy", "missing_library") from error
    return numpy


def _refuse_places(*given: Any) -> None:
    if any(value is not None and value != 0 for value in given):
        raise ArgumentError("the reference on the CPU has no coordinates, no number of the step and no points: run it on a "
                            "GPU")


class ReferenceKernel(KernelBase):
    """Runs a stencil cell by cell on the CPU, in f64 with the type's rounding. The interface is Kernel's."""

    device = "cpu"

    def __init__(self, stencil: Stencil, grid: Grid, layout: _arrays.Layout | None):
        super().__init__(stencil, grid)
        _numpy()
        if grid.dtype == "bf16":
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
        """One step, as Kernel's; it has no places."""
        _refuse_places(origin, step)
        given = self._in_order(arrays, named)
        after = self._run(given, _ONE_LAUNCH, coefficients)
        cells = (...,) if region is None else tuple(region)
        for place, array in enumerate(given):
            if place in self.stencil._writes:
                self._writable(array, place)[cells] = after[place][cells]

    def update_regions(self, *arrays: Any, regions: Sequence[Sequence[slice]], stream: Any = None,
                       coefficients: Mapping[str, float] | None = None) -> None:
        """One step in several regions."""
        for region in regions:
            self(*arrays, region=region, coefficients=coefficients)

    def prepared_regions(self, regions: Iterable[Sequence[slice]]) -> list[Sequence[slice]]:
        """For update_regions()."""
        return list(regions)

    def advance(self, arrays: Sequence[Any], *, steps: int, stream: Any = None,
                coefficients: Mapping[str, float] | None = None, origin: Sequence[int] | None = None, step: int = 0,
                points: Any = None, series: Any = None, records: Any = None, same_layers: bool = False) -> Any:
        """Steps as Kernel's: arrays take turns, and a list is reordered in place. It has no places and no points."""
        _refuse_places(origin, step, points, series, records)
        if steps < 0:
            raise ArgumentError(f"cannot advance by {steps} steps")
        given = self._in_order(arrays, {})
        after = self._run(given, steps, coefficients)
        fields: list[Any] = list(given)
        for _ in range(steps):
            fields = [fields[place] for place in self.stencil._next]
        moved = set(self.stencil._writes) | set(self.stencil._state)
        for place, array in enumerate(fields):
            if place in moved and steps > 0:
                self._writable(array, place)[...] = after[place]
        if isinstance(arrays, list):
            arrays[:] = fields
        return self._result(fields)

    def _view(self, array: Any, name: str):
        numpy = _numpy()
        layout = _arrays.read(array)
        if layout.device != _arrays.HOST:
            self._refuse(name, layout, _arrays.HOST)
        if layout.dtype != self.dtype:
            raise ArgumentError(f"{name} has cells of {layout.dtype}, the kernel was looked up for {self.dtype}")
        if layout.shape != self.shape:
            raise ArgumentError(f"{name} has shape {layout.shape}, the kernel was looked up for {self.shape}")
        return numpy.asarray(array) if hasattr(array, "__array__") else numpy.from_dlpack(array)

    def _writable(self, array: Any, place: int):
        view = self._view(array, self.stencil.fields[place])
        if not view.flags.writeable:
            raise ArgumentError(f"{self.stencil.fields[place]} is read-only, and a step writes it")
        return view

    def _run(self, given: Sequence[Any], steps: int, coefficients: Mapping[str, float] | None) -> list[Any]:
        """What each field holds afterwards, as f64, in the stencil's order."""
        numpy = _numpy()
        count = len(given)
        values: list[Any] = [None] * count
        views: list[Any] = [None] * count
        for place, array in enumerate(given):
            views[place] = self._view(array, self.stencil.fields[place])
            with numpy.errstate(invalid="ignore"):  # of outputs that hold nothing yet
                values[place] = numpy.array(views[place], dtype=numpy.float64, order="C")
        self._refuse_overlap(views)
        extents = (c.c_int64 * 3)(*[*self.dims, 1, 1][:3])
        numbers = self.stencil.coefficient_values(coefficients)
        fields = (c.c_void_p * count)(*[value.ctypes.data for value in values])
        message = c.create_string_buffer(_MESSAGE_BYTES)
        kind, text, derivatives = self.stencil._source
        failed = _load().stencil_tune_reference_run(
            c.c_int(kind), c.c_char_p(text.encode()), c.c_int(self.stencil.rank), c.c_char_p(derivatives.encode()),
            c.c_char_p(self.dtype.encode()), c.c_char_p(self.boundary.encode()), extents, c.c_int64(steps),
            (c.c_double * len(numbers))(*numbers), fields, message, c.c_size_t(_MESSAGE_BYTES))
        if failed:
            raise ArgumentError(message.value.decode(errors="replace"))
        return values

    def _refuse_overlap(self, views: Sequence[Any]) -> None:
        numpy = _numpy()
        for place in self.stencil._writes:
            for other, view in enumerate(views):
                if other != place and numpy.may_share_memory(views[place], view):
                    raise ArgumentError(f"{self.stencil.fields[place]} and {self.stencil.fields[other]} overlap")
