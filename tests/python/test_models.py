"""Ready equations: layers absorb, beside a grid so large that nothing comes back; definitions are those that are tuned."""

import pathlib

import numpy
import pytest
from device_arrays import CudaArray, aligned

import stencil_tune as st
from stencil_tune import models

LAYERS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "layers"
INSIDE, LAYER = 12, 20  # cells


def run(model, at, series, every):
    """All that is kept, each `every` steps, of a run with a source at a cell."""
    (source, field), names = at, list(model.fields)
    shape = model.fields[model.receivers[0]].shape
    arrays = list(model.fields.values())
    kernel = st.lookup(model.stencil, shape=shape, dtype="f64", device="cpu")
    points = kernel.place_points({source: [field]})
    after = []
    for part in series.reshape(-1, every, 1):
        kernel.advance(arrays, steps=every, points=points, series=part.copy())
        after.append({name: arrays[names.index(name)].copy() for name in model.receivers})
    return after


def error_of_layers(make, source, steps, every, field=None, wavelength=10):
    """Energy of the difference inside, each `every` steps, as a share of the field's largest. The wave comes to the layers
    in the second part of the run, and is gone in the last."""
    beyond = int(0.3 * steps) + 5  # a wave makes 0.6 cells a step
    small, large = make(2 * (INSIDE + 2 * LAYER,), LAYER), make(2 * (INSIDE + 2 * beyond,), 0)
    assert small.dt == large.dt
    phase = numpy.pi * (numpy.arange(steps) * small.dt / wavelength - 1.5)
    series = (1 - 2 * phase**2) * numpy.exp(-phase**2)
    inner = [run(model, (source, (around + 4, around + 6)), series, every)
             for model, around in ((small, LAYER), (large, beyond))]
    inside = [[after[field or small.receivers[0]][(slice(around, around + INSIDE),) * 2] for after in one]
              for one, around in zip(inner, (LAYER, beyond))]
    largest = max((there**2).sum() for there in inside[1])
    return [((here - there)**2).sum() / largest for here, there in zip(*inside)]


def waves(shape, layer, **how):
    """Elastic waves in a Poisson solid."""
    return models.elastic(shape, 1, 1, 3**-0.5, 1, layer=layer, dtype="f64", **how)


def expect_absorbed(errors, share):
    assert errors[0] < 1e-12 and 0 < max(errors) < share, errors


@pytest.mark.parametrize("accuracy", [2, 4, 8])
def test_acoustic_layers_absorb(accuracy):
    """The shifted pole too."""
    errors = error_of_layers(lambda shape, layer: models.acoustic(shape, 1, 1, layer=layer, accuracy=accuracy, frequency=0.07,
                                                                  dt=0.5, dtype="f64"), "p_next", 100, 20)
    expect_absorbed(errors, 1e-10)


@pytest.mark.parametrize("name,rank,accuracy", [("acoustic2d_o4_cpml", 2, 4), ("acoustic3d_o2_cpml", 3, 2),
                                                ("acoustic3d_o4_cpml", 3, 4),
                                                ("acoustic3d_o8_cpml", 3, 8)])
def test_acoustic_definitions_are_those_that_are_tuned(name, rank, accuracy):
    tuned = st.stencil(name)
    assert models.acoustic((30,) * rank, 10, 1500, accuracy=accuracy, layer=8).stencil.key == tuned.key


def test_what_is_given_is_checked():
    for wrong, message in (({"layer": "w=3"}, "layer is"), ({"layer": "3:x"}, "layer is"), ({"accuracy": 3}, "accuracy is 3"),
                           ({"spacing": (1, 2, 3)}, "spacing is"), ({"dt": 1.0}, "up to"), ({"shape": (4,)}, "axes"),
                           ({"dtype": "bf16"}, "bf16"), ({"reflection": 0}, "reflection is 0"),
                           ({"velocity": 0}, "velocity: finite numbers above 0"),
                           ({"velocity": numpy.ones((8, 9))}, r"velocity has shape \(8, 9\)")):
        with pytest.raises(st.ArgumentError, match=message):
            models.acoustic(**{"shape": (8, 8), "spacing": 1, "velocity": 1.0} | wrong)


def test_each_axis_has_its_spacing_and_its_layers():
    """A plane wave along each axis takes as long: as many cells, a quarter of the size and of the speed's square."""
    model = models.acoustic((40, 30), (0.5, 2), 1, layer="x=3:0,y=0:5", dt=0.25, dtype="f64")
    assert model.stencil.profiles == {which + axis + half: axis for axis in "xy" for which in "ab" for half in ("", "_half")}
    assert numpy.flatnonzero(model.fields["bx"]).tolist() == [0, 1, 2]
    assert numpy.flatnonzero(model.fields["by"]).tolist() == [35, 36, 37, 38, 39]
    bare = models.acoustic((9, 9), (0.5, 2), 1, layer=0, dt=0.25, accuracy=2, dtype="f64")
    bare.fields["p"][4, 4] = 1
    arrays = list(bare.fields.values())
    st.lookup(bare.stencil, like=arrays[0], device="cpu")(*arrays)
    p = arrays[-1]
    numpy.testing.assert_allclose([p[4, 5], p[5, 4]], [0.25**2 / 2**2, 0.25**2 / 0.5**2], rtol=1e-12)


LIGHT = 299792458.0  # so that a wave makes a cell a second


@pytest.mark.parametrize("polarization,source,field", [("tm", "ez_next", "ez"), ("te", "ex_next", "hz")])
def test_maxwell_layers_absorb(polarization, source, field):
    errors = error_of_layers(lambda shape, layer: models.maxwell(shape, LIGHT, layer=layer, polarization=polarization, dt=0.6,
                                                                 dtype="f64"), source, 100, 20, field)
    expect_absorbed(errors, 1e-8)


def test_maxwell_without_layers_is_the_corpus():
    root = LAYERS.parents[1] / "corpus"
    assert models.maxwell((9, 9, 9), 1, layer=0).stencil.key == st.stencil(root / "yee3d.toml").key
    lossy = models.maxwell((9, 9, 9), 1, 4, conductivity=1e-3, layer=0, dtype="f64")
    loss = 0.5 * lossy.dt * 1e-3 / (4 * 8.8541878128e-12)
    numpy.testing.assert_allclose(lossy.fields["kept"], (1 - loss) / (1 + loss))
    assert models.maxwell((9, 9, 9), 1, conductivity=1).stencil.layer_fields["psi_z_hy"] == "z"


def test_a_metal_swings_at_its_plasma_frequency():
    wp, g = 2.0, 0.3
    metal = models.drude((4, 4), LIGHT, wp, g, layer=0, dt=0.01, dtype="f64")
    metal.fields["ez"][...] = 1
    metal.fields["jz"][...] = -0.5 * 0.01 * wp**2  # half a step before
    arrays, steps = list(metal.fields.values()), 200
    st.lookup(metal.stencil, like=arrays[0], boundary="periodic", device="cpu").advance(arrays, steps=steps)
    t, w = steps * 0.01, (wp**2 - g**2 / 4)**0.5
    expected = numpy.exp(-g * t / 2) * (numpy.cos(w * t) + g / (2 * w) * numpy.sin(w * t))
    assert abs(arrays[0][2, 2] - expected) < 2e-3


def test_elastic_layers_absorb():
    expect_absorbed(error_of_layers(lambda shape, layer: waves(shape, layer, dt=0.6), "vx_next", 100, 20, wavelength=17), 1e-8)


@pytest.mark.parametrize("accuracy", [2, 4])
def test_a_free_surface_turns_stress_round(accuracy):
    """A plane P wave comes up to it; afterwards it goes down, the stress with the other sign."""
    column = waves((60, 4), 0, accuracy=accuracy, free_surface=True, dt=0.5)
    depth = numpy.arange(60.0)[:, None]
    column.fields["syy"][...] = numpy.exp(-(depth - 20)**2 / 32)
    column.fields["sxx"][...] = column.fields["syy"] / 3
    column.fields["vy"][...] = numpy.exp(-(depth + 0.5 - 0.25 - 20)**2 / 32)  # half a cell lower, half a step earlier
    arrays = list(column.fields.values())
    st.lookup(column.stencil, like=arrays[0], boundary="x=periodic", device="cpu").advance(arrays, steps=80)
    after = dict(zip(column.fields, arrays))
    numpy.testing.assert_allclose(after["syy"], -numpy.exp(-(depth - 20)**2 / 32) * numpy.ones((1, 4)), atol=0.03)
    numpy.testing.assert_allclose(after["vy"], numpy.exp(-(depth + 0.5 + 0.25 - 20)**2 / 32) * numpy.ones((1, 4)), atol=0.03)


def test_kernels_make_a_free_surface_and_layers_as_the_reference_does(gpus):
    ground = models.elastic((32, 48), 1, 1, 0.5, 1, layer=5, free_surface=True)
    ground.fields["vy"][:] = numpy.random.default_rng(1).standard_normal((32, 48))
    on_gpu = [gpus.own(aligned(cells)) for cells in ground.fields.values()]
    on_cpu = list(ground.fields.values())
    st.lookup(ground.stencil, like=ground.fields["vy"], device="cpu").advance(on_cpu, steps=4)
    arrays = [CudaArray(cells) for cells in on_gpu]
    st.lookup(ground.stencil, shape=(32, 48), dtype="f32").advance(arrays, steps=4)
    for name, there, here in zip(ground.fields, arrays, on_cpu):
        if name in ground.receivers:
            numpy.testing.assert_allclose(there.host, here, atol=1e-5, err_msg=name)


def test_elastic_definitions_fit_in_three_dimensions():
    solid = models.elastic((12, 12, 12), 10, 3000, 0, 2200, layer=4, free_surface=True)
    assert len(solid.stencil.fields) == 64 and solid.stencil.layer_fields["psi_z_sxz"] == "z"
    fields = list(solid.fields.values())
    fields[list(solid.fields).index("szz")][6, 6, 6] = 1e6
    kernel = st.lookup(solid.stencil, like=fields[0], device="cpu")
    kernel.advance(fields, steps=3)
    after = dict(zip(solid.fields, fields))
    assert abs(after["sxz"]).max() < 1e-20 and 0 < abs(after["sxx"]).max() < 1e6  # a fluid
    with pytest.raises(st.ArgumentError, match="3D take no frequency"):
        models.elastic((12, 12, 12), 10, 3000, 1000, 2200, frequency=5)


def test_shallow_water_layers_absorb():
    size = (9.81 * 1e4)**0.5  # a wave on water of 10 km makes a cell a second
    errors = error_of_layers(lambda shape, layer: models.shallow_water(shape, size, 1e4, layer=layer, dt=0.6, dtype="f64"),
                             "eta_next", 100, 20)
    expect_absorbed(errors, 1e-8)


def test_viscoacoustic_layers_absorb():
    errors = error_of_layers(lambda shape, layer: models.viscoacoustic(shape, 1, 1, 1, 30, 0.1, layer=layer, dt=0.55,
                                                                       dtype="f64"), "p_next", 100, 20)
    expect_absorbed(errors, 1e-8)


def test_sound_decays_by_its_quality_and_keeps_its_speed():
    """A standing wave of the reference frequency: each period takes exp(-pi / Q) of it."""
    quality, period = 25.0, 64
    decaying = models.viscoacoustic((4, period), 1, 1, 1, quality, 1 / period, layer=0, dt=0.5, dtype="f64")
    decaying.fields["p"][...] = numpy.cos(2 * numpy.pi * numpy.arange(period) / period)
    arrays = list(decaying.fields.values())
    kernel = st.lookup(decaying.stencil, like=arrays[0], boundary="periodic", device="cpu")
    records = numpy.empty((6 * period, 1))
    kernel.advance(arrays, steps=len(records), points=kernel.place_points({}, {"p": [(2, 0)]}), records=records)
    crests = [(records[2 * period * n - 20:2 * period * n + 20, 0]).max() for n in (1, 2)]
    assert abs(crests[1] / crests[0] / numpy.exp(-numpy.pi / quality) - 1) < 0.005
    assert abs(numpy.argmax(records[4 * period - 20:4 * period + 20]) - 19) <= 2  # two periods later, half a step a cell


def test_walls_pass_heat_as_robins_condition_has_it():
    """Between a wall that insulates and one that passes heat, cos(m x) decays as exp(-k m^2 t) where m tan(m L) = b."""
    m, k, length = 0.05, 2.0, 20.0
    rod = models.heat((41,), 0.5, k, exchange={"x.high": m * numpy.tan(m * length)}, outside=3.0, dtype="f64")
    mode = numpy.cos(m * 0.5 * numpy.arange(41))
    rod.fields["u"][...] = 3 + mode
    arrays = list(rod.fields.values())
    st.lookup(rod.stencil, like=arrays[0], device="cpu").advance(arrays, steps=2000)
    numpy.testing.assert_allclose(arrays[0] - 3, mode * numpy.exp(-k * m**2 * 2000 * rod.dt), rtol=2e-3)
    assert models.heat((5, 6, 7), 1, 1).stencil.coefficients == {}
    with pytest.raises(st.ArgumentError, match="exchange is"):
        models.heat((9,), 1, 1, exchange={"y.low": 1})
