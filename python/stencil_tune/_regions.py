"""Parts of a grid, as the C interface takes them."""

from __future__ import annotations

import ctypes as c
from typing import Any, NamedTuple, Sequence

from . import _native, _values
from ._errors import ArgumentError


class Regions(NamedTuple):
    """Regions of one kernel, for calls that come again; Kernel.prepared_regions() makes them."""

    boxes: Any  # low x, y, z, then high x, y, z of each
    number: int


def slices_of(region: Any, axes: int) -> tuple[slice, ...]:
    """The slices of a region. Raises ArgumentError."""
    slices = _values.several(region, "region", "slices of the arrays are needed")
    for cells in slices:
        if not isinstance(cells, slice):
            _values.refuse(cells, "a part of region", "a slice is needed; slice(3, 4) is row 3 alone")
        if cells.step is not None and _values.whole(cells.step, "a slice's step") != 1:
            raise ArgumentError("region has a slice with a step")
        for end in (cells.start, cells.stop):
            if end is not None:
                _values.whole(end, "a slice's end")
    if len(slices) != axes:
        raise ArgumentError(f"region has {len(slices)} slices, the arrays have {axes} axes")
    return slices


def box_of(region: Sequence[slice], dims: Sequence[int], updated: Sequence[slice]) -> tuple[list[int], list[int]]:
    """Low and high cells from x on of the slices, from z on, as far as a step updates them. Raises ArgumentError."""
    region = slices_of(region, len(dims))
    low, high = [0] * _native.MAX_RANK, [1] * _native.MAX_RANK
    for axis, (cells, extent, within) in enumerate(zip(reversed(region), dims, reversed(updated))):
        start, stop, _ = cells.indices(extent)
        low[axis], high[axis] = max(start, within.start), min(stop, within.stop)
    return low, high


def as_numbers(values: Sequence[int]) -> Any:
    """Whole numbers as the C interface takes them."""
    return (c.c_int64 * len(values))(*values)
