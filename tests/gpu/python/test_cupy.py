"""CuPy: kernels on its arrays and streams, and the filters against cupyx.scipy.ndimage. Takes a GPU."""

import numpy
import pytest

cupy = pytest.importorskip("cupy")
try:
    HAS_GPU = cupy.cuda.runtime.getDeviceCount() > 0
except cupy.cuda.runtime.CUDARuntimeError:
    HAS_GPU = False
pytestmark = pytest.mark.skipif(not HAS_GPU, reason="no GPU")

import stencil_tune as st  # noqa: E402
from stencil_tune import ndimage  # noqa: E402

HEAT = "u_next = u + alpha * laplacian(u); alpha = 0.125"


def heat_by_roll(u, steps):
    for _ in range(steps):
        u = u + 0.125 * (sum(cupy.roll(u, side, axis) for axis in range(3) for side in (-1, 1)) - 6 * u)
    return u


def test_a_run_on_the_current_stream():
    u = cupy.random.rand(64, 48, 80)
    wanted = heat_by_roll(u, 20)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        kernel = st.lookup(HEAT, like=u, boundary="periodic", steps=20)
        after = kernel.advance([u.copy(), cupy.empty_like(u)], steps=20)
        cupy.testing.assert_allclose(after, wanted, rtol=1e-12)
        stream.synchronize()


def test_padded_rows_and_held_layers():
    room, out = cupy.random.rand(20, 30, 64, dtype=cupy.float32), cupy.full((20, 30, 64), 7, cupy.float32)
    u, v = room[:, :, :50], out[:, :, :50]
    kernel = st.lookup(HEAT, like=u)
    assert kernel.pitch == 64
    kernel(u, v)
    cupy.testing.assert_allclose(v[1:-1, 1:-1, 1:-1], heat_by_roll(u, 1)[1:-1, 1:-1, 1:-1], rtol=1e-5)
    assert (v[0] == 7).all() and (out[:, :, 50:] == 7).all()


def test_refusals():
    u = cupy.zeros((8, 8, 32))
    kernel = st.lookup(HEAT, like=u)
    for array, match in ((u.get(), "host memory"), (u.astype(cupy.float32), "f32"), (u.T, "shape|neighbours"), (u, "overlap")):
        with pytest.raises(st.ArgumentError, match=match):
            kernel(array, u)


def test_numba_and_dlpack():
    u, v = cupy.random.rand(16, 16, 32), cupy.zeros((16, 16, 32))

    class Announced:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, stream=None, **more):
            return self.array.__dlpack__(stream=stream)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class CudaArray:
        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    wanted = heat_by_roll(u, 1)
    cupy.cuda.Device().synchronize()
    for kind in (Announced, CudaArray):
        v.fill(0)
        cupy.cuda.Device().synchronize()
        st.lookup(HEAT, like=kind(u), boundary="periodic")(kind(u), kind(v), stream=cupy.cuda.get_current_stream())
        cupy.testing.assert_allclose(v, wanted, rtol=1e-12)


@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "wrap", "constant"])
@pytest.mark.parametrize("dtype", [cupy.float32, cupy.float64])
def test_filters_are_cupys(mode, dtype):
    theirs = pytest.importorskip("cupyx.scipy.ndimage")
    image = cupy.random.RandomState(1).rand(45, 67).astype(dtype)
    weights = cupy.random.RandomState(2).rand(4, 3).astype(dtype)
    close = {"rtol": 1e-5 if dtype == cupy.float32 else 1e-12}
    for mine, own in ((ndimage.correlate(image, weights, mode=mode, cval=2.0, origin=(1, -1)),
                       theirs.correlate(image, weights, mode=mode, cval=2.0, origin=(1, -1))),
                      (ndimage.convolve(image, weights, mode=mode), theirs.convolve(image, weights, mode=mode)),
                      (ndimage.laplace(image, mode=mode), theirs.laplace(image, mode=mode)),
                      (ndimage.uniform_filter(image, (4, 5), mode=mode),
                       theirs.uniform_filter(image, (4, 5), mode=mode)),
                      (ndimage.gaussian_filter(image, (1.5, 0.8), mode=mode),
                       theirs.gaussian_filter(image, (1.5, 0.8), mode=mode))):
        cupy.testing.assert_allclose(mine, own, atol=close["rtol"], **close)
    assert isinstance(ndimage.laplace(image).get(), numpy.ndarray)
