"""XLA's foreign function interface through ctypes, as xla/ffi/api/c_api.h declares it: calls, buffers, streams."""

from __future__ import annotations

import ctypes as c
from typing import Any, Callable

from . import _arrays


class _Version(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("major", c.c_int), ("minor", c.c_int)]


_Function = c.CFUNCTYPE(c.c_void_p, c.c_void_p)


class _Api(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("version", _Version), ("internal", c.c_void_p),
                ("error_create", _Function), ("error_message", c.c_void_p), ("error_destroy", c.c_void_p),
                ("handler_register", c.c_void_p), ("stream_get", _Function), ("others", c.c_void_p * 12),
                ("device_ordinal_get", _Function)]


class _List(c.Structure):  # arguments or results
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("size", c.c_int64), ("types", c.c_void_p),
                ("items", c.POINTER(c.c_void_p))]


class _Attributes(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("size", c.c_int64), ("types", c.c_void_p),
                ("names", c.c_void_p), ("items", c.POINTER(c.c_void_p))]


class CallFrame(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("api", c.POINTER(_Api)), ("context", c.c_void_p),
                ("stage", c.c_int), ("arguments", _List), ("results", _List), ("attributes", _Attributes)]


class _Buffer(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("dtype", c.c_int), ("data", c.c_void_p),
                ("rank", c.c_int64), ("dims", c.POINTER(c.c_int64))]


class _Text(c.Structure):
    _fields_ = [("first", c.c_void_p), ("size", c.c_size_t)]


class _Extension(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("type", c.c_int), ("next", c.c_void_p), ("metadata", c.c_void_p)]


class _Metadata(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("version", _Version), ("traits", c.c_uint32)]


class _StreamGet(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("context", c.c_void_p), ("stream", c.c_void_p)]


class _OrdinalGet(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("context", c.c_void_p), ("ordinal", c.c_int32)]


class _ErrorCreate(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("extension", c.c_void_p), ("message", c.c_char_p), ("code", c.c_int)]


_METADATA, _INTERNAL = 1, 13
_DTYPES = {12: "f64", 11: "f32", 10: "f16", 16: "bf16"}


def _answers_metadata(frame: CallFrame) -> bool:
    """Whether XLA asked what the handler is: one of the interface's own version, without traits."""
    if not frame.extension:
        return False
    extension = _Extension.from_address(frame.extension)
    if extension.type != _METADATA:
        return False
    metadata = _Metadata.from_address(extension.metadata)
    metadata.version.major = frame.api.contents.version.major
    metadata.version.minor = frame.api.contents.version.minor
    metadata.traits = 0
    return True


def stream_of(frame: CallFrame) -> int:
    get = _StreamGet(c.sizeof(_StreamGet), None, frame.context, None)
    if frame.api.contents.stream_get(c.addressof(get)):
        raise RuntimeError("XLA gave no stream")
    return get.stream or 0


def device_of(frame: CallFrame) -> int | None:
    """Ordinal of the GPU; None where XLA is too old to say: that of the context which it has made current."""
    api = frame.api.contents
    if api.struct_size < c.sizeof(_Api):
        return None
    get = _OrdinalGet(c.sizeof(_OrdinalGet), None, frame.context, 0)
    if api.device_ordinal_get(c.addressof(get)):
        return None
    return int(get.ordinal)


def layouts(items: _List, device: int | None) -> list[_arrays.Layout]:
    found = []
    for i in range(items.size):
        buffer = _Buffer.from_address(items.items[i])
        shape = tuple(buffer.dims[:buffer.rank])
        found.append(_arrays.Layout(buffer.data or 0, shape, _arrays.dense_strides(shape), _DTYPES[buffer.dtype], device))
    return found


def handler(run: Callable[[str, CallFrame], None]) -> Any:
    """A function of XLA's from run(the first attribute, a text, frame)."""

    def handle(address: int) -> Any:
        frame = CallFrame.from_address(address)
        try:
            if _answers_metadata(frame):
                return None
            text = _Text.from_address(frame.attributes.items[0])
            run(c.string_at(text.first, text.size).decode(), frame)
            return None
        except BaseException as error:  # nothing may pass into XLA
            create = _ErrorCreate(c.sizeof(_ErrorCreate), None, str(error).encode(), _INTERNAL)
            return frame.api.contents.error_create(c.addressof(create))

    return _Function(handle)
