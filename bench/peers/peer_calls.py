"""python_peers.py --calls: what a call from Python takes on the host, beside what the driver takes for its parts."""

import ctypes
import statistics
import time

import torch

from peer_clock import DEVICE, ON_GPU, fastest_lookup

import stencil_tune as st
import stencil_tune.torch as stt

CALLS, SAMPLES = 200, 50


def microseconds(call):
    """Of one call on the host, while the GPU follows: the median of samples."""
    found = []
    for _ in range(SAMPLES if ON_GPU else 1):
        if ON_GPU:
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(CALLS if ON_GPU else 1):
            call()
        found.append((time.perf_counter() - start) / CALLS * 1e6)
    return statistics.median(found)


def driver_calls(tensor, function):
    """What a launch on two arrays asks of the driver, each call through ctypes; the first shows what ctypes itself takes."""
    driver = ctypes.CDLL("libcuda.so.1")
    context, ordinal, nothing = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_void_p()
    address, device_ordinal = ctypes.c_uint64(tensor.data_ptr()), 9
    handle = ctypes.c_void_p(function)
    return {
        "driver: cuDriverGetVersion": lambda: driver.cuDriverGetVersion(ctypes.byref(ordinal)),
        "driver: cuCtxGetCurrent": lambda: driver.cuCtxGetCurrent(ctypes.byref(context)),
        "driver: cuCtxGetDevice": lambda: driver.cuCtxGetDevice(ctypes.byref(ordinal)),
        "driver: cuPointerGetAttribute": lambda: driver.cuPointerGetAttribute(ctypes.byref(ordinal), device_ordinal, address),
        "driver: cuLaunchKernel, empty": lambda: driver.cuLaunchKernel(handle, 1, 1, 1, 32, 1, 1, 0, nothing, nothing, nothing),
    }


# An operator of the signature of `run_one` that makes its result and nothing else: what PyTorch's dispatch takes.
_floor = torch.library.Library("stencil_tune_floor", "DEF")
_floor.define("run_one(Tensor field, Tensor? coefficients, str stencil, str boundary, int steps) -> Tensor")
for _device in ("CPU", "CUDA"):
    _floor.impl("run_one", lambda field, *_: torch.empty_like(field), _device)


def calls(_options, write):
    stencil = st.stencil("u_next = u + a*laplacian(u); a = 0.1", rank=2)
    u = torch.rand(64, 64, device=DEVICE)
    v = u.clone()
    kernel, wrapped = fastest_lookup(stencil, u, 1), fastest_lookup(stencil, u, 1, boundary="periodic")
    alpha = torch.tensor([0.1], dtype=torch.float64)
    named = {"a": 0.2}
    run_one, empty_one = torch.ops.stencil_tune.run_one, torch.ops.stencil_tune_floor.run_one
    cases = {
        "kernel(u, u_next), PyTorch": lambda: kernel(u, v),
        "kernel(u, u_next, coefficients=...)": lambda: kernel(u, v, coefficients=named),
        "kernel.advance, 2 steps, periodic": lambda: wrapped.advance([u, v], steps=2),
        # Nothing of PyTorch watches these calls, so that they are no operators; those below are.
        "stt.step, periodic": lambda: stt.step(stencil, u, boundary="periodic"),
        "stt.step, hold": lambda: stt.step(stencil, u),
        "stt.step, periodic, coefficients": lambda: stt.step(stencil, u, boundary="periodic", coefficients=alpha),
        "stt.step, hold, coefficients": lambda: stt.step(stencil, u, coefficients=alpha),
        "custom operator, periodic": lambda: run_one(u, None, stencil._written, "periodic", 1),
        "custom operator, hold": lambda: run_one(u, None, stencil._written, "hold", 1),
        "custom operator, periodic, coefficients": lambda: run_one(u, alpha, stencil._written, "periodic", 1),
    }
    cases["an operator that launches nothing"] = lambda: empty_one(u, None, stencil._written, "periodic", 1)
    cases["torch.empty_like(u)"] = lambda: torch.empty_like(u)
    if ON_GPU:
        cases["torch.add(u, v, out=v)"] = lambda: torch.add(u, v, out=v)
        cases["torch.roll(u, 1)"] = lambda: torch.roll(u, 1)
        try:
            import cupy

            a, b = cupy.from_dlpack(u), cupy.from_dlpack(v)
            empty = cupy.RawKernel('extern "C" __global__ void empty() {}', "empty")
            two = cupy.RawKernel('extern "C" __global__ void two(const float* a, float* b) {}', "two")
            cases["kernel(u, u_next), CuPy"] = lambda: kernel(a, b)
            cases["an empty kernel of CuPy"] = lambda: empty((1,), (32,), ())
            cases["the same with two arrays"] = lambda: two((1,), (32,), (a, b))
            empty((1,), (32,), ())
            cases.update(driver_calls(u, empty.kernel.ptr))
        except ImportError as error:
            print(f"  CuPy: {error}")
    found = {}
    for name, call in cases.items():
        try:
            call()
            found[name] = microseconds(call)
            print(f"{name:<38} {found[name]:6.2f} us", flush=True)
        except Exception as error:  # of one case: the others go on
            print(f"{name:<38} failed: {error}", flush=True)
    write({"section": "calls", "microseconds": found})
