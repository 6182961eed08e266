"""Definitions and grids that nobody wrote, for edge_oracle.py."""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import Callable

import numpy

from edge_oracle import AXES, HIGH, LOW, MIRRORS, TERMS, Definition, Evaluator, Expression, Fields, Word, parts_of

#: What was wrong once: faults_shown() says which cases showed it.
ALL_FAULTS = frozenset({"zero_then_neumann", "intermediate_layers", "crossed_outputs", "older_level_layers",
                        "distances_across_a_cut", "unread_level_between", "places_of_the_reference",
                        "nothing_outside_layers"})
#: Those that are not mended: cases that would show them are not drawn.
OPEN_FAULTS: frozenset[str] = frozenset()

NAMES = ("a", "b", "c", "p", "q", "r", "s", "u", "v", "w", "u_next", "u_prev", "u_new", "v_next", "p_old", "old", "next",
         "q1", "q2", "zz", "Ex", "h_2", "flux", "rho")
PROBLEM_WORDS = ("hold", "zero", "clamp", "periodic", "reflect")


@dataclasses.dataclass
class Case:
    """What is run: `steps` steps of a definition on a grid of this shape, (z, y, x)."""

    seed: int
    definition: Definition
    shape: tuple[int, ...]
    boundary: list[str]  #: from x on; hold where the definition speaks of the axis
    steps: int
    origin: tuple[int, ...] = ()  #: (z, y, x), where it asks for coordinates
    first_step: int = 0
    layers: tuple[tuple[int, int], ...] = ()  #: from x on, at the low and the high end

    @property
    def layer_text(self) -> str:
        return ",".join(f"{AXES[axis]}={low}:{high}" for axis, (low, high) in enumerate(self.layers))

    @property
    def boundary_text(self) -> str:
        return ",".join(f"{AXES[axis]}={word}" for axis, word in enumerate(self.boundary))

    @property
    def places(self) -> dict:
        """What calls take where the definition asks for coordinates or the step's number."""
        return {"origin": self.origin, "step": self.first_step} if self.origin else {}

    def evaluator(self) -> Evaluator:
        return Evaluator(self.definition, self.shape, self.boundary, origin=self.origin or None, layers=self.layers)

    def values(self) -> Fields:
        """Random ones for all fields, outputs too."""
        draw, profiles, extents = numpy.random.default_rng(self.seed), self.definition.profiles, self.shape[::-1]

        def shape(field: str) -> tuple[int, ...]:
            if field not in profiles:
                return self.shape
            return tuple(extents[axis] for axis in reversed(profiles[field])) or (self.first_step + self.steps,)

        return {field: draw.uniform(-1, 1, shape(field)) for field in sorted(self.definition.fields)}

    def __str__(self) -> str:
        places = f", origin {self.origin}, first step {self.first_step}" if self.origin else ""
        places += f", layers {self.layer_text}" if self.layers else ""
        return (f"seed {self.seed}: shape {self.shape} (z, y, x), boundary {self.boundary_text}, {self.steps} steps{places}\n"
                f"{self.definition.text()}")


@dataclasses.dataclass(frozen=True)
class Wishes:
    """What cases have. placed: coordinates, the step's number and profiles, which device="cpu" may lack. layers: fields
    that exist in them alone."""

    linear: bool | None = None  #: None: either
    smooth: bool = False  #: derivatives are known everywhere
    placed: bool = False
    layers: bool = False
    edges: bool = True  #: words of the definition, and distances from edges
    one_field: bool = False  #: a stage of one output; what no step changes is read at the cell itself
    near: bool = False  #: reads reach two cells at most
    most_stages: int = 3
    roomy: int = 0  #: cells that each axis has more than it needs
    wide: int = 0  #: cells that x has at least
    steps: tuple[int, int] = (1, 5)  #: from, to


class CaseDraw:
    """One case. Definitions are drawn from outputs on: what they become, what ends within the step, who reads whom."""

    def __init__(self, seed: int, attempt: int, wishes: Wishes):
        self.draw = random.Random(f"{seed} {attempt}")
        self.of_profiles = random.Random(f"{seed} {attempt} profiles")  # of its own: seeds that found faults stay cases
        self.more = random.Random(f"more {seed} {attempt}")  # cases are what they were before there were these words
        self.seed, self.wishes = seed, wishes
        self.rank = self.draw.choice((1, 1, 2, 2, 2, 3))
        self.names = self.draw.sample(NAMES, len(NAMES))
        self.linear = self.one_in(2) if wishes.linear is None else wishes.linear
        self.coefficients: dict[str, float] = {}

    def one_in(self, chances: int) -> bool:
        return self.draw.randrange(chances) == 0

    def name(self) -> str:
        return self.names.pop()

    def case(self) -> Case:
        definition = self.definition()
        boundary = [self.draw.choice(PROBLEM_WORDS) for _ in range(self.rank)]
        if self.wishes.layers:
            self.put_in_layers(definition)
            ends = [word for word in PROBLEM_WORDS if word != "periodic"]
            for axis in set(definition.layer_fields.values()):
                boundary[axis] = self.draw.choice(ends)
        if self.wishes.edges:
            for axis in range(self.rank):
                if self.one_in(2):
                    boundary[axis] = "hold"
                    self.speak_of(definition, axis)
        asks = any(part[0] in ("coordinate", "step", "random") or part[0] == "profile" and not part[3]
                   for part in definition.parts())
        case = Case(self.seed, definition, (), boundary, self.draw.randint(*self.wishes.steps))
        if asks:
            case.origin = tuple(self.draw.randint(-3, 5) for _ in range(self.rank))
            case.first_step = self.draw.randint(0, 4)
        case.shape = tuple(self.extent(case, axis) for axis in reversed(range(self.rank)))
        if self.wishes.layers:
            case.layers = tuple(self.widths(case, axis) for axis in range(self.rank))
        self.say_layers(case)
        return case

    def extent(self, case: Case, axis: int) -> int:
        """Just above the least, mostly."""
        case.shape = (1,) * self.rank
        evaluator = case.evaluator()
        held = max(sum(evaluator.held(stage)[axis]) for stage in case.definition.stages)
        parts = list(case.definition.parts())
        once = any(about == axis and word.kind in (*MIRRORS, "zero") for (_, about, _), word in
                   case.definition.words.items()) or any(part[0] in ("before", "after") for part in parts)
        reach = max([0, *(abs(part[2][axis]) for part in parts if part[0] == "read"),
                     *(abs(part[2]) for part in parts if part[0] in ("before", "after") and part[1] == axis)])
        least = max(held + 1, reach + 1 if once else 1)
        wide = self.wishes.wide - least if axis == 0 else 0
        return least + max(wide, 0) + self.wishes.roomy + self.draw.choice((0, 0, 1, 1, 2, 3, 4, 6))

    def widths(self, case: Case, axis: int) -> tuple[int, int]:
        """Of layers that overlap, sometimes; none where the axis is periodic."""
        definition, n = case.definition, case.shape[::-1][axis]
        kinds = {case.boundary[axis], *(word.kind for (_, about, _), word in definition.words.items() if about == axis)}
        if "periodic" in kinds:
            return 0, 0
        asked = [part[2][axis] for part in definition.parts()
                 if part[0] == "read" and definition.layer_fields.get(part[1]) == axis]
        asked += [part[2] for part in definition.parts() if part[0] == "in_layer" and part[1] == axis]
        least = 1 + max([0, *map(abs, asked)]) if kinds & set(MIRRORS) else 1

        def width() -> int:
            return 0 if self.one_in(4) else self.draw.randint(least, max(least, n + 2 if self.one_in(5) else n // 2))

        return width(), width()

    # ---- fields and who writes them ----

    def definition(self) -> Definition:
        draw = self.draw
        stages = draw.choice([count for count in (1, 1, 2, 2, 3) if count <= self.wishes.most_stages])
        one_field = self.wishes.one_field
        counts = (1,) if one_field else (1, 1, 1, 2, 2, 3) if self.rank == 3 else (1, 1, 2, 2, 3, 4)
        heads = [self.name() for _ in range(draw.choice(counts))]
        outputs = {head: self.name() for head in heads}
        self.written = [[] for _ in range(stages)]
        for head in heads:
            draw.choice(self.written).append(outputs[head])
        rotations = {output: head for head, output in outputs.items()}
        older = []
        for head in heads:
            last = head
            for _ in range(0 if one_field else draw.choice((0, 0, 0, 1, 1, 2, 3) if len(self.names) > 10 else (0, 1))):
                rotations[last] = last = self.name()
                older.append(last)
        intermediates = []
        for _ in range(draw.choice((0, 1, 1, 2)) if stages > 1 else 0):
            intermediates.append(self.name())
            draw.choice(self.written[:-1]).append(intermediates[-1])
        if self.one_in(4) and not one_field:
            draw.choice(self.written).append(self.name())  # read by nobody, unless it happens
        self.written = [stage for stage in self.written if stage]
        in_place = None
        if len(self.written) > 1 and not intermediates and self.one_in(3):
            in_place = self.name()
            self.written[-1].append(in_place)
        constants = self.constants = [self.name() for _ in range(draw.choice((0, 0, 1, 2)))]
        profiles = {self.name(): self.axes_of_profile()} if self.wishes.placed and self.one_in(3) else {}

        self.profiles, self.must_read = profiles, [*heads, *older]
        draw.shuffle(self.must_read)
        readable = [*heads, *older, *constants]
        texts = []
        for number, stage in enumerate(self.written):
            old = [in_place] if in_place and number < len(self.written) - 1 else []
            earlier = [output for before in self.written[:number] for output in before]
            if old and number == 0:
                self.must_read.insert(0, in_place)
            draw.shuffle(stage)
            last = number == len(self.written) - 1
            texts.append({output: self.update([*readable, *old], earlier, intermediates, last) for output in stage})
        turned = list(rotations.items())
        draw.shuffle(turned)
        outside = [*constants, *profiles]  # those that nobody reads are no fields
        read = {part[1] for stage in texts for expression in stage.values() for part in parts_of(expression)
                if part[0] in ("read", "profile")}
        fields = [*heads, *older, *(output for stage in self.written for output in stage),
                  *(field for field in outside if field in read)]
        draw.shuffle(fields)
        profiles = {field: axes for field, axes in profiles.items() if field in read}
        return Definition(self.rank, fields, self.coefficients, texts, dict(turned), profiles)

    def axes_of_profile(self) -> tuple[int, ...]:
        """One, two of three, or none: time."""
        axis, kind = self.draw.randrange(self.rank), self.of_profiles.randrange(4)
        if kind == 0:
            return ()
        if self.rank < 3 or kind == 1:
            return (axis,)
        return tuple(sorted((axis, (axis + self.of_profiles.randint(1, 2)) % 3)))

    def put_in_layers(self, definition: Definition) -> None:
        """Some fields, each with all that it becomes. One of the state is of the whole grid, where those between stages
        may need its held layers."""
        others = {*definition.rotations.values(), *definition.profiles}
        starts = [field for field in definition.fields if field not in others]
        moving = [field for field in starts if field in definition.rotations or field in definition.state]
        whole = self.draw.choice(moving) if definition.intermediates or self.one_in(2) else None
        for start in starts:
            if start == whole or self.one_in(3):
                continue
            axis = self.draw.randrange(self.rank)
            while start is not None:
                definition.layer_fields[start], start = axis, definition.rotations.get(start)

    def say_layers(self, case: Case) -> None:
        """[hold] where it is needed, and sometimes where it is not."""
        definition = case.definition
        case_needs = set(case.evaluator().asks_for_layers()) if len(definition.state) > 1 else set()
        may = [field for field in (*definition.state, *definition.constants) if field not in definition.layer_fields]
        for output in definition.intermediates:
            if output in case_needs or self.one_in(5):
                definition.hold[output] = self.draw.choice(may)

    # ---- what lies beyond edges ----

    def speak_of(self, definition: Definition, axis: int) -> None:
        draw = self.draw
        kinds = draw.choice((("hold",), ("periodic",), ("clamp", "zero"), (*MIRRORS, "zero"), (*MIRRORS, "zero")))

        def word() -> Word:
            kind = draw.choice(kinds)
            numbers = (0.25, -0.5, *self.coefficients)
            terms = tuple(draw.choice(numbers) for _ in range(TERMS.get(kind, 0)))
            if kind == "robin":  # the sum of the first two is no divisor near 0
                terms = draw.choice((0.5, 1.5)), draw.choice((0.25, 1.0)), terms[2]
            return Word(kind, terms)

        say = {}
        if len(kinds) == 1:
            for side in (LOW, HIGH):
                say["", axis, side] = word()
        else:
            low = word()
            say["", axis, LOW], say["", axis, HIGH] = low, low if self.one_in(2) else word()
            for field in definition.fields:
                if field not in definition.profiles and self.one_in(3):
                    for side in ((LOW,), (HIGH,), (LOW, HIGH))[draw.randrange(3)]:
                        say[field, axis, side] = word()
        definition.words.update(say)

    # ---- updates ----

    def offset(self) -> tuple[int, ...]:
        far = self.draw.choice((1, 1, 2) if self.wishes.near or self.rank == 3 else (1, 1, 1, 2, 2, 3))
        along = self.draw.sample(range(self.rank), self.draw.choice((0, 1, 1, 1, min(2, self.rank))))
        return tuple(self.draw.choice((-far, far, -1, 1)) if axis in along else 0 for axis in range(self.rank))

    def read(self, field: str) -> Expression:
        at_cell = self.wishes.one_field and field in self.constants
        return ("read", field, (0,) * self.rank if at_cell else self.offset())

    def update(self, readable: list[str], earlier: list[str], intermediates: list[str], last: bool) -> Expression:
        """A sum whose weights keep values of the order of 1."""
        fields = self.draw.sample(readable, min(len(readable), self.draw.randint(1, 3)))
        fields += self.must_read[:2]
        del self.must_read[:2]
        if earlier:
            unread = [field for field in earlier if field in intermediates] if last else []
            fields += unread or [self.draw.choice(earlier)]
        terms = [self.read(field) for field in fields for _ in range(self.draw.choice((1, 1, 2)))]
        if not self.linear and len(terms) > 1 and self.one_in(2):
            kind = "multiply" if self.wishes.smooth else self.draw.choice(("min", "max", "multiply"))
            terms.append((kind, self.read(fields[0]), self.read(self.draw.choice(fields))))
        if not self.linear and self.one_in(3):
            kind = "sin" if self.wishes.smooth else self.draw.choice(("abs", "sin", "root"))
            terms.append((kind, self.read(self.draw.choice(fields))))
        for profile, axes in self.profiles.items():
            if self.one_in(2):
                offsets = (self.draw.randint(-2, 2), self.of_profiles.randint(-2, 2))[:len(axes)]
                weight = ("profile", profile, offsets, axes)
                terms.append(("multiply", weight, self.read(self.draw.choice(fields))))
        if not self.linear and self.wishes.edges and self.one_in(8):
            kind, axis = self.draw.choice(("before", "after")), self.draw.randrange(self.rank)
            far = self.draw.randint(1, 2)
            terms.append((kind, axis, -far if kind == "before" else far))
        if not self.linear and self.wishes.placed and self.one_in(4):
            coordinate = ("coordinate", self.draw.randrange(self.rank), self.draw.choice((-1, 0, 2)))
            place = self.draw.choice((("step",), coordinate))
            terms.append(("sin", place))
        if self.wishes.layers and self.one_in(3):
            in_layer = ("in_layer", self.draw.randrange(self.rank), self.draw.randint(-2, 2))
            terms.append(("multiply", in_layer, self.read(self.draw.choice(fields))))
        terms = list(dict.fromkeys(terms))  # two alike might cancel
        self.draw.shuffle(terms)
        total: Expression | None = None
        for term in terms:
            weighted = ("multiply", self.weight(len(terms)), term)
            total = weighted if total is None else (self.draw.choice(("add", "subtract")), total, weighted)
        assert total is not None
        return total if self.linear or self.wishes.smooth or self.more.randrange(2) else self.with_more(total, fields)

    def with_more(self, total: Expression, fields: Sequence[str]) -> Expression:
        """Words that jump, and random numbers."""
        field, axis = self.more.choice(fields), self.more.randrange(self.rank)
        far = 0 if self.wishes.one_field and field in self.constants else 1
        line = [("read", field, tuple(k if about == axis else 0 for about in range(self.rank)))
                for k in range(-far, far + 1)]
        value, number = line[far], ("number", self.more.choice((-0.75, 0.375, 3.0)))
        terms = [(self.more.choice(("floor", "round")), ("multiply", ("number", 3.0), value)), ("mod", ("add", value, value), number),
                 ("choice", ("between", ("number", -0.25), value, number), value, number), ("line", axis, far, *line)]
        if self.wishes.placed:
            place = self.more.choice((("step",), ("coordinate", axis, -1)))
            noise = ("random", self.more.randrange(9), self.more.randrange(3))
            terms += 2 * [("mod", place, number), ("multiply", noise, value)]
        return ("add", total, ("multiply", ("number", 0.0625), self.more.choice(terms)))

    def weight(self, terms: int) -> Expression:
        value = self.draw.choice((0.25, 0.5, 0.75, 0.875, 1.0)) / terms
        if not self.one_in(3):
            return ("number", value)
        if len(self.coefficients) < 3 or self.one_in(3):
            name = f"k{len(self.coefficients)}"
            self.coefficients[name] = value
            return ("coefficient", name)
        return ("coefficient", self.draw.choice(list(self.coefficients)))


def faults_shown(case: Case) -> set[str]:
    """Those of ALL_FAULTS that the case may show."""
    definition, evaluator, shown = case.definition, case.evaluator(), set()
    parts = list(definition.parts())
    read = [(part[1], part[2]) for part in parts if part[0] == "read"]
    fields = {field for field, _ in read}
    kinds = [{evaluator.word(field, axis, side).kind for field in fields for side in (LOW, HIGH)}
             for axis in range(definition.rank)]
    if any("zero" in first and "neumann" in later for first, later in itertools.combinations(kinds, 2)):
        shown.add("zero_then_neumann")
    if definition.hold or evaluator.asks_for_layers():
        shown.add("intermediate_layers")
    if any(part[0] in ("before", "after") and kinds[part[1]] == {"periodic"} for part in parts):
        shown.add("distances_across_a_cut")
    if any(part[0] in ("coordinate", "step", "random", "profile") for part in parts):
        shown.add("places_of_the_reference")
    between = {start for start in definition.rotations if start not in definition.outputs and start not in fields}
    if any(definition.rotations[start] in fields | between for start in between):
        shown.add("unread_level_between")
    if _is_bare_outside_layers(definition):
        shown.add("nothing_outside_layers")
    if _is_crossed(definition):
        shown.add("crossed_outputs")
    if any(field in definition.older and any(offset) for field, offset in read):
        shown.add("older_level_layers")
    return shown


def _is_bare_outside_layers(definition: Definition) -> bool:
    """Whether, in no layer of some axes, steps write nothing or a stage that writes reads nothing."""
    for inside in itertools.product((False, True), repeat=definition.rank):
        gone = {field for field, axis in definition.layer_fields.items() if inside[axis]}
        stages = [[e for output, e in stage.items() if output not in gone] for stage in definition.stages]
        reads = [any(_fields_left(expression, gone, inside) for expression in stage) for stage in stages if stage]
        if not reads or not all(reads):
            return True
    return False


def _fields_left(e: Expression, gone: set[str], inside: tuple[bool, ...]) -> set[str] | None:
    """Fields that enter the expression in no layer of those axes. None: it is 0 there."""
    if e[0] == "in_layer" and inside[e[1]] or e[0] == "read" and e[1] in gone:
        return None
    if e[0] == "read":
        return {e[1]}
    parts = [_fields_left(part, gone, inside) for part in e[1:]
             if isinstance(part, tuple) and part and isinstance(part[0], str)]
    if None in parts and (e[0] == "multiply" or e[0] != "root" and not any(part is not None for part in parts)):
        return None
    return set().union(*filter(None, parts))


def _is_crossed(definition: Definition) -> bool:
    """Whether outputs stand in another order than the last levels of the fields that they become."""
    ends = {}
    for output in definition.fields:
        if output in definition.rotations and output not in definition.rotations.values():
            last = output
            while last in definition.rotations:
                last = definition.rotations[last]
            ends[output] = definition.fields.index(last)
    return list(ends.values()) != sorted(ends.values())


def random_case(seed: int, wishes: Wishes = Wishes(), avoid: frozenset[str] = OPEN_FAULTS,
                fits: Callable[[Case], bool] = lambda case: True) -> Case:
    """The case of this seed, the same every time: the first that it draws which shows no fault to avoid, and fits."""
    for attempt in itertools.count():
        case = CaseDraw(seed, attempt, wishes).case()
        if not faults_shown(case) & avoid and fits(case):
            return case
    raise AssertionError
