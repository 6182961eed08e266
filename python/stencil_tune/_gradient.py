"""Runs as functions of their fields, and their gradients, for libraries that differentiate.

Written against the few operations that arrays of NumPy, CuPy and PyTorch share. A step is u' = E(S(B(u))): B extends u
beyond the edges by the boundary, S is the stencil, E puts back the layers that boundary hold keeps. Its adjoint runs
the other way round: held layers go their own way, the adjoint stencil runs with zeros beyond the edges, on a grid with
room for what falls outside, and what fell outside is folded back to where B had read it.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Mapping, Sequence

from . import _arrays, _lookup
from ._errors import ArgumentError
from ._request import boundary_text
from ._stencil import Stencil

_MOST_KERNELS = 256


class ArrayOperations:
    """Of one library. In place: `a[index] += b[index]`."""

    def empty(self, like: Any) -> Any:
        raise NotImplementedError

    def zeros(self, like: Any, shape: Sequence[int]) -> Any:
        raise NotImplementedError

    def copy(self, array: Any) -> Any:
        raise NotImplementedError

    def total(self, array: Any) -> Any:
        """The sum over all cells, in f64."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Edge:
    """Of one axis of an array."""

    kind: str  # "hold", "zero", "clamp", "periodic", "reflect"
    low: int  # layers beyond the low end that reads reach
    high: int
    extent: int

    @property
    def is_padded(self) -> bool:
        """Whether its adjoint needs room for what falls outside."""
        return self.kind in ("clamp", "reflect") and self.low + self.high > 0

    @property
    def held(self) -> tuple[int, int]:
        return (self.low, self.high) if self.kind == "hold" else (0, 0)

    def source(self, index: int) -> int:
        """The layer that a read at `index`, outside, gets."""
        if self.kind == "clamp" or self.extent == 1:
            return min(max(index, 0), self.extent - 1)
        index %= 2 * (self.extent - 1)
        return index if index < self.extent else 2 * (self.extent - 1) - index

    def outside(self) -> list[tuple[int, int]]:
        """(index, source) of each layer outside."""
        indices = [*range(-self.low, 0), *range(self.extent, self.extent + self.high)]
        return [(index, self.source(index)) for index in indices]


def edges_of(stencil: Stencil, boundary: str, shape: Sequence[int]) -> list[Edge]:
    """Of each axis of the arrays, z first."""
    kinds = dict.fromkeys("xyz"[:stencil.rank], "hold" if "=" in boundary else boundary)
    if "=" in boundary:
        kinds.update(part.split("=", 1) for part in boundary.split(","))
    return [Edge(kinds[axis], -stencil._reach[i][0], stencil._reach[i][1], extent)
            for i, (axis, extent) in reversed(list(enumerate(zip("xyz", reversed(shape)))))]


@functools.lru_cache(maxsize=_MOST_KERNELS)
def _kernel_for(stencil: Stencil, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, device: int | None,
                boundary: str, steps: int, alignment: int) -> Any:
    # An address stands for its alignment, so that kernels of all arrays alike are one.
    layout = _arrays.Layout(alignment, shape, strides, dtype, device)
    return _lookup.lookup_like(stencil, layout, boundary, steps)


def kernel_for(stencil: Stencil, arrays: Sequence[Any], boundary: str, steps: int = 1) -> Any:
    """The kernel for arrays like these; the reference where they are in host memory. Found again in a microsecond."""
    layout, *others = [_arrays.read(array) for array in arrays]
    alignment = min(map(_lookup.alignment_of, (layout, *others)))
    return _kernel_for(stencil, layout.shape, layout.strides, layout.dtype, layout.device, boundary, steps, alignment)


class Run:
    """`steps` steps of a stencil as a function from its inputs to the state."""

    def __init__(self, stencil: Stencil, boundary: str | Mapping[str, str], steps: int, operations: ArrayOperations):
        self.stencil = stencil
        self.boundary = boundary_text(boundary)
        self.steps = steps
        self.ops = operations
        self.fields = {name: place for place, name in enumerate(stencil.fields)}
        self.state = [stencil.fields[place] for place in stencil._state]
        if not self.state:
            raise ArgumentError(f"stencil '{stencil.name}' has no rotation: it says no next step; u_next = ... does, or "
                                "[rotate] in a definition")
        if steps < 1:
            raise ArgumentError(f"a run of {steps} steps: give 1 or more")

    # ---- forward ----

    @functools.cached_property
    def keeps(self) -> bool:
        """A single step from one field reads it and writes another; else arrays take turns, which must be our own."""
        return self.steps == 1 and len(self.state) == 1 and self.state[0] not in self.stencil.outputs

    def forward(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None) -> list[Any]:
        """The state after the run. The inputs, in the order of `stencil.inputs`, stay as they are."""
        given = dict(zip(self.stencil.inputs, inputs))
        arrays = []
        for name in self.stencil.arguments:
            if name not in given:
                arrays.append(self.ops.empty(inputs[0]))
            else:
                arrays.append(given[name] if self.keeps or name not in self.state else self.ops.copy(given[name]))
        kernel = kernel_for(self.stencil, arrays, self.boundary, self.steps)
        after = kernel.advance(arrays, steps=self.steps, coefficients=coefficients)
        return [after] if len(self.state) == 1 else list(after)

    # ---- backward ----

    @functools.cached_property
    def adjoint(self) -> Stencil:
        return self.stencil.adjoint()

    @functools.cached_property
    def coefficient_adjoint(self) -> Stencil:
        return self.stencil.coefficient_adjoint()

    @property
    def needs_states(self) -> bool:
        """Whether the fields' gradients depend on the fields."""
        return any(name in self.fields for name in self.adjoint.inputs)

    def backward(self, inputs: Sequence[Any], gradients: Sequence[Any], coefficients: Mapping[str, float] | None,
                 for_coefficients: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """Gradients of the inputs (None: zero), and of the coefficients where they are asked for.

        gradients: of the state after the run. They and the inputs stay as they are.
        """
        edges = edges_of(self.stencil, self.boundary, tuple(gradients[0].shape))
        if not for_coefficients and self._runs_as_one(edges):
            return [self._run_back(gradients[0], coefficients)], {}
        back = {name: self.ops.copy(gradient) for name, gradient in zip(self.state, gradients)}
        total: dict[str, Any] = {}
        constants: dict[str, Any] = {}
        for before in self._states_from_the_last(inputs, coefficients, self.needs_states or for_coefficients):
            of_outputs, passed = self._split(back)
            if for_coefficients:
                for name, value in self._coefficient_step(before, of_outputs, coefficients).items():
                    total[name] = total[name] + value if name in total else value
            back = self._step_back(before, of_outputs, passed, coefficients, edges)
            for name in [name for name in back if name not in self.state]:
                gradient = back.pop(name)
                constants[name] = constants[name].__iadd__(gradient) if name in constants else gradient
        everything = {**constants, **back}
        return [everything.get(name) for name in self.stencil.inputs], total

    def _runs_as_one(self, edges: Sequence[Edge]) -> bool:
        """Whether the adjoint is a run itself, whose steps can be fused."""
        return (len(self.stencil.inputs) == 1 and len(self.adjoint._state) == 1 and not self.needs_states and
                all(edge.kind in ("periodic", "zero") or edge.low + edge.high == 0 for edge in edges))

    def _run_back(self, gradient: Any, coefficients: Mapping[str, float] | None) -> Any:
        outside = self._zeros_outside(edges_of(self.stencil, self.boundary, tuple(gradient.shape)))
        return type(self)(self.adjoint, outside, self.steps, self.ops).forward([gradient], self._known(self.adjoint,
                                                                                                  coefficients))[0]

    def _launched(self, stencil: Stencil, inputs: Sequence[Any], boundary: str,
                  coefficients: Mapping[str, float] | None) -> dict[str, Any]:
        """What one step writes, by name; cells that it does not write hold anything."""
        outputs = [name for name in stencil.arguments if name not in stencil.inputs]
        arrays = [*inputs, *(self.ops.empty(inputs[0]) for _ in outputs)]
        kernel_for(stencil, arrays, boundary)(*arrays, coefficients=self._known(stencil, coefficients))
        return dict(zip(outputs, arrays[len(inputs):]))

    def _states_from_the_last(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None, needed: bool):
        """The inputs of each step, the last one's first; None for each where nobody needs them.

        Checkpoints: every sqrt(steps)th state is kept, and those between are computed again (Griewank and Walther,
        Evaluating Derivatives, chapter 12). Memory for 2 sqrt(steps) states, time for two runs.
        """
        if not needed:
            yield from [None] * self.steps
            return
        stride = math.isqrt(self.steps - 1) + 1
        starts = list(range(0, self.steps, stride))
        kept = [list(inputs)]
        for _ in starts[1:]:
            kept.append(self._advanced(kept[-1], stride, coefficients))
        for start, first in zip(reversed(starts), reversed(kept)):
            states = [first]
            for _ in range(min(stride, self.steps - start) - 1):
                states.append(self._advanced(states[-1], 1, coefficients))
            while states:
                yield dict(zip(self.stencil.inputs, states.pop()))

    def _advanced(self, inputs: Sequence[Any], steps: int, coefficients: Mapping[str, float] | None) -> list[Any]:
        run = type(self)(self.stencil, self.boundary, steps, self.ops)
        after = dict(zip(self.state, run.forward(inputs, coefficients)))
        return [after.get(name, value) for name, value in zip(self.stencil.inputs, inputs)]

    def _split(self, back: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Gradients of the state by where its fields came from: outputs of the step, and inputs that were passed on."""
        of_outputs, passed = {}, {}
        for name, gradient in back.items():
            source = self.stencil.fields[self.stencil._next[self.fields[name]]]
            (of_outputs if source in self.stencil.outputs else passed)[source] = gradient
        for name in self.stencil.outputs:
            if name not in of_outputs:
                like = next(iter(back.values()))
                of_outputs[name] = self.ops.zeros(like, like.shape)
        return of_outputs, passed

    def _becomes(self, output: str) -> str:
        """The field of the state that an output is after the step."""
        for name in self.state:
            if self.stencil.fields[self.stencil._next[self.fields[name]]] == output:
                return name
        return output

    def _step_back(self, before: Mapping[str, Any] | None, of_outputs: dict[str, Any], passed: dict[str, Any],
                   coefficients: Mapping[str, float] | None, edges: Sequence[Edge]) -> dict[str, Any]:
        """One step. Overwrites the gradients that it is given."""
        like = next(iter(of_outputs.values()))
        slabs = list(_held_slabs(edges))
        held = {self._becomes(name): [(slab, self.ops.copy(gradient[slab])) for slab in slabs]
                for name, gradient in of_outputs.items()}
        for gradient in of_outputs.values():
            for slab in slabs:
                gradient[slab] = 0
        given = {f"grad_{name}": self._padded_with_zeros(gradient, edges) for name, gradient in of_outputs.items()}
        arrays = []
        for name in self.adjoint.inputs:
            arrays.append(given[name] if name in given else self._extended(before[name], edges))
        after = self._launched(self.adjoint, arrays, self._zeros_outside(edges), coefficients)
        back = {name.removeprefix("grad_"): self._folded(array, edges) for name, array in after.items()}
        for name in self.state:
            if name not in back:
                back[name] = self.ops.zeros(like, like.shape)
        for name, gradient in passed.items():
            back[name] += gradient
        for name, layers in held.items():
            for slab, gradient in layers:
                if name in back:  # else an output that is no part of the state
                    back[name][slab] += gradient
        return back

    def _coefficient_step(self, before: Mapping[str, Any], of_outputs: Mapping[str, Any],
                          coefficients: Mapping[str, float] | None) -> dict[str, Any]:
        """What a step adds to the gradients of the coefficients."""
        adjoint = self.coefficient_adjoint
        given = {**before, **{f"grad_{name}": gradient for name, gradient in of_outputs.items()}}
        arrays = [given[name] for name in adjoint.inputs]
        # The stencil's own boundary, and the layers that it holds: the adjoint alone may read less far.
        edges = edges_of(self.stencil, self.boundary, tuple(arrays[0].shape))
        inside = tuple(slice(edge.held[0], edge.extent - edge.held[1]) for edge in edges)
        after = self._launched(adjoint, arrays, self.boundary, coefficients)
        return {name.removeprefix("grad_"): self.ops.total(array[inside]) for name, array in after.items()}

    @staticmethod
    def _known(stencil: Stencil, coefficients: Mapping[str, float] | None) -> dict[str, float] | None:
        return {name: value for name, value in coefficients.items() if name in stencil.coefficients} if coefficients else None

    @staticmethod
    def _zeros_outside(edges: Sequence[Edge]) -> str:
        return ",".join(f"{axis}={'periodic' if edge.kind == 'periodic' else 'zero'}"
                        for axis, edge in zip("xyz", reversed(edges)))

    # ---- what lies outside ----

    def _room(self, array: Any, edges: Sequence[Edge]) -> tuple[Any, tuple[slice, ...]]:
        """Zeros with room for the layers outside, and where the array is among them."""
        shape = [edge.extent + (edge.low + edge.high if edge.is_padded else 0) for edge in edges]
        inside = tuple(slice(edge.low, edge.low + edge.extent) if edge.is_padded else slice(None) for edge in edges)
        room = self.ops.zeros(array, shape)
        room[inside] = array
        return room, inside

    def _padded_with_zeros(self, array: Any, edges: Sequence[Edge]) -> Any:
        return self._room(array, edges)[0] if any(edge.is_padded for edge in edges) else array

    def _extended(self, array: Any, edges: Sequence[Edge]) -> Any:
        """The array with what reads beyond its edges get."""
        if not any(edge.is_padded for edge in edges):
            return array
        room, _ = self._room(array, edges)
        for axis, edge in enumerate(edges):
            for index, source in edge.outside() if edge.is_padded else ():
                room[_layer(axis, index + edge.low)] = room[_layer(axis, source + edge.low)]
        return room

    def _folded(self, array: Any, edges: Sequence[Edge]) -> Any:
        """What fell outside is added to the cells that reads there get."""
        if not any(edge.is_padded for edge in edges):
            return array
        for axis, edge in reversed(list(enumerate(edges))):
            for index, source in edge.outside() if edge.is_padded else ():
                array[_layer(axis, source + edge.low)] += array[_layer(axis, index + edge.low)]
        inside = tuple(slice(edge.low, edge.low + edge.extent) if edge.is_padded else slice(None) for edge in edges)
        return self.ops.copy(array[inside])


def _layer(axis: int, index: int) -> tuple:
    return (slice(None),) * axis + (slice(index, index + 1),)


def _held_slabs(edges: Sequence[Edge]):
    """Indices of the layers that boundary hold keeps, no cell in two of them."""
    inside = [slice(edge.held[0], max(edge.held[0], edge.extent - edge.held[1])) for edge in edges]
    for axis, edge in enumerate(edges):
        before = tuple(inside[:axis])
        if edge.held[0] > 0:
            yield (*before, slice(0, inside[axis].start))
        if edge.held[1] > 0:
            yield (*before, slice(inside[axis].stop, edge.extent))
