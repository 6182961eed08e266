"""GPUs made of the CPU (on_host.cpp): the package is loaded with them, and arrays of NumPy become device arrays."""

import ctypes
import os
import pathlib
import tempfile

import numpy
import pytest
from device_arrays import CudaArray, aligned

# Before the package is imported; children inherit it.
_scratch = tempfile.TemporaryDirectory(prefix="stencil_tune-")
os.environ["XDG_DATA_HOME"] = _scratch.name
os.environ.pop("STENCIL_TUNE_DB", None)
os.environ["STENCIL_TUNE_CACHE"] = str(pathlib.Path(_scratch.name) / "cache")
ON_HOST = os.environ["STENCIL_TUNE_ON_HOST"]
os.environ["STENCIL_TUNE_LIBRARY"] = ON_HOST


class Gpus:
    """What the GPUs that are made of the CPU were asked for."""

    def __init__(self):
        self.library = ctypes.CDLL(ON_HOST)
        self.library.on_host_own.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
        self.library.on_host_stream.restype = ctypes.c_size_t

    def own(self, array, device=0):
        """The array's memory becomes the GPU's."""
        base = array if array.base is None else array.base
        self.library.on_host_own(base.ctypes.data, base.nbytes, device)
        return array

    def count(self, call):
        return self.library.on_host_count(call.encode())

    @property
    def stream(self):
        """The stream of the last launch."""
        return self.library.on_host_stream()

    @property
    def current(self):
        """The GPU whose context is current on this thread, else -1."""
        return self.library.on_host_current()


@pytest.fixture(scope="session")
def gpus():
    return Gpus()


@pytest.fixture(params=["reference", "GPU"])
def where(request, gpus):
    """device= of a lookup, and the function that puts an array there."""
    if request.param == "reference":
        return "cpu", numpy.array
    return 0, lambda values: CudaArray(gpus.own(aligned(values)))
