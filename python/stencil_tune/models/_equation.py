"""Definitions of equations whose derivatives are stretched in absorbing layers, and the arrays that go with them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Iterable, Mapping, NamedTuple, Sequence

from .. import _values
from .._arrays import dtype_name
from .._errors import ArgumentError
from .._reference import _numpy
from .._stencil import Stencil, stencil

_SAFETY = 0.9  # of the largest stable step
_GRADE = 3  # power of the depth in a layer with which it damps
# The least shift of a pole, as a share of the damping. Without any, fields that stand still drift. Below 0.0208 a second
# derivative of accuracy order 4 lets the shortest waves grow in layers, where two first derivatives oppose it: they are larger.
_LEAST_SHIFT = 0.03
_ACCURACIES = (2, 4, 8)
_TYPES = {"f64": "float64", "f32": "float32", "f16": "float16"}

#: Where a derivative stands, in cells after a cell's middle: profiles are of the same place, or layers send back -50 dB.
_PLACES = {"forward": 0.5, "backward": 0.0, "second": 0.0}

Cells = Any  # a number, or an array that goes with the grid's shape, as NumPy has it
Layer = int | str


class Model(NamedTuple):
    """An equation that is ready to run.

    Attributes:
        stencil: with the widths of its layers. Look it up with boundary hold, the default.
        fields: an array of NumPy for each of `stencil.arguments`, in that order: zeros but for coefficients and profiles.
        dt: the time that a step makes.
        sources: what a source of 1 adds to a field in a step, by cell: a series for points of `sources[name]` is the
            source's values times the number of its cell.
        receivers: fields to read, or to place receivers at.
    """

    stencil: Stencil
    fields: dict[str, Any]
    dt: float
    sources: dict[str, Any]
    receivers: tuple[str, ...]


class Grid(NamedTuple):
    """Cells, their size, and the layers at the ends of axes; by axis, from x on."""

    shape: tuple[int, ...]
    spacing: dict[str, float]
    layers: dict[str, tuple[int, int]]
    accuracy: int
    dtype: str

    @property
    def axes(self) -> str:
        return "".join(self.spacing)

    @property
    def unit(self) -> float:
        """The spacing that coefficients are made for; others have a ratio to it in the definition."""
        return self.spacing["x"]

    @property
    def layer_text(self) -> str:
        return ",".join(f"{axis}={low}:{high}" for axis, (low, high) in self.layers.items())

    def cells(self, axis: str) -> int:
        return self.shape[-1 - "xyz".index(axis)]

    def material(self, given: Cells, what: str, positive: bool = True) -> Any:
        """Numbers above 0, or not below, by cell."""
        numpy = _numpy()
        values = numpy.asarray(given, float)
        try:
            values = numpy.broadcast_to(values, self.shape)
        except ValueError as error:
            raise ArgumentError(f"{what} has shape {values.shape}, the grid {self.shape}") from error
        if not (numpy.isfinite(values) & (values > 0 if positive else values >= 0)).all():
            raise ArgumentError(f"{what}: finite numbers {'above 0' if positive else 'from 0 on'} are needed")
        return values

    def largest_step(self, speed: float, staggered: bool, stiffness: float = 0.0) -> float:
        """The time step at which the shortest waves begin to grow: w dt = 2 of leapfrog, with w^2 the operator's
        largest eigenvalue and `stiffness` that of what swings in place."""
        terms = range(self.accuracy // 2)
        if staggered:  # series of 2 asinh(d / 2) in central differences d, which are 2 at most
            factorial = math.factorial
            most = sum(2 * factorial(2 * j) / (4**j * factorial(j)**2 * (2 * j + 1)) for j in terms)**2
        else:  # its square
            most = sum(2 * 4**(j + 1) * math.factorial(j)**2 / math.factorial(2 * j + 2) for j in terms)
        return 2 / math.sqrt(stiffness + most * speed**2 * sum(h**-2 for h in self.spacing.values()))

    def step(self, dt: float | None, most: float) -> float:
        """The time step that was asked for, else a stable one."""
        if dt is not None and not 0 < _values.number(dt, "dt") <= most:
            raise ArgumentError(f"dt is {dt}: up to {most:.6g} is stable here")
        return _SAFETY * most if dt is None else float(dt)


def grid_of(shape: Sequence[int], spacing: Cells, layer: Layer, accuracy: int, dtype: Any, ranks: Iterable[int] = (2, 3),
            accuracies: Sequence[int] = _ACCURACIES) -> Grid:
    """Checks what all equations are given. spacing: one number, or one an axis, (z, y, x)."""
    cells = tuple(_values.whole(n, "an extent", 1) for n in _values.several(shape, "shape", "extents are needed"))
    if len(cells) not in ranks:
        raise ArgumentError(f"shape {cells}: the equation has {' or '.join(map(str, ranks))} axes")
    axes = "xyz"[:len(cells)]
    each = [spacing] * len(cells) if _numpy().ndim(spacing) == 0 else list(spacing)[::-1]
    sizes = dict(zip(axes, (_values.number(h, "spacing") for h in each), strict=False))
    if len(each) != len(cells) or not all(0 < h < math.inf for h in sizes.values()):
        raise ArgumentError(f"spacing is {spacing}: a positive number, or one an axis, is needed")
    if accuracy not in accuracies:
        raise ArgumentError(f"accuracy is {accuracy}: {', '.join(map(str, accuracies))} are known")
    name = dtype_name(dtype)
    if name not in _TYPES:
        raise ArgumentError(f"dtype {name}: NumPy has no such type")
    return Grid(cells, sizes, _widths(layer, axes), accuracy, name)


def _widths(layer: Layer, axes: str) -> dict[str, tuple[int, int]]:
    """As Stencil.with_layer() takes them."""
    widths = dict.fromkeys(axes, (0, 0))
    for part in str(layer).split(","):
        about, _, width = part.rpartition("=")
        low, _, high = width.partition(":")
        try:
            given = int(low), int(high or low)
        except ValueError:
            _values.refuse(layer, "layer", '20, "20:0" or "x=20,z=0:20" is needed')
        widths.update(dict.fromkeys(about.strip() or axes, given))
    if set(widths) != set(axes) or min(map(min, widths.values())) < 0:
        _values.refuse(layer, "layer", f"widths from 0 on, of the axes {', '.join(axes)}, are needed")
    return widths


class Equation:
    """The text of a definition, which grows as derivatives and stages are asked for.

    Each derivative goes through `_stretched`, which adds a memory variable in the layers of its axis: that of a
    convolutional perfectly matched layer (Roden and Gedney, Microwave and Optical Technology Letters 27, 2000). A second
    derivative has two (Pasalic and McGarry, SEG Annual Meeting 2010). An axis without layers has the bare derivative.

    Args:
        state: fields that steps change; those that are the older time level of another are named in `older`.
        constants: coefficient fields.
        shifted: whether the shift has a profile of its own; else it is the least one, and a profile is spared.
    """

    def __init__(self, name: str, grid: Grid, state: Sequence[str], constants: Sequence[str],
                 coefficients: Mapping[str, float] | None = None, older: Mapping[str, str] | None = None,
                 boundary: Mapping[str, str] | None = None, shifted: bool = True):
        self.grid = grid
        self._name, self._state, self._constants, self._shifted = f"{name}{len(grid.axes)}d", state, constants, shifted
        self._older, self._coefficients = dict(older or {}), dict(coefficients or {})
        self._boundary = dict(boundary or {})
        self._let: dict[str, str] = {}
        self._stages: list[dict[str, str]] = []
        self._beside: dict[str, str] = {}  # what the next stage writes beside its own
        self._known: dict[str, str] = {}  # derivatives by their memory variables
        self._memories: dict[str, str] = {}  # axis by name
        self._profiles: dict[str, tuple[str, float]] = {}  # axis and place by name

    def first(self, axis: str, of: str, side: str, *, name: str = "", coarse: str = "") -> str:
        """The derivative half a cell ahead or behind: "forward" or "backward". name: of what is more than a field.
        coarse: a condition, where the accuracy order is 2."""
        memory = f"psi_{axis}_{name or of.removesuffix('_next')}"
        if memory not in self._known:
            text = self.bare(side, axis, of)
            if coarse:
                text = f"select({coarse}, {text.replace(f'accuracy={self.grid.accuracy}', 'accuracy=2')}, {text})"
            self._known[memory] = self._stretched(axis, memory, text, side)
        return self._known[memory]

    def second(self, axis: str, of: str) -> str:
        """The second derivative: the difference of two fluxes, half a cell ahead and behind. The memory variable of a flux is
        made again for both cells that read it, so that a step is one sweep and reads as far as the bare equation's."""
        bare = self.bare("second", axis, of)
        if not any(self.grid.layers[axis]):
            return bare
        inner = f"psi_{axis}_{of}"
        flux = self._within(axis, self._memory(axis, inner, "forward", self._flux(axis, of)))
        self._beside[inner + "_next"] = flux
        ahead, behind = (self._per_spacing(axis, where) for where in (flux, f"{flux}[{axis}-1]"))
        return self._stretched(axis, f"zeta_{axis}_{of}", f"{bare} + {ahead} - {behind}", "second")

    def stage(self, **updates: str) -> None:
        """The next sweep, by the names of the fields before it."""
        self._stages.append({**self._beside, **{f"{name}_next": text for name, text in updates.items()}})
        self._beside = {}

    def model(self, dt: float, speed: float, constants: Mapping[str, Cells], sources: Mapping[str, Cells],
              reflection: float = 1, frequency: float | None = None) -> Model:
        """With arrays. speed: of the fastest wave."""
        numpy, made = _numpy(), stencil(self._text()).with_layer(self.grid.layer_text)
        if not 0 < reflection <= 1:
            raise ArgumentError(f"reflection is {reflection}: a share of an amplitude, such as 1e-6, is needed")
        kind = _TYPES[self.grid.dtype]
        fields = {}
        for name in made.arguments:
            if name in self._profiles:
                fields[name] = self._profile(name, dt, speed, reflection, frequency).astype(kind)
            else:
                fields[name] = numpy.zeros(self.grid.shape, kind)
                fields[name][...] = constants.get(name, 0)
        return Model(made, fields, dt,
                     {f"{name}_next": numpy.broadcast_to(cells, self.grid.shape) for name, cells in sources.items()},
                     self._kept())

    def _kept(self) -> tuple[str, ...]:
        return tuple(name for name in self._state if name not in self._older.values())

    def _text(self) -> str:
        """As TOML."""
        axes = self._memories
        memories = {name: f"({axes[name]} in layer)" for name in sorted(axes, key=lambda name: name.startswith("zeta"))}
        fields = [*self._state, *self._constants, *(name + where for name, where in memories.items()),
                  *(f"{name}({axis})" for name, (axis, _) in self._profiles.items()),
                  *(f"{name}_next" for name in self._kept()), *(f"{name}_next{where}" for name, where in memories.items())]
        rotate = {f"{name}_next": name for name in self._kept()} | self._older | {f"{name}_next": name for name in memories}
        lines = [f'name = "{self._name}"', f"rank = {len(self.grid.axes)}", f'element = "{self.grid.dtype}"',
                 "fields = [" + ", ".join(f'"{field}"' for field in fields) + "]"]
        tables: list[tuple[str, dict[str, Any]]] = [
            ("[coefficients]", self._coefficients), ("[let]", self._let), *(("[[stage]]", stage) for stage in self._stages),
            ("[rotate]", rotate), ("[boundary]", self._boundary)]
        for head, entries in tables:
            lines += [head, *(f'{name} = "{text}"' for name, text in entries.items())] if entries else []
        return "\n".join(lines) + "\n"

    def bare(self, kind: str, axis: str, of: str) -> str:
        """A derivative as if there were no layers: "forward", "backward" or "second"."""
        if kind != "second":
            return self._per_spacing(axis, f"d_{axis}_{kind}({of}, accuracy={self.grid.accuracy})")
        if self.grid.accuracy == 2:  # written out: this form is the one that is tuned
            return self._per_spacing(axis, f"({of}[{axis}+1] - 2*{of} + {of}[{axis}-1])", 2)
        return self._per_spacing(axis, f"d_{axis}{axis}({of}, accuracy={self.grid.accuracy})", 2)

    def _flux(self, axis: str, of: str) -> str:
        """Whose difference from the one a cell behind is the second derivative."""
        m = self.grid.accuracy // 2
        square = math.factorial(m)**2
        taps = [Fraction(2 * (-1)**(k + 1) * square, k**2 * math.factorial(m - k) * math.factorial(m + k)) for k in range(1, m + 1)]
        weights = [sum(taps[k:], Fraction()) for k in range(m)]
        pairs = [f"({of}[{axis}+{k + 1}] - {of}{f'[{axis}-{k}]' * (k > 0)})" for k in range(m)]
        terms = [f"{abs(weight)}*{pair}".removeprefix("1*") for weight, pair in zip(weights, pairs)]
        return self._per_spacing(axis, "(" + terms[0] + "".join(
            f" {'-' if weight < 0 else '+'} {term}" for weight, term in zip(weights[1:], terms[1:])) + ")")

    def _per_spacing(self, axis: str, difference: str, power: int = 1) -> str:
        ratio = self.grid.unit / self.grid.spacing[axis]
        if ratio == 1:
            return difference
        self._coefficients[f"ratio_{axis}"] = ratio
        return f"ratio_{axis}*" * power + difference

    def _named(self, text: str) -> str:
        name = f"e{len(self._let)}"
        self._let[name] = text
        return name

    def _within(self, axis: str, text: str) -> str:
        """What is 0 in no layer's cells."""
        return self._named(f"select({axis}_in_layer, {text}, 0)")

    def _stretched(self, axis: str, memory: str, derivative: str, kind: str) -> str:
        if not any(self.grid.layers[axis]):
            return derivative
        bare = self._named(derivative)
        after = self._within(axis, self._memory(axis, memory, kind, bare))
        self._beside[memory + "_next"] = after
        return f"{bare} + {after}"

    def _memory(self, axis: str, name: str, kind: str, derivative: str) -> str:
        """What it is after a step."""
        self._memories[name] = axis
        a = self._profile_name("a", axis, kind) if self._shifted else None
        b = self._profile_name("b", axis, kind)
        return f"{b}*{name} + {a or f'{1 / (1 + _LEAST_SHIFT)}*({b} - 1)'}*{derivative}"

    def _profile_name(self, which: str, axis: str, kind: str) -> str:
        place = _PLACES[kind]
        name = which + axis + ("_half" if place == 0.5 else "")
        self._profiles[name] = axis, place
        return name

    def _profile(self, name: str, dt: float, speed: float, reflection: float, frequency: float | None) -> Any:
        """a or b of Komatitsch and Martin, Geophysics 72 (2007), SM155: damping that grows with the cube of the depth
        in the layer, a shift of its pole that falls with it. Layers begin half a cell before their first cell."""
        numpy, (axis, place) = _numpy(), self._profiles[name]
        cells, (low, high) = self.grid.cells(axis), self.grid.layers[axis]
        at = numpy.arange(cells)
        is_low = (at < low) & (at < cells - 1 - at)
        width = numpy.maximum(numpy.where(is_low, low, high) - self.grid.accuracy // 2, 1)  # the edge's cells are held
        depth = numpy.where(is_low, low - 0.5 - at - place, at + place - (cells - high - 0.5)) / width
        depth = numpy.clip(depth, 0, None)
        damping = -(_GRADE + 1) * speed * math.log(reflection) / (2 * width * self.grid.spacing[axis]) * depth**_GRADE
        shift = _LEAST_SHIFT * damping
        if self._shifted:
            shift = numpy.maximum(shift, math.pi * (frequency or 0.0) * (1 - depth))
        b = numpy.exp(-(damping + shift) * dt)
        value = b if name[0] == "b" else (b - 1) * damping / numpy.maximum(damping + shift, numpy.finfo(float).tiny)
        return numpy.where(is_low | (at >= cells - high), value, 0)
