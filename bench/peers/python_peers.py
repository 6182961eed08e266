#!/usr/bin/env python3
"""What Python programs reach with stencil_tune, torch.compile, CuPy and JAX: eight updates, and what a call costs.

    bench/peers/python_peers.py                  the table of rates, in GStencil/s, of all that is installed
    bench/peers/python_peers.py star3d1 yee3d    these updates alone
    bench/peers/python_peers.py --calls          microseconds of one call from Python, beside an empty CuPy kernel
    bench/peers/python_peers.py --tune 60        first tunes each update for 60 s, for one step and for runs of 100
    bench/peers/python_peers.py --scale 16       extents divided by 16: a quick try, on the CPU too where there is no GPU

Each update is written once, as text; every system runs that text. Boundary: cells near the edges are not updated.
Before anything is timed, one step of each system is compared with stencil_tune's in every updated cell. Rates are of
runs of one step a launch (`run 100`: stencil_tune's advance, which fuses steps), the median of samples of CUDA events.
"""

import argparse
import json
import re
import statistics
import time
from dataclasses import dataclass, field

import torch

import stencil_tune as st
import stencil_tune.torch as stt

STEPS = 20  # a sample
SAMPLES = 9
READ = re.compile(r"(\w+)\(([-\d,]+)\)")
ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"


@dataclass(frozen=True)
class Update:
    """Reads are written u(dx,dy,dz), which Python and C++ both call; every constant has a name."""

    extents: tuple  # x first
    reach: int
    stages: list  # of {output: text}
    constants: dict = field(default_factory=dict)
    rotations: dict = field(default_factory=lambda: {"u_next": "u"})

    @property
    def outputs(self):
        return [name for stage in self.stages for name in stage]

    @property
    def inputs(self):
        read = re.findall(r"(\w+)\(", " ".join(text for stage in self.stages for text in stage.values()))
        return [name for name in dict.fromkeys(read) if name not in self.outputs]

    def definition(self, name):
        """The same as a TOML definition."""
        rank = len(self.extents)

        def read(match):
            offsets = [f"{axis}{int(by):+d}" for axis, by in zip("xyz"[:rank], match[2].split(",")) if int(by)]
            return match[1] + (f"[{', '.join(offsets)}]" if offsets else "")

        lines = [f'name = "{name}"', f"rank = {rank}", f"fields = {json.dumps(self.inputs + self.outputs)}",
                 "[coefficients]", *(f"{key} = {float(value)!r}" for key, value in self.constants.items())]
        for stage in self.stages:
            lines.append("[[stage]]")
            lines += [f'{out} = "{READ.sub(read, text)}"' for out, text in stage.items()]
        lines += ["[rotate]", *(f'{old} = "{new}"' for old, new in self.rotations.items())]
        return "\n".join(lines) + "\n"


def around(name, distance, rank=3):
    """The sum of the neighbours on the axes at a distance."""
    offsets = [tuple(by if a == axis else 0 for a in range(3)) for axis in range(rank) for by in (-distance, distance)]
    return "+".join(f"{name}({dx},{dy},{dz})" for dx, dy, dz in offsets)


def weighted(radius):
    """A full square of weights k0, k1, ..."""
    square = [(dx, dy) for dy in range(-radius, radius + 1) for dx in range(-radius, radius + 1)]
    text = "+".join(f"k{i}*u({dx},{dy},0)" for i, (dx, dy) in enumerate(square))
    return text, {f"k{i}": (1 + i % 7) / (4 * len(square)) for i in range(len(square))}


def laplacian8(name):
    return f"w0*{name}(0,0,0)+" + "+".join(f"w{d}*({around(name, d)})" for d in range(1, 5))


def yee():
    def curl(a, b, axis_a, axis_b, side):  # d_a(b-field) - d_b(a-field), as differences to one side
        def difference(name, axis):
            by = ["0", "0", "0"]
            by[axis] = str(side)
            here, there = f"{name}(0,0,0)", f"{name}({','.join(by)})"
            return f"({there}-{here})" if side > 0 else f"({here}-{there})"

        return f"({difference(a, axis_a)}-{difference(b, axis_b)})"

    magnetic = {"hx_next": f"hx(0,0,0)-ch*{curl('ez', 'ey', 1, 2, 1)}", "hy_next": f"hy(0,0,0)-ch*{curl('ex', 'ez', 2, 0, 1)}",
                "hz_next": f"hz(0,0,0)-ch*{curl('ey', 'ex', 0, 1, 1)}"}
    electric = {"ex_next": f"ex(0,0,0)+ca(0,0,0)*{curl('hz_next', 'hy_next', 1, 2, -1)}",
                "ey_next": f"ey(0,0,0)+ca(0,0,0)*{curl('hx_next', 'hz_next', 2, 0, -1)}",
                "ez_next": f"ez(0,0,0)+ca(0,0,0)*{curl('hy_next', 'hx_next', 0, 1, -1)}"}
    names = [*magnetic, *electric]
    return Update((384, 384, 384), 1, [magnetic, electric], {"ch": 0.4},
                  {name: name.removesuffix("_next") for name in names})


EIGHTH = {"w0": -8.541666667, "w1": 1.6, "w2": -0.2, "w3": 0.025396825, "w4": -0.001785714}
BOX, BOX_WEIGHTS = weighted(1)
CONVOLUTION, CONVOLUTION_WEIGHTS = weighted(4)
REACTION = "u(0,0,0)*v(0,0,0)*v(0,0,0)"
UPDATES = {
    "star3d1": Update((512, 512, 512), 1, [{"u_next": f"u(0,0,0)+a*({around('u', 1)}-6*u(0,0,0))"}], {"a": 0.1}),
    "star3d4": Update((512, 512, 512), 4, [{"u_next": f"u(0,0,0)+a*({laplacian8('u')})"}], {"a": 0.1, **EIGHTH}),
    "box2d1": Update((8192, 8192), 1, [{"u_next": BOX}], BOX_WEIGHTS),
    "gray_scott": Update((8192, 8192), 1, [{
        "u_next": f"u(0,0,0)+du*({around('u', 1, 2)}-4*u(0,0,0))+feed*(1-u(0,0,0))-{REACTION}",
        "v_next": f"v(0,0,0)+dv*({around('v', 1, 2)}-4*v(0,0,0))+{REACTION}-loss*v(0,0,0)"}],
        {"du": 0.16, "dv": 0.08, "feed": 0.06, "loss": 0.122}, {"u_next": "u", "v_next": "v"}),
    "acoustic": Update((512, 512, 512), 4, [{"p_next": f"2*p(0,0,0)-q(0,0,0)+s*v(0,0,0)*v(0,0,0)*({laplacian8('p')})"}],
                       {"s": 0.1, **EIGHTH}, {"p_next": "p", "p": "q"}),
    "yee3d": yee(),
    "convolve9x9": Update((8192, 8192), 4, [{"u_next": CONVOLUTION}], CONVOLUTION_WEIGHTS),
    "upwind3d": Update((512, 512, 512), 1, [{
        "u_next": "u(0,0,0)-a*(u(0,0,0)-u(-1,0,0))-b*(u(0,0,0)-u(0,-1,0))-c*(u(0,0,0)-u(0,0,-1))"}],
        {"a": 0.2, "b": 0.1, "c": 0.3}),
}


# ---- the systems: each makes a function from (arrays by name) that does one step, writing the outputs ----------------

def window(array, layers, by=(0, 0, 0)):
    """The cells `layers` away from every edge, seen from `by` = (x, y, z) beside them."""
    return array[tuple(slice(layers + shift, array.shape[axis] - layers + shift)
                       for axis, shift in enumerate(reversed(by[:array.ndim])))]


def evaluate(update, text, arrays):
    """A stage's text on slices, of whichever library."""
    names = {name: (lambda dx, dy, dz, array=array: window(array, update.reach, (dx, dy, dz)))
             for name, array in arrays.items()}
    return eval(text, dict(update.constants), names)  # pylint: disable=eval-used


def torch_step(update, compiled=True):
    def step(arrays):
        for stage in update.stages:
            for name, text in stage.items():
                window(arrays[name], update.reach).copy_(evaluate(update, text, arrays))

    return torch.compile(step) if compiled and ON_GPU else step


def cupy_step(update):
    import cupy

    rank, r = len(update.extents), update.reach
    near = " && ".join(f"{axis} >= {r} && {axis} < n{axis} - {r}" for axis in "xyz"[:rank])
    where = "const int x = i % nx, y = (i / nx) % ny, z = i / ((long long)nx * ny);"
    kernels = []
    for number, stage in enumerate(update.stages):
        read = list(dict.fromkeys(re.findall(r"(\w+)\(", " ".join(stage.values()))))
        body = where + f" if ({near}) {{" + "".join(
            f" auto {name} = [&](int dx, int dy, int dz) {{ return {name}_[i + dx + (long long)nx * (dy + (long long)ny * "
            "dz)]; };" for name in read) + "".join(f" {out}_[i] = {text};" for out, text in stage.items()) + " }"
        parameters = ", ".join([f"raw T {name}_" for name in [*read, *stage]] + [f"T {name}" for name in update.constants])
        kernels.append(([*read, *stage], cupy.ElementwiseKernel(parameters + ", int32 nx, int32 ny, int32 nz", "", body,
                                                                 f"peer_{number}")))
    extents = [*update.extents, 1][:3]

    def step(arrays):
        for names, kernel in kernels:
            given = [arrays[name] for name in names]
            kernel(*given, *(given[0].dtype.type(value) for value in update.constants.values()), *extents,
                   size=given[0].size)

    return step


def jax_run(update, steps):
    """A function of arrays by name that makes `steps` steps in one program."""
    import jax

    inside = tuple(slice(update.reach, extent - update.reach) for extent in reversed(update.extents))

    def one(_, arrays):
        for stage in update.stages:
            arrays = dict(arrays, **{name: arrays[name].at[inside].set(evaluate(update, text, arrays))
                                     for name, text in stage.items()})
        rotated = dict(arrays)
        for old, new in update.rotations.items():
            rotated[new] = arrays[old]
        spare = [name for name in update.rotations if name not in update.rotations.values()]
        lost = [name for name in update.rotations.values() if name not in update.rotations]
        rotated.update({name: arrays[last] for name, last in zip(spare, lost)})
        return rotated

    return jax.jit(lambda arrays: jax.lax.fori_loop(0, steps, one, arrays), donate_argnums=0)


# ---- checks and clocks -----------------------------------------------------------------------------------------------

def random_arrays(update):
    shape = tuple(reversed(update.extents))
    generator = torch.Generator(DEVICE).manual_seed(1)
    arrays = {name: torch.rand(shape, generator=generator, device=DEVICE) for name in update.inputs}
    for name in update.outputs:
        arrays[name] = arrays[update.rotations.get(name, update.inputs[0])].clone()
    return arrays


def rotate(update, arrays):
    before = dict(arrays)
    arrays.update({new: before[old] for old, new in update.rotations.items()})
    spare = [name for name in update.rotations if name not in update.rotations.values()]
    lost = [name for name in update.rotations.values() if name not in update.rotations]
    arrays.update({name: before[last] for name, last in zip(spare, lost)})


def seconds_a_step(step):
    """step() makes STEPS steps; the median of samples on the GPU's clock."""
    if not ON_GPU:
        start = time.perf_counter()
        step()
        return (time.perf_counter() - start) / STEPS
    for _ in range(3):
        step()
    samples = []
    for _ in range(SAMPLES):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        step()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end) / 1000 / STEPS)
    return statistics.median(samples)


def check(name, system, update, wanted, got):
    """In every cell that all stages update from updated cells."""
    layers = update.reach * len(update.stages)
    for output in update.outputs:
        a, b = window(wanted[output], layers).double(), window(got[output], layers).double()
        worst = (a - b).abs().max().item()
        if not worst <= 1e-5 * max(1.0, a.abs().max().item()):
            raise SystemExit(f"{name}: {system} is off by {worst:g} in {output}")


def lookup(stencil, update, arrays, steps):
    like = arrays[update.inputs[0]]
    return st.lookup(stencil, like=like, steps=steps, **({} if ON_GPU else {"device": "cpu"}))


def rates(name, update, tune_s):
    """GStencil/s by system."""
    stencil = st.stencil(update.definition(name))
    arrays = random_arrays(update)
    if tune_s:
        for steps in (1, 100):
            st.tune(stencil, like=arrays[update.inputs[0]], steps=steps, budget=tune_s)
    cells = 1
    for extent in update.extents:
        cells *= extent - 2 * update.reach
    found = {}

    kernel = lookup(stencil, update, arrays, 1)
    first = {key: value.clone() for key, value in arrays.items()}
    kernel(**first)

    def ours():
        for _ in range(STEPS):
            kernel(**arrays)
            rotate(update, arrays)

    found["stencil_tune"] = seconds_a_step(ours)
    long_run = lookup(stencil, update, arrays, 100)
    order = [arrays[key] for key in stencil.arguments]
    found["run 100"] = seconds_a_step(lambda: long_run.advance(order, steps=100)) * STEPS / 100

    def peer(system, make, convert):
        try:
            step = make(update)
        except ImportError as error:
            print(f"  {system}: {error}")
            return
        arrays = random_arrays(update)
        views = {key: convert(value) for key, value in arrays.items()}
        step(views)
        check(name, system, update, first, arrays)

        def run():
            for _ in range(STEPS):
                step(views)
                rotate(update, views)

        found[system] = seconds_a_step(run)

    peer("torch.compile", torch_step, lambda tensor: tensor)
    if ON_GPU:
        def as_cupy(tensor):
            import cupy

            return cupy.from_dlpack(tensor)

        def in_torchs_stream(update):
            import cupy

            step, stream = cupy_step(update), cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)

            def run(arrays):
                with stream:
                    step(arrays)

            return run

        peer("CuPy", in_torchs_stream, as_cupy)
    jax_rate(name, update, first, found)
    print(f"{name:<12}" + "".join(f"  {system} {cells / 1e9 / value:7.1f}" for system, value in found.items()) +
          f"   {kernel.match}, {long_run.match}", flush=True)
    return {"update": name, "dims": update.extents, "gstencils": {key: cells / 1e9 / value for key, value in found.items()},
            "match": [kernel.match, long_run.match], "code": [kernel.evidence.code, long_run.evidence.code]}


def jax_rate(name, update, first, found):
    """JAX has no streams of ours: whole runs by the host's clock, which wait for their end."""
    try:
        import jax
    except ImportError as error:
        return print(f"  JAX: {error}")

    def fresh():
        return {key: jax.numpy.asarray(value.cpu().numpy()) for key, value in random_arrays(update).items()}

    after = jax_run(update, 1)(fresh())
    got = {old: torch.from_numpy(__import__("numpy").array(after[new])).to(DEVICE) for old, new in update.rotations.items()}
    check(name, "JAX", update, first, {**got, **{out: got[out] for out in update.outputs if out in got}})
    run, arrays, samples = jax_run(update, STEPS), fresh(), []
    arrays = jax.block_until_ready(run(arrays))
    for _ in range(SAMPLES if ON_GPU else 1):
        start = time.perf_counter()
        arrays = jax.block_until_ready(run(arrays))
        samples.append((time.perf_counter() - start) / STEPS)
    found["JAX"] = statistics.median(samples)


# ---- what a call costs -------------------------------------------------------------------------------------------------

def microseconds(call, calls=200, samples=50):
    """Of one call on the host, while the GPU follows: the median of samples."""
    found = []
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        found.append((time.perf_counter() - start) / calls * 1e6)
        if ON_GPU:
            torch.cuda.synchronize()
    return statistics.median(found)


def calls():
    stencil = st.stencil("u_next = u + a*laplacian(u); a = 0.1", rank=2)
    u = torch.rand(64, 64, device=DEVICE)
    v = u.clone()
    kernel = st.lookup(stencil, like=u, **({} if ON_GPU else {"device": "cpu"}))
    found = {"kernel(u, u_next), PyTorch": microseconds(lambda: kernel(u, v)),
             "kernel.advance, 2 steps, PyTorch": microseconds(lambda: kernel.advance([u, v], steps=2)),
             "stencil_tune.torch.step": microseconds(lambda: stt.step(stencil, u))}
    if ON_GPU:
        found["torch.add(u, v, out=v)"] = microseconds(lambda: torch.add(u, v, out=v))
        try:
            import cupy

            a, b = cupy.from_dlpack(u), cupy.from_dlpack(v)
            empty = cupy.RawKernel('extern "C" __global__ void empty() {}', "empty")
            found["kernel(u, u_next), CuPy"] = microseconds(lambda: kernel(a, b))
            found["an empty kernel, cupy.RawKernel"] = microseconds(lambda: empty((1,), (32,), ()))
        except ImportError as error:
            print(f"  CuPy: {error}")
    for name, value in found.items():
        print(f"{name:<36} {value:6.2f} us")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(UPDATES))
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--tune", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--scale", type=int, default=1, metavar="N")
    parser.add_argument("--json", metavar="FILE", help="writes what was measured there too")
    options = parser.parse_args()
    for name in options.names:
        if name not in UPDATES:
            parser.error(f"no update {name}: {', '.join(UPDATES)}")
    print(f"{torch.cuda.get_device_name() if ON_GPU else 'no GPU: the reference on the CPU'}, PyTorch {torch.__version__}")
    if options.calls:
        record = calls()
    else:
        record = []
        for name in options.names or UPDATES:
            update = UPDATES[name]
            scaled = Update(tuple(extent // options.scale for extent in update.extents), update.reach, update.stages,
                            update.constants, update.rotations)
            record.append(rates(name, scaled, options.tune))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=2)


if __name__ == "__main__":
    main()
