"""Many grids of one size in one launch: each is what it would be alone, by a second evaluator (edge_oracle.py)."""

import dataclasses
import random

import numpy
import pytest
from device_arrays import CudaArray, aligned
from edge_cases import Wishes, random_case
from edge_oracle import reads_of
from test_edges_random import again, expect, seeds, stencil_of, with_layers

import stencil_tune as st

GRIDS = 3


def batch_case(seed, layers):
    """A random definition of one axis or two whose grids differ in their cells alone."""
    for attempt in range(100):
        case = random_case(seed + 1000 * attempt, Wishes(placed=True, layers=layers, roomy=4))
        if case.definition.rank < 3 and not any(part[0] == "random" for part in case.definition.parts()):
            return case
    raise AssertionError("no case")


def expect_as_alone(case, make, **lookup):
    definition, draw = case.definition, random.Random(case.seed)
    far = {field for stage in definition.stages for field, offsets in reads_of(stage).items() if any(map(any, offsets))}
    may = [field for field in definition.constants
           if field not in {*definition.layer_fields, *definition.hold.values(), *far}]
    shared = draw.sample(may, draw.randint(0, len(may)))
    grids = [dataclasses.replace(case, seed=100 * case.seed + grid).values() for grid in range(GRIDS)]
    for values in grids[1:]:
        values.update({field: grids[0][field] for field in (*shared, *definition.profiles)})
    stencil = stencil_of(case).batched(shared)
    assert stencil.rank == definition.rank + 1
    kernel = st.lookup(stencil, shape=(GRIDS, *case.shape), dtype="f64", boundary=case.boundary_text, steps=case.steps,
                       **lookup)
    arrays = [make(grids[0][name] if name in stencil.profiles else numpy.stack([values[name] for values in grids]))
              for name in stencil.arguments]
    places = {**case.places, **({"origin": (0, *case.origin)} if case.origin else {})}
    kernel.advance(arrays, steps=case.steps, **places)
    after = {name: getattr(array, "host", array) for name, array in zip(stencil.arguments, arrays)}
    for number, values in enumerate(grids):
        wanted, _ = case.evaluator().advance(values, case.steps, step=case.first_step)
        got = {name: cells if name in stencil.profiles else cells[number] for name, cells in after.items()}
        expect(case, definition.kept, got, wanted)


@with_layers
@pytest.mark.parametrize("seed", seeds(60))
def test_the_reference_makes_each_as_alone(seed, layers):
    expect_as_alone(batch_case(seed, layers), numpy.copy, device="cpu")


@with_layers
@pytest.mark.parametrize("seed", seeds(3))
def test_kernels_make_each_as_alone(seed, layers, gpus):
    expect_as_alone(batch_case(seed, layers), lambda values: CudaArray(gpus.own(aligned(values))))


@pytest.mark.parametrize("device", (0, "cpu"))
def test_shots_have_points_of_their_own(device, gpus):
    wave = st.stencil("p_next = 2*p - p_prev + v*laplacian(p)", rank=2)
    batch = wave.batched(shared=["v"])
    draw, shape, steps, series = numpy.random.default_rng(1), (20, 36), 9, numpy.sin(numpy.arange(18.0)).reshape(9, 2)
    v = draw.uniform(0.1, 0.2, shape)

    def made(cells):
        return CudaArray(gpus.own(aligned(cells))) if device == 0 else cells.copy()

    def run(stencil, extents, sources, receivers, series):
        kernel = st.lookup(stencil, shape=extents, dtype="f64", device=device, steps=steps)
        arrays = [made(v if name == "v" else numpy.zeros(extents)) for name in stencil.arguments]
        points = kernel.place_points({"p_next": sources}, {"p": receivers})
        records = made(numpy.zeros((steps, len(receivers))))
        state = kernel.advance(arrays, steps=steps, points=points, series=made(series), records=records)
        return getattr(state[0], "host", state[0]), getattr(records, "host", records)

    places, receivers = [(5, 7), (12, 30.5)], [(6, 8), (12, 29.25)]
    together, records = run(batch, (2, *shape), [(grid, *place) for grid, place in enumerate(places)],
                            [(grid, *place) for grid in range(2) for place in receivers], series)
    for grid, place in enumerate(places):
        alone, own = run(wave, shape, [place], receivers, series[:, grid:grid + 1])
        assert numpy.abs(own).max() > 1e-3
        numpy.testing.assert_allclose(together[grid], alone, rtol=0, atol=1e-13)
        numpy.testing.assert_allclose(records[:, 2 * grid:2 * grid + 2], own, rtol=0, atol=1e-13)


@pytest.mark.parametrize("line, rank, shared, message", (
    ("u_next = 0.5*u", 3, [], "no room for one that a batch lies along"),
    ("u_next = v*u", 2, ["w"], "which is no field"), ("u_next = v*u", 2, ["u"], "steps change it"),
    ("u_next = v[x+1]*u", 2, ["v"], "read at other cells"), ("u_next = v*u; v(x)", 2, ["v"], "have one of it anyway")))
def test_what_no_batch_can_be_is_said(line, rank, shared, message):
    with pytest.raises(st.Error, match=message):
        st.stencil(line, rank=rank).batched(shared)


def test_a_batch_of_one_axis_measures_all_its_grids():
    stencil = st.stencil("u_next = 0.5*(u[x-1] + u[x+1]); measure mass = sum(u)", rank=1).batched()
    kernel = st.lookup(stencil, shape=(4, 10), dtype="f64", boundary="periodic", device="cpu")
    arrays = [numpy.ones((4, 10)), numpy.ones((4, 10))]
    assert kernel.measure(arrays) == {"mass": 40}
