"""Steps on arrays whose library has DLPack's exchange interface in C: they are read without a line of Python.

Half of what a call of a small kernel takes on the host would else be to ask tensors for shape, strides and address.
"""

from __future__ import annotations

import ctypes as c
import functools
from typing import Any, Callable

from . import _arrays, _native

_ATTRIBUTE, _CAPSULE = "__dlpack_c_exchange_api__", b"dlpack_exchange_api"
_MAJOR = 1


class _Table(c.Structure):  # dlpack.h's DLPackExchangeAPI
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("before", c.c_void_p), ("owning", c.c_void_p * 3),
                ("describe", c.c_void_p), ("current_stream", c.c_void_p)]


class _How(c.Structure):  # stencil_tune_exchange
    _fields_ = [("struct_size", c.c_size_t), ("table", c.c_void_p), ("item", c.c_void_p), ("release_lock", c.c_void_p),
                ("take_lock", c.c_void_p), ("fields", c.c_void_p), ("count", c.c_int32), ("reserved", c.c_int32)]


def _address(function: str) -> int | None:
    return c.cast(getattr(c.pythonapi, function), c.c_void_p).value


class Exchange:
    """A step of one kernel on arrays of one type."""

    def __init__(self, native: _native.Library, handle: int, table: int, fields: list[int]):
        self._fields = (c.c_int32 * len(fields))(*fields)
        self._how = _How(c.sizeof(_How), table, _address("PyTuple_GetItem"), _address("PyEval_SaveThread"),
                         _address("PyEval_RestoreThread"), c.addressof(self._fields), len(fields), 0)
        given = handle, c.addressof(self._how)
        #: Takes a tuple of arrays, returns the step's status. Raises where one is none of the library's.
        self.step: Callable[[tuple[Any, ...]], int] = functools.partial(native.step_of_arrays, *given)
        #: The same into outputs that hold nothing yet.
        self.step_into_new: Callable[[tuple[Any, ...]], int] = functools.partial(native.step_into_new_of_arrays, *given)


def exchange_of(native: _native.Library, handle: int, kind: type, fields: list[int]) -> Exchange | None:
    """For arrays of a type whose library has the interface, else None."""
    capsule = getattr(kind, _ATTRIBUTE, None)
    if capsule is None:
        return None
    table = _Table.from_address(_arrays.capsule_pointer(capsule, _CAPSULE))
    if table.major != _MAJOR or not table.describe or not table.current_stream:
        return None
    return Exchange(native, handle, c.addressof(table), fields)
