"""Filters of cupyx.scipy.ndimage by tuned kernels: convolve, correlate, laplace, uniform_filter, gaussian_filter.

Arguments, modes and results are theirs, for arrays of CuPy with cells of f64, f32, f16, u8, i8, u16, i16 or i32, of up to three
axes; what kernels do not have is refused. Sums over whole numbers are made in f64, and a result that is one is cut to it, as
theirs. Weights are coefficients of a kernel: another filter of the same size compiles nothing. Modes
"mirror", "nearest", "wrap" and "constant" with cval 0 are boundaries of the kernels; "reflect" and other cvals take a padded
copy of the input, for each axis by itself. `output` is an array or a type; one that is the input, or has cells of another
type, costs a copy. Arrays of NumPy go through the reference, which is slow.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, Sequence, Union

from . import _arrays, _values
from ._errors import ArgumentError
from ._lookup import kernel_for, kernel_of_stored
from ._request import boundary_text
from ._stencil import Stencil, stencil

__all__ = ["convolve", "correlate", "gaussian_filter", "laplace", "uniform_filter"]

_BOUNDARIES = {"mirror": "reflect", "nearest": "clamp", "wrap": "periodic", "grid-wrap": "periodic",
               "constant": "zero", "grid-constant": "zero"}
_PADDED = {"reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant"}
_AXES = "zyx"
_WHOLE_BITS = {"u8": 8, "i8": 8, "u16": 16, "i16": 16, "i32": 32}
_MOST_TAPS = 1024
Mode = Union[str, Sequence[str]]
Axes = Union[int, Sequence[int], None]


def correlate(input: Any, weights: Any, output: Any = None, mode: Mode = "reflect", cval: float = 0.0,
              origin: int | Sequence[int] = 0, *, axes: Axes = None) -> Any:
    """out[i] = sum over j of weights[j] * input[i + j - shape // 2 - origin]; cupyx.scipy.ndimage.correlate."""
    module, chosen = _module_of(input), _axes_of(input, axes)
    values = _weights(module, weights)
    if chosen != sorted(chosen):
        raise ArgumentError(f"axes {tuple(chosen)}: those of weights in order")
    if values.ndim != len(chosen) or values.size == 0:
        raise ArgumentError(f"weights of shape {values.shape} for {len(chosen)} axes")
    values = values.get() if hasattr(values, "get") else values
    first = [-(size // 2 + shift) for size, shift in zip(values.shape, _origins(origin, values.shape))]
    taps = {}
    for index in _indices(values.shape):
        tap = [0] * input.ndim
        for axis, i, low in zip(chosen, index, first):
            tap[axis] = i + low
        taps[tuple(tap)] = float(values[index])
    return _filter(input, taps, output, dict.fromkeys(chosen, _one_mode(mode)), cval)


def convolve(input: Any, weights: Any, output: Any = None, mode: Mode = "reflect", cval: float = 0.0,
             origin: int | Sequence[int] = 0, *, axes: Axes = None) -> Any:
    """The same with the weights mirrored; cupyx.scipy.ndimage.convolve."""
    values = _weights(_module_of(input), weights)
    origins = [-shift - (1 - size % 2) for size, shift in zip(values.shape, _origins(origin, values.shape))]
    return correlate(input, values[(slice(None, None, -1),) * values.ndim], output, mode, cval, origins, axes=axes)


def laplace(input: Any, output: Any = None, mode: Mode = "reflect", cval: float = 0.0, *, axes: Axes = None) -> Any:
    """The sum of second differences; cupyx.scipy.ndimage.laplace."""
    _module_of(input)
    chosen = _axes_of(input, axes)
    taps = {(0,) * input.ndim: -2.0 * len(chosen) if chosen else 1.0}
    for axis in chosen:
        for side in (-1, 1):
            taps[tuple(side if other == axis else 0 for other in range(input.ndim))] = 1.0
    return _filter(input, taps, output, dict(zip(chosen, _each(mode, len(chosen), "mode"))), cval)


def uniform_filter(input: Any, size: int | Sequence[int] = 3, output: Any = None, mode: Mode = "reflect",
                   cval: float = 0.0, origin: int | Sequence[int] = 0, *, axes: Axes = None) -> Any:
    """The mean of a box, axis by axis; cupyx.scipy.ndimage.uniform_filter. An axis of a size below 2 stays as it is."""
    _module_of(input)
    sizes = [max(1, _values.whole(count, "size", most=_MOST_TAPS))
             for count in _each(size, len(_axes_of(input, axes)), "size")]
    return _line_by_line(input, [[1.0] * count for count in sizes], _origins(origin, sizes), output, mode, cval, axes, sizes)


def gaussian_filter(input: Any, sigma: float | Sequence[float], order: int | Sequence[int] = 0, output: Any = None,
                    mode: Mode = "reflect", cval: float = 0.0, truncate: float = 4.0, *,
                    radius: int | Sequence[int] | None = None, axes: Axes = None) -> Any:
    """Weights exp(-x^2 / (2 sigma^2)) up to `radius`, else truncate * sigma, axis by axis;
    cupyx.scipy.ndimage.gaussian_filter."""
    _module_of(input)
    count = len(_axes_of(input, axes))
    if any(_values.whole(each, "order") for each in _each(order, count, "order")):
        raise ArgumentError(f"gaussian_filter of order {order}: kernels here are of order 0")
    lines = []
    for deviation, said in zip(_each(sigma, count, "sigma"), _each(radius, count, "radius")):
        deviation = _values.finite(deviation, "sigma")
        reach = int(_values.finite(truncate, "truncate") * deviation + 0.5) if said is None else said
        reach = _values.whole(reach, "radius", 0, _MOST_TAPS)
        reach = reach if deviation > 1e-15 else 0
        line = [math.exp(-0.5 * (x / deviation)**2) if reach else 1.0 for x in range(-reach, reach + 1)]
        lines.append([weight / sum(line) for weight in line])
    return _line_by_line(input, lines, [0] * count, output, mode, cval, axes)


# ---- what is asked for ---------------------------------------------------------------------------------------------

def _module_of(array: Any) -> Any:
    """cupy, or numpy for arrays in host memory."""
    root = type(array).__module__.partition(".")[0]
    if root not in ("cupy", "numpy"):
        _values.refuse(array, "input", "an array of CuPy is needed")
    return sys.modules[root]


def _weights(module: Any, given: Any) -> Any:
    return _values.array(given, "weights", lambda: module.asarray(given, dtype="float64"))


def _each(value: Any, count: int, name: str) -> list[Any]:
    """One for each axis, of one for all or of a sequence."""
    if isinstance(value, dict):
        _values.refuse(value, name, "one for all axes or a list of one for each is needed")
    is_one = isinstance(value, str) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0
    values = [value] * count if is_one else list(value)
    if len(values) != count:
        raise ArgumentError(f"{len(values)} values of {name} for {count} axes")
    return values


def _axes_of(input: Any, axes: Axes) -> list[int]:
    """Those that are filtered, from 0."""
    if not 1 <= input.ndim <= 3:
        raise ArgumentError(f"an input of {input.ndim} axes: kernels have 1 to 3")
    chosen = list(range(input.ndim))
    if axes is not None:
        chosen = [_values.whole(axis, "axes") for axis in _each(axes, _count(axes), "axes")]
    if any(not -input.ndim <= axis < input.ndim for axis in chosen):
        raise ArgumentError(f"axes {tuple(chosen)} of an input of {input.ndim}")
    chosen = [axis % input.ndim for axis in chosen]
    if len(set(chosen)) != len(chosen):
        raise ArgumentError(f"axes {tuple(chosen)}: each once")
    return chosen


def _count(values: Any) -> int:
    return len(values) if hasattr(values, "__len__") and getattr(values, "ndim", 1) != 0 else 1


def _one_mode(mode: Mode) -> str:
    if not isinstance(mode, str):
        raise ArgumentError(f"mode {mode}: weights that are no product of lines have one mode for all axes")
    return mode


def _origins(origin: Any, sizes: Sequence[int]) -> list[int]:
    origins = [_values.whole(shift, "origin") for shift in _each(origin, len(sizes), "origin")]
    for size, shift in zip(sizes, origins):
        if not 0 <= size // 2 + shift < max(size, 1):
            raise ArgumentError(f"an origin of {shift}: the middle of {size} weights would be none of them")
    return origins


def _indices(shape: Sequence[int]) -> list[tuple[int, ...]]:
    index: list[tuple[int, ...]] = [()]
    for size in shape:
        index = [(*before, i) for before in index for i in range(size)]
    return index


# ---- filtering -----------------------------------------------------------------------------------------------------

def _line_by_line(input: Any, lines: Sequence[Sequence[float]], origins: Sequence[int], output: Any, mode: Mode,
                  cval: float, axes: Axes, divisors: Sequence[int] = ()) -> Any:
    """One sweep for each axis whose line has more than one weight. Between them cells have the type of the work. divisors: of
    what the lines add up."""
    chosen = _axes_of(input, axes)
    modes = _each(mode, len(chosen), "mode")
    work = [i for i, line in enumerate(lines) if len(line) > 1]
    if not work:
        return _filter(input, {(0,) * input.ndim: 1.0}, output, dict(zip(chosen, modes)), cval)
    result = input
    for i in work:
        low = -(len(lines[i]) // 2 + origins[i])
        taps = {tuple(j + low if other == chosen[i] else 0 for other in range(input.ndim)): weight
                for j, weight in enumerate(lines[i])}
        if i == work[-1]:
            return _filter(result, taps, output, {chosen[i]: modes[i]}, cval, divisors[i] if divisors else 1)
        cells, wanted = _types(input, output)
        between = wanted if cells is None else cells
        result = _filter(result, taps, between, {chosen[i]: modes[i]}, cval, divisors[i] if divisors else 1)


def _types(input: Any, output: Any) -> tuple[Any, Any]:
    """Types of the cells that a kernel works on, and of the output's: the input and the output ask for both. None in place
    of the first where one of both has whole numbers: arrays are stored as they are, and computed in f64."""
    module = _module_of(input)
    wanted = output.dtype if _is_array(output) else _values.array(
        output, "output", lambda: module.dtype(input.dtype if output is None else output),
        "an array, a type of cells, or None is needed")
    if any([_is_whole(each) for each in (input.dtype, wanted)]):
        return None, wanted
    work = module.promote_types(input.dtype, wanted)
    _arrays.dtype_name(work)
    return work, wanted


def _is_whole(dtype: Any) -> bool:
    """Whether cells are whole numbers. Raises ArgumentError for those that no kernel has."""
    return (dtype.kind in "ui" and _arrays.cell_name(dtype) in _WHOLE_BITS) or not _arrays.dtype_name(dtype)


def _is_array(output: Any) -> bool:
    return hasattr(output, "__setitem__") and hasattr(output, "dtype")  # types have neither, or the second alone


def _filter(input: Any, taps: dict[tuple[int, ...], float], output: Any, modes: dict[int, str], cval: float,
            divisor: int = 1) -> Any:
    """The weighted sum of taps, each an offset from z on, over the divisor. modes: one for each axis that taps reach along."""
    module = _module_of(input)
    if input.dtype.kind not in "ui":
        taps, divisor = {tap: weight / divisor for tap, weight in taps.items()}, 1
    if len(taps) > _MOST_TAPS:
        raise ArgumentError(f"{len(taps)} weights: {_MOST_TAPS} at most, or a filter for each axis")
    work, wanted = _types(input, output)
    result = output if _is_array(output) else module.empty(input.shape, wanted)
    if result.shape != input.shape:
        raise ArgumentError(f"an output of shape {result.shape} for an input of {input.shape}")
    boundaries = {axis: _boundary_of(mode, cval) for axis, mode in modes.items()}
    if len(set(boundaries.values())) == 1:  # axes that the filter leaves out ask for none
        boundaries = dict.fromkeys(range(input.ndim), next(iter(boundaries.values())))
    if input.size == 0:
        return result
    array = module.ascontiguousarray(input, dtype=work or input.dtype)
    padded = {axis: mode for axis, mode in modes.items() if boundaries[axis] is None}
    direct = (not padded and result.dtype == (work or wanted) and result.flags.c_contiguous and
              not module.may_share_memory(result, array))
    reach = [(max(0, -min(tap[axis] for tap in taps)), max(0, max(tap[axis] for tap in taps))) if axis in padded else
             (0, 0) for axis in range(input.ndim)]
    for axis, mode in padded.items():
        more = {"constant_values": cval} if _PADDED[mode] == "constant" else {}
        if more and array.dtype.kind in "ui" and array.dtype.type(cval) != cval:
            array = array.astype("float64")
        width = [both if other == axis else (0, 0) for other, both in enumerate(reach)]
        array = module.pad(array, width, mode=_PADDED[mode], **more)
    whole = result if direct else module.empty(array.shape, work or wanted)
    _launch(array, taps, whole, [boundary or "zero" for boundary in map(boundaries.get, range(input.ndim))], divisor)
    if not direct:
        result[...] = whole[tuple(slice(low, low + size) for (low, _), size in zip(reach, input.shape))]
    return result


def _boundary_of(mode: str, cval: float) -> str | None:
    """The kernels' own; None where the input is padded."""
    mode, cval = _values.text(mode, "mode"), _values.number(cval, "cval")
    if mode in _BOUNDARIES and (cval == 0 or not mode.endswith("constant")):
        return _BOUNDARIES[mode]
    if mode not in _PADDED:
        raise ArgumentError(f"mode '{mode}': " + ", ".join(dict.fromkeys([*_PADDED, *_BOUNDARIES])), "unknown_name")
    return None


def _launch(array: Any, taps: dict[tuple[int, ...], float], result: Any, boundaries: Sequence[str], divisor: int) -> None:
    by_axis = dict(zip(_AXES[3 - array.ndim:], boundaries))
    boundary = boundaries[0] if len(set(boundaries)) == 1 else boundary_text(by_axis)
    offsets = tuple(sorted(taps))
    coefficients = {f"c{i}": taps[offset] for i, offset in enumerate(offsets)}
    names = [_arrays.cell_name(each.dtype) for each in (array, result)]
    if divisor > 1 or any(name in _WHOLE_BITS for name in names):
        weighted = _stencil_of(offsets, *names, divisor > 1 and names[0] in _WHOLE_BITS)
        kernel = kernel_of_stored(weighted, [array, result], "f64", boundary)
        coefficients["d"] = divisor
    else:
        kernel = kernel_for(_stencil_of(offsets), [array, result], boundary)
    kernel(array, result, coefficients=coefficients)


@functools.lru_cache(maxsize=256)
def _stencil_of(offsets: tuple[tuple[int, ...], ...], read: str = "", written: str = "", exact: bool = False) -> Stencil:
    """The sum of these taps, each with a coefficient of its own. read, written: the types that cells are stored in, where
    they have their own; the sum is divided then. exact: it is one of whole numbers."""
    rank = len(offsets[0])
    terms, clauses = [], []
    for i, offset in enumerate(offsets):
        place = ", ".join(f"{axis}{cells:+d}" for axis, cells in zip(_AXES[3 - rank:], offset) if cells)
        terms.append(f"c{i}*u" + (f"[{place}]" if place else ""))
        clauses.append(f"c{i} = {1 / len(offsets)!r}")
    if not read:
        return stencil(f"v = {' + '.join(terms)}; " + "; ".join(clauses), rank=rank)
    lines = [f"rank = {rank}", 'fields = ["u", "v"]', "[coefficients]", *clauses, "d = 1", "[storage]", f'u = "{read}"',
             f'v = "{written}"', "[let]", f'total = "{" + ".join(terms)}"', *_cut(written, exact)]
    return stencil("\n".join(lines))


def _cut(written: str, exact: bool) -> list[str]:
    """The quotient as C casts it: towards 0, and beyond the type's range the number with the same last bits. Half a unit of a
    whole total keeps what is divided without rest from the number below."""
    bits = _WHOLE_BITS.get(written)
    if bits is None:
        return ["[update]", 'v = "total / d"']
    least = 0 if written.startswith("u") else -2**(bits - 1)
    half = "0.5" if exact else "0"
    return [f'whole = "total < 0 ? -floor(({half} - total) / d) : floor((total + {half}) / d)"', "[update]",
            f'v = "whole - {2**bits}*floor((whole - ({least})) / {2**bits})"']
