"""Gradients of whole runs by runs, whose steps can be fused: through layers that boundary hold keeps, and by tangents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from .._lookup import kernel_for
from .edges import Edge, shell, sides, zeros_outside

if TYPE_CHECKING:
    from .run import Run


def by_tangents(run: "Run", inputs: Sequence[Any], gradients: Sequence[Any],
                coefficients: Mapping[str, float] | None) -> dict[str, Any]:
    """The gradient of each coefficient: a run of the state with its tangents, times the gradient of the state."""
    given = dict(zip(run.stencil.inputs, inputs))
    found: dict[str, Any] = {}
    for name in run.stencil.coefficients:
        with_tangents = type(run)(run.stencil.tangent(name), run.boundary, run.steps, run.ops)
        arrays = [given[field] if field in given else run.ops.zeros(inputs[0], inputs[0].shape)
                  for field in with_tangents.stencil.inputs]
        after = dict(zip(with_tangents.state, with_tangents.forward(arrays, coefficients)))
        for state, gradient in zip(run.state, gradients):
            tangent = after[f"tangent_{state}"]
            tangent *= gradient
            value = run.ops.total(tangent)
            found[name] = found[name] + value if name in found else value
    return found


class _Ends:
    """What both ends of an axis that holds layers have in common at some launches of a run, summed up side by side in an
    array of their own.

    Each end has the held layers, the cells beside, and what the launches' steps read of these. Next to the cut between
    the ends cells are wrong after the first step, and more of them after each; they never get to those beside the
    layers.
    """

    def __init__(self, run: "Run", like: Any, edges: Sequence[Edge], axis: int, steps: int):
        self.run, self.axis, self.steps, self.extent = run, axis, steps, edges[axis].extent
        self.depth = min((1 + steps) * edges[axis].held[0], self.extent)  # layers of one end
        self.shape = [2 * self.depth if other == axis else edge.extent for other, edge in enumerate(edges)]
        self.sum = run.ops.zeros(like, self.shape)
        self.parts = self._both_of(self.sum, 2 * self.depth)

    def parts_of(self, array: Any) -> list[Any]:
        """Views of the ends of an array of the grid."""
        return self._both_of(array, self.extent)

    def _both_of(self, array: Any, extent: int) -> list[Any]:
        before = (slice(None),) * self.axis
        return [array[before + (cells,)] for cells in (slice(0, self.depth), slice(extent - self.depth, extent))]

    def over_steps(self, coefficients: Mapping[str, float] | None) -> Any:
        """The sum and what each step but the last makes of it: the step is linear, so that the launches need no steps of
        their own."""
        ops, now = self.run.ops, self.sum
        if self.steps == 1:
            return now
        total, other = ops.copy(now), ops.zeros(now, self.shape)
        kernel = kernel_for(self.run.adjoint, [now, other], self.run.boundary)
        for _ in range(1, self.steps):
            kernel(now, other, coefficients=coefficients)
            now, other = other, now
            ops.add_each([total], [now])
        return total

    def here(self, index: tuple[slice, ...]) -> tuple[slice, ...]:
        """Cells of the grid, at one of its ends, as an index of the sum."""
        cells = index[self.axis]
        shift = 2 * self.depth - self.extent if cells.start >= self.depth else 0
        return (*index[:self.axis], slice(cells.start + shift, cells.stop + shift), *index[self.axis + 1:])


class _HeldLayers:
    """A run back through a linear step u' = A u inside, where u' = A u + B h beside layers h that stay as they are.

    With g the gradient inside, from the last step on: g_k-1 = A^T g_k, which fuses, and h gets the sum of B^T g_k over
    all steps. B^T reads the cells beside the layers alone. What they hold between the steps of fused launches follows
    from what was there and near before the launches: those are summed up, and the sum makes these steps once.
    """

    def __init__(self, run: "Run", gradient: Any, coefficients: Mapping[str, float] | None, edges: Sequence[Edge]):
        self.run, self.edges = run, edges
        self.coefficients = run._known(run.adjoint, coefficients)
        self.layers = list(shell(edges, 0))
        self.now = run.ops.copy(gradient)
        for slab in self.layers:
            self.now[slab] = 0
        self.other = run.ops.zeros(gradient, gradient.shape)
        self.kernel = kernel_for(run.adjoint, [self.now, self.other], run.boundary, run.steps)
        self.fused = self._fused_steps()
        self.ends: dict[int, list[_Ends]] = {}  # by the steps of their launches
        self.parts: dict[tuple[int, int], list[Any]] = {}  # by these and the array, which lives as long as this

    def _fused_steps(self) -> int:
        """1 where the ends would be most of the grid."""
        fused = min(self.kernel.fused_steps, self.run.steps)
        part = sum(2 * (1 + fused) * edge.held[0] / edge.extent for edge in self.edges)
        return fused if part < 0.5 else 1

    def gradient(self, given: Any) -> Any:
        left = self.run.steps
        while left:
            count = min(self.fused, left)
            self._add_ends(count)
            self._advance(count)
            left -= count
        self._through_layers(given)
        return self.now

    def _advance(self, steps: int) -> None:
        """The layers of both arrays are zeros."""
        arrays = [self.now, self.other]
        after = self.kernel.advance(arrays, steps=steps, coefficients=self.coefficients, same_layers=True)
        if after is self.other:
            self.now, self.other = self.other, self.now

    def _add_ends(self, steps: int) -> None:
        """Before a launch of so many steps."""
        if steps not in self.ends:
            self.ends[steps] = [_Ends(self.run, self.now, self.edges, axis, steps)
                                for axis, edge in enumerate(self.edges) if sum(edge.held)]
        key = steps, id(self.now)
        if key not in self.parts:  # to make six views takes longer than to add them
            self.parts[key] = [part for end in self.ends[steps] for part in end.parts_of(self.now)]
        self.run.ops.add_each([part for end in self.ends[steps] for part in end.parts], self.parts[key])

    def _through_layers(self, given: Any) -> None:
        total = self.run.ops.zeros(given, given.shape)  # sum of all g_k in the cells beside
        for ends in self.ends.values():
            sums = {end.axis: (end, end.over_steps(self.coefficients)) for end in ends}
            for axis, index in sides(self.edges, 1):
                end, values = sums[axis]
                total[index] += values[end.here(index)]
        kernel = kernel_for(self.run.adjoint, [total, self.other], zeros_outside(self.edges))
        kernel.update_regions(total, self.other, regions=kernel.prepared_regions(self.layers),
                              coefficients=self.coefficients)
        for slab in self.layers:
            self.now[slab] = given[slab]
            self.now[slab] += self.other[slab]


def through_held_layers(run: "Run", gradient: Any, coefficients: Mapping[str, float] | None,
                        edges: Sequence[Edge]) -> Any:
    """The gradient of the first state of a linear run, where boundary hold keeps layers."""
    return _HeldLayers(run, gradient, coefficients, edges).gradient(gradient)
