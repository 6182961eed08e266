"""What operators of PyTorch have in common: operations on tensors, stencils by their texts, coefficients as tensors."""

from __future__ import annotations

import functools
from typing import Any, Mapping, Sequence

import torch

from ._errors import ArgumentError
from ._gradients.padding import ArrayOperations
from ._stencil import Stencil, written_stencil

_MOST_STENCILS = 1024


def series_type(dtype: torch.dtype) -> torch.dtype:
    """The type of series and records that go with fields of this one."""
    return torch.float64 if dtype == torch.float64 else torch.float32


class _Torch(ArrayOperations):
    def empty(self, like: Any, shape: Sequence[int] | None = None) -> Any:
        return torch.empty_like(like) if shape is None else like.new_empty(tuple(shape))

    def zeros(self, like: Any, shape: Sequence[int]) -> Any:
        return like.new_zeros(tuple(shape))

    def copy(self, array: Any) -> Any:
        return array.clone(memory_format=torch.contiguous_format)

    def add_each(self, sums: Sequence[Any], arrays: Sequence[Any]) -> None:
        torch._foreach_add_(sums, arrays)

    def total(self, array: Any) -> Any:
        return array.sum(dtype=torch.float64)

    def series(self, like: Any, shape: Sequence[int]) -> Any:
        return like.new_zeros(tuple(shape), dtype=series_type(like.dtype))

    def numbers(self, like: Any, values: Sequence[float]) -> Any:
        kind = torch.int64 if isinstance(values[0], int) else series_type(like.dtype)
        return torch.tensor(values, dtype=kind, device=like.device)

    def add_at(self, array: Any, places: Any, values: Any) -> None:
        array.view(-1).index_add_(0, places, values.to(array.dtype))


OPERATIONS = _Torch()


@functools.lru_cache(maxsize=_MOST_STENCILS)
def stencil_of(name: str) -> Stencil:
    """name: all of it as text, so that graphs that torch.compile keeps find it again in another process."""
    return written_stencil(name)


def by_name(stencil: Stencil, coefficients: torch.Tensor | None) -> dict[str, float] | None:
    return None if coefficients is None else dict(zip(stencil.coefficients, coefficients.tolist()))


def coefficient_tensor(stencil: Stencil, given: torch.Tensor | Mapping[str, float]) -> torch.Tensor:
    if not isinstance(given, torch.Tensor):
        return torch.tensor(stencil.coefficient_values(given), dtype=torch.float64)
    if given.shape != (len(stencil.coefficients),):
        raise ArgumentError(f"coefficients of shape {tuple(given.shape)}: stencil '{stencil.name}' has "
                            f"{len(stencil.coefficients)}, {', '.join(stencil.coefficients)}")
    return given
