"""Definitions that nobody wrote, on what lies at edges: the reference, kernels of every family, grids cut over ranks and
gradients against a second evaluator (edge_oracle.py).

STENCIL_TUNE_SEED is the first seed, STENCIL_TUNE_CASES how many: scripts/check-long random draws thousands. A failure
prints its case and the command that repeats it."""

import collections
import ctypes
import dataclasses
import itertools
import os
import random

import numpy
import pytest
from device_arrays import CudaArray, aligned
from edge_cases import ALL_FAULTS, OPEN_FAULTS, PROBLEM_WORDS, Wishes, faults_shown, random_case
from edge_oracle import MIRRORS, reads_of
from test_distributed import Group
from test_gradient import Numpy
from test_gradient_on_kernels import ops  # noqa: F401, a fixture

import stencil_tune as st
from stencil_tune import _native, distributed
from stencil_tune._gradients.propagation import Propagation
from stencil_tune._gradients.run import Run
from stencil_tune._gradients.shot import Shot

STEP = 1e-5  # half the distance of a central difference
CLOSE = 1e-11  # fields are of the order of 1, and a run has few steps
OF_KERNELS = {"zero_then_neumann", "intermediate_layers", "crossed_outputs", "older_level_layers",
              "nothing_outside_layers"}
OF_CUTS = {*OF_KERNELS, "distances_across_a_cut"}
OF_GRADIENTS = {*OF_KERNELS, "unread_level_between"}
OF_THE_REFERENCE = {"zero_then_neumann", "intermediate_layers", "places_of_the_reference"}
FIRST = int(os.environ.get("STENCIL_TUNE_SEED", "1"))


def seeds(count):
    """As many as the test asks for: what takes a compiler run takes fewer."""
    return range(FIRST, FIRST + int(os.environ.get("STENCIL_TUNE_CASES", str(count))))


def seeds_and(found, count):
    """Also one that found a fault."""
    chosen = [*seeds(count)]
    return chosen if found in chosen or "STENCIL_TUNE_CASES" in os.environ else [*chosen, found]


def again(case):
    """The command that repeats the test that runs."""
    test = os.environ["PYTEST_CURRENT_TEST"].split("::")[1].split("[")[0]
    return (f"again: STENCIL_TUNE_SEED={case.seed} STENCIL_TUNE_CASES=1 bash tests/python/check.sh build/default python3 "
            f"'' -k {test}")


def stencil_of(case):
    stencil = st.stencil(case.definition.text())
    return stencil.with_layer(case.layer_text) if case.layers else stencil


def expect(case, names, got, wanted):
    """Of fields that exist in layers alone, what they hold there."""
    where_it_exists = case.evaluator().where_it_exists
    for name in names:
        is_, should_be = where_it_exists(name, got[name]), where_it_exists(name, wanted[name])
        if not numpy.allclose(is_, should_be, rtol=0, atol=CLOSE, equal_nan=False):
            raise AssertionError(f"{name}, {case}\nis\n{is_}\nshould be\n{should_be}\n{again(case)}")


def parts_of_array(case, kernel, name):
    """Where the cells of a field are on the grid, and in its array."""
    axis = case.definition.layer_fields.get(name)
    if axis is None or kernel.shape_of(name) == case.shape:
        return [(..., ...)]
    at, (low, high) = len(case.shape) - 1 - axis, case.layers[axis]
    n, cells = case.shape[at], kernel.shape_of(name)[at]
    before = (slice(None),) * at
    return [((*before, slice(low)), (*before, slice(low))),
            ((*before, slice(n - high, n)), (*before, slice(cells - high, cells)))]


def in_array(case, kernel, name, cells):
    """The cells as the kernel's array has them."""
    if name in case.definition.profiles or kernel.shape_of(name) == case.shape:
        return cells
    array = numpy.full(kernel.shape_of(name), numpy.nan)
    for there, here in parts_of_array(case, kernel, name):
        array[here] = cells[there]
    return array


def on_grid(case, kernel, arrays):
    """The other way round."""
    fields = {}
    for name, array in named(kernel.stencil.arguments, arrays).items():
        fields[name] = array
        if name not in case.definition.profiles and array.shape != case.shape:
            fields[name] = numpy.zeros(case.shape)
            for there, here in parts_of_array(case, kernel, name):
                fields[name][there] = array[here]
    return fields


def expect_right(case, kernel, make, draw):
    """A step, and a run, with points or without. make: arrays for a kernel from those of NumPy."""
    definition, evaluator, before, arguments = case.definition, case.evaluator(), case.values(), kernel.stencil.arguments
    arrays = [make(in_array(case, kernel, name, before[name])) for name in arguments]
    kernel(*arrays, **case.places)
    outputs = [name for name in definition.outputs if name not in definition.intermediates]
    expect(case, outputs, on_grid(case, kernel, arrays), evaluator.launch(before, case.first_step))

    arrays = [make(in_array(case, kernel, name, before[name])) for name in arguments]
    sources, receivers = points_of(case, draw) if draw.randrange(3) == 0 and takes_points(case, kernel) else ([], [])
    series = numpy.random.default_rng(case.seed).uniform(-1, 1, (case.steps, len(sources)))
    wanted, records = evaluator.advance(before, case.steps, step=case.first_step, series=series, sources=sources,
                                        receivers=receivers)
    if sources:
        points = kernel.place_points(by_field(sources), by_field(receivers))
        recorded = make(numpy.zeros_like(records))
        kernel.advance(arrays, steps=case.steps, points=points, series=make(series), records=recorded, **case.places)
        expect(case, ["records"], named(["records"], [recorded]), {"records": records})
    else:
        kernel.advance(arrays, steps=case.steps, **case.places)
    expect(case, definition.kept, on_grid(case, kernel, arrays), wanted)


def named(names, arrays):
    return {name: getattr(array, "host", array) for name, array in zip(names, arrays)}


def takes_points(case, kernel):
    """Receivers record what the next step reads."""
    read = all(to in kernel.stencil.inputs for to in case.definition.state)
    return read and (kernel.device != "cpu" or "places_of_the_reference" not in OPEN_FAULTS)


def points_of(case, draw):
    """Sources and receivers at whole cells, where stages write."""
    definition, evaluator = case.definition, case.evaluator()
    stages = {output: stage for stage in definition.stages for output in stage}

    def place(output):
        return tuple(draw.randrange(part.start, part.stop) for part in evaluator.updated(stages[output]))

    outputs = [output for output in definition.outputs if output not in definition.layer_fields]
    turning = [output for output in outputs if output in definition.rotations]
    if not turning:
        return [], []
    return (sorted((output, place(output)) for output in draw.choices(outputs, k=2)),
            sorted((definition.rotations[output], place(output)) for output in draw.choices(turning, k=2)))


def by_field(points):
    return {field: [place for other, place in points if other == field] for field, _ in points}


with_layers = pytest.mark.parametrize("layers", (False, True), ids=("whole", "layers"))


def on_slabs(seed, layers):
    """Whether arrays hold the layers alone: half of the cases that have such."""
    return layers and seed % 2 == 1


@with_layers
@pytest.mark.parametrize("seed", seeds(300))
def test_the_reference_agrees(seed, layers):
    slabs = on_slabs(seed, layers)
    case = random_case(seed, Wishes(placed=True, layers=layers, roomy=4*layers), OPEN_FAULTS & OF_THE_REFERENCE)
    kernel = st.lookup(stencil_of(case), shape=case.shape, dtype="f64", boundary=case.boundary_text, device="cpu",
                       slabs=slabs)
    expect_right(case, kernel, numpy.copy, random.Random(seed))


SWEEPS = ("direct", "tiled", "streaming")
FAMILIES = (*SWEEPS, "temporal", "systolic", "system", "system")
WHOLE_STEP = -1


class Winners:
    """A database of kernels that a seed draws. Without any there is no file."""

    def __init__(self, gpus, folder, seed):
        self.path, self.codes = folder / "winners.db", []
        self._draw = random.Random(seed)
        self._add = gpus.library.on_host_add_winner
        self._add.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int,
                              ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]

    def serve(self, case, family):
        """Draws one of the family, for a stage or for steps that are fused, and sweeps for the other stages. Returns
        whether there is one."""
        stencil = stencil_of(case)
        self.codes = []
        if family not in SWEEPS and not self._adds(case, stencil, family, WHOLE_STEP):
            return False
        for stage in range(stencil.stages):
            wanted = family if family in SWEEPS else self._draw.choice(SWEEPS)
            self._adds(case, stencil, wanted, stage)
        return bool(self.codes)

    def _adds(self, case, stencil, family, stage):
        code, fused = ctypes.create_string_buffer(1000), self._draw.randint(2, max(2, min(4, case.steps)))
        request = _native.Request(struct_size=ctypes.sizeof(_native.Request), parsed=stencil._handle, type=b"f64",
                                  boundary=case.boundary_text.encode(), steps=case.steps, alignment=256)
        request.extents[:] = [*case.shape[::-1], 1, 1][:3]
        failed = self._add(os.fsencode(self.path), ctypes.byref(request), family.encode(), stage,
                           fused if stage == WHOLE_STEP else 1, self._draw.randrange(2**32), code, 1000)
        assert not failed, f"{code.value.decode()} in {case}"
        self.codes += [code.value.decode()] if code.value else []
        return bool(code.value)


def codes_of(kernel):
    """Codes of the run and of each stage alone."""
    return {kernel.evidence.code, *(kernel.evidence_of(stage).code for stage in range(kernel.stencil.stages))}


WISHES = {"temporal": Wishes(placed=True, one_field=True, near=True, most_stages=1, roomy=8, wide=66, steps=(2, 5)),
          "systolic": Wishes(linear=True, one_field=True, edges=False, most_stages=1, roomy=8, wide=232, steps=(8, 9)),
          "system": Wishes(placed=True, near=True, roomy=8, wide=66, steps=(2, 5))}


@with_layers
@pytest.mark.parametrize("seed", seeds_and(570, 8))  # a receiver in a tile of which the halo is most
def test_kernels_of_every_family_agree(seed, layers, gpus, tmp_path):
    slabs = on_slabs(seed, layers)
    family, winners = ("system" if slabs else FAMILIES[seed % len(FAMILIES)]), Winners(gpus, tmp_path, seed)
    wishes = dataclasses.replace(WISHES.get(family, Wishes(placed=True, roomy=4*layers)), layers=layers)
    case = random_case(seed, wishes, OPEN_FAULTS & OF_KERNELS, lambda case: winners.serve(case, family))
    kernel = st.lookup(stencil_of(case), shape=case.shape, dtype="f64", boundary=case.boundary_text, steps=case.steps,
                       database=winners.path, slabs=slabs)
    assert codes_of(kernel) & set(winners.codes) or slabs, f"{winners.codes}, not {kernel.evidence}"
    expect_right(case, kernel, lambda values: CudaArray(gpus.own(aligned(values))), random.Random(seed))


def draw_cut(case, draw):
    """Up to 8 ranks along one axis or several, (z, y, x)."""
    cut = [1] * len(case.shape)
    for _ in range(draw.randint(1, 3)):
        axis = draw.randrange(len(cut))
        parts = draw.choice((2, 2, 3, 4, 8))
        if numpy.prod(cut) * parts <= 8:
            cut[axis] *= parts
    return tuple(cut)


def run_in_parts(case, before, cut, database, per_exchange):
    """What fields hold after a run of ranks, which are threads."""
    stencil = stencil_of(case)

    def body(ranks):
        grid = distributed.Grid(stencil, shape=case.shape, dtype="f64", boundary=case.boundary_text, steps=case.steps,
                                ranks=ranks, cut=cut, database=database, steps_per_exchange=per_exchange)
        for name, array in before.items():
            if name in case.definition.profiles:
                grid.write(name, array)
            else:
                grid.scatter(name, array if ranks.rank == 0 else None)
        grid.advance(case.steps, **case.places)
        return {name: grid.gather(name, numpy.zeros(case.shape) if ranks.rank == 0 else None)
                for name in case.definition.kept}

    return Group(int(numpy.prod(cut))).run(body)[0]


@with_layers
@pytest.mark.parametrize("seed", seeds_and(316, 5))  # a part of one cell, which an edge mirrors
def test_grids_that_are_cut_agree(seed, layers, gpus, tmp_path):
    draw, winners = random.Random(seed), Winners(gpus, tmp_path, seed)
    family = draw.choice(("direct", "streaming", "temporal", "system"))
    wishes = dataclasses.replace(WISHES.get(family, Wishes(placed=True)), roomy=draw.choice((8, 16)), layers=layers)
    case = random_case(seed, wishes, OPEN_FAULTS & OF_CUTS, lambda case: winners.serve(case, family))
    before = case.values()
    wanted, _ = case.evaluator().advance(before, case.steps, step=case.first_step)
    cut, got = draw_cut(case, draw), None
    while got is None:
        try:
            got = run_in_parts(case, before, cut, winners.path, draw.choice((0, 1, 2)))
        except st.ArgumentError as error:
            known = ("cut into fewer parts", "are possible", "cannot be cut", "coordinates")
            assert max(cut) > 1 and any(words in str(error) for words in known), f"{error}, {case}\n{again(case)}"
            cut = tuple(parts // 2 or 1 for parts in cut)
    expect(case, case.definition.kept, got, wanted)


# ---- gradients ----


def expect_gradients(case, ops):
    """Gradients by coefficients and inputs, along one direction in the space of all fields, or of those that steps leave
    alone."""
    stencil, evaluator, before = stencil_of(case), case.evaluator(), case.values()
    run = Run(stencil, case.boundary_text, case.steps, ops)
    draw = numpy.random.default_rng(case.seed)
    gradients = [ops.copy(draw.uniform(-1, 1, case.shape)) for _ in run.state]
    wanted = [name for name in stencil.inputs if case.seed % 2 or name not in run.state]
    direction = {name: draw.uniform(-1, 1, case.shape) for name in wanted}
    inputs = [ops.copy(before[name]) for name in stencil.inputs]
    of_fields, of_coefficients = run.backward(inputs, gradients, None, bool(stencil.coefficients), wanted)

    def loss(by, coefficients=None):
        moved = {name: cells + by * direction[name] if name in direction else cells for name, cells in before.items()}
        evaluator.coefficients.update(coefficients or {})
        after, _ = evaluator.advance(moved, case.steps)
        evaluator.coefficients.update(stencil.coefficients)
        return sum(float((after[name] * gradient).sum()) for name, gradient in zip(run.state, gradients))

    def expect_close(got, high, low, what):
        assert got == pytest.approx((high - low) / (2 * STEP), rel=1e-6, abs=1e-8), f"{what}, {case}\n{again(case)}"

    along = [float((direction[name] * gradient).sum()) for name, gradient in zip(stencil.inputs, of_fields)
             if name in wanted and gradient is not None]
    expect_close(sum(along), loss(STEP), loss(-STEP), "of fields")
    for name, value in stencil.coefficients.items():
        expect_close(of_coefficients.get(name, 0), loss(0, {name: value + STEP}), loss(0, {name: value - STEP}), name)


@pytest.mark.parametrize("seed", seeds(100))
def test_gradients_are_differences(seed):
    expect_gradients(random_case(seed, Wishes(smooth=True, edges=False), OPEN_FAULTS & OF_GRADIENTS), Numpy())


@pytest.mark.parametrize("seed", seeds(3))
def test_gradients_on_kernels_are_differences(seed, ops):
    expect_gradients(random_case(seed, Wishes(smooth=True, edges=False), OPEN_FAULTS & OF_GRADIENTS), ops)


def expect_gradients_of_a_shot(case, ops, draw):
    """The run, and its gradients by all fields, series and coefficients, along one direction in each of these spaces."""
    stencil, evaluator, before = stencil_of(case), case.evaluator(), case.values()
    numbers = numpy.random.default_rng(case.seed)
    sources, receivers = points_of(case, draw) if takes_points(case, st.lookup(
        stencil, shape=case.shape, dtype="f64", boundary=case.boundary_text, device="cpu")) else ([], [])
    shot = Shot(by_field(sources), by_field(receivers))
    series = ops.copy(numbers.uniform(-1, 1, (case.steps, len(sources))))
    run = Propagation(stencil, case.boundary_text, case.steps, ops, shot, series, draw.choice((0, 1, 2)),
                      case.origin or None, case.first_step)
    inputs = [ops.copy(before[name]) for name in stencil.inputs]
    state, records, kept = run.propagate(inputs, None)
    wanted, recorded = evaluator.advance(before, case.steps, step=case.first_step, series=series, sources=sources,
                                         receivers=receivers)
    expect(case, run.state, dict(zip(run.state, state)), wanted)
    expect(case, ["records"], {"records": records}, {"records": recorded})

    of_state = [ops.copy(numbers.uniform(-1, 1, case.shape)) for _ in run.state]
    of_records = ops.copy(numbers.uniform(-1, 1, recorded.shape))
    unchanged = [name for name in (*stencil.inputs, *stencil.coefficients) if name not in run.state]
    asked = draw.choice((unchanged, [*run.state, *unchanged]))
    back, of_coefficients = run.gradients(inputs, of_state, of_records, kept, None,
                                          [name for name in asked if name not in stencil.profiles])

    def loss(fields=before, series=series, coefficients=None):
        evaluator.coefficients.update(coefficients or {})
        after, seen = evaluator.advance(fields, case.steps, step=case.first_step, series=series, sources=sources,
                                        receivers=receivers)
        evaluator.coefficients.update(stencil.coefficients)
        return float((seen * of_records).sum()) + sum(
            float((evaluator.where_it_exists(name, after[name]) * of).sum()) for name, of in zip(run.state, of_state))

    def expect_close(got, high, low, what):
        assert got == pytest.approx((high - low) / (2 * STEP), rel=1e-6, abs=1e-8), f"{what}, {case}\n{again(case)}"

    for name, gradient in zip(stencil.inputs, back):
        if name in stencil.profiles or name not in asked:
            continue
        way = STEP * numbers.uniform(-1, 1, case.shape)
        got = 0 if gradient is None else float((way * gradient).sum()) / STEP
        expect_close(got, *(loss({**before, name: before[name] + sign * way}) for sign in (1, -1)), name)
    way = STEP * numbers.uniform(-1, 1, series.shape)
    expect_close(float((way * run.of_series).sum()) / STEP, loss(series=series + way), loss(series=series - way), "series")
    for name, value in stencil.coefficients.items():
        expect_close(of_coefficients.get(name, 0), *(loss(coefficients={name: value + by}) for by in (STEP, -STEP)), name)


SHOT_WISHES = Wishes(smooth=True, placed=True)


@with_layers
@pytest.mark.parametrize("seed", seeds_and(293, 40))  # a profile that is read further than fields, beside held layers
def test_gradients_of_shots_are_differences(seed, layers):
    wishes = dataclasses.replace(SHOT_WISHES, layers=layers, roomy=4*layers)
    expect_gradients_of_a_shot(random_case(seed, wishes, OPEN_FAULTS & OF_GRADIENTS), Numpy(), random.Random(seed))


@pytest.mark.parametrize("seed", seeds(3))
def test_gradients_of_shots_on_kernels_are_differences(seed, ops):
    wishes = dataclasses.replace(SHOT_WISHES, layers=True, roomy=4)
    expect_gradients_of_a_shot(random_case(seed, wishes, OPEN_FAULTS & OF_GRADIENTS), ops, random.Random(seed))


KINDS_OF_LAYERS = {"one end", "two widths", "overlap", "wider than the grid", "read beyond", "read in another axis", "level",
                   "layer between", "asks", *(f"layer in {axis}" for axis in range(3)),
                   *(f"layer at {word}" for word in {*PROBLEM_WORDS, *MIRRORS} - {"periodic"})}


def kinds_of_layers(case):
    definition, evaluator = case.definition, case.evaluator()
    seen = set()
    for field, axis in definition.layer_fields.items():
        (low, high), n = case.layers[axis], evaluator.extents[axis]
        seen.update([f"layer in {axis}"] * (low + high > 0))
        seen.update(["one end"] * ((low == 0) != (high == 0)) + ["two widths"] * (0 < low < high))
        seen.update(["overlap"] * (n < low + high and low > 0 < high) + ["wider than the grid"] * (max(low, high) > n))
        seen.update(["level"] * (field in definition.older) + ["layer between"] * (field in definition.intermediates))
        for offset in itertools.chain(*(reads_of(stage).get(field, ()) for stage in definition.stages)):
            seen.update(["read in another axis"] * any(o for about, o in enumerate(offset) if about != axis))
            if offset[axis] and case.layers[axis][offset[axis] > 0]:
                seen.update(["read beyond", f"layer at {evaluator.word(field, axis, int(offset[axis] > 0)).kind}"])
    seen.update(["asks"] * any(part[0] == "in_layer" for part in definition.parts()))
    return seen


def test_cases_are_of_all_kinds():
    """Those that are drawn once no fault is open."""
    seen, pairs, sides = collections.Counter(), set(), set()
    for seed in range(2600):
        case = random_case(seed, Wishes(placed=True, layers=seed >= 1000), avoid=frozenset())
        definition, evaluator = case.definition, case.evaluator()
        seen.update(faults_shown(case))
        seen.update([f"rank {definition.rank}", f"{len(definition.stages)} stages", f"{len(definition.state)} fields",
                     f"{len(definition.older)} older", f"{len(definition.intermediates)} between",
                     f"{len(definition.probes)} probes", f"{case.steps} steps"])
        seen.update(["in place"] * any(field in definition.outputs for field in definition.state))
        seen.update(f"profile of {len(axes)} axes" for axes in definition.profiles.values())
        seen.update(["line"] * bool(definition.hold))
        seen.update(kinds_of_layers(case))
        read = [(field, offset) for stage in definition.stages for field, places in reads_of(stage).items()
                for offset in places]
        seen.update("constant beside" for field, offset in read if field in definition.constants and any(offset))
        for field, offset in read:
            words = [evaluator.word(field, axis, int(o > 0)).kind if o else None for axis, o in enumerate(offset)]
            sides.update((axis, o > 0, word) for axis, (o, word) in enumerate(zip(offset, words)) if word)
            pairs.update(itertools.combinations([word for word in words if word], 2))
    kinds = {*PROBLEM_WORDS, *MIRRORS}
    assert pairs == set(itertools.product(kinds, kinds)), "beyond two edges"
    assert sides == set(itertools.product(range(3), (False, True), kinds))
    wanted = {*ALL_FAULTS, *KINDS_OF_LAYERS, *(f"rank {rank}" for rank in (1, 2, 3)), "3 stages", "4 fields", "3 older",
              *(f"profile of {axes} axes" for axes in range(3)), "2 between", "1 probes", "in place", "line",
              "constant beside", "1 steps", "5 steps"}
    assert not wanted - {kind for kind, count in seen.items() if count >= 20}, seen
