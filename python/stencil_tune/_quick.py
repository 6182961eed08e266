"""The short way for runs on tensors of PyTorch: what does not depend on addresses is made once, for all calls alike."""

from __future__ import annotations

from typing import Any, Sequence

import torch

from . import _native, _streams
from ._arguments import FieldOrder, numbers_of
from ._exchange import exchange_of
from ._gradients.run import Run
from ._kernel import Kernel

_ALIGNED = 256  # bytes, as PyTorch allocates


class QuickRun:
    """A run of a kernel on contiguous tensors of one shape, type and GPU."""

    def __init__(self, run: Run, kernel: Kernel, like: torch.Tensor):
        stencil = run.stencil
        self._kernel = kernel  # kept: the handle is its
        self._native, self._handle = kernel._native, kernel._handle
        self._steps = run.steps
        self._shape, self._dtype, self._device = like.shape, like.dtype, like.get_device()
        self._stream_of = _streams.way_of(like)
        self._order = FieldOrder(stencil)
        self._others = len(stencil.arguments) - len(stencil.inputs)
        self._state = stencil._state
        self._copied = [] if run.keeps else [i for i, name in enumerate(stencil.inputs) if name in run.state]
        # A single step that holds layers: a launch that copies them, and the step's own.
        self._holds = any(part.split("=")[-1] == "hold" for part in run.boundary.split(","))
        self._launches = run.keeps and len(stencil.outputs) == 1
        self._exchange = exchange_of(self._native, self._handle, type(like), stencil._order) if self._launches else None
        self._step = None
        if self._exchange is not None:
            self._step = self._exchange.step_into_new if self._holds else self._exchange.step

    @staticmethod
    def fits(kernel: Any, fields: Sequence[torch.Tensor]) -> bool:
        """Whether calls like this one can go this way."""
        return (isinstance(kernel, Kernel) and not kernel.stencil.profiles and
                all(field.is_contiguous() and field.data_ptr() % _ALIGNED == 0 for field in fields))

    def __call__(self, fields: Sequence[torch.Tensor], coefficients: Sequence[float] | None) -> list[torch.Tensor] | None:
        """The state after the run; None for tensors that are not alike, which take the long way."""
        if _native._forked:
            _native.use_gpu()
        if self._step is not None and coefficients is None:  # PyTorch says in C what they are, which is checked there
            made = torch.empty_like(fields[0])
            return [made] if self._step((*fields, made)) == 0 else None
        found = []
        for field in fields:
            address = field.data_ptr()
            if (address % _ALIGNED or field.shape != self._shape or field.dtype is not self._dtype or
                    field.get_device() != self._device or not field.is_contiguous()):
                return None
            found.append(address)
        if self._launches:
            return [self._launched(fields[0], found, coefficients)]
        return self._advanced(list(fields), found, coefficients)

    def _launched(self, first: torch.Tensor, found: list[int], coefficients: Sequence[float] | None) -> torch.Tensor:
        """One step into a new tensor."""
        made = torch.empty_like(first)
        found.append(made.data_ptr())
        if not self._order.is_same:
            found = [found[i] for i in self._order.argument_at]
        native, stream, fields = self._native, self._stream_of(self._device), self._order.pack(*found)
        values, count = (None, 0) if coefficients is None else numbers_of(coefficients)
        if self._holds:
            status = native.step_into_new_on_device(self._handle, stream, fields, values, count)
        else:
            status = native.launch_on_device(self._handle, stream, fields, len(found), values, count, None, None)
        if status:
            native.check(status)
        return made

    def _advanced(self, held: list[torch.Tensor], found: list[int],
                  coefficients: Sequence[float] | None) -> list[torch.Tensor]:
        """Several steps among copies of the fields that the run changes."""
        for i in self._copied:
            held[i] = held[i].clone()
            found[i] = held[i].data_ptr()
        for _ in range(self._others):
            held.append(torch.empty_like(held[0]))
            found.append(held[-1].data_ptr())
        by_address: dict[int | None, torch.Tensor] = dict(zip(found, held))
        addresses = self._order.array(*(found[i] for i in self._order.argument_at))
        values, count = (None, 0) if coefficients is None else numbers_of(coefficients)
        status = self._native.advance_on_device(self._handle, self._stream_of(self._device), addresses, len(found),
                                                self._steps, values, count)
        if status:
            self._native.check(status)
        return [by_address[addresses[place]] for place in self._state]
