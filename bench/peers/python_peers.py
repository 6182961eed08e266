#!/usr/bin/env python3
"""What Python programs reach with stencil_tune, torch.compile, CuPy and JAX on one GPU. One table a section:

    bench/peers/python_peers.py                  rates of eight updates, each cell compared first
    bench/peers/python_peers.py --only star Yee  updates whose names have these words
    bench/peers/python_peers.py --tune 15        first tunes for 15 s what no winner ships for
    bench/peers/python_peers.py --library        rates through Python beside those of the tuner, the same kernels
    bench/peers/python_peers.py --calls          microseconds of a call, beside an empty kernel of CuPy
    bench/peers/python_peers.py --gradients      gradients of 100 steps of heat, 512^3, beside the run itself
    bench/peers/python_peers.py --shots          shots and what their records say of the material, memory too
    ... --records FILE                           adds what was measured to it, a line of JSON each, as it goes
    ... --scale 16                               extents divided by 16: a quick try, on the CPU where there is no GPU

All run the same text of an update (peer_updates.py), f32, boundary hold: cells near the edges are not updated. Before
anything is timed, a step of each system is compared with stencil_tune's in every updated cell, and a run of stencil_tune's
with single steps in every cell. Rates are cells that a step
updates, times steps, over the median time of samples by CUDA events; `run` is stencil_tune's advance() of 100 steps.
"""

import argparse
import json
import pathlib
import sys
import time
import traceback

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import peer_calls  # noqa: E402
import peer_gradients  # noqa: E402
import peer_shots  # noqa: E402
from peer_clock import DEVICE, ON_GPU, fastest_lookup, seconds  # noqa: E402
from peer_systems import SYSTEMS  # noqa: E402
from peer_updates import UPDATES, Update  # noqa: E402

import stencil_tune as st  # noqa: E402

STEPS = 20  # a sample of single steps
RUN = 100  # steps of a run


def random_arrays(update):
    generator = torch.Generator(DEVICE).manual_seed(1)
    arrays = {name: torch.rand(update.shape, generator=generator, device=DEVICE) for name in update.inputs}
    for name in update.outputs:
        arrays[name] = arrays[update.rotations.get(name, update.inputs[0])].clone()
    return arrays


def compare(update, system, wanted, got):
    """In every cell that all stages update from updated cells."""
    layers = update.reach * len(update.stages)
    for output in update.outputs:
        a, b = update.window(wanted[output], layers), update.window(got[output], layers)
        scale = max(1.0, a.abs().max().item())
        worst = torch.sub(a, b).abs_().max().item()
        if not worst <= 1e-5 * scale:
            raise AssertionError(f"{update.name}: {system} is off by {worst:g} in {output}")


class Table:
    """One update: what each system reaches."""

    def __init__(self, update, tune_s):
        self.update = update
        if tune_s and update.needs_tuning and ON_GPU:
            st.tune(update.stencil, update.extents, steps=RUN, budget=tune_s, progress=False)
        self.found, self.failed = {}, {}
        self.kernels = {}

    def measure(self, only=None):
        arrays = random_arrays(self.update)
        first = {name: arrays[name].clone() for name in self.update.outputs}
        self._own(arrays, first)
        del arrays
        for system, make in SYSTEMS.items():
            if only and system not in only:
                continue
            try:
                self._peer(system, make, first)
            except ImportError as error:
                self.failed[system] = str(error)
            except Exception as error:  # of one system: the others go on
                self.failed[system] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
                traceback.print_exc()
            if ON_GPU:
                torch.cuda.empty_cache()

    def _own(self, arrays, first):
        update = self.update
        like = arrays[update.inputs[0]]
        kernel, run = fastest_lookup(update.stencil, like, 1), fastest_lookup(update.stencil, like, RUN)
        self.kernels = {"step": kernel, "run": run}
        kernel(**{**arrays, **first})
        self._compare_run(kernel, run)

        def steps():
            for _ in range(STEPS):
                kernel(**arrays)
                update.rotate(arrays)

        self.found["step"] = seconds(steps) / STEPS
        order = [arrays[name] for name in update.stencil.arguments]
        self.found["run"] = seconds(lambda: run.advance(order, steps=RUN)) / RUN

    def _compare_run(self, kernel, run):
        """Fused steps and those that they leave with as many single ones, held layers too."""
        update, steps = self.update, 2 * run.fused_steps + 1
        single, together = self._alike(random_arrays(update)), self._alike(random_arrays(update))
        for _ in range(steps):
            kernel(**single)
            update.rotate(single)
        order = [together[name] for name in update.stencil.arguments]
        run.advance(order, steps=steps)
        for name, got in zip(update.stencil.arguments, order):
            if name in update.inputs:
                scale = max(1.0, single[name].abs().max().item())
                worst = torch.sub(single[name], got).abs_().max().item()
                if not worst <= 1e-5 * scale:
                    raise AssertionError(f"{update.name}: {steps} steps by advance() are off by {worst:g} in {name}")

    def _alike(self, arrays):
        """Arrays that take turns get the same held layers, as advance() gives them."""
        for older, newer in ((new, old) for old, new in self.update.rotations.items() if old in self.update.inputs):
            inside = arrays[older][self.update.inside].clone()
            arrays[older].copy_(arrays[newer])[self.update.inside] = inside
        return arrays

    def _peer(self, system, make, first):
        update = self.update
        arrays = random_arrays(update)
        peer = make(update)
        peer.load(arrays)
        peer.step()
        compare(update, system, first, peer.arrays())
        self.found[system] = peer.seconds_a_step(STEPS)

    def rate(self, system):
        return self.update.cells / 1e9 / self.found[system]

    def line(self):
        cells = [f"{self.update.name:<20} {'x'.join(map(str, self.update.extents)):<12}"]
        for system in ("step", "run", *SYSTEMS):
            cells.append(f"{self.rate(system):13.1f}" if system in self.found else f"{'-':>13}")
        return " ".join(cells) + "  " + ", ".join(f"{kernel.match}" for kernel in self.kernels.values())

    def record(self):
        return {"section": "rates", "update": self.update.name, "stencil": self.update.source,
                "dims": self.update.extents, "gstencils": {system: self.rate(system) for system in self.found},
                "failed": self.failed, "match": {key: kernel.match for key, kernel in self.kernels.items()},
                "code": {key: kernel.evidence.code for key, kernel in self.kernels.items()},
                "fused_steps": self.kernels["run"].fused_steps if self.kernels else 0}


def rates(options, write):
    print(f"{'GStencil/s':<33} " + " ".join(f"{name:>13}" for name in ("step", "run of 100", *SYSTEMS)) + "  match")
    for name in chosen(options.only):
        table = Table(Update(name, ROOT / "corpus", options.scale), options.tune)
        try:
            table.measure()
        finally:
            if table.found:
                print(table.line(), flush=True)
                write(table.record())


def there_and_back(kernel, arrays):
    for _ in range(STEPS // 2):
        kernel(*arrays)
        kernel(*reversed(arrays))


def five_runs(kernel, arrays):
    for _ in range(5):
        kernel.advance(arrays, steps=RUN)


def library(options, write):
    """The tuner times the kernel that lookup() gives, in a process of its own; here it is launched from Python: single
    steps by calls from one array to the other and back, as the tuner does, runs by advance()."""
    print(f"{'GStencil/s':<33} {'Python':>9} {'the tuner':>9} {'ratio':>7}")
    for name, steps in (("star 1, 3D", 1), ("star 1, 3D", RUN), ("star 4, 3D", 1), ("Gray-Scott, 2D", RUN),
                        ("acoustic, 3D", RUN)):
        update = Update(name, ROOT / "corpus", options.scale)
        arrays = random_arrays(update)
        kernel = fastest_lookup(update.stencil, arrays[update.inputs[0]], steps)
        order = [arrays[field] for field in update.stencil.arguments]
        if steps == 1:
            together, work = STEPS, lambda k=kernel, a=order: there_and_back(k, a)
        else:
            together, work = 5 * RUN, lambda k=kernel, a=order: five_runs(k, a)
        own = update.cells * together / 1e9 / seconds(work, rest=True)
        del arrays, order, work
        if ON_GPU:
            torch.cuda.empty_cache()
        code = kernel.evidence.tuned_code or kernel.evidence.code
        report = st.tune(update.stencil, update.extents, steps=steps, candidates=[code], progress=False, budget=30,
                         **({} if ON_GPU else {"predict_for": "h200"}))
        theirs = report.gstencils
        print(f"{name:<20} {steps:>4} steps   {own:9.1f} {theirs:9.1f} {own / theirs if theirs else 0:7.3f}", flush=True)
        write({"section": "library", "update": name, "steps": steps, "python": own, "tuner": theirs, "code": code})


def chosen(words):
    return [name for name in UPDATES if not words or any(word.lower() in name.lower() for word in words)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--calls", action="store_true")
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--library", action="store_true")
    parser.add_argument("--shots", action="store_true")
    parser.add_argument("--tune", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--scale", type=int, default=1, metavar="N")
    parser.add_argument("--records", metavar="FILE")
    options = parser.parse_args()
    start = time.monotonic()
    print(f"{torch.cuda.get_device_name() if ON_GPU else 'no GPU: the reference on the CPU'}, "
          f"PyTorch {torch.__version__}, stencil_tune {st.__version__}", flush=True)

    def write(record):
        if options.records:
            with open(options.records, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    sections = [(options.calls, peer_calls.calls), (options.gradients, peer_gradients.gradients),
                (options.library, library), (options.shots, peer_shots.shots)]
    failures = 0
    for section in [run for wanted, run in sections if wanted] or [rates]:
        try:
            section(options, write)
        except Exception:  # of one section: the others go on
            failures += 1
            traceback.print_exc()
    print(f"{time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
