"""Kernels of the user's own on arrays and plain numbers."""

import pathlib

import numpy
import pytest
from device_arrays import CudaArray, DlpackArray, aligned

import stencil_tune as st

SAXPY = """/* stencil-tune
kernel = "saxpy"
[sizes]
n = 1000
[parameters]
BLOCK = [32, 64]
[launch]
block = "BLOCK"
grid = "ceil_div(n, BLOCK)"
[[arguments]]
name = "y"
type = "f32*"
length = "n"
inout = true
[[arguments]]
name = "x"
type = "i32*"
length = "n"
[[arguments]]
name = "a"
type = "f32"
value = 0.5
[[arguments]]
name = "n"
type = "i32"
value = "n"
[reference]
kernel = "plain"
block = 64
grid = "ceil_div(n, 64)"
*/
__global__ void saxpy(float* y, const int* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void plain(float* y, const int* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""


@pytest.fixture
def saxpy(tmp_path):
    path = tmp_path / "saxpy.cu"
    path.write_text(SAXPY)
    return path


@pytest.fixture
def arrays(gpus):
    y, x = aligned(numpy.ones(100, numpy.float32)), aligned(numpy.arange(100, dtype=numpy.int32))
    return gpus.own(y), gpus.own(x)


def test_says_what_it_is(saxpy):
    kernel = st.kernel(saxpy, {"n": 100})
    assert (kernel.match, kernel.code, kernel.rate, kernel.device) == ("default", "BLOCK=32", 0, 0)
    assert [each.type for each in kernel.arguments] == ["f32*", "i32*", "f32", "i32"]
    assert kernel.arguments[0] == st.UserKernelArgument("y", "f32*", 100, True)
    assert kernel.source.startswith("#define BLOCK 32\n")
    assert "nothing is known of saxpy" in repr(kernel)


def test_launches_on_arrays_and_numbers(saxpy, arrays, gpus):
    y, x = arrays
    kernel = st.kernel(saxpy, {"n": 100})
    kernel(CudaArray(y), CudaArray(x), 0.5, 100, stream=7)
    numpy.testing.assert_array_equal(y, 1 + 0.5 * numpy.arange(100, dtype=numpy.float32))
    assert gpus.stream == 7 and gpus.current == -1
    kernel(DlpackArray(y), CudaArray(x), numpy.float64(-0.5), numpy.int64(100))
    numpy.testing.assert_array_equal(y, numpy.ones(100, numpy.float32))


def test_is_found_by_name(saxpy, monkeypatch):
    monkeypatch.setenv("STENCIL_TUNE_KERNELS", str(pathlib.Path(saxpy).parent))
    assert st.kernel("saxpy").arguments[0].cells == 1000
    with pytest.raises(st.ArgumentError, match="did you mean 'saxpy'"):
        st.kernel("sapxy")


def test_what_does_not_fit_is_said(saxpy, arrays):
    y, x = (CudaArray(array) for array in arrays)
    kernel = st.kernel(saxpy, {"n": 100})

    def refuses(match, *arguments):
        with pytest.raises(st.ArgumentError, match=match):
            kernel(*arguments)

    refuses(r"takes 4 arguments \(y: f32\*, x: i32\*, a: f32, n: i32\), 3 were given", y, x, 0.5)
    refuses("y has cells of i32", x, x, 0.5, 100)
    refuses("x is in host memory", y, numpy.arange(100, dtype=numpy.int32), 0.5, 100)
    refuses("y has 50 cells, the kernel takes 100", CudaArray(arrays[0][:50]), x, 0.5, 100)
    refuses("x has shape .* dense", y, CudaArray(numpy.broadcast_to(arrays[1][::2], (4, 50))), 0.5, 100)
    refuses("y is read-only", CudaArray(arrays[0], read_only=True), x, 0.5, 100)
    refuses("a is f32, not 'half'", y, x, "half", 100)
    refuses("n is i32, not 2.5", y, x, 0.5, 2.5)
    refuses("n is i32, which cannot hold 3000000000", y, x, 0.5, 3000000000)
    refuses("type int is given, where kernels take arrays", 5, x, 0.5, 100)
    with pytest.raises(st.ArgumentError, match="'m' is no size of saxpy"):
        st.kernel(saxpy, {"m": 3})


def test_sixteen_bit_numbers_are_rounded():
    from stencil_tune._user_kernel import UserKernelArgument, _number

    for number, half, brain in ((1, 0x3c00, 0x3f80), (-2.5, 0xc100, 0xc020), (1 + 2**-8, 0x3c04, 0x3f80),
                                (1 + 3 * 2**-8, 0x3c0c, 0x3f82), (float("inf"), 0x7c00, 0x7f80)):
        assert _number(UserKernelArgument("a", "f16", 0, False), number).value == half
        assert _number(UserKernelArgument("a", "bf16", 0, False), number).value == brain
    with pytest.raises(st.ArgumentError):
        _number(UserKernelArgument("a", "f16", 0, False), 1e6)
