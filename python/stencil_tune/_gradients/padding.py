"""Arrays with room for what lies beyond their edges, for gradients under clamp and reflect."""

from __future__ import annotations

from typing import Any, Sequence

from .edges import Edge, layer


class ArrayOperations:
    """Operations on arrays of one library. In place: `a[index] += b[index]`."""

    def empty(self, like: Any) -> Any:
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


def _inside(edges: Sequence[Edge]) -> tuple[slice, ...]:
    return tuple(slice(edge.low, edge.low + edge.extent) if edge.is_padded else slice(None) for edge in edges)


def _room(ops: ArrayOperations, array: Any, edges: Sequence[Edge]) -> Any:
    """The array among zeros with room for the layers outside."""
    room = ops.zeros(array, [edge.extent + (edge.low + edge.high if edge.is_padded else 0) for edge in edges])
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
        for index, source in edge.outside() if edge.is_padded else ():
            room[layer(axis, index + edge.low)] = room[layer(axis, source + edge.low)]
    return room


def folded(ops: ArrayOperations, array: Any, edges: Sequence[Edge]) -> Any:
    """What fell outside is added to the cells that reads there get."""
    if not any(edge.is_padded for edge in edges):
        return array
    for axis, edge in reversed(list(enumerate(edges))):
        for index, source in edge.outside() if edge.is_padded else ():
            array[layer(axis, source + edge.low)] += array[layer(axis, index + edge.low)]
    return ops.copy(array[_inside(edges)])
