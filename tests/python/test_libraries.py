"""Arrays as PyTorch, CuPy and JAX have them, and the short way that calls take once a layout has passed."""

import ctypes
import sys
import types

import numpy
import pytest
from device_arrays import CUDA, DlpackArray, DLTensor, aligned, new_capsule

import stencil_tune as st
from stencil_tune import _arrays

SHAPE = (6, 32)
STREAM = 0x70
SUM = "v = u[x-1] + 10*u[y+1]"
# What is written comes first.
TURNED = 'rank = 2\nfields = ["v", "u"]\n[update]\nv = "u[x-1] + 10*u[y+1]"\n'


class Tensor:
    """What is asked of a tensor of PyTorch."""

    def __init__(self, host, device=0, requires_grad=False):
        self.host, self.ordinal, self.requires_grad = host, device, requires_grad
        self.dtype = sys.intern(f"torch.{host.dtype.name}")  # one object a type, as PyTorch's
        self.shape, self.is_cuda = host.shape, True

    def data_ptr(self):
        return self.host.ctypes.data

    def stride(self):
        return tuple(stride // self.host.itemsize for stride in self.host.strides)

    def get_device(self):
        return self.ordinal


class Array:
    """What is asked of an array of CuPy."""

    def __init__(self, host, device=0):
        self.host, self.dtype, self.itemsize, self.shape, self.strides = (host, host.dtype, host.itemsize, host.shape,
                                                                          host.strides)
        self.data = types.SimpleNamespace(ptr=host.ctypes.data, device_id=device)


class ExchangedTensor(Tensor):
    """Tells a library in C what it is (DLPackExchangeAPI of dlpack.h 1.3), as tensors of newer PyTorch do."""

    described = 0

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
    def describe(array, to):
        if not isinstance(array, ExchangedTensor):
            return -1
        ExchangedTensor.described += 1
        host, axes = array.host, ctypes.c_int64 * array.host.ndim
        array.kept = axes(*host.shape), axes(*(stride // host.itemsize for stride in host.strides))
        to[0] = DLTensor(host.ctypes.data, CUDA, array.ordinal, host.ndim, 2, 8 * host.itemsize, 1, *array.kept, 0)
        return 0

    @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
    def current_stream(kind, device, to):
        to[0] = STREAM + device
        return 0

    table = (ctypes.c_void_p * 7)(1, None, None, None, None, ctypes.cast(describe, ctypes.c_void_p),
                                  ctypes.cast(current_stream, ctypes.c_void_p))
    name = b"dlpack_exchange_api"  # a capsule keeps no copy
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(table), name, None)


class JaxArray(DlpackArray):
    pass


KINDS = [Tensor, ExchangedTensor, Array]
Tensor.__module__, Array.__module__, JaxArray.__module__ = "torch", "cupy", "jaxlib.xla_extension"


@pytest.fixture
def libraries(monkeypatch):
    """As far as the package asks: what is current."""
    torch = types.SimpleNamespace(is_grad_enabled=lambda: True, _C=types.SimpleNamespace(
        _cuda_getCurrentRawStream=lambda device: STREAM + device))
    cupy = types.SimpleNamespace(cuda=types.SimpleNamespace(
        get_current_stream=lambda: types.SimpleNamespace(ptr=STREAM)))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)


@pytest.fixture
def made(gpus):
    def make(dtype=numpy.float32, shape=SHAPE, device=0):
        values = numpy.random.default_rng(1).integers(-8, 8, shape).astype(dtype)
        return gpus.own(aligned(values), device)

    return make


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("definition", [SUM, TURNED])
def test_every_call_computes_on_the_current_stream(kind, definition, libraries, made, gpus, monkeypatch):
    kernel = st.lookup(st.stencil(definition, rank=2), like=kind(made()))
    for call in range(3):
        if call > 0:
            monkeypatch.setattr(_arrays, "read", None)  # the first call alone looks at the arrays closely
        u, v = made(), made()
        v[...] = 7
        given = [kind({"u": u, "v": v}[name]) for name in kernel.stencil.arguments]
        assert kernel(*given) is None
        numpy.testing.assert_array_equal(v[:-1, 1:], u[:-1, :-1] + 10 * u[1:, 1:])
        assert (v[-1] == 7).all() and (v[:, 0] == 7).all() and gpus.stream == STREAM
    kernel(*given, stream=0x99)
    assert gpus.stream == 0x99


def test_tensors_that_tell_in_c_what_they_are_are_not_asked_in_python(libraries, made, gpus, monkeypatch):
    kernel = st.lookup(st.stencil(SUM, rank=2), like=ExchangedTensor(made()))
    u, v = made(), made()
    kernel(ExchangedTensor(u), ExchangedTensor(v))
    monkeypatch.setattr(Tensor, "data_ptr", None)
    v[...] = 0
    before = ExchangedTensor.described
    kernel(ExchangedTensor(u), ExchangedTensor(v))
    assert ExchangedTensor.described == before + 2 and gpus.stream == STREAM
    numpy.testing.assert_array_equal(v[:-1, 1:], u[:-1, :-1] + 10 * u[1:, 1:])


def test_what_goes_wrong_in_c_is_not_hidden(libraries, made, monkeypatch):
    kernel = st.lookup(st.stencil(SUM, rank=2), like=ExchangedTensor(made()))
    u, v = ExchangedTensor(made()), ExchangedTensor(made())
    kernel(u, v)

    def fail(error):
        def step(arrays):
            raise error

        monkeypatch.setattr(kernel._exchanges[ExchangedTensor], "step", step)

    fail(RuntimeError("what a library says of an array that it cannot describe"))
    kernel(u, v)
    fail(MemoryError())
    with pytest.raises(MemoryError):
        kernel(u, v)


@pytest.mark.parametrize("kind", KINDS)
def test_runs_and_regions_go_the_short_way_too(kind, libraries, made):
    kernel = st.lookup("u_next = u[x-1] + 0.5*u; ", like=kind(made(shape=(2, 4, 32))))
    for _ in range(2):
        first = made(shape=(2, 4, 32))
        arrays = [kind(first), kind(made(shape=(2, 4, 32)))]
        wanted = first.copy()
        for _ in range(3):
            wanted[..., 1:] = wanted[..., :-1] + 0.5 * wanted[..., 1:]
        after = kernel.advance(arrays, steps=3)
        assert after is arrays[0]
        numpy.testing.assert_array_equal(after.host, wanted)
        u, v = made(shape=(2, 4, 32)), made(shape=(2, 4, 32))
        v[...] = 0
        kernel.update_regions(kind(u), kind(v), regions=kernel.prepared_regions([numpy.s_[:, 1:3, :]]))
        assert v[:, 1:3, 1:].any() and not v[:, 0].any() and not v[:, 3].any()


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_fit_is_refused_after_calls_that_did(kind, libraries, made, gpus):
    kernel = st.lookup(st.stencil(SUM, rank=2), like=kind(made()))
    u, v = kind(made()), kind(made())
    for _ in range(2):
        kernel(u, v)
    before = gpus.count("launch")
    cases = [(kind(made(numpy.float64)), "cells of f64"), (kind(made(shape=(6, 33))), r"shape \(6, 33\)"),
             (kind(made(shape=(6, 64))[:, :32]), "64 cells from one row"), (kind(made(shape=(6, 64))[:, ::2]), "neighbours"),
             (kind(made(device=1), device=1), "is in GPU 1"), (kind(gpus.own(made(), -1)), "no device memory")]
    if kind is not Array:
        cases.append((kind(made(), requires_grad=True), "requires a gradient"))
    for wrong, match in cases:
        for given in ((wrong, v), (u, wrong)):
            with pytest.raises(st.ArgumentError, match=match):
                kernel(*given)
    with pytest.raises(st.ArgumentError, match="overlap"):
        kernel(u, u)
    assert gpus.count("launch") == before
    kernel(u, v)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_two_libraries_in_one_call(kind, libraries, made):
    u, v = made(), made()
    kernel = st.lookup(st.stencil(SUM, rank=2), like=kind(u))
    for _ in range(2):
        kernel(kind(u), kind(v))
        v[...] = 0
        kernel(kind(u), Array(v))
        numpy.testing.assert_array_equal(v[:-1, 1:], u[:-1, :-1] + 10 * u[1:, 1:])


def test_jaxs_arrays_are_read_and_never_written(made):
    u, v = made(), made()
    kernel = st.lookup(st.stencil(SUM, rank=2), like=JaxArray(u))
    kernel(JaxArray(u), DlpackArray(v))
    numpy.testing.assert_array_equal(v[:-1, 1:], u[:-1, :-1] + 10 * u[1:, 1:])
    with pytest.raises(st.ArgumentError, match="v is a JAX array, which must not be written to.*stencil_tune.jax"):
        kernel(DlpackArray(u), JaxArray(v))
