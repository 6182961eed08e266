"""python_peers.py --shots: shots and their gradients with respect to a material, beside deepwave's where it is installed."""

import dataclasses
import time

import torch

from peer_clock import DEVICE, ON_GPU, seconds

import stencil_tune as st
import stencil_tune.torch as stt
from stencil_tune import models

SAMPLES = 3
RECEIVERS = 126
SPACING, FASTEST = 10.0, 3000.0


@dataclasses.dataclass
class Case:
    """Shots of one grid; `layer` 0: without absorbing layers."""

    name: str
    shape: tuple
    steps: int
    layer: int
    shots: int = 1

    def scaled(self, scale):
        shape = tuple(max(n // scale, 2 * self.layer + 16) for n in self.shape)
        return dataclasses.replace(self, shape=shape, steps=max(self.steps // scale, 12), shots=max(self.shots // scale, 1))

    def points(self):
        """Positions in cells: of the source near one corner, of receivers in a row past it, some of which the wave reaches."""
        first, last = self.layer + 4, self.shape[-1] - self.layer - 4
        along = [first + (last - first) * i / RECEIVERS for i in range(RECEIVERS)]
        return [first] * len(self.shape), [[*[first + 6] * (len(self.shape) - 1), x] for x in along]


CASES = [
    Case("acoustic o4, no layers", (256, 256, 256), 200, 0),
    Case("acoustic o4, CPML 20", (256, 256, 256), 200, 20),
    Case("acoustic o4, CPML 20", (512, 512, 512), 60, 20),
    Case("acoustic o4 2D, CPML 20", (512, 512), 500, 20, shots=32),
    Case("Maxwell, CPML 10", (256, 256, 256), 200, 10),
]


class Shots:
    """Ours: one case, all of its shots by one batch."""

    def __init__(self, case):
        self.case = case
        source, receivers = case.points()
        if case.name.startswith("Maxwell"):
            model = models.maxwell(case.shape, 1e-3, layer=case.layer, dtype="f32")
            self.material, wave, source_of, receiver_of = "ca", model.stencil, "ez_next", "ex"
        elif case.layer:
            model = models.acoustic(case.shape, SPACING, FASTEST, layer=case.layer, dtype="f32")
            self.material, wave, source_of, receiver_of = "v", model.stencil, "p_next", "p"
        else:
            model, wave = None, st.stencil(f"acoustic{len(case.shape)}d_o4")
            self.material, source_of, receiver_of = "v", "p_next", "p"
        ready = {name: torch.as_tensor(array).to(DEVICE) for name, array in (model.fields if model else {}).items()}
        state = [wave.fields[place] for place in wave._state]
        self.dt = model.dt if model else 0.4 * SPACING / FASTEST
        self.fields = {name: ready[name] for name in wave.inputs if name in ready and name not in state}
        self.shape = case.shape
        if self.material == "v":
            self.fields["v"] = torch.full(case.shape, (FASTEST * 0.8 * self.dt / SPACING) ** 2, device=DEVICE)
        if case.shots > 1:
            wave, self.shape = wave.batched(), (case.shots, *case.shape)
            self.fields = {name: field if name in wave.profiles else field.expand(self.shape).contiguous()
                           for name, field in self.fields.items()}
            source, receivers = [[shot, *source] for shot in range(case.shots)], [
                [shot, *at] for shot in range(case.shots) for at in receivers]
        else:
            source = [source]
        self.wave = wave
        self.points = {"sources": {source_of: source}, "receivers": {receiver_of: receivers}}
        time_of = torch.arange(case.steps, device=DEVICE) * self.dt
        peak = (torch.pi * 15 * (time_of - 0.06)) ** 2 if self.material == "v" else (torch.arange(case.steps, device=DEVICE) / 12) ** 2
        self.series = ((1 - 2 * peak) * torch.exp(-peak))[:, None].expand(case.steps, len(source)).contiguous()
        self.heard = None

    def tune(self, budget):
        """The forward run, single steps that keep their states, and the step back."""
        held = {"boundary": "hold", "shape": self.shape, "dtype": "f32", "progress": False}
        for stencil, steps in ((self.wave, self.case.steps), (self.wave, 1), (self.wave.adjoint_step([self.material]), 1)):
            st.tune(stencil, steps=steps, budget=budget, **held)

    def run(self, material, **more):
        return stt.propagate(self.wave, {**self.fields, self.material: material}, steps=self.case.steps, series=self.series,
                             **self.points, **more).records

    def forward(self):
        return self.run(self.fields[self.material])

    def gradient(self, **more):
        material = self.fields[self.material].clone().requires_grad_()
        records = self.run(material, **more)
        return torch.autograd.grad(0.5 * (records - self.heard).square().sum(), material)[0]

    def check(self):
        """The misfit's slope along its gradient, by a difference, relative."""
        material = self.fields[self.material]
        self.heard = self.run(material * 1.02)
        found = self.gradient()
        if not found.any():
            raise ValueError("no receiver heard the wave")
        way = found / found.abs().max() * material * 1e-2
        up, down = (0.5 * (self.run(material + sign * way).double() - self.heard).square().sum().item() for sign in (1, -1))
        slope = torch.mul(found, way).sum(dtype=torch.float64).item()
        return abs((up - down) / 2 - slope) / abs(slope)


def deepwave_gradient(case):
    """The same physics by deepwave: a function that makes a shot and its gradient; None where it is not installed."""
    try:
        import deepwave
    except ImportError:
        return None
    source, receivers = case.points()
    velocity = torch.full(case.shape, FASTEST * 0.8, device=DEVICE, requires_grad=True)
    amplitudes = torch.zeros(case.shots, 1, case.steps, device=DEVICE)
    amplitudes[..., 4] = 1
    sources = torch.tensor([[source]] * case.shots, device=DEVICE)
    at = torch.tensor([receivers] * case.shots, device=DEVICE).long()

    def work():
        heard = deepwave.scalar(velocity, SPACING, 0.4 * SPACING / FASTEST, source_amplitudes=amplitudes, source_locations=sources,
                                receiver_locations=at, accuracy=4, pml_width=case.layer)[-1]
        return torch.autograd.grad(heard.square().sum(), velocity)[0]

    return work


def rate(case, taken):
    """GStencil/s of steps forward."""
    cells = case.shots
    for n in case.shape:
        cells *= n
    return cells * case.steps / taken / 1e9


def peak_of(work):
    """Bytes that it takes at most, beside what is there."""
    if not ON_GPU:
        return 0
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def shots(options, write):
    print("shots with their gradients, f32, GStencil/s of steps forward; GiB beside the material")
    for case in CASES:
        case = case.scaled(options.scale)
        if options.only and not any(word in case.name for word in options.only):
            continue
        began = time.monotonic()
        try:
            ours = Shots(case)
            if options.tune and ON_GPU:
                ours.tune(options.tune)
            error = ours.check()
            line = {"section": "shots", "case": case.name, "shape": case.shape, "steps": case.steps, "shots": case.shots,
                    "error": error, "forward": rate(case, seconds(ours.forward, SAMPLES))}
            for storage in ("device", "recompute"):
                work = lambda ours=ours, storage=storage: ours.gradient(storage=storage)  # noqa: E731
                line[storage] = rate(case, seconds(work, SAMPLES))
                line[f"{storage}_gib"] = peak_of(work) / 2**30
            theirs = deepwave_gradient(case) if ours.material == "v" else None
            if theirs is not None:
                line["deepwave"], line["deepwave_gib"] = rate(case, seconds(theirs, SAMPLES)), peak_of(theirs) / 2**30
        except Exception as problem:  # the others go on
            print(f"  {case.name}, {case.shape}: {type(problem).__name__}: {problem}", flush=True)
            continue
        figures = "  ".join(f"{name} {line[name]:.1f}" + (f" ({line[name + '_gib']:.2f} GiB)" if name + "_gib" in line else "")
                            for name in ("forward", "device", "recompute", "deepwave") if name in line)
        print(f"  {case.name}, {'x'.join(map(str, case.shape))} x {case.shots}, {case.steps} steps: {figures}; the slope is off by "
              f"{error:.1e}; {time.monotonic() - began:.0f} s", flush=True)
        write(line)
        del ours
        if ON_GPU:
            torch.cuda.empty_cache()
