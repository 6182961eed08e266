"""Where an array's cells are: read from PyTorch, CuPy, and whatever announces DLPack or __cuda_array_interface__.

Nothing here copies, converts or waits.
"""

from __future__ import annotations

import ctypes as c
import math
from typing import Any, Callable, NamedTuple, Sequence

from ._errors import ArgumentError

HOST = -1  # in place of a GPU's ordinal


class Layout(NamedTuple):
    """An array as a kernel needs it."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in cells
    dtype: str  # "f64", "f32", "f16", "bf16"; of whole numbers "u8", "i8", "u16", "i16", "i32", "u32", "i64", "u64"
    device: int | None  # ordinal of the GPU; HOST; None where the array does not say
    stream: int | None = None  # on which its cells are ready, where it says
    writable: bool = True


_DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "double": "f64", "float": "f32",
    "half": "f16", "f64": "f64", "f32": "f32", "f16": "f16", "bf16": "bf16", "<f8": "f64", "<f4": "f32", "<f2": "f16",
}
_FLOATING = frozenset(_DTYPES.values())
# Types of whole numbers, which fields with a storage type have, and arrays of kernels of the user's own.
_WHOLE_DTYPES = {
    "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64",
    "uint64": "u64", "bool": "u8",
    "|i1": "i8", "|u1": "u8", "|b1": "u8", "<i2": "i16", "<u2": "u16", "<i4": "i32", "<u4": "u32", "<i8": "i64",
    "<u8": "u64",
}
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8,
         "u64": 8}


def dtype_name(dtype: Any) -> str:
    """"f32" of "f32", "float32", numpy.float32, torch.float32 and their like. Raises ArgumentError for others."""
    text = getattr(dtype, "__name__", None) or str(getattr(dtype, "name", dtype))
    found = _DTYPES.get(text.rsplit(".", 1)[-1])
    if found is None:
        raise ArgumentError(f"cells of type {text}: kernels work on f64, f32, f16 and bf16", "unknown_name")
    return found


def cell_name(dtype: Any) -> str:
    """The same of cells, which may be whole numbers."""
    text = getattr(dtype, "__name__", None) or str(getattr(dtype, "name", dtype))
    return _WHOLE_DTYPES.get(text.rsplit(".", 1)[-1]) or dtype_name(dtype)


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array in C order, in cells."""
    return tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))


# ---- one reader a kind of array: (array, stream that the kernel will run on or None) -> Layout ----------------------

_torch_dtypes: dict[Any, str] = {}


def _read_torch(tensor: Any, _stream: Any) -> Layout:
    dtype = _torch_dtypes.get(tensor.dtype)
    if dtype is None:
        dtype = _torch_dtypes[tensor.dtype] = cell_name(tensor.dtype)
    if not tensor.is_cuda and tensor.device.type != "cpu":
        raise ArgumentError(f"a tensor on {tensor.device}: kernels run on CUDA devices")
    if tensor.requires_grad:
        import torch

        if torch.is_grad_enabled():
            raise ArgumentError("a tensor that requires a gradient, which a kernel does not record: use "
                                "stencil_tune.torch.step or advance, or torch.no_grad()")
    return Layout(tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), dtype, tensor.get_device())


def _read_cupy(array: Any, _stream: Any) -> Layout:
    size = array.itemsize
    return Layout(array.data.ptr, array.shape, tuple(stride // size for stride in array.strides),
                  cell_name(array.dtype), array.data.device_id)


def _read_cuda_array_interface(array: Any, _stream: Any) -> Layout:
    said = array.__cuda_array_interface__
    typestr, shape = said["typestr"], tuple(said["shape"])
    if said.get("mask") is not None:
        raise ArgumentError("an array with a mask: kernels update all cells")
    dtype = _DTYPES.get(typestr) or _WHOLE_DTYPES.get(typestr)
    if dtype is None:
        raise ArgumentError(f"cells of type {typestr}: kernels work on f64, f32 and f16, and on bf16 through DLPack",
                            "unknown_name")
    strides = said.get("strides")
    cells = dense_strides(shape) if strides is None else tuple(stride // BYTES[dtype] for stride in strides)
    address, read_only = said["data"]
    return Layout(address or 0, shape, cells, dtype, None, said.get("stream"), not read_only)


class _DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class _DLManagedTensorVersioned(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("context", c.c_void_p), ("deleter", c.c_void_p),
                ("flags", c.c_uint64), ("tensor", _DLTensor)]


_DL_CPU, _DL_CUDA, _DL_CUDA_HOST, _DL_CUDA_MANAGED = 1, 2, 3, 13
_DL_DTYPES = {(2, 64): "f64", (2, 32): "f32", (2, 16): "f16", (4, 16): "bf16", (0, 32): "i32", (1, 32): "u32",
              (0, 64): "i64", (1, 64): "u64", (0, 8): "i8", (1, 8): "u8", (0, 16): "i16", (1, 16): "u16"}
_DL_READ_ONLY = 1

capsule_pointer = c.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = c.c_void_p
capsule_pointer.argtypes = [c.py_object, c.c_char_p]
_capsule_is = c.pythonapi.PyCapsule_IsValid
_capsule_is.restype = c.c_int
_capsule_is.argtypes = [c.py_object, c.c_char_p]


def _dl_tensor(capsule: Any) -> tuple[_DLTensor, bool]:
    """What a capsule that nobody has consumed holds, and whether it may be written to."""
    if _capsule_is(capsule, b"dltensor"):
        return _DLTensor.from_address(capsule_pointer(capsule, b"dltensor")), True
    if _capsule_is(capsule, b"dltensor_versioned"):
        held = _DLManagedTensorVersioned.from_address(capsule_pointer(capsule, b"dltensor_versioned"))
        if held.major > 1:
            raise ArgumentError(f"DLPack {held.major}.{held.minor}: this package knows 1")
        return held.tensor, not held.flags & _DL_READ_ONLY
    raise ArgumentError("__dlpack__ returned no DLPack capsule")


def _read_dlpack(array: Any, stream: Any) -> Layout:
    kind, device = array.__dlpack_device__()
    if kind == _DL_CPU:
        return Layout(0, tuple(array.shape), (), cell_name(array.dtype), HOST)
    if kind not in (_DL_CUDA, _DL_CUDA_MANAGED, _DL_CUDA_HOST):
        raise ArgumentError(f"an array on DLPack's device type {int(kind)}: kernels run on CUDA devices")
    # 1 stands for the legacy default stream. The producer lets that stream wait where its own is another: no host does.
    capsule = array.__dlpack__(stream=stream or 1)
    tensor, writable = _dl_tensor(capsule)
    dtype = _DL_DTYPES.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise ArgumentError(f"cells of DLPack type {tensor.code} with {tensor.bits} bits x {tensor.lanes}: kernels "
                            "work on f64, f32, f16 and bf16", "unknown_name")
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else dense_strides(shape)
    return Layout((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype, int(device), writable=writable)


def _read_jax(array: Any, stream: Any) -> Layout:
    return _read_dlpack(array, stream)._replace(writable=False)


def _read_host(array: Any, _stream: Any) -> Layout:
    said = array.__array_interface__
    dtype = cell_name(array.dtype)
    strides = said.get("strides")
    shape = tuple(said["shape"])
    cells = dense_strides(shape) if strides is None else tuple(stride // BYTES[dtype] for stride in strides)
    address, read_only = said["data"]
    return Layout(address or 0, shape, cells, dtype, HOST, writable=not read_only)


_readers: dict[type, Callable[[Any, Any], Layout]] = {}


def _find_reader(array: Any) -> Callable[[Any, Any], Layout]:
    if isinstance(array, type):
        raise ArgumentError(f"{array.__name__} is no array but a type of them")
    roots = {base.__module__.partition(".")[0] for base in type(array).__mro__}
    if "torch" in roots and hasattr(array, "data_ptr"):
        return _read_torch
    if "cupy" in roots and hasattr(array, "data"):
        return _read_cupy
    if ("jax" in roots or "jaxlib" in roots) and hasattr(array, "__dlpack__"):
        return _read_jax
    if hasattr(type(array), "__cuda_array_interface__"):
        return _read_cuda_array_interface
    if hasattr(array, "__array_interface__") and not hasattr(array, "__cuda_array_interface__"):
        return _read_host
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _read_dlpack
    if hasattr(array, "__cuda_array_interface__"):
        return _read_cuda_array_interface
    raise ArgumentError(f"an object of type {type(array).__name__} is given, where kernels take arrays of PyTorch, CuPy, JAX, "
                        "numba, or others that have __dlpack__ or __cuda_array_interface__")


def _reader_of(array: Any) -> Callable[[Any, Any], Layout]:
    reader = _readers.get(type(array))
    if reader is None:
        reader = _readers[type(array)] = _find_reader(array)
    return reader


def read(array: Any, stream: int | None = None) -> Layout:
    """The array's layout. `stream`: that a kernel will read it on, for producers that order their work by it.

    Raises ArgumentError for what is no array or has cells of another type.
    """
    layout = read_any(array, stream)
    if not is_floating(layout.dtype):
        raise ArgumentError(f"cells of type {layout.dtype}: kernels work on f64, f32, f16 and bf16", "unknown_name")
    return layout


def is_floating(dtype: str) -> bool:
    return dtype in _FLOATING


def read_any(array: Any, stream: int | None = None) -> Layout:
    """The same of arrays whose cells may be whole numbers."""
    return _reader_of(array)(array, stream)


# ---- the short way: for arrays of a layout that was seen before ------------------------------------------------------

Matcher = Callable[[Sequence[Any]], "list[int] | None"]


def _match_torch(kind: Any, layout: Layout) -> Matcher:
    shape, strides, device = layout.shape, layout.strides, layout.device
    dtype = next(dtype for dtype, name in _torch_dtypes.items() if name == layout.dtype)

    def match(tensors: Sequence[Any]) -> list[int] | None:
        found = []
        for tensor in tensors:
            if (type(tensor) is not kind or tensor.shape != shape or tensor.stride() != strides or
                    tensor.dtype is not dtype or tensor.get_device() != device or tensor.requires_grad):
                return None
            found.append(tensor.data_ptr())
        return found

    return match


def _match_cupy(kind: Any, layout: Layout) -> Matcher:
    size = BYTES[layout.dtype]
    shape, strides, device = layout.shape, tuple(stride * size for stride in layout.strides), layout.device
    name = layout.dtype
    dtypes: dict[Any, bool] = {}

    def match(arrays: Sequence[Any]) -> list[int] | None:
        found = []
        for array in arrays:
            if type(array) is not kind:
                return None
            dtype = array.dtype
            fits = dtypes.get(dtype)
            if fits is None:
                fits = dtypes[dtype] = dtype_name(dtype) == name
            memory = array.data
            if not fits or array.shape != shape or array.strides != strides or memory.device_id != device:
                return None
            found.append(memory.ptr)
        return found

    return match


def matcher(array: Any, layout: Layout) -> Matcher | None:
    """For arrays of this one's type: a function that gives the addresses of some with just this layout, else None.

    None for types of arrays that say more than that, such as a stream.
    """
    if is_torch(array):
        return _match_torch(type(array), layout)
    return _match_cupy(type(array), layout) if is_cupy(array) else None


def is_torch(array: Any) -> bool:
    return _reader_of(array) is _read_torch


def is_cupy(array: Any) -> bool:
    return _reader_of(array) is _read_cupy


def is_jax(array: Any) -> bool:
    return _reader_of(array) is _read_jax


def grid_of(layout: Layout, rank: int, name: str) -> tuple[tuple[int, ...], int]:
    """Extents from x on, and the pitch in cells (0: dense rows). Raises ArgumentError for what no pitch describes."""
    shape, strides = layout.shape, layout.strides or dense_strides(layout.shape)
    if len(shape) != rank:
        raise ArgumentError(f"{name} has {len(shape)} axes, the stencil has {rank}: its arrays are indexed "
                            f"[{', '.join('zyx'[3 - rank:])}]")
    extents, steps = shape[::-1], strides[::-1]
    dense = extents[0]
    between = [(extent, step) for extent, step in zip(extents[1:], steps[1:]) if extent > 1]
    pitch = dense
    if rank > 1 and extents[1] > 1:
        pitch = steps[1]
    elif rank > 2 and extents[2] > 1:
        pitch = steps[2]
    planes_fit = rank < 3 or extents[2] == 1 or steps[2] == pitch * extents[1]
    if (extents[0] > 1 and steps[0] != 1) or (between and pitch < dense) or not planes_fit:
        way = "numpy's ascontiguousarray or torch's contiguous() makes such a copy"
        if strides == dense_strides(extents)[::-1]:
            way = "this one is in Fortran order, x first: its transpose, .T, is indexed so and needs no copy"
        raise ArgumentError(f"{name} has shape {shape} and strides of {strides} cells: cells of a row (the last axis, "
                            f"x) must be neighbours, rows and planes evenly apart; {way}")
    return extents, 0 if pitch == dense else pitch
