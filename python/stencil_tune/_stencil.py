"""Stencils: update rules from a name, a file or text."""

from __future__ import annotations

import ctypes as c
import json
import os
import re
import weakref
from typing import Any, Mapping, Sequence

from . import _native, _values
from ._errors import ArgumentError

# How a definition was given, in the order of python/native/reference.cpp.
_LOAD, _PARSE, _DEFINE = range(3)
_RANK = 3  # of a line that nobody gives one


class Stencil:
    """An update rule. `stencil()` makes one; it never changes, and may be pickled: all of its text goes along.

    Attributes:
        name: for people.
        rank: axes, 1 to 3. Arrays have as many, the last one is x: `array[z, y, x]`.
        fields: names of all fields, in the order of the definition's list; a line's are those that it reads, then those
            that it writes.
        inputs: those whose values before a step it reads, in that order.
        outputs: those that a step writes, in that order.
        arguments: in the order in which a kernel takes their arrays, the same in every language: that of the fields.
        coefficients: names and default values.
        element: the element type that a definition asks for ("f32"), else None.
        profiles: axes of the fields that vary along one or two alone, whose arrays have these axes, or "t" for those that
            vary with time, whose arrays have an entry for each step's number. {"dz": "z", "h": "xy", "w": "t"}
        layer_fields: axes of the fields that exist in the layers at the ends of one alone. {"psx": "x"}
        storages: types of the cells of fields that have one of their own. {"image": "u8"}
        measures: what runs may measure, and how it makes one number of all cells. {"residual": "max"}
        key: equal for equal updates, whatever their names.
        stages: sweeps a step.
    """

    def __init__(self, handle: int, source: tuple[int, str, str], file_name: str = ""):
        native = _native.library()
        weakref.finalize(self, native.stencil_release, handle).atexit = False
        self._handle = handle
        self._source = source
        self._file_name = file_name  # name of a definition's file, which is the stencil's where the text says none
        self._derivatives: dict[str, Stencil] = {}
        batches = sum(word.startswith("b") for word in source[2].split())
        self._text_rank = native.stencil_rank(handle) - batches  # the text's, before it was made a batch
        self._written = json.dumps([*source, self._text_rank, file_name])  # what written_stencil() reads
        count = range(native.stencil_field_count(handle))
        self.name: str = native.stencil_name(handle).decode()
        self.rank: int = native.stencil_rank(handle)
        self.key: str = native.stencil_key(handle).decode()
        self.text: str = native.stencil_text(handle).decode()
        self.stages: int = native.stencil_stage_count(handle)
        element = native.stencil_type(handle)
        self.element: str | None = element.decode() if element else None
        self.fields: tuple[str, ...] = tuple(native.stencil_field_name(handle, i).decode() for i in count)
        inputs = [i for i in count if native.stencil_field_is_input(handle, i)]
        outputs = [i for i in count if native.stencil_field_is_output(handle, i)]
        self._order: list[int] = inputs + [i for i in count if i not in inputs]  # places among the fields
        self._state: list[int] = [i for i in inputs if native.stencil_field_next(handle, i) != i or i in outputs]
        self._next: list[int] = [native.stencil_field_next(handle, i) for i in count]
        self._layers: list[int] = [native.stencil_field_layers(handle, i) for i in count]
        self._writes = frozenset(outputs)
        self._pointwise = frozenset(self.fields[i] for i in count if native.stencil_field_is_pointwise(handle, i))
        self._along: list[str] = ["".join(axis for bit, axis in enumerate("xyzt") if along >> bit & 1) for along in
                                  (native.stencil_field_along(handle, i) for i in count)]  # "": a whole grid
        self.inputs: tuple[str, ...] = tuple(self.fields[i] for i in inputs)
        self.outputs: tuple[str, ...] = tuple(self.fields[i] for i in outputs)
        self.profiles: dict[str, str] = {self.fields[i]: along for i, along in enumerate(self._along) if along}
        layers = [native.stencil_field_layer_axis(handle, i) for i in count]
        self.layer_fields: dict[str, str] = {self.fields[i]: "xyz"[axis] for i, axis in enumerate(layers) if axis >= 0}
        storages = [native.stencil_field_storage(handle, i) for i in count]
        self.storages: dict[str, str] = {self.fields[i]: type.decode() for i, type in enumerate(storages) if type}
        self.measures: dict[str, str] = {}
        if count_of_measures := native.stencil_measure_count(handle):
            reductions = [native.stencil_reduction(handle, i).decode() for i in range(count_of_measures)]
            self.measures = dict(zip(self.measured().outputs, reductions))
        self.arguments: tuple[str, ...] = self.fields
        self.coefficients: dict[str, float] = {
            native.stencil_coefficient_name(handle, i).decode(): native.stencil_coefficient_value(handle, i)
            for i in range(native.stencil_coefficient_count(handle))
        }

        low, high = (c.c_int32 * _native.MAX_RANK)(), (c.c_int32 * _native.MAX_RANK)()
        native.check(native.stencil_reach(handle, low, high))
        self._reach: list[tuple[int, int]] = list(zip(low, high))  # from x on
        placed = native.stencil_is_placed(handle, low, high)
        self._is_placed, self._counts_steps = placed > 0, placed > 1
        self._profile_reach: list[tuple[int, int]] = list(zip(low, high))
        first, last = (c.c_int64 * _native.MAX_RANK)(), (c.c_int64 * _native.MAX_RANK)()
        has_widths = native.stencil_layer_widths(handle, first, last)
        self._widths: list[tuple[int, int]] | None = list(zip(first, last)) if has_widths else None  # of layers, from x on

    @property
    def is_linear(self) -> bool:
        """Whether each stage writes weighted sums of cells alone, with weights that no field enters."""
        return bool(_native.library().stencil_is_linear(self._handle))

    def adjoint(self) -> "Stencil":
        """The adjoint of a stencil of one stage, a stencil like any other: tune it, look it up, launch it.

        It reads the gradients of the outputs, "grad_u_next", and of the inputs those that derivatives depend on, and
        writes the gradients of the inputs, "grad_u". On periodic and zero boundaries it is the adjoint as it stands;
        stencil_tune.torch adds what others need at their edges, and stencils that are not the same everywhere.
        """
        return self._derivative("a")

    def adjoint_step(self, wanted: Sequence[str] = (), held: str = "") -> "Stencil":
        """A step back through all stages, as a step that runs can repeat.

        Its state is the gradient of each field of the state, "grad_u": of that after a step of this stencil, then of that
        before. That of an older time level may be kept as its negative, "negated_grad_u_prev", which takes the place of
        the newer one's. It reads the fields that derivatives depend on as they were before that step. It is right where
        adjoint() is, and beside layers that boundary hold keeps, but for what these would get, where gradients are 0
        there: under hold, if it keeps as many as each stage of this stencil does, or under zero on the axes of `held`.

        Args:
            wanted: fields of the whole grid that no step changes, and coefficients: their gradients belong to the state,
                and a step back adds to them. Also fields that a stage writes and a later one reads: after the step
                "grad_q" holds the gradient of each.
            held: axes, "xy", on which the boundary of this stencil is hold and that of the step back zero.
        """
        names = [_values.text(name, "wanted") for name in _values.several(wanted, "wanted", "a list of names is needed")]
        axes = sum(1 << "xyz".index(axis) for axis in _values.text(held, "held"))
        return self._derivative(f"r{axes}" + ",".join(names))

    def reversed(self) -> "Stencil":
        """The stencil whose step makes the state before of the state after a step, by the same names.

        What a step overwrites has to be a term of what it leaves, at the cell and with factor 1 or -1, as in leapfrog
        schemes. Raises ArgumentError where it is not.
        """
        return self._derivative("v")

    def coefficient_adjoint(self) -> "Stencil":
        """What each cell adds to the derivatives with respect to coefficients: "grad_alpha"; sums give them."""
        return self._derivative("c")

    def tangent(self, coefficient: str) -> "Stencil":
        """The stencil with a tangent beside each field that its steps change: "tangent_u", its derivative with respect
        to the coefficient. A run of it, from tangents of zero, gives both."""
        if _values.text(coefficient, "coefficient") not in self.coefficients:
            self.coefficient_values({coefficient: 0})  # says what there is
        return self._derivative(f"t{list(self.coefficients).index(coefficient)}")

    def stage(self, number: int) -> "Stencil":
        """One of its stages as a stencil of its own, of the fields that it uses; without a next step."""
        return self._derivative(f"s{_values.whole(number, 'number', 0, _values.INT32)}")

    def measured(self) -> "Stencil":
        """What its runs may measure as a stencil of its own: the same fields, and an output for each measure, by its
        name. Raises ArgumentError where the definition measures nothing."""
        return self._derivative("m")

    def batched(self, shared: Sequence[str] = ()) -> "Stencil":
        """The same stencil for many grids of one size, which lie one behind the other along a first axis of the arrays that
        no update reads along: [grid, y, x] for a stencil of rank 2, [grid, x] for one of rank 1. Positions of points name
        the grid first. What layers have is said before: `wave.with_layer(20).batched()`.

        Args:
            shared: fields that all grids have one array of, without that axis: fields that no step changes and that are read
                at the cell itself.
        """
        names = [_values.text(name, "shared") for name in _values.several(shared, "shared", "a list of names is needed")]
        return self._derivative("b" + ",".join(names))

    def with_layer(self, layer: int | str) -> "Stencil":
        """The same stencil with widths for the layers at the ends of its axes, in cells: 20, "20:0" (at the low and at
        the high end) or "x=20,z=0:20". They are no part of its key."""
        text = _values.text(layer, "layer") if isinstance(layer, str) else str(_values.whole(layer, "layer", 0))
        return self._derivative("l" + text)

    def _derivative(self, which: str) -> "Stencil":
        """"a": the adjoint; "c": of the coefficients; "t0": the tangent of the first one; "s0": the first stage; "m":
        the measures; "l20": with layers of that width; "bv,w": of many grids that share v and w; "r3v,a": the adjoint
        step, with gradients of v and a, layers held along x and y; "v": reversed."""
        if which not in self._derivatives:
            native = _native.library()
            make = {"a": native.stencil_adjoint, "c": native.stencil_coefficient_adjoint, "t": native.stencil_tangent,
                    "s": native.stencil_stage, "m": native.stencil_measured, "l": native.stencil_with_layers,
                    "b": native.stencil_batched, "r": native.stencil_adjoint_step, "v": native.stencil_reversed}[which[0]]
            takes: list[Any] = [int(which[1:])] if which[0] in "ts" else []
            if which[0] in "lb":
                takes = [which[1:].encode()]
            elif which[0] == "r":
                takes = [which[2:].encode(), int(which[1])]
            kind, text, before = self._source
            self._derivatives[which] = Stencil(native.handle(make, self._handle, *takes),
                                               (kind, text, f"{before} {which}".lstrip()), self._file_name)
        return self._derivatives[which]

    def show(self) -> str:
        """What was understood, with a picture of the cells that are read, as text."""
        native = _native.library()
        return native.text(native.stencil_describe, self._handle)

    def definition(self) -> str:
        """A TOML definition of an equal update, with numbered fields and coefficients."""
        native = _native.library()
        return native.text(native.stencil_definition, self._handle)

    def _by_field(self, arrays: Sequence[Any]) -> list[Any]:
        """Arrays of the inputs, then of the other fields, put in the order in which a kernel takes them."""
        return [array for _, array in sorted(zip(self._order, arrays), key=lambda placed: placed[0])]

    def coefficient_values(self, given: Mapping[str, float] | None) -> list[float]:
        """All values, in order: those given, else the defaults. Raises ArgumentError for a name that is none."""
        known = {} if given is None else _values.named(given, "coefficients")
        for name in known:
            if name not in self.coefficients:
                raise ArgumentError(f"stencil '{self.name}' has no coefficient '{name}'; it has "
                                    + (", ".join(self.coefficients) or "none"), "unknown_name")
        return [_values.number(known.get(name, value), f"coefficient {name}") for name, value in self.coefficients.items()]

    def __reduce__(self) -> tuple[Any, ...]:
        return written_stencil, (self._written,)

    def __deepcopy__(self, memo: Any) -> Stencil:
        return self

    def __repr__(self) -> str:
        edges = [", " + line for line in self.show().splitlines() if line.startswith("beyond the edges: ")]
        return (f"<stencil {self.name}: rank {self.rank}, {', '.join(self.inputs)} -> {', '.join(self.outputs)}"
                f"{''.join(edges)}>")

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.show())}</pre>"


def stencil(definition: str | os.PathLike[str], *, rank: int | None = None) -> Stencil:
    """An update rule from a name, a file, or text.

    Args:
        definition: the name of a built-in ("heat3d", "star3d2r"); the path of a definition (`*.toml`); the text of
            one; or a line such as "u_next = u + alpha * laplacian(u); alpha = 0.1". docs/stencils.md has the language.
            A file is read now: what becomes of it later changes nothing.
        rank: axes of a line, 1 to 3, 3 where it is None; the others say themselves.

    Raises:
        DefinitionError: text that is no stencil; the message shows the place.
        ArgumentError: no built-in of that name, or one of another rank than `rank`.
        Error: the file cannot be read.

    >>> stencil("u_next = u + alpha * laplacian(u); alpha = 0.1", rank=2).arguments
    ('u', 'u_next')
    """
    if rank is None:
        return _read(definition, _RANK)
    made = _read(definition, _values.whole(rank, "rank", -_values.INT32, _values.INT32))
    if made.rank != rank:
        raise ArgumentError(f"rank is {rank}: stencil '{made.name}' says itself that it has {made.rank}; leave rank out")
    return made


def _read(definition: str | os.PathLike[str], rank: int) -> Stencil:
    """rank: of a line."""
    is_path = isinstance(definition, os.PathLike)
    text = _values.path(definition, "definition") if is_path else _values.text(definition, "definition")
    if text.endswith(".toml"):
        return _made(_DEFINE, _text_of(text), rank, os.path.basename(text))
    if is_path or re.fullmatch(r"[\w-]+", text):
        return _made(_LOAD, text, rank)
    return _made(_DEFINE if re.search(r"^\s*\[(update|\[stage\])\]", text, re.MULTILINE) else _PARSE, text, rank)


def _text_of(path: str) -> str:
    """What is in the file of a definition. Raises what the library says of a file that is none."""
    native = _native.library()
    native.stencil_release(native.handle(native.stencil_load, os.fsencode(path)))
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _made(kind: int, text: str, rank: int, file_name: str = "") -> Stencil:
    native = _native.library()
    if kind == _LOAD:
        handle = native.handle(native.stencil_load, os.fsencode(text))
    elif kind == _PARSE:
        handle = native.handle(native.stencil_parse, text.encode(), rank)
    else:
        handle = native.handle(native.stencil_define, text.encode(), os.fsencode(file_name or "definition"))
    return Stencil(handle, (kind, text, ""), file_name)


def written_stencil(written: str) -> Stencil:
    """From all that made another one, `_written`, perhaps in another process."""
    kind, text, derivatives, rank, file_name = json.loads(written)
    result = _made(kind, text, rank, file_name)
    for which in derivatives.split():
        result = result._derivative(which)
    return result


def as_stencil(given: Stencil | str | os.PathLike[str], rank: int = _RANK) -> Stencil:
    """A stencil as it is, or what stencil() makes of it. rank: of a line."""
    return given if isinstance(given, Stencil) else _read(given, rank)


def require_stencil(given: object) -> None:
    """Raises ArgumentError for what is none."""
    if not isinstance(given, Stencil):
        _values.refuse(given, "stencil", "stencil_tune.stencil() makes one")
