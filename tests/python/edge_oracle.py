"""A second evaluator of definitions, in NumPy and f64, and definitions that nobody wrote. It shares no code with the
project: what it knows is what docs/stencils.md promises.

Expressions are tuples: ("number", value), ("coefficient", name), ("read", field, offset), ("profile", name, offsets, axes),
("before", axis, offset), ("after", axis, offset), ("in_layer", axis, offset), ("coordinate", axis, offset), ("step",),
("random", seed, call), ("line", axis, far, cell ...), which adds up (2 + k) times the cell at k along the axis, or an
operation and its operands. In a measure ("output", name, expression) is what the first stage makes of a cell. Axes and offsets count from x; arrays are indexed [z, y, x].
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

import numpy

AXES = "xyz"
LOW, HIGH = 0, 1
SIDES = ("low", "high")
MIRRORS = ("reflect", "odd", "neumann", "dirichlet", "robin")
TERMS = {"neumann": 1, "dirichlet": 1, "robin": 3}  #: numbers that words take

Expression = tuple
Array = Any
Fields = dict[str, Array]

BINARY: dict[str, tuple[str, Callable]] = {
    "add": ("({} + {})", numpy.add), "subtract": ("({} - {})", numpy.subtract), "multiply": ("{} * {}", numpy.multiply),
    "min": ("min({}, {})", numpy.fmin), "max": ("max({}, {})", numpy.fmax), "mod": ("({} % {})", numpy.mod)}
UNARY: dict[str, tuple[str, Callable]] = {
    "negate": ("(-{})", numpy.negative), "abs": ("abs({})", numpy.abs), "sin": ("sin({})", numpy.sin),
    "floor": ("floor({})", numpy.floor), "round": ("round({})", numpy.rint),
    "root": ("sqrt(1 + abs({}))", lambda value: numpy.sqrt(1 + numpy.abs(value)))}

TERNARY: dict[str, tuple[str, Callable]] = {
    "between": ("({} < {} <= {})", lambda low, value, high: 1.0 * ((low < value) & (value <= high))),
    "choice": ("({} ? {} : {})", lambda condition, yes, no: numpy.where(condition != 0, yes, no))}
OPERATIONS = {**UNARY, **BINARY, **TERNARY}


@dataclasses.dataclass(frozen=True)
class Word:
    """What lies beyond one side of an axis. terms: numbers or names of coefficients."""

    kind: str
    terms: tuple[float | str, ...] = ()

    def text(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.terms))})" if self.terms else self.kind


@dataclasses.dataclass
class Definition:
    rank: int
    fields: list[str]  #: in the order of the definition; profiles too
    coefficients: dict[str, float]
    stages: list[dict[str, Expression]]  #: of each output, in the order of the text
    rotations: dict[str, str]  #: what each field becomes after a step
    profiles: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)  #: axes by name; none: time
    hold: dict[str, str] = dataclasses.field(default_factory=dict)  #: whose held layers an intermediate has
    layer_fields: dict[str, int] = dataclasses.field(default_factory=dict)  #: axis in whose layers each exists
    words: dict[tuple[str, int, int], Word] = dataclasses.field(default_factory=dict)  #: of field ("": all), axis, side
    measures: dict[str, tuple[str, Expression]] = dataclasses.field(default_factory=dict)  #: "sum", "min" or "max" of what

    @property
    def outputs(self) -> list[str]:
        return [output for stage in self.stages for output in stage]

    @property
    def state(self) -> list[str]:
        """Fields that a step changes and the next one starts with, without older levels."""
        turned = [self.rotations[output] for output in self.outputs if output in self.rotations]
        in_place = [output for output in self.outputs if output not in self.rotations and self._is_read_before(output)]
        return turned + in_place

    @property
    def older(self) -> list[str]:
        return [to for to in self.rotations.values() if to not in self.state]

    @property
    def intermediates(self) -> list[str]:
        """Written by a stage, read by a later one, and no part of the state of any step."""
        loose = [output for output in self.outputs if output not in self.rotations and output not in self.state]
        return [output for output in loose if any(output in reads_of(stage) for stage in self.stages)]

    @property
    def probes(self) -> list[str]:
        kept = {*self.rotations, *self.state, *self.intermediates}
        return [output for output in self.outputs if output not in kept]

    @property
    def constants(self) -> list[str]:
        moving = {*self.outputs, *self.rotations.values(), *self.profiles}
        return [field for field in self.fields if field not in moving]

    @property
    def kept(self) -> list[str]:
        """What holds a value after a run."""
        return [*self.state, *self.older, *self.probes, *self.constants]

    def parts(self) -> Iterator[Expression]:
        """All expressions, and all within them."""
        for stage in self.stages:
            for expression in stage.values():
                yield from parts_of(expression)

    def _is_read_before(self, output: str) -> bool:
        writer = next(i for i, stage in enumerate(self.stages) if output in stage)
        return any(output in reads_of(stage) for stage in self.stages[:writer])

    def text(self) -> str:
        """As TOML."""
        places = {**{field: f"({', '.join(AXES[axis] for axis in axes) or 't'})" for field, axes in self.profiles.items()},
                  **{field: f"({AXES[axis]} in layer)" for field, axis in self.layer_fields.items()}}
        names = [field + places.get(field, "") for field in self.fields]
        lines = [f"rank = {self.rank}", "fields = [" + ", ".join(f'"{name}"' for name in names) + "]"]
        if self.coefficients:
            lines += ["[coefficients]", *(f"{name} = {value!r}" for name, value in self.coefficients.items())]
        for stage in self.stages:
            lines.append("[[stage]]" if len(self.stages) > 1 else "[update]")
            lines += [f'{output} = "{written(expression)}"' for output, expression in stage.items()]
        for table, entries in (("rotate", self.rotations), ("hold", self.hold)):
            if entries:
                lines += [f"[{table}]", *(f'{name} = "{other}"' for name, other in entries.items())]
        if self.words:
            lines += ["[boundary]", *self._word_lines()]
        if self.measures:
            lines += ["[measure]", *(f'{name} = "{how}({written(expression)})"'
                                     for name, (how, expression) in self.measures.items())]
        return "\n".join(lines) + "\n"

    def _word_lines(self) -> Iterator[str]:
        for field, axis in dict.fromkeys((field, axis) for field, axis, _ in self.words):
            prefix = f"{field}.{AXES[axis]}" if field else AXES[axis]
            sides = [self.words.get((field, axis, side)) for side in (LOW, HIGH)]
            if sides[LOW] == sides[HIGH] and sides[LOW] is not None:
                yield f'{prefix} = "{sides[LOW].text()}"'
                continue
            for side, word in enumerate(sides):
                if word is not None:
                    yield f'{prefix}.{SIDES[side]} = "{word.text()}"'


def parts_of(expression: Expression) -> Iterator[Expression]:
    """The expression and all within it."""
    yield expression
    for part in expression[1:]:
        if isinstance(part, tuple) and part and isinstance(part[0], str):
            yield from parts_of(part)


def reads_of(stage: Mapping[str, Expression]) -> dict[str, list[tuple[int, ...]]]:
    """Offsets by field."""
    found: dict[str, list[tuple[int, ...]]] = {}
    for expression in stage.values():
        for part in parts_of(expression):
            if part[0] == "read":
                found.setdefault(part[1], []).append(part[2])
    return found


def written(e: Expression) -> str:
    """As a definition has it."""
    kind = e[0]
    if kind == "number":
        return repr(e[1]) if e[1] >= 0 else f"({e[1]!r})"
    if kind == "coefficient":
        return e[1]
    if kind == "step":
        return "t"
    if kind == "read":
        at = ", ".join(f"{AXES[axis]}{offset:+d}" for axis, offset in enumerate(e[2]) if offset)
        return f"{e[1]}[{at}]" if at else e[1]
    if kind in ("before", "after", "in_layer", "coordinate"):
        name = AXES[e[1]] + ("" if kind == "coordinate" else f"_{kind}")
        return f"{name}[{AXES[e[1]]}{e[2]:+d}]" if e[2] else name
    if kind == "profile":
        at = ", ".join(f"{AXES[axis]}{offset:+d}" for axis, offset in zip(e[3], e[2]) if offset)
        return f"{e[1]}[{at}]" if at else e[1]
    if kind == "random":
        return f"random({e[1]}, {e[2]})"
    if kind == "output":
        return e[1]
    if kind == "line":
        return f"sum(k in -{e[2]}..{e[2]}, (2 + k) * {e[3][1]}[{AXES[e[1]]}+k])"
    return OPERATIONS[kind][0].format(*map(written, e[1:]))


def philox(counter: Sequence[Array], key: tuple[int, int]) -> list[Array]:
    """Four words of 32 bits: Philox 4x32-10 (Salmon et al., SC 2011)."""
    low = 0xffffffff
    words = [(numpy.asarray(word) & low).astype(numpy.uint64) for word in counter]
    for turn in range(10):
        k0, k1 = key[0] + turn * 0x9e3779b9 & low, key[1] + turn * 0xbb67ae85 & low
        even, odd = words[0] * numpy.uint64(0xd2511f53), words[2] * numpy.uint64(0xcd9e8d57)
        words = [odd >> numpy.uint64(32) ^ words[1] ^ numpy.uint64(k0), odd & numpy.uint64(low),
                 even >> numpy.uint64(32) ^ words[3] ^ numpy.uint64(k1), even & numpy.uint64(low)]
    return words


class Evaluator:
    """Steps of a definition on a grid. boundary: by axis, from x on, for those that the definition does not speak of.
    layers: by axis, from x on, the widths of those at the low and the high end."""

    def __init__(self, definition: Definition, shape: Sequence[int], boundary: Sequence[str],
                 coefficients: Mapping[str, float] | None = None, origin: Sequence[int] | None = None,
                 layers: Sequence[tuple[int, int]] = ()):
        self.definition, self.shape = definition, tuple(shape)
        self.extents = self.shape[::-1]
        self.boundary = boundary
        self.coefficients = {**definition.coefficients, **(coefficients or {})}
        self.origin = tuple(origin)[::-1] if origin is not None else (0,) * definition.rank
        self.layers = tuple(layers) or ((0, 0),) * definition.rank

    # ---- what the definition says ----

    def word(self, field: str, axis: int, side: int) -> Word:
        words = self.definition.words
        if not any(about == axis for _, about, _ in words):
            return Word(self.boundary[axis])
        return words[field, axis, side] if (field, axis, side) in words else words["", axis, side]

    def is_held(self, axis: int) -> bool:
        spoken = [word.kind for (_, about, _), word in self.definition.words.items() if about == axis]
        return (spoken[0] if spoken else self.boundary[axis]) == "hold"

    def held(self, stage: Mapping[str, Expression]) -> list[tuple[int, int]]:
        """Layers at both ends of each axis that the stage does not write."""
        offsets = [offset for places in reads_of(stage).values() for offset in places]
        return [(max([0, *(-o[axis] for o in offsets)]), max([0, *(o[axis] for o in offsets)])) if self.is_held(axis)
                else (0, 0) for axis in range(self.definition.rank)]

    def updated(self, stage: Mapping[str, Expression]) -> tuple[slice, ...]:
        """As an index of arrays."""
        return tuple(slice(low, n - high) for n, (low, high) in zip(self.extents, self.held(stage)))[::-1]

    def asks_for_layers(self) -> list[str]:
        """Intermediates of which a later stage reads layers that their own holds."""
        asked = []
        for output in self.definition.intermediates:
            writer = next(i for i, stage in enumerate(self.definition.stages) if output in stage)
            own = self.held(self.definition.stages[writer])
            for stage in self.definition.stages[writer + 1:]:
                for offset, axis in itertools.product(reads_of(stage).get(output, ()), range(self.definition.rank)):
                    low, high = self.held(stage)[axis]
                    if low + offset[axis] < own[axis][LOW] or high - offset[axis] < own[axis][HIGH]:
                        asked.append(output)
        return list(dict.fromkeys(asked))

    def layers_of(self, output: str) -> str | None:
        """The field whose held layers an output has in a run; None: nobody asks."""
        definition = self.definition
        if output not in definition.intermediates:
            return definition.rotations.get(output, output)
        if output in definition.hold:
            return definition.hold[output]
        return definition.state[0] if len(definition.state) == 1 else None

    def in_layer(self, axis: int, cells: Array) -> Array:
        """Whether cells lie in a layer of the axis. One beyond an edge lies in the layer that the edge has."""
        low, high = self.layers[axis]
        return (cells < low) & (low > 0) | (cells >= self.extents[axis] - high) & (high > 0)

    # ---- values ----

    def where_it_exists(self, field: str, cells: Array) -> Array:
        """The field with 0 outside of its layers."""
        axis = self.definition.layer_fields.get(field)
        if axis is None:
            return cells
        return numpy.where(self.in_layer(axis, self._row(axis, numpy.arange(self.extents[axis]))), cells, 0)

    def _row(self, axis: int, row: Array) -> Array:
        """Values along the axis, as an array that goes with the grid's."""
        return row.reshape([-1 if about == axis else 1 for about in reversed(range(self.definition.rank))])

    def launch(self, fields: Mapping[str, Array], step: int = 0) -> Fields:
        """One step without rotation: outputs keep the caller's layers."""
        return self._stages(fields, step, lambda output: self.layers_of(output)
                            if output in self.definition.intermediates else output)

    def advance(self, fields: Mapping[str, Array], steps: int, *, step: int = 0, series: Array = None,
                sources: Sequence[tuple[str, tuple[int, ...]]] = (),
                receivers: Sequence[tuple[str, tuple[int, ...]]] = ()) -> tuple[Fields, Array]:
        """Fields after the run, under their names then, and what receivers recorded: [step, receiver]."""
        now, records = dict(fields), []
        for made in range(steps):
            adds = [(field, place, series[made, i]) for i, (field, place) in enumerate(sources)]
            after = self._stages(now, step + made, self.layers_of, adds)
            now = {**after, **{to: after[start] for start, to in self.definition.rotations.items()}}
            records.append([now[field][place] for field, place in receivers])
        return now, numpy.array(records)

    def measure(self, fields: Mapping[str, Array], step: int = 0) -> dict[str, float]:
        """What the definition measures of the fields as they stand: in the cells that a stage of its measures would
        update."""
        values = {name: expression for name, (_, expression) in self.definition.measures.items()}
        read, shape = self._reader(values, fields, step), numpy.zeros(self.shape)[self.updated(values)].shape
        joined = {"sum": numpy.sum, "min": numpy.min, "max": numpy.max}
        return {name: float(joined[how](numpy.broadcast_to(read(expression), shape)))
                for name, (how, expression) in self.definition.measures.items()}

    def _stages(self, fields: Mapping[str, Array], step: int, layers_of: Callable[[str], str | None],
                adds: Iterable[tuple[str, tuple[int, ...], float]] = ()) -> Fields:
        now = dict(fields)
        for stage in self.definition.stages:
            inside, new = self.updated(stage), {}
            read = self._reader(stage, now, step)
            for output, expression in stage.items():
                layers = layers_of(output)
                whole = numpy.full(self.shape, numpy.nan) if layers is None else now[layers].copy()
                whole[inside] = read(expression)
                new[output] = self.where_it_exists(output, whole)
            now.update(new)
            for field, place, value in adds:
                if field in stage:
                    now[field][place] += value
        return now

    def _reader(self, stage: Mapping[str, Expression], now: Mapping[str, Array],
                step: int) -> Callable[[Expression], Array]:
        inside = self.updated(stage)
        wide = {field: self._extended(now[field], field, offsets) for field, offsets in reads_of(stage).items()}

        def along(axis: int, offset: int) -> Array:
            """Index of the cell, for those that are updated."""
            return self._row(axis, numpy.arange(self.extents[axis])[inside[::-1][axis]] + offset)

        def read(e: Expression) -> Array:
            kind = e[0]
            if kind == "number":
                return e[1]
            if kind == "coefficient":
                return self.coefficients[e[1]]
            if kind == "step":
                return step
            if kind == "read":
                cells, room = wide[e[1]]
                value = cells[tuple(slice(part.start + low + o, part.stop + low + o)
                                    for part, low, o in zip(inside, room[::-1], e[2][::-1]))]
                axis = self.definition.layer_fields.get(e[1])
                return value if axis is None else numpy.where(self.in_layer(axis, along(axis, e[2][axis])), value, 0)
            if kind == "before":
                return numpy.maximum(0, -along(e[1], e[2]))
            if kind == "after":
                return numpy.maximum(0, along(e[1], e[2]) - (self.extents[e[1]] - 1))
            if kind == "in_layer":
                return self.in_layer(e[1], along(e[1], e[2])).astype(float)
            if kind == "coordinate":
                return self.origin[e[1]] + along(e[1], e[2])
            if kind == "profile":
                if not e[3]:
                    return now[e[1]][step]
                found = [self._along_profile(axis, along(axis, offset)) for axis, offset in zip(e[3], e[2])]
                entries = now[e[1]][tuple(places for places, _ in reversed(found))]
                for _, known in found:
                    entries = numpy.where(known, entries, 0)
                return entries
            if kind == "random":
                cell = [self.origin[axis] + along(axis, 0) for axis in range(self.definition.rank)] + [0, 0]
                first, second, *_ = philox([*cell[:3], step], e[1:])
                return ((first << numpy.uint64(32) | second) >> numpy.uint64(11)) * 2.0**-53
            if kind == "output":
                axis = self.definition.layer_fields.get(e[1])
                return read(e[2]) if axis is None else numpy.where(self.in_layer(axis, along(axis, 0)), read(e[2]), 0)
            if kind == "line":
                return sum((2 + k) * read(cell) for k, cell in enumerate(e[3:], -e[2]))
            return OPERATIONS[kind][1](*map(read, e[1:]))

        return read

    def _extended(self, cells: Array, field: str, offsets: Sequence[tuple[int, ...]]) -> tuple[Array, list[int]]:
        """The field with what lies beyond its edges as far as it is read, and how many cells that is before each axis.
        The last axis first, so that the first one has the last word."""
        before = [0] * self.definition.rank
        for axis in reversed(range(self.definition.rank)):
            if self.is_held(axis):
                continue
            low, high = max([0, *(-o[axis] for o in offsets)]), max([0, *(o[axis] for o in offsets)])
            before[axis] = low
            slabs = [self._beyond(cells, field, axis, LOW, k) for k in range(low, 0, -1)]
            slabs += [cells, *(self._beyond(cells, field, axis, HIGH, k) for k in range(1, high + 1))]
            cells = numpy.concatenate(slabs, self.definition.rank - 1 - axis)
        return cells, before

    def _beyond(self, cells: Array, field: str, axis: int, side: int, k: int) -> Array:
        """The layer k cells beyond an edge."""
        n, word = self.extents[axis], self.word(field, axis, side)
        index = -k if side == LOW else n - 1 + k

        def layer(at: int) -> Array:
            return numpy.take(cells, [at], self.definition.rank - 1 - axis)

        if word.kind == "zero":
            return numpy.zeros_like(layer(0))
        if word.kind == "clamp":
            return layer(0 if side == LOW else n - 1)
        if word.kind == "periodic":
            return layer(index % n)
        mirrored = layer(folded(index, n))
        if word.kind == "odd":
            return -mirrored
        terms = [self.coefficients[term] if isinstance(term, str) else term for term in word.terms]
        if word.kind == "neumann":
            return mirrored + 2 * k * terms[0]
        if word.kind == "dirichlet":  # the mean of both is the value
            return terms[0] + (terms[0] - mirrored)
        if word.kind == "robin":  # solves a (u + m) / 2 + b (u - m) / (2 k) = g
            a, b, g = terms
            return (g - mirrored * (a / 2 - b / (2 * k))) / (a / 2 + b / (2 * k))
        assert word.kind == "reflect", word
        return mirrored

    def _along_profile(self, axis: int, cells: Array) -> tuple[Array, Array]:
        """Which entries along the axis cells read, and whether they are not 0. Answered by what kernels do on the axis:
        mirrored where any field is."""
        n = self.extents[axis]
        beyond = {self.word(field, axis, LOW if offset[axis] < 0 else HIGH).kind for stage in self.definition.stages
                  for field, offsets in reads_of(stage).items() for offset in offsets if offset[axis]}
        said = {word.kind for (_, about, _), word in self.definition.words.items() if about == axis}
        kinds = beyond or said or {self.boundary[axis]}
        inside = (cells >= 0) & (cells < n)
        if kinds & set(MIRRORS):
            places = numpy.vectorize(lambda cell: folded(cell, n))(cells)
        elif kinds == {"periodic"}:
            places = cells % n
        else:
            places = numpy.clip(cells, 0, n - 1)
        return places, inside | (kinds != {"zero"})


def folded(index: int, n: int) -> int:
    """Mirrored at the edge cells, which are not repeated, as often as needed."""
    if n == 1:
        return 0
    index %= 2 * (n - 1)
    return index if index < n else 2 * (n - 1) - index
