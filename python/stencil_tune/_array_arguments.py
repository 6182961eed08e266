"""The arrays that a kernel on a GPU is given: where they are, and what does not fit."""

from __future__ import annotations

import weakref
from typing import Any, Sequence

from . import _arrays, _native, _streams
from ._arguments import FieldOrder, KernelBase
from ._errors import ArgumentError
from ._exchange import Exchange, exchange_of
from ._request import Grid
from ._stencil import Stencil


class KernelOnArrays(KernelBase):
    """A kernel on a GPU as far as its arrays go. Layouts that passed before go short ways."""

    def __init__(self, stencil: Stencil, grid: Grid, handle: int):
        super().__init__(stencil, grid)
        native = self._native
        weakref.finalize(self, native.release, handle).atexit = False
        self._handle = handle
        device = native.kernel_device(handle)
        self.device: int | None = device if device >= 0 else None
        self._fields = FieldOrder(stencil)
        self._count = self._fields.count
        self._wanted = (grid.shape, grid.strides, grid.dtype)
        self._step = native.step_on_device
        self._matchers: dict[type, _arrays.Matcher | None] = {}  # by the type of arrays that passed before
        self._exchanges: dict[type, Exchange | None] = {}  # by the same

    def _stepped(self, arrays: tuple[Any, ...]) -> bool:
        """Makes a step on arrays like others before, where their library tells what they are in C. Whatever does not fit
        is left to the long way, which says why."""
        if len(arrays) != self._count or _native._forked:
            return False
        kind = type(arrays[0])
        exchange = self._exchanges.get(kind)
        if exchange is None:
            return False
        for array in arrays:
            if type(array) is not kind or getattr(array, "requires_grad", False):
                return False
        try:
            return exchange.step(arrays) == 0
        except (BufferError, RuntimeError):  # the library cannot describe the array
            return False

    def _addresses(self, arrays: Sequence[Any], stream: Any, made: range, whole: bool = False) -> tuple[list[int], int]:
        """Addresses in the stencil's order, and the stream. made: numbers of the steps that are made."""
        if _native._forked:
            _native.use_gpu()
        match = self._matchers.get(type(arrays[0]))
        found = None if match is None else match(arrays)  # the short way: all of a layout that passed before
        if found is None:
            return self._read_addresses(arrays, stream, made, whole)
        if stream is None:
            return found, _streams.current(arrays[0], self.device or 0)
        return found, _streams.address_of(stream)

    def _read_addresses(self, arrays: Sequence[Any], stream: Any, made: range, whole: bool) -> tuple[list[int], int]:
        """The same for arrays that are looked at closely."""
        device = self.device
        where = _streams.current(arrays[0], device or 0) if stream is None else _streams.address_of(stream)
        fields = [0] * self._count
        shape, strides, _ = self._wanted
        announced = None
        for place, array in enumerate(arrays):
            profile = self._profiles[place]
            if profile is not None:
                fields[place] = self._profile_address(place, array, where, profile, made)
                continue
            layout = _arrays.read_any(array, where)
            if self._slabs:
                shape, strides = self._whole(place)
            if (layout.shape != shape or layout.strides != strides or layout.dtype != self._types[place] or
                    layout.device != device and layout.device is not None):
                self._check(place, layout)
            elif type(array) not in self._matchers and not (self.stencil.profiles or self.stencil.storages or self._slabs):
                self._remember(array, layout)
            if not layout.writable and (place in self.stencil._writes or whole and place in self.stencil._state):
                self._refuse_read_only(place, array)
            if layout.stream is not None and stream is None:
                announced = self._one_stream(announced, layout.stream)
            fields[place] = layout.address
        return fields, where if announced is None else announced

    def _remember(self, array: Any, layout: _arrays.Layout) -> None:
        """The short ways for arrays like this one."""
        match = self._matchers[type(array)] = _arrays.matcher(array, layout)
        if match is not None:
            self._exchanges[type(array)] = exchange_of(self._native, self._handle, type(array), list(range(self._count)))

    def _profile_address(self, argument: int, array: Any, stream: int, shape: tuple[int, ...], made: range) -> int:
        """Address of a profile's array. Raises ArgumentError for another layout."""
        layout, name = _arrays.read_any(array, stream), self.stencil.arguments[argument]
        self._refuse_profile(name, layout, shape, made)
        if layout.dtype != self._types[argument] or (layout.device != self.device and layout.device is not None
                                          and self.device is not None):
            self._refuse(name, layout, self.device or 0)
        return layout.address

    def _check(self, argument: int, layout: _arrays.Layout) -> None:
        if self.device is not None:
            self._refuse(self.stencil.arguments[argument], layout, self.device)

    def _refuse_read_only(self, argument: int, array: Any) -> None:
        name = self.stencil.arguments[argument]
        if _arrays.is_jax(array):
            raise ArgumentError(f"{name} is a JAX array, which must not be written to: use stencil_tune.jax")
        raise ArgumentError(f"{name} is read-only, and a step writes it")

    @staticmethod
    def _one_stream(before: int | None, announced: int) -> int:
        if before is not None and before != announced:
            raise ArgumentError("the arrays announce different streams: order them, and say stream=")
        return announced
