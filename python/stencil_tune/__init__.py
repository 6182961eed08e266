"""stencil-tune: the fastest CUDA kernel for a stencil on your GPU, on your arrays.

>>> import stencil_tune as st
>>> heat = st.stencil("u_next = u + alpha*laplacian(u); alpha = 0.1", rank=3)
>>> best = st.tune(heat, dims=(512, 512, 512), steps=100, budget=60)           # doctest: +SKIP
>>> kernel = st.lookup(heat, like=u, steps=100)                                # doctest: +SKIP
>>> kernel(u, u_next)                                                          # doctest: +SKIP
>>> u = kernel.advance([u, u_next], steps=1000)                                # doctest: +SKIP

Arrays are in C order, indexed [z, y, x]: x is the last axis. They may be of PyTorch, CuPy, numba, or whatever has
__dlpack__ or __cuda_array_interface__. Work is asynchronous on their library's current stream; nothing is copied.
docs/python.md has more.
"""

from ._arguments import Evidence
from ._checkpoint import load_run, save_run
from ._errors import ArgumentError, DefinitionError, Error
from ._kernel import Kernel
from ._lookup import lookup
from ._user_kernel import UserKernelArgument, UserKernel, kernel
from ._points import Points
from ._stencil import Stencil, stencil
from ._tune import TuningReport, tune
from ._version import version

__version__ = version()
__all__ = [
    "ArgumentError", "DefinitionError", "Error", "Evidence", "Kernel", "UserKernelArgument", "UserKernel", "Points", "Stencil",
    "TuningReport", "kernel", "load_run", "lookup", "save_run", "stencil", "tune",
]
