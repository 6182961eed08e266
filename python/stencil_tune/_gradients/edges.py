"""What gradients need at the edges of a grid: layers that boundary hold keeps, and what reads beyond an edge get."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, Sequence

from .._stencil import Stencil


@dataclasses.dataclass(frozen=True)
class Edge:
    """Both ends of one axis of an array: its boundary, and how far reads reach beyond."""

    kind: str  # "hold", "zero", "clamp", "periodic", "reflect"
    low: int  # layers beyond the low end that reads reach
    high: int
    extent: int
    room: tuple[int, int] = (0, 0)  # layers beyond both ends that its adjoint needs, for what falls outside

    @property
    def is_padded(self) -> bool:
        return sum(self.room) > 0

    @property
    def held(self) -> tuple[int, int]:
        return (self.low, self.high) if self.kind == "hold" else (0, 0)

    def source(self, index: int) -> int:
        """The layer that a read at `index`, outside, gets."""
        if self.kind == "periodic":
            return index % self.extent
        if self.kind in ("clamp", "hold") or self.extent == 1:  # what is held answers for profiles alone
            return min(max(index, 0), self.extent - 1)
        index %= 2 * (self.extent - 1)
        return index if index < self.extent else 2 * (self.extent - 1) - index

    def outside(self) -> list[tuple[int, int]]:
        """(index, source) of each layer outside."""
        indices = [*range(-self.room[0], 0), *range(self.extent, self.extent + self.room[1])]
        return [(index, self.source(index)) for index in indices]


def edges_of(stencil: Stencil, boundary: str, shape: Sequence[int]) -> list[Edge]:
    """The edges on each axis of the arrays, z first."""
    kinds = dict.fromkeys("xyz"[:stencil.rank], "hold" if "=" in boundary else boundary)
    if "=" in boundary:
        for part in boundary.split(","):
            axis, _, kind = part.partition("=")
            kinds[axis] = kind
    return [Edge(kinds[axis], -stencil._reach[i][0], stencil._reach[i][1], extent, _room(stencil, kinds[axis], i))
            for i, (axis, extent) in reversed(list(enumerate(zip("xyz", reversed(shape)))))]


def _room(stencil: Stencil, kind: str, axis: int) -> tuple[int, int]:
    """Where cells are not alike, what lies across a periodic edge is not what lies there, and profiles may be read
    further than fields."""
    low, high = -stencil._reach[axis][0], stencil._reach[axis][1]
    far = max(low, -stencil._profile_reach[axis][0]), max(high, stencil._profile_reach[axis][1])
    if kind in ("clamp", "reflect") or stencil._is_placed and (kind == "periodic" or kind == "hold" and far != (low, high)):
        return far
    return 0, 0


def zeros_outside(edges: Sequence[Edge]) -> str:
    """The boundary of an adjoint stencil: it reads zeros beyond all edges that are not periodic, or have room."""
    return ",".join(f"{axis}={'periodic' if edge.kind == 'periodic' and not edge.is_padded else 'zero'}"
                    for axis, edge in zip("xyz", reversed(edges)))


def around(edges: Sequence[Edge], origin: Sequence[int]) -> tuple[int, ...]:
    """The coordinates of the first cell of arrays with room."""
    return tuple(first - edge.room[0] for first, edge in zip(origin, edges))


def edge_coefficients(edges: Sequence[Edge], origin: Sequence[int]) -> dict[str, float]:
    """What adjoint stencils ask of the grid's edges, as generator/stencil/derivatives/adjoint.hpp has it."""
    return {f"{axis}.{what}": float(value) for axis, edge, first in zip("xyz", reversed(edges), reversed(origin))
            for what, value in (("first", first), ("last", first + edge.extent - 1), ("zero", edge.kind == "zero"))}


def widths_with_room(stencil: Stencil, edges: Sequence[Edge]) -> str | None:
    """The widths of a stencil's layers on a grid with room; None where it has none."""
    if stencil._widths is None:
        return None
    return ",".join(f"{axis}={low and low + edge.room[0]}:{high and high + edge.room[1]}"
                    for axis, (low, high), edge in zip("xyz", stencil._widths, reversed(edges)))


def masked_axes(stencil: Stencil, adjoint: Stencil, edges: Sequence[Edge], pointwise: bool) -> str:
    """Axes whose held layers are not those that boundary hold keeps in a step back."""
    stages = [each.stage(number) for each in (stencil, adjoint) for number in range(each.stages)]
    return "".join(axis for at, (axis, edge) in enumerate(zip("xyz", reversed(edges)))
                   if edge.kind == "hold" and not (pointwise and all(stage._reach[at] == (-edge.low, edge.low)
                                                                     for stage in stages)))


def outside_layers(stencil: Stencil, field: str, edges: Sequence[Edge]) -> tuple[slice, ...]:
    """The index of cells where a field does not exist."""
    at = "xyz".index(stencil.layer_fields[field])
    (low, high), axis = (stencil._widths or [])[at], len(edges) - 1 - at
    return (slice(None),) * axis + (slice(low, max(low, edges[axis].extent - high)),)


def layer(axis: int, index: int) -> tuple[slice, ...]:
    """The index of one layer of an array."""
    return (slice(None),) * axis + (slice(index, index + 1),)


def shell(edges: Sequence[Edge], times: int) -> Iterator[tuple[slice, ...]]:
    """Indices of the layers that boundary hold keeps (`times` 0), or of those beside them, `times` as many. No cell is in
    two of them."""
    return (index for _, index in sides(edges, times))


def sides(edges: Sequence[Edge], times: int) -> Iterator[tuple[int, tuple[slice, ...]]]:
    """The same, each with the axis at whose end it is."""
    outer, inner = [], []
    for edge in edges:
        low, high = edge.held
        first, last = (low, max(low, edge.extent - high)) if times else (0, edge.extent)
        start = min((1 + times) * low, last)
        outer.append((first, last))
        inner.append((start, max(start, min(edge.extent - (1 + times) * high, last))))
    for axis in range(len(edges)):
        before = tuple(slice(*cells) for cells in inner[:axis])
        after = tuple(slice(*cells) for cells in outer[axis + 1:])
        for cells in ((outer[axis][0], inner[axis][0]), (inner[axis][1], outer[axis][1])):
            if cells[1] > cells[0]:
                yield axis, (*before, slice(*cells), *after)


def is_hold_alone(edges: Sequence[Edge]) -> bool:
    """Whether the adjoint holds the same layers, and nothing else needs more than zeros outside."""
    return all(edge.kind in ("periodic", "zero") or edge.low + edge.high == 0 or
               edge.kind == "hold" and edge.low == edge.high for edge in edges)


def is_periodic(edges: Sequence[Edge]) -> bool:
    """Whether a step is the same everywhere."""
    return all(edge.kind == "periodic" or edge.low + edge.high == 0 for edge in edges)
