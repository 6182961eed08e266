"""Parts of a grid, as the C interface takes them."""

from __future__ import annotations

import ctypes as c
from typing import Any, NamedTuple, Sequence

from . import _native
from ._errors import ArgumentError


class Regions(NamedTuple):
    """Of one kernel, for calls that come again; Kernel.prepared_regions() makes them."""

    boxes: Any  # low x, y, z, then high x, y, z of each
    number: int


def box_of(region: Sequence[slice], dims: Sequence[int], updated: Sequence[slice]) -> tuple[list[int], list[int]]:
    """Low and high cells from x on of the slices, from z on, as far as a step updates them. Raises ArgumentError."""
    if len(region) != len(dims):
        raise ArgumentError(f"region has {len(region)} slices, the arrays have {len(dims)} axes")
    low, high = [0] * _native.MAX_RANK, [1] * _native.MAX_RANK
    for axis, (cells, extent, within) in enumerate(zip(reversed(region), dims, reversed(updated))):
        start, stop, step = cells.indices(extent)
        if step != 1:
            raise ArgumentError("region has a slice with a step")
        low[axis], high[axis] = max(start, within.start), min(stop, within.stop)
    return low, high


def as_numbers(values: Sequence[int]) -> Any:
    """As the C interface takes them."""
    return (c.c_int64 * len(values))(*values)
