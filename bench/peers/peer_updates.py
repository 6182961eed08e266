"""Eight updates for python_peers.py: what stencil_tune understood of each, as functions for other libraries.

The text of an update is the one that the library writes of it (`Stencil.definition()`): reads `f0[dx, dy]`, weights
`c0`. Each system runs that text.
"""

import re
import tomllib

import stencil_tune as st

READ = re.compile(r"\b(f\d+)\[([-\d, ]+)\]")

# name -> stencil, extents from x on, and whether winners for runs of it do not ship, so that it is tuned first.
UPDATES = {
    "star 1, 3D": ("star3d1r", (512, 512, 512), False),
    "star 4, 3D": ("star3d4r", (512, 512, 512), False),
    "box 1, 2D": ("box2d1r", (16384, 16384), False),
    "Gray-Scott, 2D": ("gray_scott2d", (8192, 8192), False),
    "acoustic, 3D": ("acoustic3d_o4", (512, 512, 512), False),
    "Yee, 3D": ("yee3d", (512, 512, 512), False),
    "convolution 9x9, 2D": ("box2d4r", (8192, 8192), False),
    "upwind, 2D": ("advection2d", (8192, 8192), True),
}


class Update:
    """One of them on a grid. Fields are f0, f1, ... and reads of a field are `f0(dx, dy, dz)`."""

    def __init__(self, name, corpus, scale=1):
        source, extents, self.needs_tuning = UPDATES[name]
        built_in = re.fullmatch(r"(star|box)\dd\dr", source)
        text = st.stencil(source if built_in else corpus / f"{source}.toml").definition()
        said = tomllib.loads(text)
        self.name, self.source = name, source
        self.stencil = st.stencil(text)
        self.extents = tuple(extent // scale for extent in extents)
        self.constants = dict(self.stencil.coefficients)
        self.lets = {key: self._calls(value) for key, value in said.get("let", {}).items()}
        self.stages = [{key: self._calls(value) for key, value in stage.items()} for stage in said["stage"]]
        self.rotations = said.get("rotate", {})
        self.reach = max(max(-low, high) for low, high in self.stencil._reach)
        self.inputs, self.outputs = self.stencil.inputs, self.stencil.outputs

    def _calls(self, text):
        """Reads as calls with three distances."""
        def call(match):
            distances = [part.strip() for part in match[2].split(",")]
            return f"{match[1]}({','.join([*distances, '0', '0'][:3])})"

        return READ.sub(call, text)

    @property
    def shape(self):
        return tuple(reversed(self.extents))

    @property
    def cells(self):
        """That a step updates."""
        count = 1
        for low, high in (self._updated(axis) for axis in range(len(self.extents))):
            count *= high - low
        return count

    def _updated(self, axis):
        return self.reach, self.extents[axis] - self.reach

    def window(self, array, layers=None, by=(0, 0, 0)):
        """The cells `layers` away from every edge, seen from `by` = (x, y, z) beside them."""
        layers = self.reach if layers is None else layers
        return array[tuple(slice(layers + shift, array.shape[axis] - layers + shift)
                           for axis, shift in enumerate(reversed(by[:len(self.extents)])))]

    @property
    def inside(self):
        return tuple(slice(self.reach, extent - self.reach) for extent in self.shape)

    def step_on_slices(self, write):
        """A function from arrays by name, which computes on slices; `write(arrays, name, values)` gives the arrays after
        it. Python source, so that compilers see no call of eval()."""
        lines = ["def step(a):"]
        for stage in self.stages:
            read = sorted(set(re.findall(r"\b(f\d+)\(", " ".join([*stage.values(), *self.lets.values()]))))
            lines += [f"    {name} = lambda dx, dy, dz, array=a['{name}']: window(array, None, (dx, dy, dz))"
                      for name in read]
            words = set(re.findall(r"\bt\d+\b", " ".join([*stage.values(), *self.lets.values()])))
            lines += [f"    {name} = {text}" for name, text in self.lets.items() if name in words]
            values = [f"v{i} = {text}" for i, text in enumerate(stage.values())]
            lines += [f"    {value}" for value in values]
            lines += [f"    a = write(a, '{name}', v{i})" for i, name in enumerate(stage)]
        scope = {"window": self.window, "write": write, **self.constants}
        exec("\n".join([*lines, "    return a"]), scope)  # pylint: disable=exec-used
        return scope["step"]

    def cuda(self, stage):
        """A kernel as one writes it by hand, a thread a cell: (source, names of its arrays)."""
        texts = [*self.stages[stage].values()]
        words = " ".join([*texts, *self.lets.values()])
        read = sorted(set(re.findall(r"\b(f\d+)\(", words)))
        names = [*read, *self.stages[stage]]
        rank, extents = len(self.extents), [*self.extents, 1, 1][:3]

        def literals(text):
            return re.sub(r"(?<![\w.])(\d+\.\d*(?:e[-+]?\d+)?)", r"\1f", text)

        lines = [f'extern "C" __global__ void peer({", ".join(f"const float* __restrict__ {name}_" for name in read)}, '
                 + ", ".join(f"float* __restrict__ {name}_" for name in self.stages[stage]) + ") {"]
        for axis, word in enumerate("xyz"[:rank]):
            lines.append(f"  const int {word} = blockIdx.{word} * blockDim.{word} + threadIdx.{word} + {self.reach};")
            lines.append(f"  if ({word} >= {extents[axis] - self.reach}) return;")
        place = "x" if rank == 1 else "y" if rank == 2 else f"((long long)z * {extents[1]} + y)"
        lines.append(f"  const long long i = {place} * (long long){extents[0]} + x;" if rank > 1 else
                     "  const long long i = x;")
        lines += [f"  const float {name} = {float(value)!r}f;" for name, value in self.constants.items()]
        lines += [f"  auto {name} = [&](int dx, int dy, int dz) {{ return {name}_[i + dx + {extents[0]}LL * "
                  f"(dy + {extents[1]}LL * dz)]; }};" for name in read]
        lines += [f"  const float {name} = {literals(text)};" for name, text in self.lets.items()]
        lines += [f"  {name}_[i] = {literals(text)};" for name, text in self.stages[stage].items()]
        return "\n".join([*lines, "}"]), names

    def rotate(self, arrays):
        """After a step each array has the name that it has in the next one."""
        before = dict(arrays)
        arrays.update({new: before[old] for old, new in self.rotations.items()})
        spare = [name for name in self.rotations if name not in self.rotations.values()]
        lost = [name for name in self.rotations.values() if name not in self.rotations]
        arrays.update({name: before[last] for name, last in zip(spare, lost)})
