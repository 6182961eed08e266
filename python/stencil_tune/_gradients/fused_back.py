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
    """Both ends of one axis that holds layers, side by side in an array of their own: a step of them is a small launch,
    and what their cells add up to is dense.

    Of each end they are the held layers, the cells beside, and what some steps of these read. Next to the cut between the
    ends cells are wrong after the first step, and more of them after each; they never get to those beside the layers.
    """

    def __init__(self, run: "Run", like: Any, edges: Sequence[Edge], axis: int, steps: int):
        self.axis, self.extent = axis, edges[axis].extent
        self.depth = min((1 + steps) * edges[axis].held[0], self.extent)  # layers of one end
        shape = [2 * self.depth if other == axis else edge.extent for other, edge in enumerate(edges)]
        self.now, self.other, self.sum = (run.ops.zeros(like, shape) for _ in range(3))
        self.kernel: Any = kernel_for(run.adjoint, [self.now, self.other], run.boundary) if steps > 1 else None

    def both_of(self, array: Any, extent: int) -> list[Any]:
        """Views of the ends of an array that is so long."""
        before = (slice(None),) * self.axis
        return [array[before + (cells,)] for cells in (slice(0, self.depth), slice(extent - self.depth, extent))]

    def step(self, coefficients: Mapping[str, float] | None) -> None:
        self.kernel(self.now, self.other, coefficients=coefficients)
        self.now, self.other = self.other, self.now

    def here(self, index: tuple[slice, ...]) -> tuple[slice, ...]:
        """Cells of the grid, at one of its ends, as an index of the sums."""
        cells = index[self.axis]
        shift = 2 * self.depth - self.extent if cells.start >= self.depth else 0
        return (*index[:self.axis], slice(cells.start + shift, cells.stop + shift), *index[self.axis + 1:])


class _HeldLayers:
    """A run back through a linear step u' = A u inside, where u' = A u + B h beside layers h that stay as they are.

    With g the gradient inside, from the last step on: g_k-1 = A^T g_k, which fuses, and h gets the sum of B^T g_k over
    all steps. B^T reads the cells beside the layers alone. Their values between the steps of a fused launch are computed
    a second time, at the ends of each axis.
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
        self.ends = {axis: _Ends(run, gradient, edges, axis, self.fused)
                     for axis, edge in enumerate(edges) if sum(edge.held)}
        self.views: dict[int, list[Any]] = {}  # of the ends, by the array, which lives as long as this

    def _fused_steps(self) -> int:
        """1 where the ends would be a good part of the grid."""
        fused = min(self.kernel.fused_steps, self.run.steps)
        part = sum(2 * (1 + fused) * edge.held[0] / edge.extent for edge in self.edges)
        return fused if part < 0.25 else 1

    def gradient(self, given: Any) -> Any:
        left = self.run.steps
        while left:
            count = min(self.fused, left)
            self._add_up(count)
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

    def _add_up(self, steps: int) -> None:
        """What is now beside the layers, and after each of the next steps but the last."""
        ends, ops = list(self.ends.values()), self.run.ops
        ops.copy_each([view for end in ends for view in self._views(end.now, [end], 2 * end.depth)],
                      self._views(self.now, ends))
        for step in range(steps):
            for end in ends if step else ():
                end.step(self.coefficients)
            ops.add_each([end.sum for end in ends], [end.now for end in ends])

    def _views(self, array: Any, ends: Sequence[_Ends], extent: int | None = None) -> list[Any]:
        """Made once a run: to make six takes longer than to copy them."""
        if id(array) not in self.views:
            self.views[id(array)] = [view for end in ends for view in end.both_of(array, extent or end.extent)]
        return self.views[id(array)]

    def _through_layers(self, given: Any) -> None:
        total = self.run.ops.zeros(given, given.shape)  # of g_k, in the cells beside
        for axis, index in sides(self.edges, 1):
            total[index] = self.ends[axis].sum[self.ends[axis].here(index)]
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
