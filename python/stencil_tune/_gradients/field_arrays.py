"""Arrays of a stencil's fields as kernels take them: those of fields in layers hold these alone."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from .._arguments import History
from .._lookup import kernel_for
from .._request import Grid, array_of
from .._stencil import Stencil
from .edges import edges_of
from .padding import ArrayOperations

_TYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}


class FieldArrays:
    """`like` is an array of the whole grid, from which others have their shape, type and place."""

    def __init__(self, stencil: Stencil, boundary: str, operations: ArrayOperations):
        self.stencil = stencil
        self.boundary = boundary
        self.ops = operations

    def shape(self, name: str, like: Any) -> tuple[int, ...]:
        if name not in self.stencil.layer_fields:
            return tuple(like.shape)
        grid = Grid(tuple(map(int, like.shape))[::-1], 0, _TYPES[str(like.dtype).rpartition(".")[2]], self.boundary, 1, slabs=True)
        return array_of(self.stencil, grid, self.stencil.fields.index(name))[0]

    def room(self, name: str, like: Any, *rows: int) -> Any:
        """For a field, or a stack of so many. Nobody writes what lies outside of layers."""
        make = self.ops.zeros if name in self.stencil.layer_fields else self.ops.empty
        return make(like, (*rows, *self.shape(name, like)))

    def on_slabs(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """Arrays of the whole grid as kernels take them."""
        found = dict(arrays)
        for name in self.stencil.layer_fields:
            if name in found:
                found[name] = self.room(name, arrays[name])
                for cells, there, _ in self._parts(name, arrays[name]):
                    found[name][there] = arrays[name][cells]
        return found

    def on_grid(self, arrays: Mapping[str, Any], like: Any) -> dict[str, Any]:
        """The other way round. Cells outside of layers are 0."""
        found = dict(arrays)
        for name in self.stencil.layer_fields:
            if name in found:
                found[name] = self.ops.zeros(like, like.shape)
                for cells, there, outside in self._parts(name, like):
                    found[name][cells] = arrays[name][there]
                    found[name][outside] = 0
        return found

    def _parts(self, name: str, like: Any) -> list[tuple[Any, Any, Any]]:
        """The cells of both slabs, as indices of an array of the whole grid and of one of layers, and those beside them in
        the grid that no layer has."""
        at = "xyz".index(self.stencil.layer_fields[name])
        axis, (low, high) = self.stencil.rank - 1 - at, (self.stencil._widths or [])[at]
        edge = edges_of(self.stencil, self.boundary, tuple(like.shape))[axis]
        if edge.kind == "periodic":
            low = high = 0  # there are no layers
        extent = edge.extent
        left_out = extent - self.shape(name, like)[axis]
        parts = [(slice(low), slice(low), slice(0)),
                 (slice(low + left_out, None), slice(low, None), slice(low + left_out, max(low + left_out, extent - high)))]
        before = (slice(None),) * axis
        return [tuple((*before, each) for each in part) for part in parts]  # type: ignore[misc]

    def kernel(self, like: Any, arrays: Sequence[Any], steps: int, histories: Mapping[str, History] | None = None) -> Any:
        """For arrays of all fields; with histories, which have some of them, of single steps."""
        stencil, histories = self.stencil, histories or {}
        given = [array for name, array in zip(stencil.arguments, arrays)
                 if name not in stencil.profiles and name not in histories]
        for history in histories.values():  # two of them have the alignment of all
            given += [history.stack[history.first + by] for by in ((0, history.by) if steps > 1 else (0,))]
        return kernel_for(stencil, [like, *given], self.boundary, 1 if histories else steps, bool(stencil.layer_fields))
