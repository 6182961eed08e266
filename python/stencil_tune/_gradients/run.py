"""Runs as functions of their fields, and their gradients, for libraries that differentiate.

Written against the few operations that arrays of NumPy, CuPy and PyTorch share. A step is u' = E(S(B(u))): B extends u
beyond the edges by the boundary, S is the stencil, E puts back the layers that boundary hold keeps. Its adjoint runs
the other way round: held layers go their own way, the adjoint stencil runs with zeros beyond the edges, on a grid with
room for what falls outside, and what fell outside is folded back to where B had read it. Stages of a step are taken
back one by one, the last one first.

Where cells or steps are not alike (coordinates, profiles, layers, distances from edges), weights are those of the cell that
read. So the grid of the adjoint has room beyond periodic edges too, and knows where the grid's own edges are.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from .._arguments import History
from .._errors import ArgumentError
from .._lookup import kernel_for
from .._request import Grid, boundary_text, checked
from .._stencil import Stencil
from . import fused_back
from .edges import (Edge, around, edge_coefficients, edges_of, is_hold_alone, is_periodic, outside_layers, shell,
                    widths_with_room, zeros_outside)
from .field_arrays import FieldArrays
from .padding import ArrayOperations, extended, folded, padded_with_zeros
from .shot import Shot
from .steps_back import steps_back

_FEW_COEFFICIENTS = 2  # each gets a run of tangents, in place of checkpoints
_FEW_STEPS = 4  # checkpoints of no more steps cost less than one more kernel to compile


class Stage:
    """One stage of a step, and its derivatives."""

    def __init__(self, stencil: Stencil):
        self.stencil = stencil

    @functools.cached_property
    def adjoint(self) -> Stencil:
        return self.stencil.adjoint()

    @functools.cached_property
    def coefficient_adjoint(self) -> Stencil | None:
        """None where no coefficient counts."""
        try:
            return self.stencil.coefficient_adjoint()
        except ArgumentError:
            return None

    @property
    def needs_states(self) -> bool:
        return any(name in self.stencil.fields for name in self.adjoint.inputs)


class Span(NamedTuple):
    """Steps of a run, from `last` back, and the arrays that the last one began with, as kernels take them."""

    last: int
    steps: int
    arrays: dict[str, Any]
    histories: dict[str, History]  #: of the fields that other steps began with others of

    def single_steps(self) -> Iterator[Span]:
        for back in range(self.steps):
            before = {name: history.stack[history.first + back * history.by] for name, history in self.histories.items()}
            yield Span(self.last - back, 1, {**self.arrays, **before}, {})


class Run:
    """`steps` steps of a stencil as a function from its inputs to the state."""

    fuses_back = True  #: whether its library launches kernels on parts of arrays
    knows_places = True  #: whether it says where cells are

    def __init__(self, stencil: Stencil, boundary: str | Mapping[str, str], steps: int, operations: ArrayOperations,
                 origin: Sequence[int] | None = None, first: int = 0):
        self.stencil = stencil
        self.boundary = boundary_text(boundary)
        self.steps = steps
        self.ops = operations
        self.origin = tuple(origin) if origin is not None else (0,) * stencil.rank
        self.first = first  # number of the first step
        self.shot = Shot({}, {})  # runs with points have one, a series, and gradients of both
        self.series: Any = None
        self.of_series: Any = None
        self._of_records: Any = None
        self.fields = {name: place for place, name in enumerate(stencil.fields)}
        self.state = [stencil.fields[place] for place in stencil._state]
        if not self.state:
            raise ArgumentError(f"stencil '{stencil.name}' has no rotation: it says no next step; u_next = ... does, or "
                                "[rotate] in a definition")
        if steps < 1:
            raise ArgumentError(f"a run of {steps} steps: give 1 or more")

    @property
    def arrays(self) -> FieldArrays:
        return FieldArrays(self.stencil, self.boundary, self.ops)

    # ---- forward ----

    @functools.cached_property
    def keeps(self) -> bool:
        """A single step from one field reads it and writes another; else arrays take turns, which must be our own."""
        return self.steps == 1 and len(self.state) == 1 and self.state[0] not in self.stencil.outputs

    def forward(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None) -> list[Any]:
        """The state after the run. The inputs, in the order of `stencil.inputs`, stay as they are."""
        arrays = self._arrays(inputs)
        kernel = kernel_for(self.stencil, self._whole(self.stencil.arguments, arrays), self.boundary, self.steps)
        after = kernel.advance(arrays, steps=self.steps, coefficients=coefficients, **self._place(0))
        return [after] if len(self.state) == 1 else list(after)

    def _arrays(self, inputs: Sequence[Any]) -> list[Any]:
        """For all fields: the inputs, or copies of those that a run changes, and room for the others."""
        given, like = dict(zip(self.stencil.inputs, inputs)), self._like(inputs)
        arrays = []
        for name in self.stencil.arguments:
            if name in given:
                arrays.append(given[name] if self.keeps or name not in self.state else self.ops.copy(given[name]))
            else:  # nobody writes what lies outside of layers
                arrays.append(self.ops.zeros(like, like.shape) if self.stencil.layer_fields else self.ops.empty(like))
        return arrays

    def _whole(self, names: Sequence[str], arrays: Sequence[Any]) -> list[Any]:
        """Those of the whole grid."""
        return [array for name, array in zip(names, arrays) if name not in self.stencil.profiles]

    def _like(self, inputs: Sequence[Any]) -> Any:
        return self._whole(self.stencil.inputs, inputs)[0]

    def _place(self, step: int) -> dict[str, Any]:
        """What a launch of that step of the run takes, where cells or steps are not alike."""
        return {"origin": self.origin, "step": self.first + step} if self.stencil._is_placed else {}

    # ---- backward ----

    @functools.cached_property
    def stages(self) -> list[Stage]:
        if self.stencil.stages == 1:
            return [Stage(self.stencil)]
        return [Stage(self.stencil.stage(number)) for number in range(self.stencil.stages)]

    @property
    def adjoint(self) -> Stencil:
        return self.stages[0].adjoint

    @property
    def needs_states(self) -> bool:
        """Whether the fields' gradients depend on the fields."""
        return any(stage.needs_states for stage in self.stages)

    def backward(self, inputs: Sequence[Any], gradients: Sequence[Any], coefficients: Mapping[str, float] | None,
                 for_coefficients: bool = False, wanted: Sequence[str] | None = None) -> tuple[list[Any], dict[str, Any]]:
        """Gradients of the inputs (None: zero, or not wanted), and of the coefficients where they are asked for.

        gradients: of the state after the run. They and the inputs stay as they are.
        wanted: of the inputs; None: all.
        """
        wanted = self.stencil.inputs if wanted is None else wanted
        for_fields = bool(wanted)
        self._settle(tuple(gradients[0].shape))
        edges = edges_of(self.stencil, self.boundary, tuple(gradients[0].shape))
        total: dict[str, Any] = {}
        if for_coefficients and self._is_convolution() and is_periodic(edges):
            total = self._coefficients_of_convolution(inputs, gradients[0], coefficients)
            for_coefficients = False
        elif for_coefficients and self._takes_tangents(for_fields, edges):
            total = fused_back.by_tangents(self, inputs, gradients, coefficients)
            for_coefficients = False
        if not for_fields and not for_coefficients:
            return [None] * len(inputs), total
        if not for_coefficients and self._runs_as_one(edges):
            return [self._run_back(gradients[0], coefficients, edges)], total
        asked = [*wanted, *(self.stencil.coefficients if for_coefficients else ())]
        if self.fuses_back and (back := steps_back(self, gradients[0], asked)) is not None:
            of_fields, of_coefficients = back.gradients(inputs, gradients, coefficients)
            return [of_fields.get(name) for name in self.stencil.inputs], {**total, **of_coefficients}
        return self._step_by_step(inputs, gradients, coefficients, for_coefficients, total)

    def _settle(self, shape: tuple[int, ...]) -> None:
        """What the definition says of its boundary goes into the run's."""
        if self.stencil._is_placed and not self.knows_places:
            raise ArgumentError(f"stencil '{self.stencil.name}' is not the same everywhere and in each step: propagate has "
                                "its gradients")
        self.boundary = checked(self.stencil, Grid(shape[::-1], 0, "f32", self.boundary, 1)).boundary

    # ---- whole runs ----

    def _is_convolution(self) -> bool:
        """One field, each cell's next value a sum of its neighbours' with the same weights."""
        return (self.stencil.stages == 1 and len(self.stencil.inputs) == 1 and len(self.stencil.outputs) == 1 and
                len(self.state) == 1 and self.stencil.is_linear and not self.stencil._is_placed and
                not self.needs_states)

    def _coefficients_of_convolution(self, inputs: Sequence[Any], gradient: Any,
                                     coefficients: Mapping[str, float] | None) -> dict[str, Any]:
        """Convolutions on a periodic grid commute: each of n steps S^n = S^(n-1-k) S S^k adds the same to the derivative,
        that of the last one."""
        before = self._advanced(inputs, 0, self.steps - 1, coefficients) if self.steps > 1 else inputs
        stage = self.stages[0]
        found = self._coefficient_part(stage, self.steps - 1, dict(zip(self.stencil.inputs, before)),
                                       {stage.stencil.outputs[0]: gradient}, coefficients)
        return {name: value * self.steps for name, value in found.items()}

    def _takes_tangents(self, for_fields: bool, edges: Sequence[Edge]) -> bool:
        """Forward differentiation has no checkpoints and fuses steps, but takes a run for each coefficient."""
        if not self.fuses_back or self.steps < _FEW_STEPS or self.stencil.stages > 1 or self.stencil._is_placed:
            return False
        if for_fields and not self._runs_as_one(edges):
            return False  # its steps are taken back one by one anyway
        return len(self.stencil.coefficients) <= _FEW_COEFFICIENTS

    def _runs_as_one(self, edges: Sequence[Edge]) -> bool:
        """Whether the adjoint is a run itself, whose steps can be fused."""
        if not (self.stencil.stages == 1 and len(self.stencil.inputs) == 1 and len(self.adjoint._state) == 1 and
                not self.stencil._is_placed and not self.needs_states):
            return False
        if all(edge.kind in ("periodic", "zero") or edge.low + edge.high == 0 for edge in edges):
            return True
        return self.fuses_back and self.steps > 1 and is_hold_alone(edges)

    def _run_back(self, gradient: Any, coefficients: Mapping[str, float] | None, edges: Sequence[Edge]) -> Any:
        if any(sum(edge.held) for edge in edges):
            return fused_back.through_held_layers(self, gradient, coefficients, edges)
        run = type(self)(self.adjoint, zeros_outside(edges), self.steps, self.ops)
        return run.forward([gradient], self._known(self.adjoint, coefficients))[0]

    # ---- step by step ----

    def _step_by_step(self, inputs: Sequence[Any], gradients: Sequence[Any], coefficients: Mapping[str, float] | None,
                      for_coefficients: bool, total: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        back = {name: self.ops.copy(gradient) for name, gradient in zip(self.state, gradients)}
        self._clear_outside_layers(back)
        constants: dict[str, Any] = {}
        needed = self.needs_states or for_coefficients
        for step, before in self._states_from_the_last(inputs, coefficients, needed):
            self._record_back(step, back)
            back = self._step_back(step, before, back, coefficients, total if for_coefficients else None)
            for name in [name for name in back if name not in self.state]:
                gradient = back.pop(name)
                constants[name] = constants[name].__iadd__(gradient) if name in constants else gradient
        everything = {**constants, **back}
        return [everything.get(name) for name in self.stencil.inputs], total

    def _clear_outside_layers(self, arrays: Mapping[str, Any]) -> None:
        """Zeros where fields do not exist."""
        for name in self.stencil.layer_fields:
            if name in arrays:
                edges = edges_of(self.stencil, self.boundary, tuple(arrays[name].shape))
                arrays[name][outside_layers(self.stencil, name, edges)] = 0

    def _states_from_the_last(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None,
                              needed: bool) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """Each step and its inputs, the last one's first; None in place of these where nobody needs them.

        Checkpoints: every sqrt(steps)th state is kept, and those between are computed again (Griewank and Walther,
        Evaluating Derivatives, chapter 12). Memory for 2 sqrt(steps) states, time for two runs.
        """
        if not needed:
            yield from ((step, None) for step in reversed(range(self.steps)))
            return
        stride = self._stride()
        starts = list(range(0, self.steps, stride))
        for start, first in zip(reversed(starts), self._checkpoints(inputs, starts, coefficients)):
            states = [first]
            for step in range(start + 1, min(start + stride, self.steps)):
                states.append(self._advanced(states[-1], step - 1, 1, coefficients))
            while states:
                yield start + len(states) - 1, dict(zip(self.stencil.inputs, states.pop()))

    def spans_back(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None, needed: bool) -> Iterator[Span]:
        """All steps, from the last one back, with their inputs where these are needed."""
        if not needed:
            yield Span(self.steps - 1, self.steps, {}, {})
            return
        for step, before in self._states_from_the_last(inputs, coefficients, needed):
            yield Span(step, 1, self.arrays.on_slabs(before or {}), {})

    def _stride(self) -> int:
        """Steps from one checkpoint to the next."""
        return math.isqrt(self.steps - 1) + 1

    def _checkpoints(self, inputs: Sequence[Any], starts: Sequence[int],
                     coefficients: Mapping[str, float] | None) -> Iterator[list[Any]]:
        """The inputs of these steps, from the last one on."""
        kept = [list(inputs)]
        for before, start in zip(starts, starts[1:]):
            kept.append(self._advanced(kept[-1], before, start - before, coefficients))
        while kept:
            yield kept.pop()

    def _advanced(self, inputs: Sequence[Any], start: int, steps: int,
                  coefficients: Mapping[str, float] | None) -> list[Any]:
        run = type(self)(self.stencil, self.boundary, steps, self.ops, self.origin, self.first + start)
        after = dict(zip(self.state, run.forward(inputs, coefficients)))
        return [after.get(name, value) for name, value in zip(self.stencil.inputs, inputs)]

    def _record_back(self, step: int, back: Mapping[str, Any]) -> None:
        """Adds what the records of a step give to the gradients of the state after it. Points are for others."""

    def _add_sources(self, step: int, values: Mapping[str, Any]) -> None:
        """Adds what the sources add to fields that a stage has written."""

    def _sources_back(self, step: int, of_outputs: Mapping[str, Any]) -> None:
        """Notes what the sources get from the gradients of a stage's outputs."""

    def _step_back(self, step: int, before: Mapping[str, Any] | None, back: Mapping[str, Any],
                   coefficients: Mapping[str, float] | None, total: dict[str, Any] | None) -> dict[str, Any]:
        """One step, from gradients of the state after it to those of its inputs. Overwrites the gradients that it is
        given; what each coefficient gets is added to `total`."""
        like = next(iter(back.values()))
        now = self._before_rotation(back)
        values = self._values_by_stage(step, before, coefficients) if before is not None else [None] * len(self.stages)
        for stage, read in zip(reversed(self.stages), reversed(values)):
            edges = edges_of(stage.stencil, self.boundary, tuple(like.shape))
            slabs = list(shell(edges, 0))
            of_outputs = {name: now.pop(name) if name in now else self.ops.zeros(like, like.shape)
                          for name in stage.stencil.outputs}
            self._sources_back(step, of_outputs)
            for name, gradient in of_outputs.items():
                self._pass_layers_on(now, self._layers_of(name), slabs, gradient)
            if total is not None:
                for name, value in self._coefficient_part(stage, step, read, of_outputs, coefficients).items():
                    total[name] = total[name] + value if name in total else value
            for name, gradient in self._field_part(stage, step, read, of_outputs, coefficients, edges).items():
                now[name] = now[name].__iadd__(gradient) if name in now else gradient
        result = {name: now[name] for name in self.stencil.inputs if name in now}
        for name in self.state:
            if name not in result:
                result[name] = self.ops.zeros(like, like.shape)
        return result

    def _pass_layers_on(self, now: dict[str, Any], to: str, slabs: Sequence[tuple[slice, ...]], gradient: Any) -> None:
        """The gradient of held layers goes to the field that they are of, and is no longer the output's."""
        for slab in slabs:
            if to not in now:
                now[to] = self.ops.zeros(gradient, gradient.shape)
            now[to][slab] += gradient[slab]
            gradient[slab] = 0

    def _newer(self, name: str) -> str:
        """The field that becomes this one after a step."""
        return self.stencil.fields[self.stencil._next[self.fields[name]]]

    def _before_rotation(self, back: Mapping[str, Any]) -> dict[str, Any]:
        """Gradients of the state by the fields that it came from."""
        return {self._newer(name): gradient for name, gradient in back.items()}

    def _layers_of(self, output: str) -> str:
        """The field whose held layers an output has."""
        return self.stencil.fields[self.stencil._layers[self.fields[output]]]

    def _values_by_stage(self, step: int, before: Mapping[str, Any],
                         coefficients: Mapping[str, float] | None) -> list[dict[str, Any]]:
        """What each stage of a step reads."""
        read = [dict(before)]
        for stage in self.stages[:-1]:
            read.append(self._with_stage(stage, step, read[-1], coefficients))
        return read

    def _with_stage(self, stage: Stage, step: int, values: Mapping[str, Any],
                    coefficients: Mapping[str, float] | None) -> dict[str, Any]:
        """Values by name, with what a stage makes of them."""
        made = self._launched(stage.stencil, [values[name] for name in stage.stencil.inputs], self.boundary,
                              self._known(stage.stencil, coefficients), self._place(step), self._layers(stage, values))
        self._add_sources(step, made)
        return {**values, **made}

    def _layers(self, stage: Stage, values: Mapping[str, Any]) -> dict[str, Any]:
        """For each output of a stage the field whose held layers it has; None: zeros."""
        return {name: values.get(self._layers_of(name)) for name in stage.stencil.outputs}

    def _launched(self, stencil: Stencil, inputs: Sequence[Any], boundary: str, coefficients: Mapping[str, float] | None,
                  place: Mapping[str, Any], layers: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What one step writes, by name; cells that it does not write hold what `layers` hold there, else anything, or 0
        where fields exist in layers alone."""
        outputs = [name for name in stencil.arguments if name not in stencil.inputs]
        like = self._whole(stencil.inputs, inputs)[0]
        if layers is None:
            arrays = [self.ops.zeros(like, like.shape) if name in stencil.layer_fields else self.ops.empty(like)
                      for name in outputs]
        else:
            arrays = [self.ops.zeros(like, like.shape) if layers[name] is None else self.ops.copy(layers[name])
                      for name in outputs]
        arrays = [*inputs, *arrays]
        kernel = kernel_for(stencil, self._whole([*stencil.inputs, *outputs], arrays), boundary)
        kernel(*stencil._by_field(arrays), coefficients=coefficients, **place)
        return dict(zip(outputs, arrays[len(inputs):]))

    def _field_part(self, stage: Stage, step: int, read: Mapping[str, Any] | None, of_outputs: Mapping[str, Any],
                    coefficients: Mapping[str, float] | None, edges: Sequence[Edge]) -> dict[str, Any]:
        """What a stage's inputs get from the gradients of its outputs."""
        given = {f"grad_{name}": padded_with_zeros(self.ops, gradient, edges) for name, gradient in of_outputs.items()}
        values = read or {}
        adjoint, place = stage.adjoint, self._place(step)
        arrays = [given[name] if name in given else extended(self.ops, values[name], self._edges_along(name, edges))
                  for name in adjoint.inputs]
        known = self._known(adjoint, coefficients)
        if self.stencil._is_placed:
            place["origin"] = around(edges, self.origin)
            widths = widths_with_room(adjoint, edges)
            adjoint = adjoint.with_layer(widths) if widths is not None else adjoint
            asked = edge_coefficients(edges, self.origin)
            known = {**(known or {}), **{name: value for name, value in asked.items() if name in adjoint.coefficients}}
        after = self._launched(adjoint, arrays, zeros_outside(edges), known, place)
        return {name.removeprefix("grad_"): folded(self.ops, array, edges) for name, array in after.items()}

    def _edges_along(self, field: str, edges: Sequence[Edge]) -> Sequence[Edge]:
        """Those of the axes that its array has."""
        along = self.stencil.profiles.get(field)
        return edges if along is None else [edge for axis, edge in zip("zyx"[-len(edges):], edges) if axis in along]

    def _coefficient_part(self, stage: Stage, step: int, read: Mapping[str, Any], of_outputs: Mapping[str, Any],
                          coefficients: Mapping[str, float] | None) -> dict[str, Any]:
        """What a stage adds to the gradients of the coefficients."""
        adjoint = stage.coefficient_adjoint
        if adjoint is None:
            return {}
        given = {**read, **{f"grad_{name}": gradient for name, gradient in of_outputs.items()}}
        arrays = [given[name] for name in adjoint.inputs]
        # The stage's own boundary, and the layers that it holds: the adjoint alone may read less far.
        edges = edges_of(stage.stencil, self.boundary, tuple(next(iter(of_outputs.values())).shape))
        inside = tuple(slice(edge.held[0], edge.extent - edge.held[1]) for edge in edges)
        after = self._launched(adjoint, arrays, self.boundary, self._known(adjoint, coefficients), self._place(step))
        return {name.removeprefix("grad_"): self.ops.total(array[inside]) for name, array in after.items()}

    @staticmethod
    def _known(stencil: Stencil, coefficients: Mapping[str, float] | None) -> dict[str, float] | None:
        return {name: value for name, value in coefficients.items() if name in stencil.coefficients} if coefficients else None
