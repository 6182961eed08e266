"""The short way for runs on tensors of PyTorch: what does not depend on addresses is made once, for all calls alike."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from . import _native, _streams
from ._gradient import Run
from ._kernel import Kernel

_ALIGNED = 256  # bytes, as PyTorch allocates
_SMALL = 1 << 20  # bytes of a field that is copied whole, in place of the layers of its sides one by one


class QuickRun:
    """A run of a kernel on contiguous tensors of one shape."""

    def __init__(self, run: Run, kernel: Kernel, like: torch.Tensor):
        stencil = run.stencil
        self._kernel = kernel  # kept: the handle is its
        self._native, self._handle = kernel._native, kernel._handle
        self._steps = run.steps
        self._count = kernel._count
        self._fields_type = kernel._fields_type
        self._shape, self._dtype, self._device = like.shape, like.dtype, like.get_device()
        self._inputs = stencil._order[:len(stencil.inputs)]
        self._others = stencil._order[len(stencil.inputs):]
        self._state = stencil._state
        self._keeps = run.keeps
        self._copied = [] if self._keeps else [i for i, name in enumerate(stencil.inputs) if name in run.state]
        # A single step that holds layers, of a small field: one copy and one launch.
        held = any(part.split("=")[-1] == "hold" for part in run.boundary.split(",")) or run.boundary == "hold"
        self._copies_whole = (held and self._keeps and len(stencil.outputs) == 1 and
                              like.numel() * like.element_size() <= _SMALL)
        self._launches = self._keeps and len(stencil.outputs) == 1 and (not held or self._copies_whole)

    @staticmethod
    def fits(kernel: Any, fields: Sequence[torch.Tensor]) -> bool:
        """Whether calls like this one can go this way."""
        return (isinstance(kernel, Kernel) and not kernel.stencil.profiles and
                all(field.is_contiguous() and field.data_ptr() % _ALIGNED == 0 for field in fields))

    def __call__(self, fields: Sequence[torch.Tensor], coefficients: Sequence[float] | None) -> list[torch.Tensor] | None:
        """The state after the run; None for tensors that are not alike, which take the long way."""
        if _native._forked:
            _native.use_gpu()
        shape, dtype, device = self._shape, self._dtype, self._device
        addresses, held = self._fields_type(), [None] * self._count
        for place, field in zip(self._inputs, fields):
            if field.shape != shape or field.dtype is not dtype or field.get_device() != device or not field.is_contiguous():
                return None
            addresses[place] = address = field.data_ptr()
            if address % _ALIGNED:
                return None
            held[place] = field
        for i in self._copied:
            place = self._inputs[i]
            held[place] = own = fields[i].clone()
            addresses[place] = own.data_ptr()
        for place in self._others:
            held[place] = made = torch.empty_like(fields[0])
            addresses[place] = made.data_ptr()
        stream = _streams._of_torch(device)
        values, count = (None, 0) if coefficients is None else self._kernel._values(coefficients)
        native, handle = self._native, self._handle
        if self._launches:
            (place,) = self._others
            if self._copies_whole:
                status = native.copy_field_on_device(handle, stream, addresses[place], addresses[self._state[0]])
                if status:
                    native.check(status)
            status = native.launch_on_device(handle, stream, addresses, self._count, values, count, None, None)
            if status:
                native.check(status)
            return [made]
        by_address = {addresses[place]: tensor for place, tensor in enumerate(held)}
        status = native.advance_on_device(handle, stream, addresses, self._count, self._steps, values, count)
        if status:
            native.check(status)
        return [by_address[addresses[place]] for place in self._state]
