"""Kernels on a GPU: what was found, and launching it on arrays."""

from __future__ import annotations

import ctypes as c
import os
from typing import Any, Callable, Iterable, Mapping, Sequence

from . import _arrays, _native, _streams, _values
from ._array_arguments import KernelOnArrays
from ._arguments import Array, Evidence, History
from ._errors import ArgumentError
from ._points import Points, Positions
from ._regions import Regions, as_numbers, box_of

_RUN = -1  # in place of a stage

#: Is given the number of steps that were made and what was measured then; what is true ends the run.
Until = Callable[[int, Mapping[str, float]], Any]


class Kernel(KernelOnArrays):
    """The best kernel known for a stencil on a grid; `lookup()` makes one. May be used from several threads at once.

    Attributes:
        stencil: what it computes.
        device: ordinal of the GPU; None for one by its name, which can be read and exported, not launched.
    """

    # ---- what was found ----

    @property
    def evidence(self) -> Evidence:
        """Why this kernel: of what most of a long advance() goes through. Where that is several, stages or zones of the
        grid, it is that of the worst match with the rate of all together."""
        return self.evidence_of(_RUN)

    def evidence_of(self, stage: int) -> Evidence:
        """Why this kernel runs the stage in a call."""
        native, from_c = self._native, _native.Evidence(struct_size=c.sizeof(_native.Evidence))
        stage = _values.whole(stage, "stage", _RUN, _values.INT32)
        native.check(native.kernel_evidence_of(self._handle, stage, c.byref(from_c)))

        def text(value: bytes | None) -> str:
            return (value or b"").decode(errors="replace")

        return Evidence(native.match_name(from_c.match).decode(), text(from_c.sentence), text(from_c.code),
                        text(from_c.tuned_code), text(from_c.gpu), text(from_c.driver), text(from_c.nvrtc),
                        text(from_c.tuned_at), tuple(from_c.tuned_extents) if from_c.tuned_code else (),
                        from_c.gstencils, from_c.share, from_c.fused_steps, tuple(text(from_c.notes).splitlines()))

    @property
    def match(self) -> str:
        """How well it fits what was asked for, of the stage that matches worst: "exact" is best."""
        return str(self._native.match_name(self._native.kernel_match(self._handle)).decode())

    @property
    def fused_steps(self) -> int:
        """Steps that one launch of advance() makes."""
        return int(self._native.kernel_fused_steps(self._handle))

    @property
    def architecture(self) -> str:
        """"sm_90"."""
        return str(self._native.kernel_architecture(self._handle).decode())

    @property
    def alignment(self) -> int:
        """Bytes that addresses of arrays must be multiples of."""
        return int(self._native.kernel_alignment(self._handle))

    @property
    def workspace_bytes(self) -> int:
        """Device memory for spare buffers that each stream takes which advances."""
        return int(self._native.kernel_workspace_bytes(self._handle))

    def updated(self, stage: int = 0) -> tuple[slice, ...]:
        """The cells that a step writes, as an index of the arrays: without the layers that boundary hold keeps."""
        low, high = (c.c_int64 * _native.MAX_RANK)(), (c.c_int64 * _native.MAX_RANK)()
        stage = _values.whole(stage, "stage", 0, _values.INT32)
        self._native.check(self._native.kernel_updated_box(self._handle, stage, low, high))
        return tuple(slice(low[axis], high[axis]) for axis in reversed(range(self.stencil.rank)))

    def source(self, stage: int = 0) -> str:
        """CUDA source, as NVRTC is given it."""
        return self._native.text(self._native.kernel_source, self._handle,
                                 _values.whole(stage, "stage", _RUN, _values.INT32))

    def export(self, path: str | os.PathLike[str] | None = None, *, name: str | None = None, stage: int = 0,
               with_main: bool = False, split_header: bool = False, architecture: str | None = None) -> str | None:
        """A CUDA file that nvcc alone builds: the kernel, a launcher, its evidence in a comment.

        Args:
            path: of the file, which is written; None: its text is returned.
            name: of the launcher; None: after the file, else after the stencil.
            stage: of the stencil; -1: whole steps, where one launch makes them.
            with_main: adds a self-check and a benchmark.
            split_header: declares the launcher in a header beside the file.
            architecture: "sm_90"; None: what the kernel was looked up for.
        """
        native = self._native
        options = _native.ExportOptions(
            c.sizeof(_native.ExportOptions), None if name is None else _values.text(name, "name").encode(),
            None if architecture is None else _values.text(architecture, "architecture").encode(),
            _values.whole(stage, "stage", _RUN, _values.INT32), _values.flag(with_main, "with_main"),
            _values.flag(split_header, "split_header"))
        if path is not None:
            path = _values.path(path, "path")
            native.check(native.export_file(self._handle, c.byref(options), os.fsencode(path)))
            return None
        if split_header:
            raise ArgumentError("a header of its own takes a path")
        return native.text(lambda out: native.export_text(self._handle, c.byref(options), out, None))

    # ---- running it ----

    def prepare(self, stream: Any = None) -> "Kernel":
        """Compiles and loads it now, and makes what runs on the stream need; else the first call does.

        Needed before launches are captured into a CUDA graph. Returns the kernel.
        """
        _native.use_gpu()
        where = 0 if stream is None else _streams.address_of(stream)
        self._native.check(self._native.prepare_on_device(self._handle, where))
        return self

    def __call__(self, *arrays: Any, stream: Any = None, coefficients: Mapping[str, float] | None = None,
                 region: Sequence[slice] | None = None, origin: Sequence[int] | None = None, step: int = 0,
                 **named: Any) -> None:
        """One step, asynchronous on the stream.

        Args:
            arrays: one for each of `stencil.arguments`, in that order, or by name: kernel(u, u_next),
                kernel(u=u, u_next=v). Indexed [z, y, x], of `shape`, `dtype` and `pitch`, on the
                kernel's GPU. What is written must not overlap what is read.
            stream: of PyTorch, CuPy or numba, one with __cuda_stream__, or an address. None: the current one of the
                library that the first array is from; what the array announces; else the legacy default stream.
            coefficients: values by name, instead of the stencil's.
            region: slices of the arrays that limit the step to some cells, for stencils of one stage.
            origin: coordinates of the arrays' first cell, (z, y, x), for definitions that use coordinates; None: zeros.
            step: number of the step, for definitions that use it.

        Raises:
            ArgumentError: an array of another type, shape, pitch or device, that overlaps, is freed or read-only.
            Error: the kernel cannot be compiled or launched.
        """
        plain = coefficients is None and region is None and origin is None and type(step) is int and not step
        if plain and stream is None and not named and self._stepped(arrays):
            return
        given: Sequence[Any] = arrays
        if named or len(arrays) != self._count:
            given = self._in_order(arrays, named)
        step = _values.whole(step, "step")
        addresses, where = self._addresses(given, stream, range(step, step + 1))
        fields = self._fields.pack(*addresses)
        if plain:
            status = self._step(self._handle, where, fields)
        else:
            values, count = self._coefficients(coefficients)
            low, high = (None, None) if region is None else map(as_numbers, self._box(region))
            status = self._native.launch_at_on_device(self._handle, self._origin(origin), step, where, fields,
                                                      self._count, values, count, low, high)
        if status:
            self._native.check(status)

    def advance(self, arrays: Sequence[Array], *, steps: int, stream: Any = None,
                coefficients: Mapping[str, float] | None = None, origin: Sequence[int] | None = None, step: int = 0,
                points: Points | None = None, series: Any = None, records: Any = None,
                same_layers: bool = False) -> Array | Any:
        """`steps` steps, asynchronous on the stream, with as many fused as the kernel was looked up for.

        Args:
            arrays: one for each of `stencil.arguments`; a list is reordered in place: each argument then has the array
                that will hold it. Under boundary hold the layers that are never written are first copied from the
                current arrays to those that they take turns with.
            steps: 0 or more.
            stream, coefficients, origin: as for a call.
            step: number of the first step that is made.
            points: sources and receivers, from place_points().
            series: what the sources add, [step of this call, source], of type points.dtype.
            records: what the receivers see goes there, [record, receiver], points.records(steps) rows of that type.
            same_layers: the arrays carry the same held layers already, as after another advance() of them: they are not
                copied again. Not with points.

        Returns:
            The array that holds the state once the stream gets there, one of those given: `u`. A tuple, in the order of
            `stencil.inputs`, where a step changes several fields that the next one reads.
        """
        arrays = _values.arrays(arrays)
        steps = _values.whole(steps, "steps", 0)
        step = _values.whole(step, "step")
        if len(arrays) != self._count:
            self._in_order(arrays, {})
        before, where = self._addresses(arrays, stream, range(step, step + steps), whole=True)
        values, count = self._coefficients(coefficients)
        fields = self._fields.array(*before)
        native, own = self._native, (where, fields, self._count, steps, values, count)
        same_layers = _values.flag(same_layers, "same_layers")
        if points is not None:
            if not isinstance(points, Points):
                _values.refuse(points, "points", "place_points() makes them")
            if same_layers:
                raise ArgumentError("same_layers goes without points=")
            given = points._check_arrays(self, self.device, steps, series, records, where)
            status = native.advance_with_points_on_device(self._handle, points._handle, *given, self._origin(origin),
                                                          step, *own)
        elif series is not None or records is not None:
            raise ArgumentError("series and records go with points=")
        elif same_layers:
            status = native.advance_again_on_device(self._handle, self._origin(origin), step, *own)
        elif origin is None and not step:
            status = native.advance_on_device(self._handle, *own)
        else:
            status = native.advance_at_on_device(self._handle, self._origin(origin), step, *own)
        native.check(status)
        return self._result(self._places(arrays, before, fields))

    def advance_through(self, arrays: list[Any], histories: Mapping[str, History], *, steps: int,
                        coefficients: Mapping[str, float] | None = None, origin: Sequence[int] | None = None, step: int = 0,
                        points: Points | None = None, series: Any = None, records: Any = None) -> None:
        """Steps made one by one, with another array of some fields in each: advance() in other respects."""
        kinds = (_native.History * max(len(histories), 1))()
        stacks: list[tuple[History, int, int]] = []  # with the address of the first array, and bytes to the next
        for kind, (name, history) in zip(kinds, histories.items()):
            place = self.stencil.fields.index(name)
            arrays[place] = history.stack[history.first]
            first = _arrays.read_any(arrays[place]).address or 0
            apart = (_arrays.read_any(history.stack[history.first + history.by]).address or 0) - first if steps > 1 else 0
            kind.field, kind.bytes = place, apart
            stacks.append((history, first, apart))
        before, where = self._addresses(arrays, None, range(step, step + steps), whole=True)
        values, count = self._coefficients(coefficients)
        fields = self._fields.array(*before)
        placed = (None, None, None) if points is None else (
            points._handle, *points._check_arrays(self, self.device, steps, series, records, where))
        self._native.check(self._native.advance_with_histories_on_device(
            self._handle, kinds, len(histories), *placed, self._origin(origin), step, where, fields, self._count, steps,
            values, count))
        array_at: dict[int | None, Any] = dict(zip(before, arrays))
        for address in fields:
            for history, first, apart in stacks if address not in array_at else ():
                number = ((address or 0) - first) // apart if apart else 0
                if 0 <= number < steps and address == first + number * apart:
                    array_at[address] = history.stack[history.first + number * history.by]
        arrays[:] = [array_at[address] for address in fields]

    def measure(self, arrays: Sequence[Any], *, stream: Any = None, coefficients: Mapping[str, float] | None = None,
                origin: Sequence[int] | None = None, step: int = 0) -> dict[str, float]:
        """What the definition measures, of the arrays as they stand; waits for it. Arguments are those of advance()."""
        found: dict[str, float] = {}
        self.advance_until(list(arrays), steps=0, every=1, until=lambda _, measured: found.update(measured),
                           stream=stream, coefficients=coefficients, origin=origin, step=step)
        return found

    def advance_until(self, arrays: Sequence[Any], *, steps: int, every: int, until: Until, stream: Any = None,
                      coefficients: Mapping[str, float] | None = None, origin: Sequence[int] | None = None,
                      step: int = 0) -> tuple[Any, int]:
        """advance() that measures what the definition says after each `every` steps, and after the last, and stops when
        it is told to. The GPU does not wait for the answer: it has the next steps to do by then, so that a run ends
        `every` steps later.

        Args:
            arrays, stream, coefficients, origin, step: as for advance(). Arrays of fields that vary with time have an
                entry for the step after the last.
            steps: the most that are made.
            every: steps from one measurement to the next.
            until: is called with the number of steps that were made, and the measured numbers by their names. The run
                stops where it returns what is true: until=lambda steps, measured: measured["residual"] < 1e-6

        Returns:
            What advance() returns, and the number of steps that were made.
        """
        arrays = _values.arrays(arrays)
        steps = _values.whole(steps, "steps", 0)
        step = _values.whole(step, "step")
        every = _values.whole(every, "every", 1)
        if len(arrays) != self._count:
            self._in_order(arrays, {})
        self.stencil.measured()  # says so where there is nothing to measure
        before, where = self._addresses(arrays, stream, range(step, step + steps + 1), whole=True)
        values, count = self._coefficients(coefficients)
        fields = self._fields.array(*before)
        made = c.c_int64()
        failures: list[BaseException] = []

        def stop(_: Any, steps_made: int, numbers: Any, size: int) -> int:
            try:
                return 1 if failures or until(steps_made, self._measured(numbers[:size])) else 0
            except BaseException as failure:  # it cannot pass through C
                failures.append(failure)
                return 1

        status = self._native.advance_until_on_device(self._handle, self._origin(origin), step, where, fields,
                                                      self._count, steps, values, count, every, _native.STOP(stop), None,
                                                      c.byref(made))
        self._native.check(status)
        after = self._places(arrays, before, fields)
        if failures:
            raise failures[0]
        return self._result(after), made.value

    def _places(self, arrays: Sequence[Any], before: Sequence[int], fields: Any) -> list[Any]:
        """The arrays in the order of the fields that they hold after a run; a list is put in that order."""
        array_at: dict[int | None, Any] = dict(zip(before, arrays))
        after = [array_at[address] for address in fields]
        if isinstance(arrays, list):
            arrays[:] = after
        return after

    def update_regions(self, *arrays: Any, regions: Regions, stream: Any = None,
                       coefficients: Mapping[str, float] | None = None) -> None:
        """One step in several regions, in one call: as a call for each of them. They must not overlap."""
        if not isinstance(regions, Regions):
            _values.refuse(regions, "regions", "prepared_regions() makes them")
        if len(arrays) != self._count:
            self._in_order(arrays, {})
        addresses, where = self._addresses(arrays, stream, range(1))
        values, count = self._coefficients(coefficients)
        fields = self._fields.pack(*addresses)
        self._native.check(self._native.launch_boxes_on_device(self._handle, where, fields, self._count, values, count,
                                                               regions.boxes, regions.number))

    def prepared_regions(self, regions: Iterable[Sequence[slice]]) -> Regions:
        """For update_regions(), of slices of the arrays: the cells in them that a step updates."""
        boxes = [self._box(region) for region in _values.several(regions, "regions", "a list of regions is needed")]
        return Regions(as_numbers([value for low, high in boxes for value in (*low, *high)]), len(boxes))

    def _box(self, region: Sequence[slice]) -> tuple[list[int], list[int]]:
        return box_of(region, self.dims, self.updated())

    def place_points(self, sources: Positions | None = None, receivers: Positions | None = None, *,
                     every: int = 1) -> Points:
        """Sources, which add time series at cells during advance(), and receivers, which record cells; exact inside
        fused steps. Copies their tables to the GPU, and waits for that.

        Args:
            sources: positions by field. The field is one that a step writes, under that name: {"p_next": [(z, y, x)]}.
                At each step, right after the field is written, series[step, source] is added there.
            receivers: positions by field of the state, under the name that it has after a step: {"p": [...]}. They
                record what the field holds there after a step.
            every: steps from one record to the next.

        Positions are in cells, (z, y, x) as arrays are indexed, whole numbers at the middle of a cell. One between cells
        has those around it, weighted linearly along each axis.

        Raises:
            ArgumentError: a point outside, or in a layer that boundary hold keeps; the message names the first.
        """
        _native.use_gpu()
        return Points(self, sources, receivers, every)
