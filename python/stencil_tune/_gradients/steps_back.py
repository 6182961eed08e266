"""Runs taken back by their adjoint step: one stencil, which runs as any other.

The state of the run back is the gradients, those of fields that no step changes among them. Its sources are where the run
has receivers, and its receivers where the run has sources. What a step back adds at these belongs to the record before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from .._errors import ArgumentError, Error
from .._lookup import kernel_for
from .._stencil import Stencil
from .edges import Edge, edges_of, masked_axes, shell
from .field_arrays import FieldArrays

if TYPE_CHECKING:
    from .run import Run
    from .shot import Shot


def steps_back(run: "Run", like: Any, wanted: Sequence[str]) -> "StepsBack | None":
    """For arrays like this one. None where the adjoint step is not known, has no kernel, or is not right at some edges:
    it leaves out what held layers get.

    wanted: inputs and coefficients.
    """
    edges = edges_of(run.stencil, run.boundary, tuple(like.shape))
    if not all(edge.kind in ("hold", "zero") or edge.kind == "periodic" and not run.stencil._is_placed for edge in edges):
        return None
    if any(sum(edge.held) for edge in edges) and any(name in run.state for name in wanted):
        return None
    between = [name for name in run.shot.positions[0] if any(name in stage.stencil.inputs for stage in run.stages)]
    constants = [name for name in wanted if name not in run.state]
    try:
        adjoint = run.stencil.adjoint_step([*constants, *between])
        pointwise = run.stencil._pointwise.issuperset(set(wanted) & set(run.fields))
        if masked := masked_axes(run.stencil, adjoint, edges, pointwise):
            adjoint = run.stencil.adjoint_step([*constants, *between], masked)
    except ArgumentError:
        return None
    if any(far[0] < near[0] or far[1] > near[1] for axis, far, near in zip(
            "xyz", run.stencil._profile_reach, run.stencil._reach) if axis in masked):
        return None  # zero is no nearest cell
    between = [name for name in between if f"grad_{name}" in adjoint.fields]
    if any(name not in between and name not in map(run._newer, run.state) for name in run.shot.positions[0]):
        return None  # nobody reads what the source adds
    back = StepsBack(run, adjoint, edges, constants, between, masked)
    if not back.takes_points():
        return None
    try:
        kernel_for(adjoint, [like], back.boundary, slabs=bool(adjoint.layer_fields))
    except Error:
        return None  # its updates take more registers than a thread has
    return back


class StepsBack:
    def __init__(self, run: "Run", adjoint: Stencil, edges: Sequence[Edge], constants: Sequence[str],
                 between: Sequence[str], masked: str):
        self.run, self.adjoint, self.edges, self.constants, self.between = run, adjoint, edges, constants, between
        self.boundary = ",".join(f"{axis}={'zero' if axis in masked else edge.kind}"
                                 for axis, edge in zip("xyz", reversed(edges)))
        self.arrays = FieldArrays(adjoint, self.boundary, run.ops)
        self.needs_states = any(name in run.state for name in adjoint.inputs)
        self.places = {name: place for place, name in enumerate(adjoint.arguments)}
        self.again = [name for name in run.shot.positions[0] if name in adjoint.outputs]  # sources of what is made again

    def _held(self, name: str) -> Sequence[Edge]:
        """Edges of the stage that wrote what a field of the state holds."""
        for _ in self.run.state:
            name = self.run._newer(name)
            for stage in self.run.stages:
                if name in stage.stencil.outputs:
                    return edges_of(stage.stencil, self.run.boundary, [edge.extent for edge in self.edges])
        return []

    def _gradient(self, name: str) -> str:
        """The field with the gradient, or its negative, of one of the run's."""
        return f"negated_grad_{name}" if f"negated_grad_{name}" in self.adjoint.fields else f"grad_{name}"

    def takes_points(self) -> bool:
        """Whether gradients with points are written by a step back, and not as their negatives."""
        sources, receivers = self.run.shot.positions
        newer = {name: self.adjoint.fields[place] for name, place in zip(self.adjoint.fields, self.adjoint._next)}
        return (all(newer.get(f"grad_{name}") in self.adjoint.outputs for name in receivers) and
                not any(self._gradient_at(name).startswith("negated_") for name in sources))

    def _shot(self) -> "Shot":
        """What is added back where the run records, then its sources again; recorded back where it has sources."""
        sources, receivers = self.run.shot.positions
        newer = {name: self.adjoint.fields[place] for name, place in zip(self.adjoint.fields, self.adjoint._next)}
        return self.run.shot.another(self.adjoint, {
            **{newer[f"grad_{name}"]: positions for name, positions in receivers.items()},
            **{name: sources[name] for name in self.again}}, {self._gradient_at(name): sources[name] for name in sources})

    def _gradient_at(self, source: str) -> str:
        """The gradient's field: of what a stage hands on, which it holds after the step back, else of the state, before."""
        if source in self.between:
            return f"grad_{source}"
        return next(self._gradient(name) for name in self.run.state if self.run._newer(name) == source)

    def gradients(self, inputs: Sequence[Any], of_state: Sequence[Any],
                  coefficients: Mapping[str, float] | None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Gradients of fields, and of coefficients; those of the series are in the run's `of_series`."""
        run, ops, like = self.run, self.run.ops, of_state[0]
        back = {name: ops.copy(gradient) for name, gradient in zip(run.state, of_state)}
        run._clear_outside_layers(back)
        for name, gradient in back.items():
            for slab in shell(self._held(name), 0):
                gradient[slab] = 0
        run._record_back(run.steps - 1, back)
        run._sources_back(run.steps - 1, {run._newer(name): gradient for name, gradient in back.items()})
        given = run.arrays.on_slabs(dict(zip(run.stencil.inputs, inputs)))
        back = run.arrays.on_slabs(back)
        self._negate(back)
        known = {**given, **{self._gradient(name): array for name, array in back.items()}}
        arrays = [known[name] if name in known else ops.zeros(like, self.arrays.shape(name, like))
                  for name in self.adjoint.arguments]
        self._run(arrays, inputs, coefficients)
        made = run.arrays.on_grid({name: arrays[self.places[self._gradient(name)]] for name in (*run.state, *self.constants)
                                   if self._gradient(name) in self.places}, like)
        self._negate(made)
        return ({name: made[name] for name in made if name in run.fields},
                {name: ops.total(made[name]) for name in made if name not in run.fields})

    def _negate(self, gradients: Mapping[str, Any]) -> None:
        for name, gradient in gradients.items():
            if self._gradient(name) != f"grad_{name}":
                gradient *= -1

    def _run(self, arrays: list[Any], inputs: Sequence[Any], coefficients: Mapping[str, float] | None) -> None:
        run, shot, like = self.run, self._shot(), self.run._like(inputs)
        series, records = self._series(like, shot), run.ops.series(like, (run.steps, shot.receivers))
        known = run._known(self.adjoint, coefficients)
        for span in run.spans_back(inputs, coefficients, self.needs_states):
            for part in span.single_steps() if run.stencil._counts_steps else [span]:
                for name, array in part.arrays.items():
                    if name in self.places:
                        arrays[self.places[name]] = array
                histories = {name: history for name, history in part.histories.items() if name in self.places}
                kernel = self.arrays.kernel(like, arrays, part.steps, histories)
                points, first = shot.placed(kernel, True), run.steps - 1 - part.last
                rows = slice(first, first + part.steps)
                taken = {} if points is None else {"points": points, "series": series[rows] if shot.sources else None,
                                                   "records": records[rows] if shot.receivers else None}
                taken.update(run._place(part.last), coefficients=known)
                if histories:
                    kernel.advance_through(arrays, histories, steps=part.steps, **taken)
                else:
                    kernel.advance(arrays, steps=part.steps, **taken)
        for name, columns in run.shot.columns.items():
            rows = slice(run.steps if name in self.between else run.steps - 1)
            run.of_series[rows, columns.start:columns.stop] = run.ops.reversed(
                records[rows, columns.start:columns.stop])

    def _series(self, like: Any, shot: "Shot") -> Any:
        """What each step back adds, [step back, source]."""
        run, ops = self.run, self.run.ops
        series = ops.series(like, (run.steps, shot.sources))
        if run._of_records is not None:
            series[:-1, :run.shot.receivers] = ops.reversed(run._of_records[:-1])
        columns = [column for field, columns in run.shot.columns.items() if field in self.again for column in columns]
        if columns:
            series[:, run.shot.receivers:] = ops.reversed(run.series)[:, columns]
        return series
