"""stencil_tune.torch.propagate: shots as functions of tensors, with gradients of what receivers record."""

from __future__ import annotations

import ast
import functools
import math
import os
from typing import Any, Literal, Mapping, NamedTuple, NoReturn, Sequence

import torch

from . import _values
from ._errors import ArgumentError
from ._gradients.propagation import REVERSED, Propagation, checkpoint_stride
from ._gradients.shot import Shot
from ._points import Positions, as_positions
from ._request import as_steps, boundary_text
from ._stencil import Stencil, require_stencil
from ._torch_operations import OPERATIONS, by_name, coefficient_tensor, series_type, stencil_of
from .models import Model

_MOST_SHOTS = 64  # with tables on the GPU
_ALL_STATES, _CHECKPOINTS, _REVERSAL = "device", "recompute", "reverse"
_Tensors = Sequence[torch.Tensor]


class Propagated(NamedTuple):
    """What a run leaves behind.

    Attributes:
        state: the fields that the next step would begin with, by name.
        records: what the receivers recorded after each step, [step, receiver]; None without receivers.
    """

    state: dict[str, torch.Tensor]
    records: torch.Tensor | None


class _Call:
    """One kind of call, from its text, which graphs of torch.compile keep."""

    def __init__(self, text: str):
        said = ast.literal_eval(text)
        self.stencil = stencil_of(said["stencil"])
        self.shot = Shot(said["sources"], said["receivers"])
        self._where = said["boundary"], said["steps"], OPERATIONS, self.shot
        self._when = said["origin"], said["step"]

    def run(self, series: torch.Tensor | None = None, stride: int = 0) -> Propagation:
        return Propagation(self.stencil, *self._where, series, stride, *self._when)


_call_of = functools.lru_cache(maxsize=_MOST_SHOTS)(_Call)


# ---- the operators -------------------------------------------------------------------------------------------------

_library = torch.library.Library("stencil_tune", "FRAGMENT")
_library.define("propagate(Tensor[] fields, Tensor? series, Tensor? coefficients, str call, int stride) -> Tensor[]")
_library.define("propagate_backward(Tensor[] fields, Tensor? series, Tensor? coefficients, Tensor[] kept, "
                "Tensor[] of_state, Tensor? of_records, str call, int stride, bool[] wanted, "
                "bool for_coefficients) -> Tensor[]")


def _propagate(fields: _Tensors, series: torch.Tensor | None, coefficients: torch.Tensor | None, call: str,
               stride: int) -> list[torch.Tensor]:
    """The state, the records where there are receivers, the states that were kept."""
    with torch.no_grad():
        series = None if series is None else series.contiguous()
        run = _call_of(call).run(series, stride)
        state, records, kept = run.propagate([field.contiguous() for field in fields], by_name(run.stencil, coefficients))
        return [*state, *([records] if run.shot.receivers else []), *kept]


def _propagate_backward(fields: _Tensors, series: torch.Tensor | None, coefficients: torch.Tensor | None, kept: _Tensors,
                        of_state: _Tensors, of_records: torch.Tensor | None, call: str, stride: int,
                        wanted: Sequence[bool], for_coefficients: bool) -> list[torch.Tensor]:
    """Gradients of the fields that are wanted, of the series where there are sources, of the coefficients where they are
    asked for."""
    with torch.no_grad():
        series = None if series is None else series.contiguous()
        run = _call_of(call).run(series, stride)
        names = [name for name, is_wanted in zip(run.stencil.inputs, wanted) if is_wanted]
        back, total = run.gradients([field.contiguous() for field in fields], [each.contiguous() for each in of_state],
                                    of_records, kept, by_name(run.stencil, coefficients),
                                    [*names, *(run.stencil.coefficients if for_coefficients else ())])
        found = [torch.zeros_like(field, memory_format=torch.contiguous_format) if gradient is None else gradient
                 for field, gradient, is_wanted in zip(fields, back, wanted) if is_wanted]
        if series is not None:
            found.append(run.of_series)
        if for_coefficients and coefficients is not None:
            zero = of_state[0].new_zeros((), dtype=torch.float64)
            values = torch.stack([total.get(name, zero) for name in run.stencil.coefficients])
            found.append(values.to(device=coefficients.device, dtype=coefficients.dtype))
        return found


for _device in ("CPU", "CUDA"):
    _library.impl("propagate", _propagate, _device)
    _library.impl("propagate_backward", _propagate_backward, _device)


def _fake(fields: _Tensors, series: torch.Tensor | None, coefficients: torch.Tensor | None, call: str,
          stride: int) -> list[torch.Tensor]:
    run = _call_of(call).run(None, stride)
    of = dict(zip(run.stencil.inputs, fields))
    like = of[run.state[0]]
    if run.stencil.layer_fields:
        run._settle(tuple(map(int, like.shape)))  # sizes that are symbols become numbers
    made = [torch.empty_like(of[name], memory_format=torch.contiguous_format) for name in run.state]
    if run.shot.receivers:
        made.append(like.new_empty((run.steps, run.shot.receivers), dtype=series_type(like.dtype)))
    return made + [like.new_empty((len(run.starts) - 1, *run.arrays.shape(name, like))) for name in run.kept]


def _fake_backward(fields: _Tensors, series: torch.Tensor | None, coefficients: torch.Tensor | None, kept: _Tensors,
                   of_state: _Tensors, of_records: torch.Tensor | None, call: str, stride: int,
                   wanted: Sequence[bool], for_coefficients: bool) -> list[torch.Tensor]:
    given = [*(field for field, is_wanted in zip(fields, wanted) if is_wanted), series,
             coefficients if for_coefficients else None]
    return [torch.empty_like(each, memory_format=torch.contiguous_format) for each in given if each is not None]


torch.library.register_fake("stencil_tune::propagate", _fake, lib=_library)
torch.library.register_fake("stencil_tune::propagate_backward", _fake_backward, lib=_library)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    fields, series, coefficients, call, stride = inputs
    run = _call_of(call).run(None, stride)
    ctx.set_materialize_grads(False)  # zeros in place of what was kept would be as large
    ctx.counts = len(fields), len(run.state), bool(run.shot.receivers)
    ctx.given = series is not None, coefficients is not None
    ctx.call = call, stride
    kept = output[:len(run.state)] if stride == REVERSED else output[len(run.state) + bool(run.shot.receivers):]
    ctx.save_for_backward(*fields, *(each for each in (series, coefficients) if each is not None), *kept)


def _backward(ctx: Any, gradients: Sequence[torch.Tensor | None]) -> tuple[Any, ...]:
    fields_count, states, has_records = ctx.counts
    has_series, has_coefficients = ctx.given
    saved = list(ctx.saved_tensors)
    fields, rest = saved[:fields_count], saved[fields_count:]
    series = rest.pop(0) if has_series else None
    coefficients = rest.pop(0) if has_coefficients else None
    call = _call_of(ctx.call[0])
    state = [fields[call.stencil.inputs.index(name)] for name in call.run().state]
    of_state = [torch.zeros_like(field) if gradient is None else gradient for field, gradient in zip(state, gradients)]
    wanted, for_coefficients = ctx.needs_input_grad[0], has_coefficients and ctx.needs_input_grad[2]
    back = torch.ops.stencil_tune.propagate_backward(fields, series, coefficients, rest, of_state,
                                                     gradients[states] if has_records else None, *ctx.call,
                                                     wanted, for_coefficients)
    found = iter(back)
    return ([next(found) if is_wanted else None for is_wanted in wanted], next(found) if has_series else None,
            next(found) if for_coefficients else None, None, None)


torch.library.register_autograd("stencil_tune::propagate", _backward, setup_context=_remember, lib=_library)


def _refuse_second(ctx: Any, gradients: Any) -> NoReturn:
    raise ArgumentError("a gradient of a gradient of a run with points: it is not known")


torch.library.register_autograd("stencil_tune::propagate_backward", _refuse_second, lib=_library)


# ---- what is called ------------------------------------------------------------------------------------------------

def _inputs_of(stencil: Stencil, given: Mapping[str, Any], ready: Mapping[str, Any]) -> list[torch.Tensor]:
    """Tensors of the stencil's inputs: those given, else a model's, else zeros where they are the state."""
    for name, field in given.items():
        if name not in stencil.inputs:
            raise ArgumentError(f"'{name}' is no field that stencil '{stencil.name}' reads; it reads "
                                f"{', '.join(stencil.inputs)}", "unknown_name")
        if not isinstance(field, torch.Tensor):
            _values.refuse(field, name, "a tensor is needed")
    whole = [field for name, field in given.items() if name not in stencil.profiles]
    if not whole and not ready:
        raise ArgumentError(f"fields: give {', '.join(stencil.inputs)}; those of the state may be left away")
    like = whole[0] if whole else torch.as_tensor(next(
        values for name, values in ready.items() if name not in stencil.profiles))
    state, found = [stencil.fields[place] for place in stencil._state], []
    for name in stencil.inputs:
        if name in given:
            field = given[name]
        elif name in ready:
            field = torch.as_tensor(ready[name]).to(device=like.device, dtype=like.dtype)
        elif name in state:
            field = torch.zeros_like(like)
        else:
            raise ArgumentError(f"fields: stencil '{stencil.name}' reads {name}: give it")
        if field.dtype != like.dtype or field.device != like.device:
            raise ArgumentError(f"{name} is of {field.dtype} on {field.device}, other fields of {like.dtype} on "
                                f"{like.device}")
        if name not in stencil.profiles and (field.shape != like.shape or field.ndim != stencil.rank):
            raise ArgumentError(f"{name} has shape {tuple(field.shape)}: fields of the whole grid have one shape, and "
                                f"{stencil.rank} axes")
        if name in stencil.profiles and field.requires_grad:
            raise ArgumentError(f"{name} varies along some axes alone, or with time: its gradient is not known")
        found.append(field)
    return found


def _series_of(series: Any, steps: int, sources: int, like: torch.Tensor) -> torch.Tensor | None:
    if sources == 0:
        if series is not None:
            raise ArgumentError("series goes with sources=")
        return None
    if not isinstance(series, torch.Tensor) or tuple(series.shape) != (steps, sources):
        raise ArgumentError(f"series: a tensor of shape {(steps, sources)}, [step, source], is needed")
    return series.to(device=like.device, dtype=series_type(like.dtype))


def _free_bytes(like: torch.Tensor) -> int:
    if like.is_cuda:
        return int(torch.cuda.mem_get_info(like.device)[0])
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _stride(call: str, steps: int, storage: str | None, like: torch.Tensor, for_coefficients: bool) -> int:
    """Steps from one kept state to the next; 0 where gradients depend on none."""
    if not torch.compiler.is_compiling() and not for_coefficients and not _call_of(call).run().needs_states:
        return 0
    if storage == _REVERSAL:
        _call_of(call).run().check_reversal()
        return REVERSED
    if storage is None:
        storage = _CHECKPOINTS if torch.compiler.is_compiling() or not _fits(call, like) else _ALL_STATES
    return 1 if storage == _ALL_STATES else checkpoint_stride(steps)


def _fits(call: str, like: torch.Tensor) -> bool:
    """Whether half of the memory that is free takes all states."""
    run = _call_of(call).run(None, 1)
    run._settle(tuple(like.shape))
    cells = sum(math.prod(run.arrays.shape(name, like)) for name in run.kept)
    return bool(2 * run.steps * cells * like.element_size() <= _free_bytes(like))


def propagate(stencil: Stencil | Model, fields: Mapping[str, torch.Tensor] | None = None, *, steps: int,
              sources: Positions | None = None, series: torch.Tensor | None = None, receivers: Positions | None = None,
              boundary: str | Mapping[str, str] = "hold",
              coefficients: torch.Tensor | Mapping[str, float] | None = None, origin: Sequence[int] | None = None,
              step: int = 0, storage: Literal["device", "recompute", "reverse"] | None = None) -> Propagated:
    """A run with sources and receivers: the last state and the records, with gradients of fields, series and coefficients.

    Gradients are those of the discrete run, to rounding, for every boundary and with absorbing layers. They take a run
    back by the adjoint stencils of the stages, step by step.

    Args:
        stencil: of a name, a line or a definition's text, not of a file; or an equation of stencil_tune.models, whose
            arrays stand for fields that are not given.
        fields: by name, those that the stencil reads: [z, y, x], in the type and on the device of the run. The state
            is zeros where it is not given. Arrays along some axes alone, and of time, have no gradients.
        steps: 1 or more.
        sources: positions (z, y, x) in cells by field, one that a step writes: {"p_next": [(10, 75.5)]}. Those between
            cells have the cells around, weighted linearly, as Kernel.place_points() has them.
        series: what each source adds in each step, [step, source], source by source in the order of `sources`.
        receivers: positions by field of the state: {"p": [(15, 30)]}. They record after each step.
        boundary: as for lookup(). Models take hold.
        coefficients: by name, or a tensor of all in the order of `stencil.coefficients`, with gradients if it requires
            them.
        origin: coordinates of the first cell, (z, y, x), for definitions that use coordinates.
        step: number of the first step, for definitions that use it.
        storage: what is kept of the states that gradients depend on. "device": every one. "recompute": every
            sqrt(steps)-th, and those between are made again, which takes another run. "reverse": none; the last state is
            taken back step by step, where `stencil.reversed()` is known: rounding of both runs adds up. None: every one
            where half of the memory that is free takes them, else "recompute". Gradients are the same but for rounding.

    Raises:
        ArgumentError: tensors that do not go together, a field that is not there, a point outside of the grid or in a
            layer that boundary hold keeps, a second derivative.
    """
    ready: Mapping[str, Any] = {}
    if isinstance(stencil, Model):
        ready = stencil.fields
        stencil = stencil.stencil
    require_stencil(stencil)
    if storage not in (None, _ALL_STATES, _CHECKPOINTS, _REVERSAL):
        _values.refuse(storage, "storage", f'"{_ALL_STATES}", "{_CHECKPOINTS}", "{_REVERSAL}" or None is needed')
    given = {} if fields is None else _values.named(fields, "fields")
    inputs = _inputs_of(stencil, given, {name: ready[name] for name in stencil.inputs if name in ready})
    steps, of_sources, of_receivers = as_steps(steps), as_positions(sources, "sources"), as_positions(receivers, "receivers")
    first_cell = _values.coordinates([0] * stencil.rank if origin is None else origin, "origin", stencil.rank, "the grid has")
    call = repr({"stencil": stencil._written, "boundary": boundary_text(boundary), "steps": steps, "sources": of_sources,
                 "receivers": of_receivers, "origin": first_cell[stencil.rank - 1::-1],
                 "step": _values.whole(step, "step")})  # torch.compile knows repr
    values = None if coefficients is None else coefficient_tensor(stencil, coefficients)
    like = next(field for name, field in zip(stencil.inputs, inputs) if name not in stencil.profiles)
    amplitudes = _series_of(series, steps, sum(map(len, of_sources.values())), like)
    has_gradients = torch.is_grad_enabled() and any(
        each is not None and each.requires_grad for each in (*inputs, amplitudes, values))
    stride = 0
    if has_gradients:
        stride = _stride(call, steps, storage, like, values is not None and values.requires_grad)
    made = torch.ops.stencil_tune.propagate(inputs, amplitudes, values, call, stride)
    state = [stencil.fields[place] for place in stencil._state]
    return Propagated(dict(zip(state, made)), made[len(state)] if any(of_receivers.values()) else None)
