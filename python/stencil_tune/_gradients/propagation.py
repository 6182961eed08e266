"""Runs with sources and receivers as functions of fields, series and coefficients, and their gradients.

A step with points is a step, sources added to what its stages write, and a record of the state after it. Back from the
last step: the gradients of its records are added to the state's at the receivers, and a source gets what the gradients of
the outputs hold at its cells. The states that derivatives depend on are those kept along the way, every `stride`-th, and
what is made of them again.
"""

from __future__ import annotations

import math
from typing import Any, Iterator, Mapping, Sequence

from .._errors import ArgumentError
from .._lookup import kernel_for
from .._stencil import Stencil
from .edges import edges_of, outside_layers
from .padding import ArrayOperations
from .run import Run
from .shot import Cells, Shot
from .steps_back import steps_back


REVERSED = -1  #: in place of a stride


class Propagation(Run):
    """One call: a run of a stencil, its series [step, source], and how many steps there are from one kept state to the
    next; 0: none is kept; REVERSED: the last one is taken back."""

    def __init__(self, stencil: Stencil, boundary: str, steps: int, operations: ArrayOperations, shot: Shot,
                 series: Any = None, stride: int = 0, origin: Sequence[int] | None = None, first: int = 0):
        super().__init__(stencil, boundary, steps, operations, origin, first)
        self.shot, self.series = shot, series
        self.stride = stride if stride > 0 else steps
        self._is_reversed = stride == REVERSED
        self._last: Sequence[Any] = ()  # state
        self._kept: dict[str, Any] = {}
        self._sources: dict[str, Cells] = {}
        self._receivers: dict[str, Cells] = {}

    @property
    def keeps(self) -> bool:
        return False  # several pieces make a run

    @property
    def kept(self) -> list[str]:
        """Fields whose states are kept. Where each one is, older time levels are the newer ones of the step before."""
        if len(self.starts) == 1:
            return []
        return [name for name in self.state if self.stride > 1 or self._newer(name) in self.stencil.outputs]

    @property
    def starts(self) -> range:
        """The steps whose states are kept; that of the first is given."""
        return range(0, self.steps, self.stride)

    def kept_shape(self, name: str, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a kept state. Where a field exists in layers alone these are kept, side by side."""
        axis, start, stop = self._gap(name, shape)
        return *shape[:axis], shape[axis] - (stop - start), *shape[axis + 1:]

    def _gap(self, name: str, shape: Sequence[int]) -> tuple[int, int, int]:
        """The axis between whose layers the field does not exist, and from where to where."""
        if name not in self.stencil.layer_fields:
            return 0, 0, 0
        index = outside_layers(self.stencil, name, edges_of(self.stencil, self.boundary, shape))
        return len(index) - 1, index[-1].start, index[-1].stop

    def _parts(self, name: str, shape: Sequence[int]) -> list[tuple[Any, Any]]:
        """The cells of a field, as indices of its array and of a kept state."""
        axis, start, stop = self._gap(name, shape)
        before = (slice(None),) * axis
        return [((*before, slice(start)),) * 2, ((*before, slice(stop, None)), (*before, slice(start, None)))]

    # ---- forward ----

    def propagate(self, inputs: Sequence[Any],
                  coefficients: Mapping[str, float] | None) -> tuple[list[Any], Any, list[Any]]:
        """The state after the run, the records [step, receiver], and the states that were kept, a stack for each field in
        the order of `kept`. The inputs stay as they are."""
        like, arrays = self._like(inputs), self._arrays(inputs)
        self._settle(tuple(like.shape))
        records = self.ops.series(like, (self.steps, self.shot.receivers))
        kept = {name: self.ops.zeros(like, (len(self.starts) - 1, *self.kept_shape(name, like.shape)))
                for name in self.kept}
        # The stacks of whole fields are where single steps write them.
        written = {name: self.fields[self._newer(name)] for name in kept
                   if self.stride == 1 and name not in self.stencil.layer_fields and self._newer(name) != name}
        last = {place: arrays[place] for place in written.values()}
        for number, start in enumerate(self.starts):
            for name in kept if number else ():
                for cells, there in self._parts(name, like.shape) if name not in written else ():
                    kept[name][number - 1][there] = arrays[self.fields[name]][cells]
            for name, place in written.items():
                arrays[place] = kept[name][number] if number < len(self.starts) - 1 else last[place]
            self._advance(arrays, start, min(self.stride, self.steps - start), coefficients, records)
        after = {name: arrays[self.fields[name]] for name in self.state}
        for name in after if written else ():
            if all(after[name] is not array for array in last.values()):
                after[name] = self.ops.copy(after[name])  # stacks are other outputs
        self._clear_outside_layers(after)
        return list(after.values()), records, list(kept.values())

    def _advance(self, arrays: list[Any], start: int, steps: int, coefficients: Mapping[str, float] | None,
                 records: Any = None) -> None:
        """Reorders the arrays so that each field has its own."""
        kernel = kernel_for(self.stencil, self._whole(self.stencil.arguments, arrays), self.boundary, steps)
        taken: dict[str, Any] = {}
        points = self.shot.placed(kernel, records is not None)
        if points is not None:
            made = slice(start, start + steps)
            taken = {"points": points, "series": self.series[made] if self.shot.sources else None,
                     "records": records[made] if records is not None and self.shot.receivers else None}
        kernel.advance(arrays, steps=steps, coefficients=coefficients, **self._place(start), **taken)

    # ---- backward ----

    def gradients(self, inputs: Sequence[Any], of_state: Sequence[Any], of_records: Any, kept: Sequence[Any],
                  coefficients: Mapping[str, float] | None,
                  wanted: Sequence[str]) -> tuple[list[Any], dict[str, Any]]:
        """Gradients of the inputs (None: zero, or not wanted) and of the coefficients; those of the series are in
        `of_series`.

        of_state, of_records: gradients of the state after the run, and of the records; None: zeros.
        kept: as propagate() returns them; of a run that is taken back the state after it.
        wanted: inputs and coefficients.
        """
        like = of_state[0]
        self._settle(tuple(like.shape))
        self._kept, self._last, self._of_records = dict(zip(self.kept, kept)), kept, of_records
        self.of_series = self.ops.series(like, (self.steps, self.shot.sources))
        self._sources, self._receivers = self.shot.cells(self.stencil, like, self.ops)
        if self.fuses_back and (back := steps_back(self, like, wanted)) is not None:
            gradients, total = back.gradients(inputs, of_state, coefficients)
            return [gradients.get(name) for name in self.stencil.inputs], total
        for_coefficients = any(name in self.stencil.coefficients for name in wanted)
        return self._step_by_step(inputs, of_state, coefficients, for_coefficients, {})

    def _stride(self) -> int:
        return self.stride

    def _checkpoints(self, inputs: Sequence[Any], starts: Sequence[int],
                     coefficients: Mapping[str, float] | None) -> Iterator[list[Any]]:
        given = dict(zip(self.stencil.inputs, inputs))
        for number in reversed(range(len(starts))):
            yield [self._state(name, number, given) if name in self.state else value for name, value in given.items()]

    def _state(self, name: str, number: int, given: Mapping[str, Any]) -> Any:
        """A field at one of the starts."""
        if number == 0:
            return given[name]
        if name not in self._kept:
            return self._state(self._newer(name), number - 1, given)
        held = self._kept[name][number - 1]
        if name not in self.stencil.layer_fields:
            return held
        array = self.ops.zeros(given[name], given[name].shape)
        for cells, there in self._parts(name, array.shape):
            array[cells] = held[there]
        return array

    def _states_from_the_last(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None,
                              needed: bool) -> Iterator[tuple[int, dict[str, Any] | None]]:
        if needed and self._is_reversed:
            yield from self._states_taken_back(inputs, coefficients)
            return
        if not needed or self.stride == 1:
            yield from super()._states_from_the_last(inputs, coefficients, needed)
            return
        for start, first in zip(reversed(self.starts), self._checkpoints(inputs, self.starts, coefficients)):
            last = min(start + self.stride, self.steps) - 1
            if last > start:  # a run that keeps all of its states
                series = self.series[start:last] if self.shot.sources else None
                run = type(self)(self.stencil, self.boundary, last - start, self.ops, self.shot, series, 1, self.origin,
                                 self.first + start)
                after, _, kept = run.propagate(first, coefficients)
                run._kept = dict(zip(run.kept, kept))
                yield last, {**dict(zip(self.stencil.inputs, first)), **dict(zip(self.state, after))}
                for step, state in run._states_from_the_last(first, coefficients, needed):
                    yield start + step, state
            else:
                yield start, dict(zip(self.stencil.inputs, first))

    def check_reversal(self) -> None:
        """Raises ArgumentError where a run cannot be taken back."""
        self.stencil.reversed()
        for name in self.shot.positions[0]:
            if name not in map(self._newer, self.state):
                raise ArgumentError(f"sources of {name}: a run is taken back with sources of what the next step begins with")

    def _states_taken_back(self, inputs: Sequence[Any],
                           coefficients: Mapping[str, float] | None) -> Iterator[tuple[int, dict[str, Any]]]:
        """The states by steps back from the last one. The arrays are good until the next one is asked for."""
        back, given, last = self.stencil.reversed(), dict(zip(self.stencil.inputs, inputs)), dict(zip(self.state, self._last))
        arrays = [self.ops.copy(last[name]) if name in last else given[name] if name in given else
                  self.ops.zeros(self._last[0], self._last[0].shape) for name in back.arguments]
        kernel = kernel_for(back, self._whole(back.arguments, arrays), self.boundary)
        of = {self._newer(name): back.fields.index(name) for name in self.state}
        for step in reversed(range(self.steps)):
            for name, at in self._sources.items():
                self.ops.add_at(arrays[of[name]], at.places, -at.weights * self.series[step][at.points])
            kernel.advance(arrays, steps=1, coefficients=self._known(back, coefficients), **self._place(step))
            yield step, {**given, **{name: arrays[back.fields.index(name)] for name in self.state}}

    def _record_back(self, step: int, back: Mapping[str, Any]) -> None:
        if self._of_records is None:
            return
        for name, at in self._receivers.items():
            self.ops.add_at(back[name], at.places, at.weights * self._of_records[step][at.points])

    def _add_sources(self, step: int, values: Mapping[str, Any]) -> None:
        for name, at in self._sources.items():
            if name in values:
                self.ops.add_at(values[name], at.places, at.weights * self.series[step][at.points])

    def _sources_back(self, step: int, of_outputs: Mapping[str, Any]) -> None:
        for name, at in self._sources.items():
            if name in of_outputs:
                self.ops.add_at(self.of_series[step], at.points, at.weights * of_outputs[name].reshape(-1)[at.places])


def checkpoint_stride(steps: int) -> int:
    """Steps from one kept state to the next with which a run keeps the fewest, and makes each but these twice."""
    return math.isqrt(steps - 1) + 1
