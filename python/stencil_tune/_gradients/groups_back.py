"""Several steps of a run taken back at once, by the adjoint of as many steps as one: what lies between is made again.

Records between the steps of a group add to the gradients that its stages hand on. What sources get from there is not
recorded: runs whose series has a gradient go back step by step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from .._arguments import History
from .._errors import ArgumentError, Error
from .._lookup import kernel_for
from .._stencil import Stencil
from .edges import edges_of, masked_axes
from .field_arrays import FieldArrays

if TYPE_CHECKING:
    from .run import Span
    from .shot import Shot
    from .steps_back import StepsBack

_KNOWN = ("exact", "stale", "same form", "nearest size")  #: matches of kernels that won a race


def groups_back(back: "StepsBack", like: Any) -> "GroupsBack | None":
    """With as many steps at once as the tuned kernel that takes most; None where none was tuned, or none is right."""
    for steps in (4, 3, 2):
        groups = group_of(back, steps)
        if groups is not None and groups.match(like) in _KNOWN:
            return groups
    return None


def group_of(back: "StepsBack", steps: int) -> "GroupsBack | None":
    run = back.run
    if back.between or not back.needs_states or run.wants_series:
        return None
    try:
        forward = run.stencil.repeated(steps)
        adjoint = forward.adjoint_step(back.constants)
    except ArgumentError:
        return None
    edges = edges_of(forward, run.boundary, [edge.extent for edge in back.edges])
    pointwise = forward._pointwise.issuperset(set(back.constants) & set(run.fields))
    if back.masked or masked_axes(forward, adjoint, edges, pointwise):
        return None
    groups = GroupsBack(back, adjoint, steps)
    return groups if groups.is_right() else None


class GroupsBack:
    def __init__(self, back: "StepsBack", adjoint: Stencil, steps: int):
        self.run, self.back, self.adjoint, self.steps = back.run, back, adjoint, steps
        self.arrays = FieldArrays(adjoint, back.boundary, back.run.ops)
        self.names = [name for name in (*self.run.state, *back.constants) if back.gradient_name(name) in back.places]
        newer = {name: adjoint.fields[place] for name, place in zip(adjoint.fields, adjoint._next)}
        sources, receivers = self.run.shot.positions
        self.after = {newer.get(f"grad_{name}", ""): positions for name, positions in receivers.items()}
        self.within = [{self._handed_on(name, step): positions for name, positions in receivers.items()}
                       for step in range(steps - 1)]
        self.again = [{f"{name}_{step}": positions for name, positions in sources.items()} for step in range(steps - 1)
                      if any(f"{name}_{step}" in adjoint.outputs for name in sources)]

    def _handed_on(self, name: str, step: int) -> str:
        """The field with the whole gradient of what a field of the state was after a step of the group."""
        parts = f"grad_{self.run._newer(name)}_{step}_of_stage_"
        stages = [int(field.removeprefix(parts)) for field in self.adjoint.outputs if field.startswith(parts)]
        return f"{parts}{min(stages)}" if stages else ""

    def is_right(self) -> bool:
        """Whether its state is that of single steps, and points are where its stages write."""
        if any((name in self.names) != (f"grad_{name}" in self.adjoint.fields)
               for name in (*self.run.state, *self.back.constants)):
            return False
        places = [name for fields in (self.after, *self.within, *self.again) for name in fields]
        return all(name in self.adjoint.outputs for name in places) and len(set(places)) == len(places)

    def match(self, like: Any) -> str:
        try:
            return str(kernel_for(self.adjoint, [like], self.back.boundary, slabs=bool(self.adjoint.layer_fields)).match)
        except Error:
            return ""  # its updates take more registers than a thread has

    def shot(self) -> "Shot":
        sources: dict[str, Any] = {}
        for fields in (self.after, *self.within, *self.again):
            sources.update(fields)
        return self.run.shot.another(self.adjoint, sources, {})

    def take_back(self, span: "Span", arrays: list[Any], like: Any, coefficients: Mapping[str, float] | None) -> int:
        """As many groups as there are from the span's last step on. Returns the number of steps that it took back; the
        arrays are those of single steps."""
        run, groups, steps = self.run, span.steps // self.steps, self.steps
        if groups == 0:
            return 0
        back, places = self.back, self.back.places
        state = {name: arrays[places[back.gradient_name(name)]] for name in self.names}
        back.negate(state)
        known = {**{name: arrays[places[name]] for name in back.adjoint.inputs}, **span.arrays,
                  **{f"grad_{name}": array for name, array in state.items()}}
        given = [known[name] if name in known else run.ops.zeros(like, self.arrays.shape(name, like))
                 for name in self.adjoint.arguments]
        histories = {name: history if span.every == steps else History(history.stack, history.first - (steps - 1), -steps)
                     for name, history in span.histories.items() if name in self.adjoint.inputs}
        kernel, shot = self.arrays.kernel(like, given, groups, histories), self.shot()
        points = shot.placed(kernel, False)
        taken = {} if points is None else {"points": points, "series": self._series(like, span.last, groups, shot.sources)}
        kernel.advance_through(given, histories, steps=groups, coefficients=run._known(self.adjoint, coefficients),
                               **run._place(0), **taken)
        after = {name: given[self.adjoint.arguments.index(f"grad_{name}")] for name in state}
        back.negate(after)
        for name, array in after.items():
            arrays[places[back.gradient_name(name)]] = array
        return groups * steps

    def _series(self, like: Any, last: int, groups: int, columns: int) -> Any:
        """What each group adds, [group, source]: after it what was recorded before its first step."""
        run, rows = self.run, [last + 1 - self.steps * (group + 1) for group in range(groups)]  # the first of each
        series, column, receivers = run.ops.series(like, (groups, columns)), 0, run.shot.receivers
        for step in (-1, *range(self.steps - 1)) if receivers else ():
            if run._of_records is not None:
                series[:, column:column + receivers] = run._of_records[[row + step for row in rows]]
            column += receivers
        for step in range(len(self.again)):
            series[:, column:column + run.shot.sources] = run.series[[row + step for row in rows]]
            column += run.shot.sources
        return series
