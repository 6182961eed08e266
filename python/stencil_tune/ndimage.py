"""Filters of cupyx.scipy.ndimage by tuned kernels: convolve, correlate, laplace, uniform_filter, gaussian_filter.

Arguments, modes and results are theirs, for arrays of CuPy with cells of f64, f32 or f16; what kernels do not have is
refused. Weights are coefficients of a kernel: another filter of the same size compiles nothing. Modes "mirror",
"nearest", "wrap" and "constant" with cval 0 are boundaries of the kernels; "reflect" and other cvals take a padded copy
of the input. Arrays of NumPy go through the reference, which is slow.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, Sequence

from . import _arrays
from ._errors import ArgumentError
from ._lookup import kernel_for
from ._stencil import Stencil, stencil

__all__ = ["convolve", "correlate", "gaussian_filter", "laplace", "uniform_filter"]

_BOUNDARIES = {"mirror": "reflect", "nearest": "clamp", "wrap": "periodic", "grid-wrap": "periodic",
               "constant": "zero", "grid-constant": "zero"}
_PADDED = {"reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant"}
_AXES = "zyx"
_MOST_TAPS = 1024


def correlate(input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: float = 0.0,
              origin: int | Sequence[int] = 0) -> Any:
    """out[i] = sum over j of weights[j] * input[i + j - shape // 2 - origin]; cupyx.scipy.ndimage.correlate."""
    module = _module_of(input)
    values = module.asarray(weights, dtype="float64")
    if values.ndim != input.ndim:
        raise ArgumentError(f"weights of {values.ndim} axes for an input of {input.ndim}")
    values = values.get() if hasattr(values, "get") else values
    origins = _each(origin, input.ndim, "origin")
    first = [-(size // 2 + shift) for size, shift in zip(values.shape, origins)]
    taps = {tuple(int(i) + low for i, low in zip(index, first)): float(values[index])
            for index in _indices(values.shape)}
    return _filter(input, taps, output, mode, cval)


def convolve(input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: float = 0.0,
             origin: int | Sequence[int] = 0) -> Any:
    """The same with the weights mirrored; cupyx.scipy.ndimage.convolve."""
    values = _module_of(input).asarray(weights)
    origins = [-shift - (1 - size % 2) for size, shift in zip(values.shape, _each(origin, values.ndim, "origin"))]
    return correlate(input, values[(slice(None, None, -1),) * values.ndim], output, mode, cval, origins)


def laplace(input: Any, output: Any = None, mode: str = "reflect", cval: float = 0.0) -> Any:
    """The sum of second differences; cupyx.scipy.ndimage.laplace."""
    _module_of(input)
    taps = {(0,) * input.ndim: -2.0 * input.ndim}
    for axis in range(input.ndim):
        for side in (-1, 1):
            taps[tuple(side if other == axis else 0 for other in range(input.ndim))] = 1.0
    return _filter(input, taps, output, mode, cval)


def uniform_filter(input: Any, size: int | Sequence[int] = 3, output: Any = None, mode: str = "reflect",
                   cval: float = 0.0, origin: int | Sequence[int] = 0) -> Any:
    """The mean of a box, axis by axis; cupyx.scipy.ndimage.uniform_filter."""
    _module_of(input)
    lines = [[1 / count] * count for count in _each(size, input.ndim, "size")]
    return _line_by_line(input, lines, _each(origin, input.ndim, "origin"), output, mode, cval)


def gaussian_filter(input: Any, sigma: float | Sequence[float], order: int = 0, output: Any = None,
                    mode: str = "reflect", cval: float = 0.0, truncate: float = 4.0) -> Any:
    """Weights exp(-x^2 / (2 sigma^2)) up to truncate * sigma, axis by axis; cupyx.scipy.ndimage.gaussian_filter."""
    if order != 0:
        raise ArgumentError(f"gaussian_filter of order {order}: kernels here are of order 0")
    _module_of(input)
    lines = []
    for deviation in _each(sigma, input.ndim, "sigma"):
        radius = int(truncate * float(deviation) + 0.5) if deviation > 1e-15 else 0
        line = [math.exp(-0.5 * (x / deviation)**2) if radius else 1.0 for x in range(-radius, radius + 1)]
        lines.append([weight / sum(line) for weight in line])
    return _line_by_line(input, lines, [0] * input.ndim, output, mode, cval)


# ---- the parts -----------------------------------------------------------------------------------------------------

def _module_of(array: Any) -> Any:
    """cupy, or numpy for arrays in host memory."""
    root = type(array).__module__.partition(".")[0]
    if root not in ("cupy", "numpy"):
        raise ArgumentError(f"a {type(array).__name__}: these filters take arrays of CuPy")
    return sys.modules[root]


def _each(value: Any, count: int, name: str) -> list:
    values = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(values) != count:
        raise ArgumentError(f"{len(values)} values of {name} for {count} axes")
    return values


def _indices(shape: Sequence[int]):
    index: list[tuple[int, ...]] = [()]
    for size in shape:
        index = [(*before, i) for before in index for i in range(size)]
    return index


def _line_by_line(input: Any, lines: Sequence[Sequence[float]], origins: Sequence[int], output: Any, mode: str,
                  cval: float) -> Any:
    """One sweep for each axis whose line has more than one weight."""
    work = [axis for axis, line in enumerate(lines) if len(line) > 1]
    result = input
    for axis in work or [0]:
        line, low = lines[axis], -(len(lines[axis]) // 2 + origins[axis])
        taps = {tuple(i + low if other == axis else 0 for other in range(input.ndim)): weight
                for i, weight in enumerate(line)}
        result = _filter(result, taps, output if axis == (work or [0])[-1] else None, mode, cval)
    return result


def _filter(input: Any, taps: dict[tuple[int, ...], float], output: Any, mode: str, cval: float) -> Any:
    """The weighted sum of taps, each an offset from z on."""
    module = _module_of(input)
    if not 1 <= input.ndim <= 3:
        raise ArgumentError(f"an input of {input.ndim} axes: kernels have 1 to 3")
    if len(taps) > _MOST_TAPS:
        raise ArgumentError(f"{len(taps)} weights: {_MOST_TAPS} at most, or a filter for each axis")
    _arrays.dtype_name(input.dtype)
    if isinstance(output, (str, type)) or (output is not None and not hasattr(output, "shape")):
        raise ArgumentError("output: an array, or None for a new one of the input's type")
    result = module.empty(input.shape, input.dtype) if output is None else output
    array = module.ascontiguousarray(input)
    if mode in _BOUNDARIES and (cval == 0 or not mode.endswith("constant")):
        _launch(array, taps, result, _BOUNDARIES[mode])
        return result
    if mode not in _PADDED:
        raise ArgumentError(f"mode '{mode}': " + ", ".join(dict.fromkeys([*_PADDED, *_BOUNDARIES])), "unknown_name")
    reach = [(max(0, -min(tap[axis] for tap in taps)), max(0, max(tap[axis] for tap in taps)))
             for axis in range(input.ndim)]
    more = {"constant_values": cval} if _PADDED[mode] == "constant" else {}
    padded = module.pad(array, reach, mode=_PADDED[mode], **more)
    whole = module.empty_like(padded)
    _launch(padded, taps, whole, "zero")
    result[...] = whole[tuple(slice(low, low + size) for (low, _), size in zip(reach, input.shape))]
    return result


def _launch(array: Any, taps: dict[tuple[int, ...], float], result: Any, boundary: str) -> None:
    offsets = tuple(sorted(taps))
    weighted = _stencil_of(offsets)
    kernel = kernel_for(weighted, [array, result], boundary)
    kernel(array, result, coefficients={f"c{i}": taps[offset] for i, offset in enumerate(offsets)})


@functools.lru_cache(maxsize=256)
def _stencil_of(offsets: tuple[tuple[int, ...], ...]) -> Stencil:
    """The sum of these taps, each with a coefficient of its own."""
    rank = len(offsets[0])
    terms, clauses = [], []
    for i, offset in enumerate(offsets):
        read = ", ".join(f"{axis}{cells:+d}" for axis, cells in zip(_AXES[3 - rank:], offset) if cells)
        terms.append(f"c{i}*u" + (f"[{read}]" if read else ""))
        clauses.append(f"c{i} = {1 / len(offsets)!r}")
    return stencil(f"v = {' + '.join(terms)}; " + "; ".join(clauses), rank=rank)
