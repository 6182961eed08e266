"""JAX: runs under jit, vmap and grad. On the GPU where there is one, else on the CPU through the reference."""

import numpy
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402

import stencil_tune as st  # noqa: E402
import stencil_tune.jax as stj  # noqa: E402
from stencil_tune import models  # noqa: E402

HEAT = "u_next = u + alpha * (3*u[x-1] - u[x+2] + 2*u[y-1] + u[y+1] - 5*u); alpha = 0.0625"
WAVE = """
rank = 2
fields = ["p", "p_prev", "v", "p_next"]
[update]
p_next = "2*p - p_prev + 0.1 * v * laplacian(p)"
[rotate]
p_next = "p"
p = "p_prev"
"""


@pytest.fixture(scope="module")
def heat():
    return st.stencil(HEAT, rank=2)


def rand(*shape, seed=1):
    return jnp.asarray(numpy.random.default_rng(seed).random(shape))


def heat_by_roll(u, steps, alpha=0.0625):
    for _ in range(steps):
        u = u + alpha * (3 * jnp.roll(u, 1, 1) - jnp.roll(u, -2, 1) + 2 * jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 5 * u)
    return u


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_run_under_jit(heat, steps):
    u = rand(16, 24)
    later = jax.jit(lambda u: stj.advance(heat, 2 * u, steps=steps, boundary="periodic"))(u)
    numpy.testing.assert_allclose(later, heat_by_roll(2 * u, steps), rtol=1e-12)
    numpy.testing.assert_allclose(stj.step(heat, u, boundary="periodic", coefficients={"alpha": 0.5}),
                                  heat_by_roll(u, 1, 0.5), rtol=1e-12)
    numpy.testing.assert_array_equal(stj.step(heat, u)[0], u[0])


def test_vmap_is_a_launch_an_element(heat):
    batch = rand(3, 8, 16)
    later = jax.vmap(lambda u: stj.advance(heat, u, steps=3, boundary="periodic"))(batch)
    numpy.testing.assert_allclose(later, jnp.stack([heat_by_roll(u, 3) for u in batch]), rtol=1e-12)


@pytest.mark.parametrize("boundary", ["hold", "zero", "clamp", "periodic", "reflect", "x=hold,y=reflect"])
@pytest.mark.parametrize("steps", [1, 3])
def test_gradients_are_differences(heat, boundary, steps):
    from jax.test_util import check_grads

    check_grads(lambda u: stj.advance(heat, u, steps=steps, boundary=boundary), (rand(6, 7),), order=1, modes=["rev"])


def test_two_levels_and_a_constant():
    from jax.test_util import check_grads

    wave = st.stencil(WAVE)
    fields = rand(8, 9), rand(8, 9, seed=2), rand(8, 9, seed=3)
    for steps in (1, 4):
        def run(p, p_prev, v, steps=steps):
            return stj.advance(wave, p, p_prev, v, steps=steps, boundary="periodic")

        p, q, v = fields
        for _ in range(steps):
            laplacian = sum(jnp.roll(p, by, axis) for axis in range(2) for by in (1, -1)) - 4 * p
            p, q = 2 * p - q + 0.1 * v * laplacian, p
        numpy.testing.assert_allclose(run(*fields), (p, q), rtol=1e-10)
        check_grads(run, fields, order=1, modes=["rev"])


@pytest.mark.parametrize("boundary", ["hold", "periodic", "x=clamp,y=hold"])
def test_several_stages(boundary):
    from jax.test_util import check_grads

    stages = st.stencil("""
rank = 2
fields = ["p", "v", "flux", "p_next"]
[[stage]]
flux = "v * (p[x+1] - p) * p"
[[stage]]
p_next = "p + 0.25 * (flux - flux[x-1]) + 0.125 * flux[y+1]"
[rotate]
p_next = "p"
""")
    fields = rand(8, 9), rand(8, 9, seed=2)
    for steps in (1, 3):
        check_grads(lambda p, v, steps=steps: stj.advance(stages, p, v, steps=steps, boundary=boundary), fields, order=1,
                    modes=["rev"])


def test_gradients_of_gradients(heat):
    from jax.test_util import check_grads

    for boundary in ("hold", "periodic"):
        check_grads(lambda u, boundary=boundary: stj.advance(heat, u, steps=3, boundary=boundary), (rand(6, 7),), order=2,
                    modes=["rev"])


def test_errors_come_back(heat):
    with pytest.raises(st.ArgumentError, match="reads 1 fields"):
        stj.step(heat, rand(4, 4), rand(4, 4))
    with pytest.raises(st.ArgumentError, match="fields are alike, and have 2 axes"):
        jax.block_until_ready(stj.step(heat, rand(4)))


def test_a_definition_outlives_its_file(tmp_path):
    path = tmp_path / "line.toml"
    path.write_text('rank = 1\nfields = ["u", "v"]\n[update]\nv = "u[x+1]"\n[rotate]\nv = "u"\n')
    line = st.stencil(path)
    path.unlink()
    assert stj.step(line, jnp.arange(4.0), boundary="periodic").tolist() == [1, 2, 3, 0]


WRONG = [None, [], {}, object(), 2.5, float("nan"), "x", "a\0b", -1, 0, 2**31, 2**40, numpy.zeros(3), numpy.array(["x"]),
         numpy.zeros((2, 2), complex), {"alpha": numpy.ones(3)}, {"x": 3}, ("x", "hold")]


@pytest.mark.parametrize("argument", ["stencil", "field", "steps", "boundary", "coefficients"])
def test_what_an_argument_is_not_is_said(heat, argument):
    right = {"stencil": heat, "field": rand(6, 8), "steps": 1, "boundary": "hold", "coefficients": None}
    for value in WRONG:
        given = {**right, argument: value}
        try:
            stj.advance(given.pop("stencil"), given.pop("field"), **given)
        except st.ArgumentError as error:
            assert len(str(error)) > 10
        else:
            assert value is None and argument == "coefficients" or value == {} and argument in ("boundary", "coefficients")


SHOTS = {
    "acoustic": (lambda: models.acoustic((11, 12), 10, 2000, layer=3, accuracy=2, dtype="f64"), "p_next", "p", "v"),
    "elastic": (lambda: models.elastic((11, 12), 10, 2000, 1000, 2000, free_surface=True, layer=3, accuracy=2,
                                       dtype="f64"), "vx_next", "syy", "rho"),
}


@pytest.mark.parametrize("storage", ["device", "recompute"])
@pytest.mark.parametrize("name", SHOTS)
def test_gradients_of_shots(name, storage):
    make, source, receiver, material = SHOTS[name]
    model, draw, steps = make(), numpy.random.default_rng(1), 7
    weights = jnp.asarray(draw.uniform(-1, 1, (steps, 2)))

    def loss(field, series):
        shot = stj.propagate(model, {material: field}, steps=steps, sources={source: [(5.25, 5), (6, 4)]}, series=series,
                             receivers={receiver: [(4.5, 6), (6, 7.25)]}, storage=storage)
        return (shot.records * weights).sum() + 0.1 * shot.state[receiver].sum()

    field, series = jnp.asarray(model.fields[material]), jnp.asarray(draw.uniform(-1, 1, (steps, 2)))
    slopes = jax.jit(jax.grad(loss, (0, 1)))(field, series)
    for place, (given, slope) in enumerate(zip((field, series), slopes)):
        way = jnp.asarray(draw.uniform(-1, 1, given.shape))
        step = 1e-5 * jnp.abs(given).max()
        high, low = (loss(*[value + by * way if i == place else value for i, value in enumerate((field, series))])
                     for by in (step, -step))
        assert float((slope * way).sum()) == pytest.approx(float((high - low) / (2 * step)), rel=1e-6)
        assert jnp.abs(slope).max() > 0


def test_shots_say_what_they_do_not_take():
    v = rand(6, 8)
    for field, update in (("u", "u + t*u[x-1]"), ("u", "u + random(3)*u[x-1]"), ("w(t)", "u + w*u[x-1]")):
        fields = ", ".join(f'"{name}"' for name in dict.fromkeys([field, "u", "u_next"]))
        timed = st.stencil(f'rank = 2\nfields = [{fields}]\n[update]\nu_next = "{update}"\n[rotate]\nu_next = "u"\n')
        with pytest.raises(st.ArgumentError, match="asks for the step's number"):
            stj.propagate(timed, {"u": v}, steps=1)
    wave = st.stencil(WAVE)
    for more, words in [({"fields": {"p": v}}, "reads v: give it"), ({"fields": {"v": v, "w": v}}, "'w' is no field"),
                        ({"series": rand(3, 1)}, "series: an array of shape"), ({"storage": "disk"}, "storage is")]:
        with pytest.raises(st.ArgumentError, match=words):
            stj.propagate(wave, **{"fields": {"v": v}, "steps": 3, **more})
