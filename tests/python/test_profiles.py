"""Arrays along one axis or two, and of time."""

import numpy
import pytest
from device_arrays import CudaArray, aligned

import stencil_tune as st

SHAPE = (6, 32)


@pytest.fixture
def made(gpus):
    def make(values):
        array = aligned(numpy.zeros(numpy.shape(values), numpy.float32))
        array[...] = values
        return gpus.own(array)

    return make


@pytest.fixture
def damped():
    return st.stencil("u_next = u*dy + dy[y+1]*u[x+1]; dy(y)", rank=2)


def test_are_read_where_the_cell_is(damped, made):
    assert damped.profiles == {"dy": "y"}
    assert damped.arguments == ("dy", "u", "u_next")
    random = numpy.random.default_rng(1)
    dy, u, u_next = made(random.random(SHAPE[0])), made(random.random(SHAPE)), made(numpy.zeros(SHAPE))
    kernel = st.lookup(damped, shape=SHAPE, dtype="f32", boundary="periodic")
    kernel(CudaArray(dy), CudaArray(u), CudaArray(u_next))
    on_cpu = numpy.zeros_like(u)
    st.lookup(damped, like=u, boundary="periodic", device="cpu")(dy, u, on_cpu)
    numpy.testing.assert_allclose(on_cpu, u_next, rtol=1e-6)
    right = u * dy[:, None] + numpy.roll(dy, -1)[:, None] * numpy.roll(u, -1, axis=1)
    numpy.testing.assert_allclose(u_next, right, rtol=1e-5)


def test_of_another_length_or_type_are_refused(damped, made):
    u, u_next = made(numpy.zeros(SHAPE)), made(numpy.zeros(SHAPE))
    kernel = st.lookup(damped, shape=SHAPE, dtype="f32", boundary="periodic")
    for shape in [(5,), (32,), SHAPE]:
        with pytest.raises(st.ArgumentError, match="dy varies along y alone: it is one row of 6"):
            kernel(CudaArray(made(numpy.zeros(shape))), CudaArray(u), CudaArray(u_next))
        with pytest.raises(st.ArgumentError, match="dy varies along y alone: it is one row of 6"):
            st.lookup(damped, like=u, device="cpu")(numpy.zeros(shape, "f4"), u, u_next)
    with pytest.raises(st.ArgumentError, match="dy varies along y alone"):
        kernel(CudaArray(made(numpy.zeros(12))[::2]), CudaArray(u), CudaArray(u_next))


@pytest.fixture
def on_two():
    return st.stencil("u_next = 0.5*u[x-1] + h[y+1]*u + g*w; h(x, y); g(y, z); w(t)", rank=3)


def test_live_on_two_axes_and_in_time(on_two, made):
    assert on_two.profiles == {"h": "xy", "g": "yz", "w": "t"}
    shape, steps, first = (4, 6, 32), 5, 2
    draw = numpy.random.default_rng(2)
    h, g, w, u = (draw.random(extents).astype("f4") for extents in (shape[1:], shape[:2], (first + steps,), shape))
    right = u.astype("f8")
    for step in range(first, first + steps):
        right = 0.5 * numpy.roll(right, 1, axis=2) + numpy.roll(h, -1, axis=0) * right + (g * w[step])[:, :, None]
    for device in ("cpu", None):
        kernel = st.lookup(on_two, shape=shape, dtype="f32", boundary="periodic", device=device)
        own = numpy.copy if device else lambda values: CudaArray(made(values))
        arrays = [own(array) for array in (h, g, w, u, numpy.zeros(shape, "f4"))]
        kernel.advance(arrays, steps=3, step=first)  # in pieces
        now = kernel.advance(arrays, steps=steps - 3, step=first + 3)
        numpy.testing.assert_allclose(getattr(now, "host", now), right, rtol=1e-5)


def test_of_another_shape_or_too_short_a_time_are_refused(on_two, made):
    shape = (4, 6, 32)
    for device in ("cpu", None):
        kernel = st.lookup(on_two, shape=shape, dtype="f32", boundary="periodic", device=device)

        def arrays(h=(6, 32), w=(5,)):
            zeros = [numpy.zeros(extents, "f4") for extents in (h, (4, 6), w, shape, shape)]
            return zeros if device else [CudaArray(made(array)) for array in zeros]

        kernel.advance(arrays(), steps=3, step=2)
        for steps, step in ((4, 2), (1, -1), (1, 5)):
            with pytest.raises(st.ArgumentError, match=f"w varies with time alone: it is .* of steps {step} to"):
                kernel.advance(arrays(), steps=steps, step=step)
        with pytest.raises(st.ArgumentError, match="w varies with time alone"):
            kernel(*arrays(), step=5)
        for extents in ((32, 6), (6,), shape):
            with pytest.raises(st.ArgumentError, match=r"h varies along x, y alone: it is a dense array of shape \(6, 3"):
                kernel(*arrays(h=extents))


def test_are_read_by_adjoints(damped):
    adjoint = damped.adjoint()
    assert adjoint.profiles == {"dy": "y"} and adjoint.outputs == ("grad_u",)


def test_walls_answer_in_the_reference():
    walls = st.stencil('rank = 1\nfields = ["u", "v"]\n[update]\nv = "u[x-1]"\n[boundary]\nx = "odd"\n')
    u, v = numpy.arange(1.0, 5.0), numpy.zeros(4)
    st.lookup(walls, shape=(4,), dtype="f64", device="cpu")(u, v)
    assert v.tolist() == [-2, 1, 2, 3]
