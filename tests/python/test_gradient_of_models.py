"""Gradients of what receivers record of ready equations, with absorbing layers, free surfaces and walls, on the reference:
sources by dot products, materials by differences."""

import numpy
import pytest
from test_gradient import Numpy, dot

import stencil_tune as st
from stencil_tune import models
from stencil_tune._gradients.field_arrays import FieldArrays
from stencil_tune._gradients.propagation import REVERSED, Propagation
from stencil_tune._gradients.shot import Shot
from stencil_tune._gradients.steps_back import steps_back

STEPS = 9
SHAPE = (11, 12)
LAYERS = {"layer": 3, "accuracy": 2, "dtype": "f64"}
#: The equation, the field of a source, that of receivers, a material.
MODELS = {
    "acoustic": (lambda: models.acoustic(SHAPE, 10, 2000, layer=3, dtype="f64"), "p_next", "p", "v"),
    "acoustic on slabs": (lambda: models.acoustic((78, 12), 10, 2000, layer="x=3,y=3:4", dtype="f64"), "p_next", "p", "v"),
    "acoustic in 3D": (lambda: models.acoustic((8, 9, 10), (10, 12, 11), 2000, **LAYERS), "p_next", "p", "v"),
    "viscoacoustic": (lambda: models.viscoacoustic(SHAPE, 10, 2000, 1000, 30, 20, **LAYERS), "vx_next", "p", "stiffness"),
    "elastic": (lambda: models.elastic(SHAPE, 10, 2000, 1000, 2000, free_surface=True, **LAYERS), "sxx_next", "vy", "rho"),
    "maxwell": (lambda: models.maxwell(SHAPE, 1e-3, layer="x=3,y=0:3", accuracy=2, dtype="f64"), "ez_next", "hx", "ca"),
    "shallow water": (lambda: models.shallow_water(SHAPE, 100, 50, **LAYERS), "eta_next", "eta", "depth"),
    "heat": (lambda: models.heat(SHAPE, 1.0, 1e-3, exchange=2.0, dtype="f64"), "u_next", "u", "k"),
}

MIRRORED = {"elastic", "heat"}  # what a step back has to fold at these edges it does not know


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("stride", [0, 1, 3])
def test_are_exact(name, stride):
    make, source, receiver, material = MODELS[name]
    model, draw = make(), numpy.random.default_rng(1)
    shot = Shot({source: [[5.25] * model.stencil.rank, [5] * model.stencil.rank]},
                {receiver: [[4.5] * model.stencil.rank, [6] * model.stencil.rank]})
    series = [draw.uniform(-1, 1, (STEPS, 2)) for _ in range(2)]
    of_records = draw.uniform(-1, 1, (STEPS, 2))

    def run(amplitudes, fields=model.fields):
        made = Propagation(model.stencil, "hold", STEPS, Numpy(), shot, amplitudes, stride)
        return made, made.propagate([fields[field] for field in model.stencil.inputs], None)

    made, (state, records, kept) = run(series[0])
    assert numpy.abs(records[-1]).min() > 0
    inputs = [model.fields[field] for field in model.stencil.inputs]
    back, _ = made.gradients(inputs, [numpy.zeros_like(field) for field in state], of_records, kept, None, [material])
    assert (steps_back(made, state[0], [material]) is None) == (name in MIRRORED)

    def expect_slope(gradient, way, of, step, close):
        high, low = ([of(by)] for by in (step, -step))
        slope = (dot(high, [of_records]) - dot(low, [of_records])) / (2 * step)
        assert dot([way], [gradient]) == pytest.approx(slope, rel=close)

    step, close = (1e-4, 1e-6) if name == "shallow water" else (1, 1e-11)  # others are linear in the sources
    expect_slope(made.of_series, series[1], lambda by: run(series[0] + by * series[1])[1][1], step, close)
    known = model.fields[material]
    way = draw.uniform(-1, 1, known.shape)
    expect_slope(back[model.stencil.inputs.index(material)], way,
                 lambda by: run(series[0], {**model.fields, material: known + by * way})[1][1],
                 1e-5 * numpy.abs(known).max(), 1e-6)


def test_states_are_kept_in_one_time_level_and_in_layers():
    model = models.acoustic((69, 12), 10, 2000, layer="x=0,y=3:2", dtype="f64")
    made = Propagation(model.stencil, "hold", STEPS, Numpy(), Shot({}, {}), None, 1)
    _, _, kept = made.propagate([model.fields[field] for field in model.stencil.inputs], None)
    shapes = {name: stack.shape for name, stack in zip(made.kept, kept)}
    assert shapes == {"p": (STEPS - 1, 69, 12), "psi_y_p": (STEPS - 1, 5, 12), "zeta_y_p": (STEPS - 1, 5, 12)}


@pytest.mark.parametrize("held", ["", "xy"])
@pytest.mark.parametrize("name", ["acoustic", "maxwell", "elastic"])
def test_a_step_back_is_tuned_under_its_own_key(name, held):
    model, material = MODELS[name][0](), MODELS[name][3]
    back = model.stencil.adjoint_step([material], held)
    assert st.stencil(back.definition()).key == back.key


@pytest.mark.parametrize("boundary", ["hold", "periodic", "x=zero,y=clamp,z=hold", "reflect"])
@pytest.mark.parametrize("name, source, receiver, material", [
    ("acoustic3d_o4", "p_next", "p", "v"), ("yee3d", "ez_next", "hx", "ca"), ("elastic3d", "sxx_next", "vy", "b")])
def test_a_run_that_is_taken_back_finds_its_states_again(name, source, receiver, material, boundary):
    stencil, draw, shape = st.stencil(name), numpy.random.default_rng(1), (8, 9, 10)
    inputs = [0.1 * draw.uniform(1, 2, shape) for _ in stencil.inputs]
    series, of_records = draw.uniform(-1, 1, (STEPS, 1)), draw.uniform(-1, 1, (STEPS, 1))
    shot, found = Shot({source: [[4.25, 5, 5]]}, {receiver: [[4, 4.5, 4]]}), []
    for stride in (1, REVERSED):
        run = Propagation(stencil, boundary, STEPS, Numpy(), shot, series, stride)
        state, _, kept = run.propagate(inputs, None)
        back, _ = run.gradients(inputs, [numpy.zeros(shape) for _ in state], of_records,
                                state if stride == REVERSED else kept, None, [material])
        found.append((back[stencil.inputs.index(material)], run.of_series))
    for wanted, got in zip(*found):
        assert numpy.abs(wanted).max() > 0
        numpy.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-11 * numpy.abs(wanted).max())


def test_what_is_lost_is_not_taken_back():
    for line, field in (("u_next = u + 0.1*laplacian(u)", "u_next"), ("p_next = 2*p - 0.9*p_prev + laplacian(p)", "p_next"),
                        ("p_next = 2*p - p_prev[x-1] + laplacian(p)", "p_next")):
        with pytest.raises(st.ArgumentError, match=f"cannot be taken back: '{field}'"):
            st.stencil(line, rank=2).reversed()


@pytest.mark.parametrize("layer", ["x=0,y=3:2", "x=0,y=0:4", "x=0,y=3:0", "x=3:5,y=0"])
def test_fields_in_layers_go_to_slabs_and_back(layer):
    shape = (90, 91)
    model = models.acoustic(shape, 10, 2000, layer=layer, dtype="f64")
    name = next(field for field in model.stencil.layer_fields if field in model.stencil.inputs)
    at = "xy".index(model.stencil.layer_fields[name])
    axis, (low, high) = 1 - at, model.stencil._widths[at]
    given = numpy.random.default_rng(1).uniform(1, 2, shape)
    arrays = FieldArrays(model.stencil, "hold", Numpy())
    slabs = arrays.on_slabs({name: given})[name]
    assert slabs.shape == arrays.shape(name, given) != shape
    for count, end in ((low, slice(low)), (high, slice(-high, None))):
        if count > 0:
            index = (slice(None),) * axis + (end,)
            numpy.testing.assert_array_equal(slabs[index], given[index])
    wanted = given.copy()
    wanted[(slice(None),) * axis + (slice(low, shape[axis] - high),)] = 0
    numpy.testing.assert_array_equal(arrays.on_grid({name: slabs}, given)[name], wanted)
