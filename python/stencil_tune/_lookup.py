"""From a stencil and a grid to the best kernel known for them."""

from __future__ import annotations

import ctypes as c
import functools
import os
from typing import Any, Literal, Mapping, Sequence, overload

from . import _arrays, _library, _native, _values
from ._errors import ArgumentError
from ._kernel import Kernel
from ._reference import ReferenceKernel
from ._request import Grid, asked_grid, native_request
from ._stencil import Stencil

_MOST_KERNELS = 256
_MOST_ALIGNED = 256  # bytes; more helps no kernel


@overload
def lookup(stencil: Stencil | str | os.PathLike[str], like: Any = ..., *, device: Literal["cpu"],
           dims: int | Sequence[int] | None = ..., shape: Sequence[int] | None = ..., dtype: Any = ...,
           boundary: str | Mapping[str, str] = ..., steps: int = ..., pitch: int = ..., slabs: bool = ...,
           gpu: str | None = ..., race: float = ...,
           database: str | os.PathLike[str] | None = ...) -> ReferenceKernel: ...


@overload
def lookup(stencil: Stencil | str | os.PathLike[str], like: Any = ..., *, device: int | None = ...,
           dims: int | Sequence[int] | None = ..., shape: Sequence[int] | None = ..., dtype: Any = ...,
           boundary: str | Mapping[str, str] = ..., steps: int = ..., pitch: int = ..., slabs: bool = ...,
           gpu: str | None = ..., race: float = ..., database: str | os.PathLike[str] | None = ...) -> Kernel: ...


def lookup(stencil: Stencil | str | os.PathLike[str], like: Any = None, *, dims: int | Sequence[int] | None = None,
           shape: Sequence[int] | None = None, dtype: Any = None, boundary: str | Mapping[str, str] = "hold",
           steps: int = 1, pitch: int = 0, slabs: bool = False, device: int | str | None = None, gpu: str | None = None,
           race: float = 0, database: str | os.PathLike[str] | None = None) -> Kernel | ReferenceKernel:
    """The best kernel known for a stencil on a grid. Compiles nothing yet.

    Args:
        stencil: what stencil() made, or what it takes.
        like: an array that says the grid: extents, pitch, type and GPU are its own, and kernels may count on its
            alignment. Where fields have storage types, the type is the definition's, else that of an array of floating
            point, else f32. Or, in its place,
        dims: (nx, ny, nz) in cells, or one number for each axis; or
        shape: (nz, ny, nx), as arrays have it.
        dtype: "f32", "float64", torch.bfloat16, ...; the array's own, else the definition's, else f32.
        boundary: "hold", "zero", "clamp", "periodic", "reflect", or by axis: "x=periodic,y=hold", {"x": "periodic"}.
        steps: of a typical advance(): from 2 on, kernels may fuse some in one launch.
        pitch: cells from one row to the next; 0: the array's, else dense rows.
        slabs: arrays of fields in layers hold these alone, the low slab and then the high one: kernel.shape_of("psi").
        device: ordinal of the GPU; "cpu": the reference on the CPU, for teaching and tests, slow; None: the array's,
            else the one of the current CUDA context.
        gpu: in place of a GPU that is here, one by name, such as "h200" or "sm_90": to be read and exported.
        race: seconds for which the GPU first times the best few candidates where nobody tuned just this; the fastest is
            kept in the database. 0: what STENCIL_TUNE_RACE says ("2s"), else none. A note of the evidence says what came
            of it.
        database: of winners; None: STENCIL_TUNE_DB, else the user's data folder. Winners that ship count too.

    Raises:
        ArgumentError: what is asked for does not fit together, or the array is in host memory without device="cpu".
        Error: there is no such GPU, driver or database.
    """
    chosen, grid, layout = asked_grid(stencil, like=like, dims=dims, shape=shape, dtype=dtype, boundary=boundary,
                                      steps=steps, pitch=pitch, slabs=slabs)
    race = _values.finite(race, "race")
    if isinstance(device, str):
        if device != "cpu":
            raise ArgumentError(f"device '{device}': an ordinal, or \"cpu\" for the reference")
        return ReferenceKernel(chosen, grid, layout)
    ordinal = _device_of(layout, device if device is None else _values.ordinal(device))
    if gpu is not None and device is not None:
        raise ArgumentError(f"device is {device} and gpu is '{gpu}': a GPU that is here or one by its name, not both")
    alignment = alignment_of(layout) if layout is None else alignment_like(chosen, grid.dtype, layout)
    return _look_up(chosen, grid, -1 if gpu is not None else ordinal, alignment, gpu, database, race)


def lookup_like(stencil: Stencil, layout: _arrays.Layout, boundary: str, steps: int,
                slabs: bool = False) -> Kernel | ReferenceKernel:
    """The same for an array that was read before; the reference where it is in host memory."""
    extents, pitch = _arrays.grid_of(layout, stencil.rank, "the array")
    grid = Grid(extents, pitch, layout.dtype, boundary, steps, slabs)
    if layout.device == _arrays.HOST:
        return ReferenceKernel(stencil, grid, layout)
    return _look_up(stencil, grid, _device_of(layout, None), alignment_of(layout))


def _look_up(stencil: Stencil, grid: Grid, device: int, alignment: int, gpu: str | None = None,
             database: str | os.PathLike[str] | None = None, race: float = 0) -> Kernel:
    if gpu is None:
        _native.use_gpu()
    native = _native.library()
    request = native_request(stencil, grid, device=device, alignment=max(alignment, widest_cell(stencil, grid.dtype)),
                             gpu=_values.text(gpu, "gpu").encode() if gpu is not None else None, race_s=race)
    handle = native.handle(native.lookup, _library.handle_of(database), c.byref(request))
    if race:
        _library.renew()
    return Kernel(stencil, grid, handle)


def _device_of(layout: _arrays.Layout | None, device: int | None) -> int:
    """-1: of the current context."""
    if layout is None or layout.device is None:
        return -1 if device is None else device
    if layout.device == _arrays.HOST:
        raise ArgumentError("the array is in host memory: put it on a GPU, or look up the reference with "
                            "device=\"cpu\", which is slow")
    if device is not None and device != layout.device:
        raise ArgumentError(f"the array is on GPU {layout.device}, GPU {device} was asked for")
    return layout.device


def alignment_of(layout: _arrays.Layout | None) -> int:
    """What the addresses of arrays like this are multiples of, as far as it helps."""
    if layout is None or layout.address == 0:
        return _MOST_ALIGNED
    return min(layout.address & -layout.address, _MOST_ALIGNED)


def widest_cell(stencil: Stencil, dtype: str) -> int:
    """Bytes of the widest cells among the fields of a problem of that type, by which alignments count."""
    return max(_arrays.BYTES[stencil.storages.get(name, dtype)] for name in stencil.fields)


def alignment_like(stencil: Stencil, dtype: str, layout: _arrays.Layout) -> int:
    """The same where fields may have storage types: as many cells as this array's alignment has, of the widest."""
    return alignment_of(layout) * widest_cell(stencil, dtype) // _arrays.BYTES[layout.dtype]


@functools.lru_cache(maxsize=_MOST_KERNELS)
def _kernel_for(stencil: Stencil, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, device: int | None,
                boundary: str, steps: int, alignment: int, slabs: bool, generation: int) -> Any:
    # An address stands for its alignment, so that kernels of all arrays alike are one.
    layout = _arrays.Layout(alignment, shape, strides, dtype, device)
    return lookup_like(stencil, layout, boundary, steps, slabs)


def kernel_like(stencil: Stencil, layout: _arrays.Layout, boundary: str, steps: int, alignment: int,
                slabs: bool = False) -> Any:
    """The kernel for arrays of a layout and alignment. Found again in a microsecond, until something else is tuned."""
    return _kernel_for(stencil, layout.shape, layout.strides, layout.dtype, layout.device, boundary, steps, alignment,
                       slabs, _library.generation)


def kernel_for(stencil: Stencil, arrays: Sequence[Any], boundary: str, steps: int = 1, slabs: bool = False) -> Any:
    """The same for arrays like these, the first one of the whole grid; the reference where they are in host memory."""
    layout, *others = [_arrays.read(array) for array in arrays]
    alignment = min(map(alignment_of, (layout, *others)))
    return kernel_like(stencil, layout, boundary, steps, alignment, slabs)


def kernel_of_stored(stencil: Stencil, arrays: Sequence[Any], dtype: str, boundary: str) -> Any:
    """The same of a stencil whose fields have storage types, which computes in another type."""
    layouts = [_arrays.read_any(array) for array in arrays]
    alignment = min(alignment_like(stencil, dtype, layout) for layout in layouts)
    return kernel_like(stencil, layouts[0]._replace(dtype=dtype), boundary, 1, alignment)
