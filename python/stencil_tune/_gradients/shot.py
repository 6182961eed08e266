"""Where the sources and receivers of a run are, for kernels and arrays alike."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from .._arguments import KernelBase
from .._points import PointsBase, Positions
from .._request import Grid
from .._stencil import Stencil
from .padding import ArrayOperations


class Cells(NamedTuple):
    """The cells of one field at which points are, as arrays of a library."""

    places: Any  #: in the flat array
    points: Any  #: columns of series or records
    weights: Any


class Shot:
    """Where sources and receivers are, for kernels and arrays alike.

    Args:
        sources, receivers: positions by field, as Kernel.place_points() takes them.
    """

    def __init__(self, sources: Positions, receivers: Positions):
        self.positions = sources, receivers
        counts = [len(list(positions)) for positions in sources.values()]
        self.columns = {field: range(stop - count, stop)  #: of series, by field
                        for field, count, stop in zip(sources, counts, itertools.accumulate(counts))}
        self.sources = sum(counts)
        self.receivers = sum(len(list(positions)) for positions in receivers.values())
        self._others: dict[Stencil, Shot] = {}
        self._placed: dict[tuple[Any, bool], Any] = {}
        self._cells: dict[tuple[Any, ...], tuple[dict[str, Cells], dict[str, Cells]]] = {}

    def another(self, stencil: Stencil, sources: Positions, receivers: Positions) -> Shot:
        """One for another stencil, made once."""
        if stencil not in self._others:
            self._others[stencil] = Shot(sources, receivers)
        return self._others[stencil]

    def placed(self, kernel: Any, records: bool) -> Any:
        """For a kernel, with receivers or without; None where there are no points."""
        if not self.sources and not (records and self.receivers):
            return None
        key = kernel, records
        if key not in self._placed:
            self._placed[key] = kernel.place_points(self.positions[0], self.positions[1] if records else {})
        return self._placed[key]

    def cells(self, stencil: Stencil, like: Any, ops: ArrayOperations) -> tuple[dict[str, Cells], dict[str, Cells]]:
        """Cells of sources and of receivers, by field, for arrays like this one."""
        key = tuple(like.shape), str(getattr(like, "device", "")), str(like.dtype)
        if key not in self._cells:
            points = PointsBase(KernelBase(stencil, Grid(tuple(like.shape)[::-1], 0, "f32", "hold", 1)), *self.positions, 1)
            self._cells[key] = (_by_field(stencil, points._source_cells, like, ops),
                                _by_field(stencil, points._receiver_cells, like, ops))
        return self._cells[key]


def _by_field(stencil: Stencil, cells: Any, like: Any, ops: ArrayOperations) -> dict[str, Cells]:
    rows: dict[str, list[tuple[int, int, float]]] = {}
    for at in cells:
        place = 0
        for index, extent in zip(reversed(at.cell[:stencil.rank]), like.shape):
            place = place * extent + index
        rows.setdefault(stencil.fields[at.field], []).append((place, at.point, at.weight))
    return {field: Cells(*(ops.numbers(like, list(column)) for column in zip(*found))) for field, found in rows.items()}
