"""Stencils as functions of JAX's arrays, under jit, vmap and grad, on the stream that XLA gives.

>>> import stencil_tune as st, stencil_tune.jax as stj
>>> heat = st.stencil("u_next = u + alpha * laplacian(u); alpha = 0.1", rank=3)
>>> later = jax.jit(lambda u: stj.advance(heat, u, steps=100))(u)                     # doctest: +SKIP

An XLA custom call (jax.ffi) whose handler is Python: each execution takes the interpreter's lock for some microseconds.
Coefficients are constants of the traced function; gradients are those of fields, and of the series of sources.
On the CPU the reference runs, which is slow.
"""

from __future__ import annotations

import ctypes as c
import functools
import json
import re
from typing import Any, Callable, Literal, Mapping, NamedTuple, Sequence

import jax
import jax.numpy as jnp
import numpy

from . import _arrays, _lookup, _values, _xla
from ._arguments import FieldOrder
from ._errors import ArgumentError
from ._gradients.edges import edges_of, outside_layers, shell
from ._gradients.padding import ArrayOperations
from ._gradients.propagation import Propagation, checkpoint_stride
from ._gradients.shot import Shot
from ._gradients.run import Run
from ._points import Positions, as_positions
from ._request import Grid, as_steps, boundary_text, checked
from ._stencil import Stencil, require_stencil, written_stencil
from ._xla import CallFrame
from .models import Model

__all__ = ["Propagated", "advance", "propagate", "step"]

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
        self.origin: tuple[int, ...] | None = tuple(said["origin"]) if said["origin"] else None
        self.whole = [i for i, name in enumerate(self.stencil.inputs) if name not in self.stencil.profiles]
        # Where results stand: a run's are its state, and room for the other fields that it writes.
        count = len(self.stencil.inputs)
        self.others = self.stencil._order[count:]
        self.results = [*self.state, *self.others]


_call = functools.lru_cache(maxsize=_MOST)(_Call)


def _on_gpu(text: str, frame: CallFrame) -> None:
    call, stream = _call(text), _xla.stream_of(frame)
    arguments, results = _xla.layouts(frame.arguments, None), _xla.layouts(frame.results, None)
    whole = [arguments[i] for i in call.whole]
    alignment = min(map(_lookup.alignment_of, (*whole, *results)))
    layout = whole[0]._replace(device=_xla.device_of(frame))
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
        native.check(native.launch_at_on_device(handle, kernel._origin(call.origin), 0, stream, fields, call.fields.count,
                                                values, count, None, None))
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
    layout = _arrays.read(arguments[call.whole[0]])
    kernel = _lookup.lookup_like(call.stencil, layout, call.boundary, max(call.steps, 1))
    if not call.steps:
        arrays = [*arguments, *(results[place] for place in call.others)]
        kernel(*call.stencil._by_field(arrays), coefficients=call.coefficients, origin=call.origin)
        return
    arrays = [argument.copy() for argument in arguments] + [results[place].copy() for place in call.others]
    after = kernel.advance(call.stencil._by_field(arrays), steps=call.steps, coefficients=call.coefficients)
    for place, values in zip(call.state, [after] if len(call.state) == 1 else after):
        results[place][...] = values


_handlers = {"cpu": _xla.handler(_on_cpu), "CUDA": _xla.handler(_on_gpu)}  # kept: XLA calls them until the process ends
for _platform, _function in _handlers.items():
    jax.ffi.register_ffi_target(_TARGET, jax.ffi.pycapsule(_function), platform=_platform, api_version=1)


def _run_call(stencil: Stencil, boundary: str, steps: int, coefficients: Mapping[str, float] | None,
              inputs: Sequence[Any], origin: Sequence[int] | None = None) -> list[Any]:
    """Results in the order of _Call.results."""
    text = json.dumps({"stencil": stencil._written, "boundary": boundary, "steps": steps,
                       "coefficients": dict(coefficients) if coefficients else None, "origin": origin})
    call = _call(text)
    first = inputs[call.whole[0]]
    like = jax.ShapeDtypeStruct(first.shape, first.dtype)
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

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    def reshape(self, *shape: Any) -> Any:
        return self.value.reshape(*shape)

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

    def series(self, like: Any, shape: Sequence[int]) -> Any:
        return _Box(jnp.zeros(tuple(shape), _series_type(like.dtype)))

    def numbers(self, like: Any, values: Sequence[float]) -> Any:
        return numpy.asarray(values) if isinstance(values[0], int) else numpy.asarray(values, _series_type(like.dtype))

    def add_at(self, array: Any, places: Any, values: Any) -> None:
        array.value = array.value.reshape(-1).at[places].add(values.astype(array.dtype)).reshape(array.shape)


def _series_type(dtype: Any) -> Any:
    """The type of series and records that go with fields of this one."""
    return numpy.float64 if dtype == numpy.float64 else numpy.float32


class _Run(Run):
    """Every launch is a call of XLA's that makes new arrays."""

    fuses_back = False
    knows_places = False

    def forward(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None) -> list[Any]:
        after = _run_call(self.stencil, self.boundary, self.steps, coefficients, [_value(array) for array in inputs])
        return after[:len(self.state)]

    def _launched(self, stencil: Stencil, inputs: Sequence[Any], boundary: str, coefficients: Any, place: Any,
                  layers: Mapping[str, Any] | None = None) -> dict[str, Any]:
        outputs = [name for name in stencil.arguments if name not in stencil.inputs]
        after = _run_call(stencil, boundary, 0, coefficients, [_value(array) for array in inputs], place.get("origin"))
        made = dict(zip(outputs, map(_Box, after)))
        edges = edges_of(stencil, boundary, after[0].shape)
        if layers is not None:
            for slab in shell(edges, 0):
                for name, array in made.items():
                    array[slab] = 0 if layers[name] is None else _value(layers[name])[slab]
        for name in stencil.layer_fields:
            if name in made:
                made[name][outside_layers(stencil, name, edges)] = 0
        return made


class _Step(_Run, Propagation):
    """One step with points, whose series is a row."""

    knows_places = True

    def after(self, inputs: Sequence[Any], coefficients: Mapping[str, float] | None) -> list[Any]:
        self._settle(self._like(inputs).shape)
        self._sources, _ = self.shot.cells(self.stencil, self._like(inputs), self.ops)
        values: dict[str, Any] = dict(zip(self.stencil.inputs, inputs))
        for stage in self.stages:
            values = self._with_stage(stage, 0, values, coefficients)
        return [_value(values[self._newer(name)]) for name in self.state]

    def _sources_back(self, step: Any, of_outputs: Mapping[str, Any]) -> None:
        for name, at in self._sources.items():
            if name in of_outputs:
                given = at.weights * of_outputs[name].reshape(-1)[at.places]
                self.of_series.value = self.of_series.value.at[step, at.points].add(given)


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


# ---- shots -------------------------------------------------------------------------------------------------------------

class Propagated(NamedTuple):
    """What a run leaves behind.

    Attributes:
        state: the fields that the next step would begin with, by name.
        records: what the receivers recorded after each step, [step, receiver]; None without receivers.
    """

    state: dict[str, jax.Array]
    records: jax.Array | None


class _Shot:
    """A step with sources as a function of fields and their values then, with its gradient, and what receivers record."""

    def __init__(self, text: str):
        said = json.loads(text)
        self.stencil = written_stencil(said["stencil"])
        self.shot = Shot(said["sources"], said["receivers"])
        self.coefficients: dict[str, float] | None = said["coefficients"]
        self._where = said["boundary"], 1, _Jax(), self.shot
        self._origin = said["origin"]
        self.state = [self.stencil.fields[place] for place in self.stencil._state]
        self.step = jax.custom_vjp(lambda fields, row: self._run(row).after(fields, self.coefficients))
        self.step.defvjp(lambda fields, row: (self.step(fields, row), (fields, row)), self._back)

    def _run(self, row: Any) -> _Step:
        return _Step(self.stencil, *self._where, row[None], 1, self._origin)

    def _back(self, given: Any, of_state: Any) -> Any:
        fields, row = given
        run = self._run(row)
        back, _ = run.gradients(fields, of_state, None, [], self.coefficients, self.stencil.inputs)
        return ([jnp.zeros_like(field) if gradient is None else _value(gradient)
                 for field, gradient in zip(fields, back)], run.of_series.value[0])

    def record(self, state: Sequence[Any]) -> Any:
        row = jnp.zeros(self.shot.receivers, _series_type(state[0].dtype))
        for name, at in self.shot.cells(self.stencil, state[0], _Jax())[1].items():
            row = row.at[at.points].add(at.weights * state[self.state.index(name)].reshape(-1)[at.places])
        return row


_shot_of = functools.lru_cache(maxsize=_MOST)(_Shot)


def propagate(stencil: Stencil | Model, fields: Mapping[str, jax.Array] | None = None, *, steps: int,
              sources: Positions | None = None, series: jax.Array | None = None, receivers: Positions | None = None,
              boundary: str | Mapping[str, str] = "hold", coefficients: Mapping[str, float] | None = None,
              origin: Sequence[int] | None = None, storage: Literal["device", "recompute"] = "recompute") -> Propagated:
    """A run with sources and receivers: the last state and the records, with gradients of fields and series.

    Steps are made one by one, stage by stage, in a loop of XLA's.

    Args:
        stencil: of a name, a line or a definition's text, not of a file; or an equation of stencil_tune.models, whose
            arrays stand for fields that are not given. One whose steps are alike: no time, no random numbers.
        fields, steps, sources, series, receivers, boundary, origin: as for stencil_tune.torch.propagate. Arrays along
            some axes have a gradient of zeros.
        coefficients: numbers by name.
        storage: what is kept of the states that gradients depend on. "device": every one. "recompute": about every
            sqrt(steps)-th, and those between are made again.
    """
    ready: Mapping[str, Any] = {}
    if isinstance(stencil, Model):
        ready = stencil.fields
        stencil = stencil.stencil
    require_stencil(stencil)
    if not stencil._written:
        raise ArgumentError("give the definition's text, not its file: a compiled function outlives what a path stands for")
    if "t" in stencil.profiles.values() or re.search("= (step|random)\\b", stencil.text):
        raise ArgumentError(f"stencil '{stencil.name}' asks for the step's number, which a loop of XLA's does not say")
    if storage not in ("device", "recompute"):
        _values.refuse(storage, "storage", '"device" or "recompute" is needed')
    steps, given = as_steps(steps), {} if fields is None else _values.named(fields, "fields")
    inputs = _fields_of(stencil, given, ready)
    text = json.dumps({"stencil": stencil._written, "boundary": boundary_text(boundary), "origin": origin,
                       "sources": as_positions(sources, "sources"), "receivers": as_positions(receivers, "receivers"),
                       "coefficients": dict(coefficients) if coefficients else None})
    stencil.coefficient_values(coefficients)  # refuses names that it does not know
    shot = _shot_of(text)
    like = next(field for name, field in zip(stencil.inputs, inputs) if name not in stencil.profiles)
    rows = jnp.zeros((steps, 0), _series_type(like.dtype)) if series is None else series
    if rows.shape != (steps, shot.shot.sources):
        raise ArgumentError(f"series: an array of shape {(steps, shot.shot.sources)}, [step, source], is needed")

    def one(state: Any, row: Any) -> tuple[Any, Any]:
        now = dict(zip(shot.state, state))
        after = shot.step([now.get(name, field) for name, field in zip(stencil.inputs, inputs)], row)
        return after, shot.record(after)

    def several(state: Any, rows: Any) -> Any:
        return jax.lax.scan(one, state, rows)

    state = [inputs[stencil.inputs.index(name)] for name in shot.state]
    stride = checkpoint_stride(steps) if storage == "recompute" else steps
    whole, records = steps - steps % stride, []
    rows = rows.astype(_series_type(like.dtype))
    if stride < steps:
        state, many = jax.lax.scan(jax.checkpoint(several), state, rows[:whole].reshape(-1, stride, rows.shape[1]))
        records.append(many.reshape(whole, -1))
        rows = rows[whole:]
    state, last = several(state, rows)
    return Propagated(dict(zip(shot.state, state)),
                      jnp.concatenate([*records, last]) if shot.shot.receivers else None)


def _fields_of(stencil: Stencil, given: Mapping[str, Any], ready: Mapping[str, Any]) -> list[jax.Array]:
    """Arrays of the stencil's inputs: those given, else a model's, else zeros where they are the state."""
    for name in given:
        if name not in stencil.inputs:
            raise ArgumentError(f"'{name}' is no field that stencil '{stencil.name}' reads; it reads "
                                f"{', '.join(stencil.inputs)}", "unknown_name")
    known = {name: jnp.asarray({**ready, **given}[name]) for name in stencil.inputs if name in {**ready, **given}}
    whole = [field for name, field in known.items() if name not in stencil.profiles]
    if not whole:
        raise ArgumentError(f"fields: give {', '.join(stencil.inputs)}; those of the state may be left away")
    state = [stencil.fields[place] for place in stencil._state]
    for name in stencil.inputs:
        if name not in known and name not in state:
            raise ArgumentError(f"fields: stencil '{stencil.name}' reads {name}: give it")
        if name in known and name not in stencil.profiles and known[name].shape != whole[0].shape:
            raise ArgumentError(f"{name} has shape {known[name].shape}: fields of the whole grid have one shape")
    return [known[name] if name in known else jnp.zeros_like(whole[0]) for name in stencil.inputs]
