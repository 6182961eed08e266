"""Stencils as functions of JAX's arrays, under jit, vmap and grad, on the stream that XLA gives.

>>> import stencil_tune as st, stencil_tune.jax as stj
>>> heat = st.stencil("u_next = u + alpha * laplacian(u); alpha = 0.1", rank=3)
>>> later = jax.jit(lambda u: stj.advance(heat, u, steps=100))(u)                     # doctest: +SKIP

An XLA custom call (jax.ffi) whose handler is Python: each execution takes the interpreter's lock for some microseconds.
Coefficients are constants of the traced function; gradients are those of fields.
On the CPU the reference runs, which is slow.
"""

from __future__ import annotations

import ctypes as c
import functools
import json
from typing import Any, Callable, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy

from . import _arrays, _lookup, _values, _xla
from ._arguments import FieldOrder
from ._errors import ArgumentError
from ._gradients.edges import edges_of, shell
from ._gradients.padding import ArrayOperations
from ._gradients.run import Run
from ._request import Grid, as_steps, boundary_text, checked
from ._stencil import Stencil, require_stencil, written_stencil
from ._xla import CallFrame

__all__ = ["advance", "step"]

_TARGET = "stencil_tune_run"
_MOST = 1024


# ---- what a call does --------------------------------------------------------------------------------------------------

class _Call:
    """One kind of call, from its text: a run (steps > 0) or a single launch (0)."""

    def __init__(self, text: str):
        said = json.loads(text)
        self.stencil = written_stencil(said["stencil"])
        self.boundary: str = said["boundary"]
        self.steps: int = said["steps"]
        self.fields = FieldOrder(self.stencil)
        self.coefficients: dict[str, float] | None = said["coefficients"]
        self.state = self.stencil._state if self.steps else []
        # Where results stand: a run's are its state, and room for the other fields that it writes.
        count = len(self.stencil.inputs)
        self.others = self.stencil._order[count:]
        self.results = [*self.state, *self.others]


_call = functools.lru_cache(maxsize=_MOST)(_Call)


def _on_gpu(text: str, frame: CallFrame) -> None:
    call, stream = _call(text), _xla.stream_of(frame)
    arguments, results = _xla.layouts(frame.arguments, None), _xla.layouts(frame.results, None)
    alignment = min(map(_lookup.alignment_of, (*arguments, *results)))
    layout = arguments[0]._replace(device=_xla.device_of(frame))
    kernel = _lookup.kernel_like(call.stencil, layout, call.boundary, max(call.steps, 1), alignment)
    native, handle = kernel._native, kernel._handle

    def copy(to: int, source: int) -> None:
        native.check(native.copy_field_on_device(handle, stream, to, source))

    at = dict(zip(call.stencil._order, (layout.address for layout in arguments)))
    room = dict(zip(call.results, (layout.address for layout in results)))
    at.update({place: room[place] for place in call.others})
    if call.steps == 1 and len(call.state) == 1 and call.state[0] not in call.stencil._writes:
        at[call.stencil._next[call.state[0]]] = room[call.state[0]]  # one launch reads the argument, writes the result
    else:
        for place in call.state:  # a run takes turns among copies of its arguments
            copy(room[place], at[place])
            at[place] = room[place]
    fields: Any = call.fields.array(*(at[place] for place in range(call.fields.count)))
    values, count = kernel._coefficients(call.coefficients)
    if not call.steps:
        native.check(native.launch_on_device(handle, stream, fields, call.fields.count, values, count, None, None))
        return
    native.check(native.advance_on_device(handle, stream, fields, call.fields.count, call.steps, values, count))
    _bring_home({place: fields[place] for place in call.state}, room, copy)


def _bring_home(holds: dict[int, int], room: dict[int, int], copy: Callable[[int, int], None]) -> None:
    """The state goes to the results that were made for it, from whichever of them hold it."""
    while moved := [place for place, address in holds.items() if address != room[place]]:
        taken = set(holds.values())
        ready = [place for place in moved if room[place] not in taken]
        place = (ready or moved)[0]
        to = room[place] if ready else next(address for address in room.values() if address not in taken)
        copy(to, holds[place])
        holds[place] = to


def _on_cpu(text: str, frame: CallFrame) -> None:
    import numpy

    call = _call(text)

    def array(layout: _arrays.Layout) -> Any:
        kind = {"f64": "float64", "f32": "float32", "f16": "float16"}[layout.dtype]
        size = numpy.dtype(kind).itemsize
        for extent in layout.shape:
            size *= extent
        memory: Any = (c.c_char * size).from_address(layout.address)
        return numpy.frombuffer(memory, kind).reshape(layout.shape)

    arguments = [array(layout) for layout in _xla.layouts(frame.arguments, _arrays.HOST)]
    results = dict(zip(call.results, map(array, _xla.layouts(frame.results, _arrays.HOST))))
    layout = _arrays.read(arguments[0])
    kernel = _lookup.lookup_like(call.stencil, layout, call.boundary, max(call.steps, 1))
    if not call.steps:
        arrays = [*arguments, *(results[place] for place in call.others)]
        kernel(*call.stencil._by_field(arrays), coefficients=call.coefficients)
        return
    arrays = [argument.copy() for argument in arguments] + [results[place].copy() for place in call.others]
    after = kernel.advance(call.stencil._by_field(arrays), steps=call.steps, coefficients=call.coefficients)
    for place, values in zip(call.state, [after] if len(call.state) == 1 else after):
        results[place][...] = values


_handlers = {"cpu": _xla.handler(_on_cpu), "CUDA": _xla.handler(_on_gpu)}  # kept: XLA calls them until the process ends
for _platform, _function in _handlers.items():
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_function), platform=_platform, api_version=1)


def _run_call(stencil: Stencil, boundary: str, steps: int, coefficients: Mapping[str, float] | None,
              inputs: Sequence[Any]) -> list[Any]:
    """Results in the order of _Call.results."""
    text = json.dumps({"stencil": stencil._written, "boundary": boundary, "steps": steps,
                       "coefficients": dict(coefficients) if coefficients else None})
    like = jax.ShapeDtypeStruct(inputs[0].shape, inputs[0].dtype)
    call = _call(text)
    made = jax.ffi.ffi_call(_TARGET, [like] * len(call.results), vmap_method="sequential")(*inputs, call=text)
    return list(made)


# ---- gradients ---------------------------------------------------------------------------------------------------------

class _Box:
    """An array that can be assigned to, as those of other libraries."""

    def __init__(self, value: Any):
        self.value = jnp.asarray(value)

    @property
    def shape(self) -> Any:
        return self.value.shape

    def __getitem__(self, index: Any) -> _Box:
        return _Box(self.value[index])

    def __setitem__(self, index: Any, values: Any) -> None:
        self.value = self.value.at[index].set(_value(values))

    def __iadd__(self, other: Any) -> _Box:
        self.value = self.value + _value(other)
        return self


def _value(array: Any) -> Any:
    return array.value if isinstance(array, _Box) else array


class _Jax(ArrayOperations):
    def zeros(self, like: Any, shape: Sequence[int]) -> Any:
        return _Box(jnp.zeros(tuple(shape), _value(like).dtype))

    def copy(self, array: Any) -> Any:
        return _Box(_value(array))


class _Run(Run):
    """Every launch is a call of XLA's that makes new arrays."""

    fuses_back = False

    def forward(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None) -> list[Any]:
        after = _run_call(self.stencil, self.boundary, self.steps, coefficients, [_value(array) for array in inputs])
        return after[:len(self.state)]

    def _launched(self, stencil: Stencil, inputs: Sequence[Any], boundary: str, coefficients: Any, place: Any,
                  layers: Mapping[str, Any] | None = None) -> dict[str, Any]:
        outputs = [name for name in stencil.arguments if name not in stencil.inputs]
        after = _run_call(stencil, boundary, 0, coefficients, [_value(array) for array in inputs])
        made = dict(zip(outputs, map(_Box, after)))
        if layers is not None:
            for slab in shell(edges_of(stencil, boundary, _value(inputs[0]).shape), 0):
                for name, array in made.items():
                    array[slab] = 0 if layers[name] is None else _value(layers[name])[slab]
        return made


@functools.lru_cache(maxsize=_MOST)
def _function_of(written: str, boundary: str, steps: int, coefficients: tuple[tuple[str, float], ...] | None) -> Any:
    """A function of fields, with its gradient."""
    run = _Run(written_stencil(written), boundary, steps, _Jax())
    values = dict(coefficients) if coefficients else None

    def advanced(*fields: Any) -> tuple[Any, ...]:
        return tuple(run.forward(fields, values))

    function = jax.custom_vjp(advanced)

    def forward(*fields: Any) -> tuple[Any, ...]:
        return function(*fields), fields

    def backward(fields: tuple[Any, ...], gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        back, _ = run.backward(fields, gradients, values)
        return tuple(jnp.zeros_like(field) if gradient is None else _value(gradient)
                     for field, gradient in zip(fields, back))

    if not run.stencil.is_linear:
        function.defvjp(forward, backward)
        return function

    # A linear run's gradient is linear in the one that it is given, and its own gradient is the run.
    back = jax.custom_vjp(backward)
    back.defvjp(lambda fields, gradients: (backward(fields, gradients), fields),
                lambda fields, directions: (tuple(map(jnp.zeros_like, fields)), function(*directions)))
    function.defvjp(forward, back)
    return function


def advance(stencil: Stencil, *fields: jax.Array, steps: int, boundary: str | Mapping[str, str] = "hold",
            coefficients: Mapping[str, float] | None = None) -> jax.Array | Any:
    """The state after `steps` steps, as new arrays, with gradients of the fields.

    Args:
        stencil: what stencil() made.
        fields: one for each of `stencil.inputs`, indexed [z, y, x].
        steps: 1 or more.
        boundary: as for lookup().
        coefficients: numbers by name.

    Returns:
        The field that is the state; a tuple where it is several, in the order of `stencil.inputs`.
    """
    require_stencil(stencil)
    if len(fields) != len(stencil.inputs):
        raise ArgumentError(f"stencil '{stencil.name}' reads {len(stencil.inputs)} fields, "
                            f"{', '.join(stencil.inputs)}; {len(fields)} were given")
    for name, field in zip(stencil.inputs, fields):
        if not isinstance(field, (jax.Array, numpy.ndarray)):
            _values.refuse(field, name, "an array of JAX is needed")
        if field.shape != fields[0].shape or field.dtype != fields[0].dtype or field.ndim != stencil.rank:
            raise ArgumentError(f"{name} is of {field.dtype} and shape {field.shape}: fields are alike, and have "
                                f"{stencil.rank} axes")
    text, steps = boundary_text(boundary), as_steps(steps)
    checked(stencil, Grid(tuple(fields[0].shape)[::-1], 0, _arrays.dtype_name(fields[0].dtype), text, steps))
    values = dict(zip(stencil.coefficients, stencil.coefficient_values(coefficients)))
    known = tuple((name, values[name]) for name in sorted(coefficients)) if coefficients else None
    after = _function_of(stencil._written, text, steps, known)(*fields)
    return after[0] if len(after) == 1 else after


def step(stencil: Stencil, *fields: jax.Array, boundary: str | Mapping[str, str] = "hold",
         coefficients: Mapping[str, float] | None = None) -> jax.Array | Any:
    """One step: advance() with steps=1."""
    return advance(stencil, *fields, steps=1, boundary=boundary, coefficients=coefficients)
