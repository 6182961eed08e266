"""Runs with sources and receivers as functions of fields, series and coefficients, and their gradients.

A step with points is a step, sources added to what its stages write, and a record of the state after it. Back from the
last step: the gradients of its records are added to the state's at the receivers, and a source gets what the gradients of
the outputs hold at its cells. The states that derivatives depend on are those kept along the way, every `stride`-th, and
what is made of them again.
"""

from __future__ import annotations

import math
from typing import Any, Iterator, Mapping, Sequence

from .._arguments import History
from .._errors import ArgumentError
from .._lookup import kernel_for
from .._stencil import Stencil
from .padding import ArrayOperations
from .run import Run, Span
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
        self._kernels: dict[int, Any] = {}  # for runs of so many steps, whose arrays are the same ones in turn

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

    # ---- forward ----

    def propagate(self, inputs: Sequence[Any],
                  coefficients: Mapping[str, float] | None) -> tuple[list[Any], Any, list[Any]]:
        """The state after the run, the records [step, receiver], and the states that were kept, a stack for each field in
        the order of `kept`. The inputs stay as they are."""
        like = self._like(inputs)
        self._settle(tuple(like.shape))
        after, records, kept = self._propagate(self.arrays.on_slabs(dict(zip(self.stencil.inputs, inputs))), like, coefficients)
        return list(self.arrays.on_grid(after, like).values()), records, kept

    def _propagate(self, given: Mapping[str, Any], like: Any,
                   coefficients: Mapping[str, float] | None) -> tuple[dict[str, Any], Any, list[Any]]:
        """The same for arrays as kernels take them."""
        arrays = [self.arrays.room(name, like) if name not in given else
                  self.ops.copy(given[name]) if name in self.state else given[name] for name in self.stencil.arguments]
        records = self.ops.series(like, (self.steps, self.shot.receivers))
        kept = {name: self.arrays.room(name, like, len(self.starts) - 1) for name in self.kept}
        if kept and self.stride == 1 and all(self._newer(name) != name for name in kept):
            own = {self._newer(name): arrays[self.fields[self._newer(name)]] for name in kept}
            histories = {self._newer(name): History(stack, 0, 1) for name, stack in kept.items()}
            self._advance(like, arrays, 0, self.steps - 1, coefficients, records, histories)
            for name, array in own.items():
                arrays[self.fields[name]] = array
            self._advance(like, arrays, self.steps - 1, 1, coefficients, records)
            older = [name for name in self.state if self._newer(name) not in own]  # stacks are other outputs
            return {name: self.ops.copy(arrays[self.fields[name]]) if name in older else arrays[self.fields[name]]
                    for name in self.state}, records, list(kept.values())
        for number, start in enumerate(self.starts):
            for name in kept if number else ():
                kept[name][number - 1][...] = arrays[self.fields[name]]
            self._advance(like, arrays, start, min(self.stride, self.steps - start), coefficients, records)
        return {name: arrays[self.fields[name]] for name in self.state}, records, list(kept.values())

    def _advance(self, like: Any, arrays: list[Any], start: int, steps: int, coefficients: Mapping[str, float] | None,
                 records: Any = None, histories: Mapping[str, History] | None = None) -> None:
        """Reorders the arrays so that each field has its own."""
        kernel = self.arrays.kernel(like, arrays, steps, histories) if histories else self._kernels.get(steps)
        if kernel is None:
            kernel = self._kernels[steps] = self.arrays.kernel(like, arrays, steps)
        points = self.shot.placed(kernel, records is not None)
        taken: dict[str, Any] = {}
        if points is not None:
            made = slice(start, start + steps)
            taken = {"points": points, "series": self.series[made] if self.shot.sources else None,
                     "records": records[made] if records is not None and self.shot.receivers else None}
        taken.update(self._place(start))
        if histories:
            kernel.advance_through(arrays, histories, steps=steps, coefficients=coefficients, **taken)
        else:
            kernel.advance(arrays, steps=steps, coefficients=coefficients, **taken)

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

    def _began_with(self, number: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs of the step at one of the starts."""
        return {name: self._began_with_field(name, number, given) for name in given}

    def _began_with_field(self, name: str, number: int, given: Mapping[str, Any]) -> Any:
        if number == 0 or name not in self.state:
            return given[name]
        if name not in self._kept:
            return self._began_with_field(self._newer(name), number - 1, given)
        return self._kept[name][number - 1]

    def spans_back(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None, needed: bool) -> Iterator[Span]:
        given = self.arrays.on_slabs(dict(zip(self.stencil.inputs, inputs)))
        if not needed:
            yield from super().spans_back(inputs, coefficients, needed)
        elif self._is_reversed:
            for step, before in self._states_taken_back(inputs, coefficients):
                yield Span(step, 1, before, {})
        elif self.stride == 1:
            yield from self._kept_spans(given)
        else:
            for number in reversed(range(len(self.starts))):
                yield from self._made_again(number, given, inputs, coefficients)

    def _made_again(self, number: int, given: Mapping[str, Any], inputs: Sequence[Any],
                    coefficients: Mapping[str, float] | None) -> Iterator[Span]:
        """The steps from one of the starts, with their states."""
        start, first = self.starts[number], self._began_with(number, given)
        last = min(start + self.stride, self.steps) - 1
        if last > start:  # a run that keeps all of its states
            run = self._piece(start, last - start, 1)
            after, _, kept = run._propagate(first, self._like(inputs), coefficients)
            run._kept = dict(zip(run.kept, kept))
            yield Span(last, 1, {**first, **after}, {})
            for span in run._kept_spans(first):
                yield span._replace(last=start + span.last)
        else:
            yield Span(start, 1, first, {})

    def _piece(self, start: int, steps: int, stride: int) -> Propagation:
        series = self.series[start:start + steps] if self.shot.sources else None
        return type(self)(self.stencil, self.boundary, steps, self.ops, self.shot, series, stride, self.origin,
                          self.first + start)

    def _kept_spans(self, given: Mapping[str, Any]) -> Iterator[Span]:
        """All steps, where the run keeps the state before each but the first."""
        roots = {name: self._root(name) for name in self.state} if self._kept else {}
        # Steps that read what was given.
        early = min(self.steps, 1 + max(age for _, age in roots.values())) if roots else self.steps
        if early < self.steps:
            histories = {name: History(self._kept[root], self.steps - 2 - age, -1) for name, (root, age) in roots.items()}
            constants = {name: array for name, array in given.items() if name not in self.state}
            yield Span(self.steps - 1, self.steps - early, constants, histories)
        for step in reversed(range(early)):
            yield Span(step, 1, self._began_with(step, given), {})

    def _root(self, name: str) -> tuple[str, int]:
        """The kept field that this one was, and how many steps before."""
        for age in range(len(self.stencil.fields)):
            if name in self._kept:
                return name, age
            name = self._newer(name)
        raise AssertionError(f"{name} is not kept")

    def _states_from_the_last(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None,
                              needed: bool) -> Iterator[tuple[int, dict[str, Any] | None]]:
        if not needed or self.steps == 1:
            yield from super()._states_from_the_last(inputs, coefficients, needed)
            return
        for span in self.spans_back(inputs, coefficients, needed):
            for step in span.single_steps():
                yield step.last, self.arrays.on_grid(step.arrays, self._like(inputs))

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
