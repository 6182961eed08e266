"""Arrays along one axis."""

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


def test_have_no_derivatives(damped):
    with pytest.raises(st.Error, match="derivatives are known"):
        damped.adjoint()


def test_nor_have_boundaries_of_a_definition():
    walls = st.stencil('rank = 1\nfields = ["u", "v"]\n[update]\nv = "u[x-1]"\n[boundary]\nx = "odd"\n')
    with pytest.raises(st.Error, match="derivatives are known"):
        walls.adjoint()
    u, v = numpy.arange(1.0, 5.0), numpy.zeros(4)
    st.lookup(walls, shape=(4,), dtype="f64", device="cpu")(u, v)
    assert v.tolist() == [-2, 1, 2, 3]
