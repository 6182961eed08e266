"""Kernels of the user's own: found by name or file, launched on arrays and plain numbers."""

from __future__ import annotations

import ctypes as c
import math
import operator
import os
import struct
import weakref
from typing import Any, Callable, Mapping, NamedTuple

from . import _arrays, _library, _native, _streams, _values
from ._errors import ArgumentError


class UserKernelArgument(NamedTuple):
    """An argument as the definition says it."""

    name: str
    type: str  # "f32*": an array; "i32": a number
    cells: int  # an array's at the least; 0: it is a number
    is_written: bool


def kernel(definition: str | os.PathLike[str], sizes: Mapping[str, int] | None = None, *, device: int | None = None,
           database: str | os.PathLike[str] | None = None) -> UserKernel:
    """The configuration of a kernel of your own that won for these sizes, else the next best known. Compiles nothing yet.

    Args:
        definition: path of a source or definition (.cu, .toml), or a name that is looked for in the folders of
            STENCIL_TUNE_KERNELS.
        sizes: {"n": 4096}; those left out are the definition's.
        device: ordinal of the GPU; None: the one of the current CUDA context, else 0.
        database: of winners; None: STENCIL_TUNE_DB, else the user's data folder.

    Raises:
        ArgumentError, DefinitionError: there is no such kernel or size, or the definition is none.
        Error: there is no such GPU, driver or database.
    """
    _native.use_gpu()
    native = _native.library()
    path = _values.path(definition, "definition")
    ordinal = -1 if device is None else _values.ordinal(device)
    given = [_native.UserKernelSize(name.encode(), _values.whole(value, f"size {name}"))
             for name, value in ({} if sizes is None else _values.named(sizes, "sizes")).items()]
    handle = native.handle(native.user_kernel_find, _library.handle_of(database), os.fsencode(path),
                           (_native.UserKernelSize * len(given))(*given), len(given), ordinal)
    return UserKernel(handle)


class UserKernel:
    """A kernel of your own in one configuration; `kernel()` makes one. May be used from several threads at once.

    Attributes:
        arguments: of a call, in order.
        device: ordinal of its GPU.
    """

    def __init__(self, handle: int):
        native = self._native = _native.library()
        self._handle = handle
        weakref.finalize(self, native.user_kernel_release, handle).atexit = False
        self.device: int = native.user_kernel_device(handle)
        self.arguments = tuple(
            UserKernelArgument(native.user_kernel_argument_name(handle, i).decode(),
                               native.user_kernel_argument_type(handle, i).decode(),
                               native.user_kernel_argument_cells(handle, i),
                               native.user_kernel_argument_is_written(handle, i) != 0)
            for i in range(native.user_kernel_argument_count(handle)))

    @property
    def match(self) -> str:
        """How well it fits what was asked for: "exact" is best."""
        return str(self._native.match_name(self._native.user_kernel_match(self._handle)).decode())

    @property
    def code(self) -> str:
        """The configuration: "TILE=32,RX=4"."""
        return str(self._native.user_kernel_code(self._handle).decode())

    @property
    def rate(self) -> float:
        """When it was tuned, in `unit`; 0: never."""
        return float(self._native.user_kernel_rate(self._handle))

    @property
    def unit(self) -> str:
        """"GFLOP/s", "GB/s" or "launches/s"; empty: never tuned."""
        return str(self._native.user_kernel_unit(self._handle).decode())

    @property
    def source(self) -> str:
        """The CUDA source as it is compiled."""
        return self._native.text(self._native.user_source, self._handle)

    def __repr__(self) -> str:
        return f"<stencil_tune.UserKernel {self._native.user_kernel_evidence(self._handle).decode(errors='replace')}>"

    def __call__(self, *arguments: Any, stream: Any = None) -> None:
        """One launch, asynchronous on the stream. The first one on a GPU compiles, or takes what was compiled before.

        Args:
            arguments: the definition's, in its order: arrays of PyTorch, CuPy, numba, or whatever has __dlpack__ or
                __cuda_array_interface__, dense and on the kernel's GPU, and numbers.
            stream: the library's current one where none is given.

        Raises:
            ArgumentError: another number of arguments, or one that does not fit the definition.
        """
        if len(arguments) != len(self.arguments):
            wanted = ", ".join(f"{each.name}: {each.type}" for each in self.arguments)
            raise ArgumentError(f"the kernel takes {len(self.arguments)} arguments ({wanted}), {len(arguments)} were "
                                "given")
        _native.use_gpu()
        where = self._stream(arguments) if stream is None else _streams.address_of(stream)
        values = [self._value(wanted, given, where) for wanted, given in zip(self.arguments, arguments)]
        places = (c.c_void_p * len(values))(*(c.addressof(value) for value in values))
        self._native.check(self._native.user_kernel_launch_on_device(self._handle, where, places, len(values)))

    def _stream(self, arguments: tuple[Any, ...]) -> int:
        """The current one of the first array's library."""
        for wanted, given in zip(self.arguments, arguments):
            if wanted.cells:
                return _streams.current(given, self.device)
        return 0

    def _value(self, wanted: UserKernelArgument, given: Any, stream: int) -> Any:
        """As ctypes holds it."""
        return c.c_void_p(self._address(wanted, given, stream)) if wanted.cells else _number(wanted, given)

    def _address(self, wanted: UserKernelArgument, given: Any, stream: int) -> int:
        layout = _arrays.read_any(given, stream)
        if layout.device == _arrays.HOST:
            raise ArgumentError(f"{wanted.name} is in host memory: put it on GPU {self.device}")
        if layout.device is not None and layout.device != self.device:
            raise ArgumentError(f"{wanted.name} is on GPU {layout.device}, the kernel on GPU {self.device}")
        if layout.dtype != wanted.type[:-1]:
            raise ArgumentError(f"{wanted.name} has cells of {layout.dtype}, the definition says {wanted.type}")
        if math.prod(layout.shape) < wanted.cells:
            raise ArgumentError(f"{wanted.name} has {math.prod(layout.shape)} cells, the kernel takes {wanted.cells}")
        if not _is_dense(layout):
            raise ArgumentError(f"{wanted.name} has shape {layout.shape} and strides of {layout.strides} cells: a kernel "
                                "takes dense arrays")
        if wanted.is_written and not layout.writable:
            raise ArgumentError(f"{wanted.name} is read-only, and the kernel writes it")
        return layout.address


def _is_dense(layout: _arrays.Layout) -> bool:
    dense = _arrays.dense_strides(layout.shape)
    return all(extent <= 1 or stride == wanted
               for extent, stride, wanted in zip(layout.shape, layout.strides or dense, dense))


def _bf16_bits(number: float) -> int:
    """The nearest, ties to even."""
    bits = int.from_bytes(struct.pack("<f", number), "little")
    if math.isnan(number):
        return bits >> 16 | 0x40
    return bits + 0x7fff + (bits >> 16 & 1) >> 16


_FLOATS: dict[str, Callable[[float], Any]] = {
    "f64": c.c_double,
    "f32": c.c_float,
    "f16": lambda number: c.c_uint16(struct.unpack("<H", struct.pack("<e", number))[0]),
    "bf16": lambda number: c.c_uint16(_bf16_bits(number)),
}
_WHOLE = {"i32": c.c_int32, "u32": c.c_uint32, "i64": c.c_int64, "u64": c.c_uint64, "u8": c.c_uint8}


def _number(wanted: UserKernelArgument, given: Any) -> Any:
    """In the definition's type. Raises ArgumentError for what is none of it."""
    try:
        if wanted.type in _FLOATS:
            return _FLOATS[wanted.type](float(given))
        number = operator.index(given)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{wanted.name} is {wanted.type}, not {given!r}") from error
    value = _WHOLE[wanted.type](number)
    if value.value != number:
        raise ArgumentError(f"{wanted.name} is {wanted.type}, which cannot hold {number}")
    return value
