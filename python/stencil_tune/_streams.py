"""Which stream a kernel runs on: the caller's, else the current one of the library that the arrays are from."""

from __future__ import annotations

import sys
from typing import Any

from . import _arrays
from ._errors import ArgumentError


def address_of(stream: Any) -> int:
    """Of a stream of PyTorch, CuPy or numba, one with __cuda_stream__, or a cudaStream_t as an integer."""
    if isinstance(stream, int):
        return stream
    for attribute in ("cuda_stream", "ptr"):  # torch.cuda.Stream, cupy.cuda.Stream
        value = getattr(stream, attribute, None)
        if isinstance(value, int):
            return value
    if hasattr(stream, "__cuda_stream__"):
        said = stream.__cuda_stream__
        return int((said() if callable(said) else said)[1])
    handle = getattr(stream, "handle", None)  # numba's
    if handle is not None:
        return int(getattr(handle, "value", handle) or 0)
    raise ArgumentError(f"a {type(stream).__name__} is no stream: give one of PyTorch, CuPy or numba, one with "
                        "__cuda_stream__, or a cudaStream_t as an integer")


_raw_stream_of_torch: Any = None


def _of_torch(device: int) -> int:
    global _raw_stream_of_torch
    if _raw_stream_of_torch is None:
        torch = sys.modules["torch"]
        # 0.1 us, the public way 2 us.
        _raw_stream_of_torch = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (
            lambda device: torch.cuda.current_stream(device).cuda_stream)
    return _raw_stream_of_torch(device)


def _of_cupy(_device: int) -> int:
    return sys.modules["cupy"].cuda.get_current_stream().ptr


def _of_others(_device: int) -> int:
    return 0


_ways: dict[type, Any] = {}


def current(array: Any, device: int) -> int:
    """The current stream on a GPU of the array's library; the legacy default stream (0) where it has none."""
    way = _ways.get(type(array))
    if way is None:
        way = _of_torch if _arrays.is_torch(array) else _of_cupy if _arrays.is_cupy(array) else _of_others
        _ways[type(array)] = way
    return way(device)
