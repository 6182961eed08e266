"""Gradients of whole runs by runs, whose steps can be fused: through layers that boundary hold keeps, and by tangents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from .._lookup import kernel_for
from .edges import Edge, shell, zeros_outside

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


class _HeldLayers:
    """A run back through a linear step u' = A u inside, where u' = A u + B h beside layers h that stay as they are.

    With g the gradient inside, from the last step on: g_k-1 = A^T g_k, which fuses, and h gets the sum of B^T g_k over
    all steps. B^T reads the cells beside the layers alone. Their values between the steps of a fused launch are computed
    a second time, in a shell that gets thinner with each step.
    """

    def __init__(self, run: "Run", gradient: Any, coefficients: Mapping[str, float] | None, edges: Sequence[Edge]):
        self.run, self.edges = run, edges
        self.coefficients = run._known(run.adjoint, coefficients)
        self.layers = list(shell(edges, 0))
        self.beside = list(shell(edges, 1))
        self.now = run.ops.copy(gradient)
        for slab in self.layers:
            self.now[slab] = 0
        self.other = run.ops.empty(gradient)
        self.sum = run.ops.zeros(gradient, gradient.shape)  # of g_k, in the cells beside
        self.views: dict[int, list[Any]] = {}  # of those cells, by the array, which lives as long as this
        self.kernel = kernel_for(run.adjoint, [self.now, self.other], run.boundary, run.steps)
        self.fused = self._fused_steps()
        self.room: list[Any] = []
        self.regions: dict[int, Any] = {}

    def _fused_steps(self) -> int:
        """1 where the shell would be most of the grid."""
        fused = min(self.kernel.fused_steps, self.run.steps)
        cells = inside = 1
        for edge in self.edges:
            cells *= edge.extent
            inside *= max(0, edge.extent - 2 * (1 + fused // 2) * edge.held[0])
        return fused if 4 * inside > 3 * cells else 1

    def gradient(self, given: Any) -> Any:
        left = self.run.steps
        self._add(self.now)
        while left:
            count = min(self.fused, left)
            self._shell(count)
            self._advance(count)
            left -= count
            if left:
                self._add(self.now)
        self._through_layers(given)
        return self.now

    def _add(self, array: Any) -> None:
        self.run.ops.add_each(self._beside_of(self.sum), self._beside_of(array))

    def _beside_of(self, array: Any) -> list[Any]:
        """Views are made once a run: to make six takes longer than to add them."""
        if id(array) not in self.views:
            self.views[id(array)] = [array[slab] for slab in self.beside]
        return self.views[id(array)]

    def _advance(self, steps: int) -> None:
        arrays = [self.now, self.other]
        after = self.kernel.advance(arrays, steps=steps, coefficients=self.coefficients)
        if after is self.other:
            self.now, self.other = self.other, self.now

    def _shell(self, steps: int) -> None:
        """All but the last of so many steps, beside the layers."""
        if steps > 1 and not self.room:
            self.room = [self.run.ops.zeros(self.now, self.now.shape) for _ in range(2)]
        before = self.now
        for step in range(1, steps):
            after = self.room[step % 2]
            self.kernel.update_regions(before, after, regions=self._regions(steps - step),
                                       coefficients=self.coefficients)
            self._add(after)
            before = after

    def _regions(self, times: int) -> Any:
        if times not in self.regions:
            self.regions[times] = self.kernel.prepared_regions(shell(self.edges, times))
        return self.regions[times]

    def _through_layers(self, given: Any) -> None:
        kernel = kernel_for(self.run.adjoint, [self.sum, self.other], zeros_outside(self.edges))
        kernel.update_regions(self.sum, self.other, regions=kernel.prepared_regions(self.layers),
                              coefficients=self.coefficients)
        for slab in self.layers:
            self.now[slab] = given[slab]
            self.now[slab] += self.other[slab]


def through_held_layers(run: "Run", gradient: Any, coefficients: Mapping[str, float] | None,
                        edges: Sequence[Edge]) -> Any:
    """The gradient of the first state of a linear run, where boundary hold keeps layers."""
    return _HeldLayers(run, gradient, coefficients, edges).gradient(gradient)
