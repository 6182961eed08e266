"""Arrays with room for what lies beyond their edges, for gradients of what cells read there."""

from __future__ import annotations

from typing import Any, Sequence

from .edges import Edge, layer


class ArrayOperations:
    """Operations on arrays of one library. In place: `a[index] += b[index]`."""

    def empty(self, like: Any, shape: Sequence[int] | None = None) -> Any:
        raise NotImplementedError

    def zeros(self, like: Any, shape: Sequence[int]) -> Any:
        raise NotImplementedError

    def copy(self, array: Any) -> Any:
        raise NotImplementedError

    def add_each(self, sums: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Adds each array to the sum in its place."""
        for total, array in zip(sums, arrays):
            total += array

    def total(self, array: Any) -> Any:
        """The sum over all cells, in f64."""
        raise NotImplementedError

    # ---- what runs with points need too ----

    def series(self, like: Any, shape: Sequence[int]) -> Any:
        """Zeros of the type that series and records have where fields are like this one: f64, else f32."""
        raise NotImplementedError

    def numbers(self, like: Any, values: Sequence[float]) -> Any:
        """Whole numbers, or numbers of that type, where the array is."""
        raise NotImplementedError

    def reversed(self, rows: Any) -> Any:
        """The rows of an array, the last one first."""
        return rows[list(range(len(rows) - 1, -1, -1))]

    def add_at(self, array: Any, places: Any, values: Any) -> None:
        """Adds each value to the cell at its place of the flat array, which several may share."""
        raise NotImplementedError


def _inside(edges: Sequence[Edge]) -> tuple[slice, ...]:
    return tuple(slice(edge.room[0], edge.room[0] + edge.extent) for edge in edges)


def _room(ops: ArrayOperations, array: Any, edges: Sequence[Edge]) -> Any:
    """The array among zeros with room for the layers outside."""
    room = ops.zeros(array, [edge.extent + sum(edge.room) for edge in edges])
    room[_inside(edges)] = array
    return room


def padded_with_zeros(ops: ArrayOperations, array: Any, edges: Sequence[Edge]) -> Any:
    return _room(ops, array, edges) if any(edge.is_padded for edge in edges) else array


def extended(ops: ArrayOperations, array: Any, edges: Sequence[Edge]) -> Any:
    """The array with what reads beyond its edges get."""
    if not any(edge.is_padded for edge in edges):
        return array
    room = _room(ops, array, edges)
    for axis, edge in enumerate(edges):
        for index, source in edge.outside():
            room[layer(axis, index + edge.room[0])] = room[layer(axis, source + edge.room[0])]
    return room


def folded(ops: ArrayOperations, array: Any, edges: Sequence[Edge]) -> Any:
    """What fell outside is added to the cells that reads there get."""
    if not any(edge.is_padded for edge in edges):
        return array
    for axis, edge in reversed(list(enumerate(edges))):
        for index, source in edge.outside():
            array[layer(axis, source + edge.room[0])] += array[layer(axis, index + edge.room[0])]
    return ops.copy(array[_inside(edges)])
