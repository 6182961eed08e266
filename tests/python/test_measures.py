"""What runs measure: sums, least and largest values over the grid, against a second evaluator (edge_oracle.py)."""

import math
import random

import numpy
import pytest
from device_arrays import CudaArray, aligned
from edge_cases import Wishes, random_case
from test_edges_random import again, seeds, stencil_of, with_layers

import stencil_tune as st

RELAXATION = "u_next = 0.25*(u[x-1] + u[x+1] + u[y-1] + u[y+1]); measure residual = max(abs(u_next - u))"


def measured_case(seed, layers):
    """A random definition with one measure to three."""
    draw = random.Random(f"{seed} measures")
    for attempt in range(100):
        case = random_case(seed + 1000 * attempt, Wishes(placed=True, layers=layers, roomy=4))
        definition = case.definition
        if not any(part[0] == "profile" and any(part[2]) for part in definition.parts()):  # beyond edges words decide
            break
    now = [*definition.state, *definition.older, *definition.constants]
    now = [field for field in now if field not in definition.outputs]
    far = 1 if draw.randrange(2) else 0

    def operand(kinds=("read", "read", "output", "number", "coordinate")):
        kind = draw.choice(kinds)
        if kind == "number":
            return ("number", draw.choice((0.5, -2.0, 3.0)))
        if kind == "coordinate" and case.origin:
            return ("coordinate", draw.randrange(definition.rank), 0)
        if kind == "output" or not now:
            name, expression = draw.choice(list(definition.stages[0].items()))
            return ("output", name, expression)
        field = draw.choice(now)
        reach = 0 if field in definition.layer_fields else far  # layers that edges mirror have a width that reads need
        return ("read", field, tuple(draw.randint(-reach, reach) for _ in range(definition.rank)))

    for name in draw.sample(("energy", "worst", "mass", "least"), draw.randint(1, 3)):
        expression = operand(("read", "output"))
        for _ in range(draw.randint(0, 2)):
            expression = (draw.choice(("add", "subtract", "multiply")), expression, operand())
        definition.measures[name] = draw.choice(("sum", "min", "max")), draw.choice((("abs", expression), expression))
    return case


def expect_measured(case, kernel, make):
    """The arrays are measured as they stand, and after each step of a run."""
    evaluator, now, arguments = case.evaluator(), case.values(), kernel.stencil.arguments
    for name, axes in case.definition.profiles.items():
        if not axes:
            now[name] = numpy.append(now[name], 0.75)  # for what the step after the last would make
    arrays = [make(now[name]) for name in arguments]
    seen = [(0, kernel.measure(arrays, **case.places))]
    wanted = [(0, evaluator.measure(now, case.first_step))]
    for made in range(1, case.steps + 1):
        now, _ = evaluator.advance(now, 1, step=case.first_step + made - 1)
        wanted.append((made, evaluator.measure(now, case.first_step + made)))
    _, made = kernel.advance_until(arrays, steps=case.steps, every=1, until=lambda *found: seen.append(found),
                                   **case.places)
    assert made == case.steps and [step for step, _ in seen] == [step for step, _ in wanted], f"{case}\n{again(case)}"
    for (step, is_), (_, should_be) in zip(seen, wanted):
        assert is_ == pytest.approx(should_be, rel=1e-9, abs=1e-9), f"after {step} steps of {case}\n{again(case)}"


@with_layers
@pytest.mark.parametrize("seed", seeds(60))
def test_the_reference_measures(seed, layers):
    case = measured_case(seed, layers)
    kernel = st.lookup(stencil_of(case), shape=case.shape, dtype="f64", boundary=case.boundary_text, device="cpu")
    expect_measured(case, kernel, numpy.copy)


@with_layers
@pytest.mark.parametrize("seed", seeds(3))
def test_kernels_measure(seed, layers, gpus):
    case = measured_case(seed, layers)
    kernel = st.lookup(stencil_of(case), shape=case.shape, dtype="f64", boundary=case.boundary_text, steps=case.steps)
    expect_measured(case, kernel, lambda values: CudaArray(gpus.own(aligned(values))))


@pytest.mark.parametrize("device", (0, "cpu"))
def test_a_relaxation_stops(device, gpus):
    """Blocks of many tiles, and a run that ends `every` steps after it was told to."""
    stencil = st.stencil(RELAXATION, rank=2)
    assert stencil.measures == {"residual": "max"} and "measures: residual (max)" in stencil.show()
    kernel = st.lookup(stencil, shape=(150, 190), dtype="f64", device=device)
    start = numpy.random.default_rng(1).uniform(-1, 1, kernel.shape)
    host = [aligned(start), aligned(start)]
    arrays = [CudaArray(gpus.own(array)) for array in host] if device == 0 else host
    seen = []

    def until(steps, measured):
        seen.append((steps, measured["residual"]))
        return measured["residual"] < 0.2

    _, made = kernel.advance_until(arrays, steps=1000, every=3, until=until)
    now, wanted = start, []
    for steps in range(0, made + 1, 3):
        following = now.copy()
        following[1:-1, 1:-1] = 0.25 * (now[1:-1, :-2] + now[1:-1, 2:] + now[:-2, 1:-1] + now[2:, 1:-1])
        wanted.append((steps, numpy.abs(following - now).max()))
        for _ in range(3):
            now = now.copy()
            now[1:-1, 1:-1] = 0.25 * (now[1:-1, :-2] + now[1:-1, 2:] + now[:-2, 1:-1] + now[2:, 1:-1])
    assert made == next(steps for steps, residual in wanted[1:] if residual < 0.2) + 3
    assert [steps for steps, _ in seen] == [steps for steps, _ in wanted[1:]]
    numpy.testing.assert_allclose([residual for _, residual in seen], [residual for _, residual in wanted[1:]], rtol=1e-12)


def test_nan_is_not_hidden(gpus):
    stencil = st.stencil(RELAXATION + "; measure least = min(u); measure total = sum(u)", rank=2)
    for device in (0, "cpu"):
        kernel = st.lookup(stencil, shape=(40, 70), dtype="f32", device=device)
        host = [aligned(numpy.ones(kernel.shape, numpy.float32)) for _ in range(2)]
        arrays = [CudaArray(gpus.own(array)) for array in host] if device == 0 else host
        assert kernel.measure(arrays) == {"residual": 0, "least": 1, "total": 38 * 68}
        host[0][20, 30] = numpy.nan
        assert all(math.isnan(number) for number in kernel.measure(arrays).values())
        host[0][20, 30] = -numpy.inf
        assert kernel.measure(arrays)["least"] == -numpy.inf


@pytest.mark.parametrize("device", (0, "cpu"))
def test_measures_know_the_step_and_the_place(device, gpus):
    stencil = st.stencil('rank = 2\nfields = ["u", "u_next"]\n[update]\nu_next = "u + t"\n[rotate]\nu_next = "u"\n[measure]\n'
                         'added = "max(u_next - u)"\nfirst = "min(x)"\n')
    kernel = st.lookup(stencil, shape=(6, 8), dtype="f64", device=device, steps=4)
    host = [aligned(numpy.zeros(kernel.shape)) for _ in range(2)]
    arrays = [CudaArray(gpus.own(array)) for array in host] if device == 0 else host
    seen = []
    kernel.advance_until(arrays, steps=4, every=2, until=lambda steps, measured: seen.append((steps, measured)), step=5,
                         origin=(0, 30))
    assert seen == [(2, {"added": 7, "first": 30}), (4, {"added": 9, "first": 30})]


def test_what_until_raises_comes_out(gpus):
    kernel = st.lookup(st.stencil(RELAXATION, rank=2), shape=(10, 12), dtype="f64")
    arrays = [CudaArray(gpus.own(aligned(numpy.ones(kernel.shape)))) for _ in range(2)]
    with pytest.raises(ZeroDivisionError):
        kernel.advance_until(arrays, steps=8, every=2, until=lambda steps, measured: 1 / 0)


@pytest.mark.parametrize("measures, message", (
    ("residual = \"abs(u)\"", "measures nothing: write sum"), ("a = \"max(u) + max(u)\"", "line 11, column 11: '\\)' closes nothing"),
    ("u = \"max(u)\"", "'u' is declared already"), ("a = \"sum(flux)\"", "a measure reads 'flux'"), ("", "this measures nothing"), ("a = \"sum(0.5)\"", "the same in all cells"),
    ("a = \"sum(unknown)\"", "unknown")))
def test_bad_measures_are_said(measures, message):
    text = ('rank = 2\nfields = ["u", "half", "flux", "u_next"]\n[[stage]]\nhalf = "0.5*u"\n[[stage]]\nflux = "half"\n'
            '[[stage]]\nu_next = "u + flux + half"\n[hold]\n[measure]\n' + measures)
    with pytest.raises(st.DefinitionError, match=message):
        st.stencil(text)


def test_outputs_of_the_first_stage_are_known():
    stencil = st.stencil('rank = 2\nfields = ["u", "half", "u_next"]\n[coefficients]\nw = 2\n[[stage]]\nhalf = "0.5*u"\n'
                         '[[stage]]\nu_next = "u + half"\n[measure]\nmass = "sum(w*half)"\n')
    kernel = st.lookup(stencil, shape=(5, 6), dtype="f64", device="cpu")
    arrays = [numpy.full((5, 6), 3.0) for _ in stencil.arguments]
    assert kernel.measure(arrays) == {"mass": 90}
    assert kernel.measure(arrays, coefficients={"w": 4}) == {"mass": 180}


def test_a_definition_without_measures_says_so():
    kernel = st.lookup("u_next = 0.5*u", shape=(4, 5, 6), dtype="f64", device="cpu")
    with pytest.raises(st.ArgumentError, match=r"measures nothing: its definition needs \[measure\]"):
        kernel.measure([numpy.zeros(kernel.shape)] * 2)


def test_a_written_definition_measures_the_same():
    stencil = st.stencil(RELAXATION + "; measure total = sum(u*u[x+1] + u*u[x+1]*u_next)", rank=2)
    again_ = st.stencil(stencil.definition())
    values = numpy.random.default_rng(3).uniform(-1, 1, (9, 11))
    found = [st.lookup(each, shape=values.shape, dtype="f64", device="cpu").measure([values, values.copy()])
             for each in (stencil, again_)]
    assert list(found[0].values()) == pytest.approx(list(found[1].values()), rel=1e-14)
