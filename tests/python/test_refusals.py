"""What does not fit is refused with a message, before anything is launched."""

import ctypes
import os
import threading

import numpy
import pytest
from device_arrays import CudaArray, DlpackArray, aligned

import stencil_tune as st

SHAPE = (6, 32)


@pytest.fixture
def made(gpus):
    def make(dtype=numpy.float32, shape=SHAPE, device=0):
        return gpus.own(aligned(numpy.zeros(shape, dtype)), device)

    return make


@pytest.fixture
def kernel(made):
    return st.lookup("heat2d", like=DlpackArray(made()))


@pytest.fixture
def refuses(kernel, made, gpus):
    def check(array, match, good_kind=CudaArray):
        before = gpus.count("launch")
        with pytest.raises(st.ArgumentError, match=match):
            kernel(array, good_kind(made()))
        assert gpus.count("launch") == before

    return check


def test_another_type(refuses, made):
    refuses(CudaArray(made(numpy.float64)), "u has cells of f64, the kernel was looked up for f32")
    refuses(CudaArray(made(numpy.int16)), "u has cells of i16, the kernel was looked up for f32")
    refuses(CudaArray(made(numpy.complex64)), "type <c8.*f64, f32 and f16")
    refuses(DlpackArray(made(numpy.int16), code=7), "type 7 with 16 bits")
    refuses(CudaArray(made(numpy.int32)), "cells of i32, the kernel")  # which fields with a storage type take
    refuses(DlpackArray(made(numpy.int32), code=0), "cells of i32")
    refuses(CudaArray(made(numpy.float32), mask=CudaArray(made())), "mask")


def test_another_shape_or_layout(refuses, made):
    refuses(CudaArray(made(shape=(6, 33))), r"shape \(6, 33\).*looked up for \(6, 32\)")
    refuses(CudaArray(made(shape=(2, 6, 32))), r"3 axes, the stencil has 2.*\[y, x\]")
    refuses(CudaArray(made(shape=(32, 6)).T), "last axis, x.*Fortran order.*[.]T, is indexed so and needs no copy")
    refuses(CudaArray(made(shape=(6, 64))[:, :32]), "64 cells from one row to the next.*look it up like this")
    refuses(CudaArray(made(shape=(6, 64))[:, ::2]), "must be neighbours.*ascontiguousarray")


def test_planes_that_no_pitch_describes(made):
    with pytest.raises(st.ArgumentError, match="planes evenly apart"):
        st.lookup("heat3d", like=CudaArray(made(shape=(4, 8, 16))[:, :4]))


def test_another_place(refuses, made):
    refuses(numpy.zeros(SHAPE, numpy.float32), "u is in host memory.*device=\"cpu\"")
    refuses(DlpackArray(made(device=1), device=1), "u is in GPU 1, the kernel was looked up for GPU 0")
    refuses(CudaArray(made(device=1)), "memory of GPU 1, which GPU 0 does not reach")
    refuses(DlpackArray(made(), kind=10), "device type 10")
    refuses(object(), "type object is given, where kernels take arrays")
    with pytest.raises(st.ArgumentError, match="host memory.*device=\"cpu\""):
        st.lookup("heat2d", like=numpy.zeros(SHAPE))


def test_freed_arrays(refuses, gpus):
    freed = aligned(numpy.zeros(SHAPE, numpy.float32))
    refuses(CudaArray(gpus.own(freed, device=-1)), "no device memory, which GPU 0 does not reach")
    refuses(CudaArray(gpus.own(aligned(numpy.zeros(SHAPE, numpy.float32))), data=(0, False)), "null")


def test_overlap_and_read_only(kernel, made):
    u = made()
    with pytest.raises(st.ArgumentError, match="overlap"):
        kernel(CudaArray(u), CudaArray(u))
    for out in (CudaArray(made(), read_only=True), DlpackArray(made(), versioned=1)):
        with pytest.raises(st.ArgumentError, match="u_next is read-only"):
            kernel(CudaArray(u), out)
    with pytest.raises(st.ArgumentError, match="u is read-only"):
        kernel.advance([CudaArray(u, read_only=True), CudaArray(made())], steps=1)
    kernel(CudaArray(u, read_only=True), CudaArray(made()))


def test_grids_are_said_once():
    with pytest.raises(st.ArgumentError, match="say the grid once"):
        st.lookup("heat2d")
    with pytest.raises(st.ArgumentError, match="3 extents: stencil 'heat2d' has 2 axes"):
        st.lookup("heat2d", dims=(1, 2, 3))
    with pytest.raises(st.ArgumentError, match=r"like is \(32, 6\): an array is needed; dims=\(nx, ny, nz\)"):
        st.lookup("heat2d", (32, 6))
    with pytest.raises(st.ArgumentError, match="device is 0 and gpu is 'h200'"):
        st.lookup("heat2d", dims=64, device=0, gpu="h200")
    with pytest.raises(st.ArgumentError, match="^gpu 'h2000' is none that is known or has won; did you mean 'h200'"):
        st.lookup("heat2d", dims=64, gpu="h2000")
    with pytest.raises(st.ArgumentError, match="int32"):
        st.lookup("heat2d", dims=64, dtype=numpy.int32)
    with pytest.raises(st.ArgumentError, match="cells of f32, f64"):
        st.lookup("heat2d", like=CudaArray(aligned(numpy.zeros(SHAPE, numpy.float32))), dtype="float64")
    assert st.lookup("heat2d", shape=SHAPE).dims == st.lookup("heat2d", dims=SHAPE[::-1]).dims


def test_the_librarys_messages_have_pythons_words(tmp_path):
    other = tmp_path / "winners.db"
    other.write_text("no database")
    with pytest.raises(st.Error, match="nothing was changed; name another file with database=$"):
        st.lookup("heat2d", dims=64, database=other)


def test_a_grid_of_which_boundary_hold_keeps_every_cell():
    """As the command line, which has nothing to tune there."""
    for device in (0, "cpu"):
        with pytest.raises(st.ArgumentError, match="4x4x4: nothing to update, boundary hold keeps every cell") as error:
            st.lookup("star3d4r", dims=4, device=device)
        assert error.value.code == "nothing_to_update"
    assert st.lookup("star3d4r", dims=4, boundary="zero").dims == (4, 4, 4)


def test_a_kernel_for_a_named_gpu_is_read_not_run(made, tmp_path):
    kernel = st.lookup("star3d1r", dims=512, steps=100, gpu="h200")
    assert kernel.device is None and kernel.match in ("exact", "stale") and kernel.fused_steps > 1
    assert kernel.evidence.gpu == "NVIDIA H200" and kernel.evidence.tuned_extents == (512, 512, 512)
    assert "__global__" in kernel.source()
    kernel.export(tmp_path / "star.cu")
    assert "cudaError_t star(" in (tmp_path / "star.cu").read_text()
    assert "cudaError_t sweep(" in kernel.export(name="sweep")
    with pytest.raises(st.Error, match="NVIDIA H200") as error:
        kernel.prepare()
    assert error.value.code == "no_device"


def test_the_evidence_of_a_run_is_that_of_what_makes_it():
    yee = st.lookup("yee3d", dims=512, steps=100, gpu="h200")
    evidence, stage = yee.evidence, yee.evidence_of(0)
    assert evidence.match == yee.match and evidence.fused_steps == yee.fused_steps and stage.fused_steps == 1
    assert evidence.code != stage.code and evidence.gstencils > stage.gstencils > 0
    assert f"{evidence.gstencils:.1f} GStencil/s" in str(evidence)
    heat = st.lookup("heat3d", dims=512, steps=100, gpu="h200")
    assert heat.evidence == heat.evidence_of(0)
    stages = st.lookup("elastic3d", dims=512, steps=100, gpu="h200")
    rates = [stages.evidence_of(stage).gstencils for stage in (0, 1)]
    assert min(rates) > 0 and stages.evidence.gstencils == pytest.approx(1 / sum(1 / rate for rate in rates))
    assert f"{stages.evidence.gstencils:.1f} GStencil/s" in str(stages.evidence)


def test_streams(kernel, made, gpus):
    class Torch:
        cuda_stream = 0x51

    class Cupy:
        ptr = 0x52

    class Protocol:
        def __cuda_stream__(self):
            return 0, 0x53

    class Numba:
        handle = ctypes.c_void_p(0x55)

    u, v = made(), made()
    calls = "synchronize_stream", "synchronize_context", "copy_to_device", "copy_on_device", "copy_to_host", "allocate"
    before = [gpus.count(call) for call in calls]
    for stream, address in ((Torch(), 0x51), (Cupy(), 0x52), (Protocol(), 0x53), (0x54, 0x54), (Numba(), 0x55)):
        array = DlpackArray(u)
        kernel(array, CudaArray(v), stream=stream)
        assert gpus.stream == address and array.asked_for == [address]
    kernel(CudaArray(u, stream=0x60), CudaArray(v))
    assert gpus.stream == 0x60, "what the array announces"
    kernel(DlpackArray(u), CudaArray(v))
    assert gpus.stream == 0
    with pytest.raises(st.ArgumentError, match="different streams"):
        kernel(CudaArray(u, stream=0x60), CudaArray(v, stream=0x61))
    with pytest.raises(st.ArgumentError, match="no stream"):
        kernel(CudaArray(u), CudaArray(v), stream="default")
    assert [gpus.count(call) for call in calls] == before, "nothing waits, nothing is copied"


def test_two_gpus_and_contexts(made, gpus):
    for device in (0, 1):
        u, v = (DlpackArray(made(device=device), device=device) for _ in range(2))
        kernel = st.lookup("heat2d", like=u)
        assert kernel.device == device
        kernel(u, v)
        assert gpus.current == -1, "no context was current, and none is"


def test_threads(kernel, made):
    failures = []

    def work(seed):
        try:
            u = CudaArray(made())
            u.host[...] = seed
            v = CudaArray(made())
            for _ in range(20):
                kernel(u, v)
            assert (v.host[1:-1, 1:-1] == seed).all()
            with pytest.raises(st.ArgumentError):
                kernel(u, u)
            for shift in range(1, 4):  # stencils are read and looked up at once
                line = st.stencil(f"v = a*u[x-{shift}]; a = {seed + 2}", rank=2)
                st.lookup(line, like=u, boundary="periodic")(u, v)
                assert (v.host == (seed + 2) * seed).all()
        except BaseException as error:  # whatever it is: the thread would hide it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_forked_child_is_told(kernel, made):
    u, v = CudaArray(made()), CudaArray(made())
    kernel(u, v)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            kernel(u, v)
            os.write(write, b"launched")
        except st.Error as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    assert b"forked" in os.read(read, 1000)
    os.close(read)
