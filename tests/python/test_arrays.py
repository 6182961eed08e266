"""Kernels on arrays that announce DLPack and __cuda_array_interface__, run by the host executor: against NumPy."""

import numpy
import pytest
from device_arrays import CudaArray, DlpackArray, aligned

import stencil_tune as st

ALPHA = 0.125
HEAT = "u_next = u + alpha * (u[x-1] + u[x+1] + 2*(u[y-1] + u[y+1]) - 6*u); alpha = 0.125"
SHAPE = (23, 40)  # [y, x]


def step(u):
    """HEAT in NumPy: x is the last axis, and its neighbours count once."""
    after = u.copy()
    after[1:-1, 1:-1] += ALPHA * (u[1:-1, :-2] + u[1:-1, 2:] + 2 * (u[:-2, 1:-1] + u[2:, 1:-1]) - 6 * u[1:-1, 1:-1])
    return after


@pytest.fixture(scope="module")
def heat():
    return st.stencil(HEAT, rank=2)


@pytest.fixture
def fields(gpus):
    """u and u_next on GPU 0, as NumPy sees them."""
    u = aligned(numpy.random.default_rng(1).integers(-8, 8, SHAPE).astype(numpy.float32))
    return gpus.own(u), gpus.own(aligned(numpy.full(SHAPE, numpy.float32(7))))


@pytest.fixture
def kernel(heat, fields):
    return st.lookup(heat, like=DlpackArray(fields[0]))


@pytest.mark.parametrize("kind", [CudaArray, DlpackArray, lambda host: DlpackArray(host, versioned=0),
                                  lambda host: DlpackArray(host, offset=64)])
def test_a_step_is_numpys(heat, fields, kind):
    u, u_next = fields
    kernel = st.lookup(heat, like=kind(u))
    assert kernel.shape == SHAPE and kernel.dims == SHAPE[::-1] and kernel.dtype == "f32"
    assert kernel(kind(u), kind(u_next)) is None
    inside = kernel.updated()
    assert inside == (slice(1, 22), slice(1, 39))
    numpy.testing.assert_array_equal(u_next[inside], step(u)[inside])
    assert u_next[0, 0] == u_next[-1, 5] == 7, "held layers are not written"


def test_arrays_go_by_name_too(kernel, fields):
    kernel(u_next=CudaArray(fields[1]), u=CudaArray(fields[0]))
    numpy.testing.assert_array_equal(fields[1][1:-1, 1:-1], step(fields[0])[1:-1, 1:-1])
    with pytest.raises(st.ArgumentError, match="'w' is no field.*u, u_next"):
        kernel(CudaArray(fields[0]), w=CudaArray(fields[1]))
    with pytest.raises(st.ArgumentError, match="takes 2 arrays, u, u_next; 1 were given"):
        kernel(CudaArray(fields[0]))


def test_a_run_gives_the_array_that_holds_the_state(kernel, fields):
    wanted = step(step(step(fields[0])))
    arrays = [CudaArray(fields[0]), CudaArray(fields[1])]
    before = list(arrays)
    result = kernel.advance(arrays, steps=3)
    assert result is before[1] and arrays == before[::-1]
    numpy.testing.assert_array_equal(result.host, wanted)
    assert kernel.advance(tuple(arrays), steps=0) is arrays[0]


def test_coefficients_by_name(kernel, fields):
    kernel(CudaArray(fields[0]), CudaArray(fields[1]), coefficients={"alpha": 0.0})
    numpy.testing.assert_array_equal(fields[1][1:-1, 1:-1], fields[0][1:-1, 1:-1])
    with pytest.raises(st.ArgumentError, match="no coefficient 'beta'; it has alpha"):
        kernel(CudaArray(fields[0]), CudaArray(fields[1]), coefficients={"beta": 1})


def test_a_region_limits_the_cells(kernel, fields):
    kernel(CudaArray(fields[0]), CudaArray(fields[1]), region=numpy.s_[:4, 8:])
    numpy.testing.assert_array_equal(fields[1][1:4, 8:-1], step(fields[0])[1:4, 8:-1])
    assert (fields[1][4:] == 7).all() and (fields[1][:, :8] == 7).all()


def test_several_regions_go_in_one_call(kernel, fields):
    regions = kernel.prepared_regions([numpy.s_[:4, 8:], numpy.s_[20:, :], numpy.s_[4:6, :3]])
    kernel.update_regions(CudaArray(fields[0]), CudaArray(fields[1]), regions=regions)
    wanted = numpy.full(SHAPE, numpy.float32(7))
    for cells in (numpy.s_[1:4, 8:-1], numpy.s_[20:-1, 1:-1], numpy.s_[4:6, 1:3]):
        wanted[cells] = step(fields[0])[cells]
    numpy.testing.assert_array_equal(fields[1], wanted)
    with pytest.raises(st.ArgumentError, match="a slice with a step"):
        kernel.prepared_regions([numpy.s_[::2, :]])


def test_rows_may_be_padded(heat, gpus):
    room = gpus.own(aligned(numpy.random.default_rng(2).integers(-8, 8, (SHAPE[0], 64)).astype(numpy.float32)))
    out = gpus.own(aligned(numpy.zeros((SHAPE[0], 64), numpy.float32)))
    u, u_next = room[:, :SHAPE[1]], out[:, :SHAPE[1]]
    for kind in (CudaArray, DlpackArray):
        u_next[...] = 0
        kernel = st.lookup(heat, like=kind(u))
        assert kernel.pitch == 64
        kernel(kind(u), kind(u_next))
        numpy.testing.assert_array_equal(u_next[1:-1, 1:-1], step(u)[1:-1, 1:-1])
        assert not out[:, SHAPE[1]:].any()


def test_the_last_of_three_axes_is_x(gpus):
    shift = st.stencil("b = a[x+1] + 100*a[y+1] + 10000*a[z+1]", rank=3)
    a = gpus.own(aligned(numpy.arange(4 * 5 * 8, dtype=numpy.float64).reshape(4, 5, 8)))
    b = gpus.own(aligned(numpy.zeros_like(a)))
    kernel = st.lookup(shift, like=CudaArray(a), boundary={"x": "periodic", "y": "periodic", "z": "periodic"})
    kernel(CudaArray(a), CudaArray(b))
    numpy.testing.assert_array_equal(b, numpy.roll(a, -1, 2) + 100 * numpy.roll(a, -1, 1) + 10000 * numpy.roll(a, -1, 0))


def test_two_fields_of_state_come_back_as_a_tuple(gpus):
    wave = st.stencil('rank = 1\nfields = ["p", "q", "p_next"]\n[update]\np_next = "p - q + p[x-1] + p[x+1]"\n'
                      '[rotate]\np_next = "p"\np = "q"\n')
    host = [gpus.own(aligned(numpy.arange(16.0)**i)) for i in range(3)]
    arrays = [CudaArray(array) for array in host]
    p, q = host[0].copy(), host[1].copy()
    for _ in range(3):
        after = p.copy()
        after[1:-1] = p[1:-1] - q[1:-1] + p[:-2] + p[2:]
        p, q = after, p
    now = st.lookup(wave, like=arrays[0]).advance(arrays, steps=3)
    assert list(now) == arrays[:2]
    numpy.testing.assert_array_equal(now[0].host, p)
    numpy.testing.assert_array_equal(now[1].host, q)
