"""Stencils as PyTorch operators: functions of tensors with gradients, which torch.compile takes as they are.

>>> import torch, stencil_tune as st, stencil_tune.torch as stt
>>> heat = st.stencil("u_next = u + alpha * laplacian(u); alpha = 0.1", rank=3)
>>> u = torch.rand(64, 64, 64, device="cuda", requires_grad=True)                    # doctest: +SKIP
>>> alpha = torch.tensor([0.1], dtype=torch.float64, requires_grad=True)             # doctest: +SKIP
>>> later = stt.advance(heat, u, steps=100, boundary="periodic", coefficients=alpha) # doctest: +SKIP
>>> later.square().sum().backward()                                                  # doctest: +SKIP

propagate() is a run with sources and receivers, with gradients of what these record.

The kernels are the best that lookup() knows: tune the stencil, and its adjoint (`heat.adjoint()`), for the same grid
and steps. Work runs on the current stream. Tensors on the CPU go through the reference, which is slow.
"""

from __future__ import annotations

import functools
from typing import Any, Mapping, Sequence

import torch

from . import _library as _databases
from . import _values
from ._errors import ArgumentError
from ._gradients.run import Run
from ._lookup import kernel_for
from ._propagate import Propagated, propagate
from ._quick import QuickRun
from ._request import as_steps, boundary_text
from ._stencil import Stencil, require_stencil
from ._torch_operations import OPERATIONS, by_name, coefficient_tensor, stencil_of

__all__ = ["Propagated", "advance", "propagate", "step"]

_MOST_RUNS = 1024
_MOST_QUICK = 1024


@functools.lru_cache(maxsize=_MOST_RUNS)
def _run_of(name: str, boundary: str, steps: int) -> Run:
    stencil = stencil_of(name)
    if stencil.profiles:
        raise ArgumentError(f"stencil '{stencil.name}' reads {', '.join(stencil.profiles)}, no fields of the whole grid: "
                            "propagate takes them")
    return Run(stencil, boundary, steps, OPERATIONS)


# ---- the operators -------------------------------------------------------------------------------------------------

_library = torch.library.Library("stencil_tune", "DEF")
# Without gradients, whose bookkeeping in Python costs more than the call.
_library.define("run(Tensor[] fields, Tensor? coefficients, str stencil, str boundary, int steps) -> Tensor[]")
_library.define("run_one(Tensor field, Tensor? coefficients, str stencil, str boundary, int steps) -> Tensor")
_library.define("advance(Tensor[] fields, Tensor? coefficients, str stencil, str boundary, int steps) -> Tensor[]")
_library.define("advance_backward(Tensor[] fields, Tensor[] gradients, Tensor? coefficients, str stencil, "
                "str boundary, int steps, bool[] wanted, bool for_coefficients) -> Tensor[]")


_Call = tuple[str, str, int, int]  # stencil, boundary, steps, generation
_quick_runs: dict[tuple[Any, ...], QuickRun] = {}  # the oldest one first
_latest: tuple[_Call, QuickRun] | None = None  # a program's next call is most often like its last one


def _kind_of(call: _Call, field: torch.Tensor) -> tuple[Any, ...]:
    return (*call, field.shape, field.dtype, field.get_device())


def _advance(fields: Sequence[torch.Tensor], coefficients: torch.Tensor | None, stencil: str, boundary: str,
             steps: int) -> list[torch.Tensor]:
    # What was tuned in between is another call, so that no kernel of before is found.
    call = stencil, boundary, steps, _databases.generation
    after = _quickly(call, fields, None if coefficients is None else coefficients.tolist())
    if after is not None:
        return after
    run = _run_of(stencil, boundary, steps)
    with torch.no_grad():
        fields = [field.contiguous() for field in fields]
        after = run.forward(fields, by_name(run.stencil, coefficients))
        if fields[0].is_cuda:
            _remember_quick(_kind_of(call, fields[0]), run, fields, after)
        return after


def _quickly(call: _Call, fields: Sequence[torch.Tensor], coefficients: Sequence[float] | None) -> list[torch.Tensor] | None:
    """The state after a run like an earlier one; None where there was none."""
    global _latest
    if _latest is not None and _latest[0] == call:
        after = _latest[1](fields, coefficients)  # which looks at the tensors
        if after is not None:
            return after
    quick = _quick_runs.get(_kind_of(call, fields[0]))
    if quick is None:
        return None
    _latest = call, quick
    return quick(fields, coefficients)


def _advance_one(field: torch.Tensor, coefficients: torch.Tensor | None, stencil: str, boundary: str,
                 steps: int) -> torch.Tensor:
    return _advance((field,), coefficients, stencil, boundary, steps)[0]


def _remember_quick(kind: tuple[Any, ...], run: Run, fields: Sequence[torch.Tensor], after: Sequence[torch.Tensor]) -> None:
    if kind in _quick_runs:
        return
    kernel = kernel_for(run.stencil, [*fields, *after], run.boundary, run.steps)
    if not QuickRun.fits(kernel, [*fields, *after]):
        return
    if len(_quick_runs) >= _MOST_QUICK:
        _quick_runs.pop(next(iter(_quick_runs)), None)
    _quick_runs[kind] = QuickRun(run, kernel, fields[0])


def _advance_backward(fields: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor], coefficients: torch.Tensor | None,
                      stencil: str, boundary: str, steps: int, wanted: Sequence[bool],
                      for_coefficients: bool) -> list[torch.Tensor]:
    run = _run_of(stencil, boundary, steps)
    with torch.no_grad():
        found, of_coefficients = run.backward([field.contiguous() for field in fields],
                                              [gradient.contiguous() for gradient in gradients],
                                              by_name(run.stencil, coefficients), for_coefficients,
                                              [name for name, is_wanted in zip(run.stencil.inputs, wanted) if is_wanted])
        back = [torch.zeros_like(field, memory_format=torch.contiguous_format) if gradient is None else gradient
                for field, gradient, is_wanted in zip(fields, found, wanted) if is_wanted]
        if coefficients is not None and for_coefficients:
            zero = fields[0].new_zeros((), dtype=torch.float64)
            values = torch.stack([of_coefficients.get(name, zero) for name in run.stencil.coefficients])
            back.append(values.to(device=coefficients.device, dtype=coefficients.dtype))
        return back


for _device in ("CPU", "CUDA"):
    _library.impl("run", _advance, _device)
    _library.impl("run_one", _advance_one, _device)
    _library.impl("advance", _advance, _device)
    _library.impl("advance_backward", _advance_backward, _device)


def _fake(fields: Sequence[torch.Tensor], coefficients: torch.Tensor | None, stencil: str, boundary: str,
          steps: int) -> list[torch.Tensor]:
    of = dict(zip(stencil_of(stencil).inputs, fields))
    return [torch.empty_like(of[name], memory_format=torch.contiguous_format)
            for name in _run_of(stencil, boundary, steps).state]


def _fake_one(field: torch.Tensor, coefficients: torch.Tensor | None, stencil: str, boundary: str,
              steps: int) -> torch.Tensor:
    return torch.empty_like(field, memory_format=torch.contiguous_format)


def _fake_backward(fields: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor], coefficients: torch.Tensor | None,
                   stencil: str, boundary: str, steps: int, wanted: Sequence[bool],
                   for_coefficients: bool) -> list[torch.Tensor]:
    back = [torch.empty_like(field, memory_format=torch.contiguous_format)
            for field, is_wanted in zip(fields, wanted) if is_wanted]
    if for_coefficients:
        back.append(torch.empty_like(coefficients))
    return back


torch.library.register_fake("stencil_tune::run", _fake, lib=_library)
torch.library.register_fake("stencil_tune::advance", _fake, lib=_library)
torch.library.register_fake("stencil_tune::run_one", _fake_one, lib=_library)
torch.library.register_fake("stencil_tune::advance_backward", _fake_backward, lib=_library)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    fields, coefficients, stencil, boundary, steps = inputs
    ctx.count = len(fields)
    ctx.has_coefficients = coefficients is not None
    ctx.call = stencil, boundary, steps
    ctx.save_for_backward(*fields, *([coefficients] if coefficients is not None else []))


def _backward(ctx: Any, gradients: Sequence[torch.Tensor]) -> tuple[Any, ...]:
    saved = ctx.saved_tensors
    fields, coefficients = list(saved[:ctx.count]), saved[ctx.count] if ctx.has_coefficients else None
    wanted = list(ctx.needs_input_grad[0])
    for_coefficients = ctx.has_coefficients and ctx.needs_input_grad[1]
    back = iter(torch.ops.stencil_tune.advance_backward(fields, list(gradients), coefficients, *ctx.call, wanted,
                                                        for_coefficients))
    of_fields = [next(back) if is_wanted else None for is_wanted in wanted]
    return of_fields, next(back) if for_coefficients else None, None, None, None


torch.library.register_autograd("stencil_tune::advance", _backward, setup_context=_remember, lib=_library)


def _remember_backward(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    _, _, coefficients, stencil, boundary, steps, wanted, for_coefficients = inputs
    ctx.call = stencil, boundary, steps
    ctx.wanted, ctx.for_coefficients = wanted, for_coefficients
    ctx.save_for_backward(*([coefficients] if coefficients is not None else []))


def _backward_of_backward(ctx: Any, gradients: Sequence[torch.Tensor]) -> tuple[Any, ...]:
    """A linear run's gradient is linear in the one that it is given, and its own gradient is the run."""
    coefficients = ctx.saved_tensors[0] if ctx.saved_tensors else None
    stencil, boundary, steps = ctx.call
    if ctx.for_coefficients or not stencil_of(stencil).is_linear or (
            coefficients is not None and coefficients.requires_grad):
        raise ArgumentError("a gradient of a gradient: it is known for the fields of stencils whose steps are weighted "
                            "sums of them, without gradients of coefficients")
    given = iter(gradients)
    fields = [next(given) if is_wanted else torch.zeros_like(gradients[0]) for is_wanted in ctx.wanted]
    after = torch.ops.stencil_tune.advance(fields, coefficients, stencil, boundary, steps)
    return [None] * len(fields), list(after), None, None, None, None, None, None


torch.library.register_autograd("stencil_tune::advance_backward", _backward_of_backward,
                                setup_context=_remember_backward, lib=_library)


# ---- what is called ------------------------------------------------------------------------------------------------

def advance(stencil: Stencil, *fields: torch.Tensor, steps: int, boundary: str | Mapping[str, str] = "hold",
            coefficients: torch.Tensor | Mapping[str, float] | None = None) -> torch.Tensor | Any:
    """The state after `steps` steps, as new tensors, with gradients.

    Args:
        stencil: what stencil() made.
        fields: one for each of `stencil.inputs`, indexed [z, y, x]; they stay as they are. Those that are not
            contiguous are copied.
        steps: 1 or more. The backward pass keeps 2 sqrt(steps) states where gradients depend on them, as for updates
            that are not linear.
        boundary: as for lookup().
        coefficients: by name, or a tensor of all in the order of `stencil.coefficients`, with gradients if it requires
            them. On the CPU: reading one on the GPU waits for it.

    Returns:
        The field that is the state; a tuple where it is several, in the order of `stencil.inputs`.
    """
    return _advanced(stencil, fields, steps, boundary, coefficients)


def _is_watched(fields: Sequence[torch.Tensor]) -> bool:
    """Whether PyTorch must see an operator: under torch.compile, tracing, transforms as vmap, forward gradients and modes.
    Else the call goes straight to the kernel, since an operator's dispatch takes longer than a launch."""
    for field in fields:
        if type(field) is not torch.Tensor:
            return True
    return bool(torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack() or
                torch._C._functorch.peek_interpreter_stack() is not None or torch._C._get_tracing_state() is not None or
                torch.autograd.forward_ad._current_level >= 0)


# Names that PyTorch does not promise: where one is missing, every call is an operator.
try:
    _is_watched([])
except AttributeError:
    def _is_watched(fields: Sequence[torch.Tensor]) -> bool:
        return True


_run_one = torch.ops.stencil_tune.run_one.default
_run = torch.ops.stencil_tune.run.default
_with_gradients = torch.ops.stencil_tune.advance.default


def _advanced(stencil: Stencil, fields: tuple[torch.Tensor, ...], steps: int, boundary: str | Mapping[str, str],
              coefficients: torch.Tensor | Mapping[str, float] | None) -> torch.Tensor | Any:
    require_stencil(stencil)
    if len(fields) != len(stencil.inputs):
        raise ArgumentError(f"stencil '{stencil.name}' reads {len(stencil.inputs)} fields, "
                            f"{', '.join(stencil.inputs)}; {len(fields)} were given")
    for field in fields:
        if not isinstance(field, torch.Tensor):
            _values.refuse(field, "a field", "a tensor is needed")
    values = None if coefficients is None else coefficient_tensor(stencil, coefficients)
    name, text, steps = stencil._written, boundary_text(boundary), as_steps(steps)
    if torch.is_grad_enabled() and _requires_grad(fields, values):
        after = _with_gradients(fields, values, name, text, steps)
    elif not torch.compiler.is_compiling() and not _is_watched(fields):
        after = _advance(fields, values, name, text, steps)
    elif len(fields) == 1 and len(stencil._state) == 1:
        return _run_one(fields[0], values, name, text, steps)
    else:
        after = _run(fields, values, name, text, steps)
    return after[0] if len(after) == 1 else tuple(after)


def _requires_grad(fields: Sequence[torch.Tensor], values: torch.Tensor | None) -> bool:
    for field in fields:
        if field.requires_grad:
            return True
    return values is not None and values.requires_grad


def step(stencil: Stencil, *fields: torch.Tensor, boundary: str | Mapping[str, str] = "hold",
         coefficients: torch.Tensor | Mapping[str, float] | None = None) -> torch.Tensor | Any:
    """One step: advance() with steps=1."""
    return _advanced(stencil, fields, 1, boundary, coefficients)
