"""python_peers.py --gradients: what gradients of a run of heat take, beside the run itself."""

import torch

from peer_clock import DEVICE, ON_GPU, seconds

import stencil_tune as st
import stencil_tune.torch as stt

HEAT = "u_next = u + alpha * laplacian(u); alpha = 0.1"
STEPS = 100
SAMPLES = 5


def tune(stencil, n, boundary, budget):
    """Kernels for runs; what has no time shows in the evidence."""
    if ON_GPU and budget:
        st.tune(stencil, n, steps=STEPS, boundary=boundary, budget=budget, progress=False)


def dot(a, b):
    return torch.mul(a, b).sum(dtype=torch.float64).item()


class Case:
    """Gradients of <g, run(u)>."""

    def __init__(self, n, boundary):
        self.boundary, self.n = boundary, n
        self.heat = st.stencil(HEAT, rank=3)
        generator = torch.Generator(DEVICE).manual_seed(1)
        # Waves that last, so that derivatives are no small differences of rounding errors.
        wave = torch.sin(torch.arange(n, device=DEVICE) * (8 * 3.14159265 / n))
        waves = wave[:, None, None] + wave[None, :, None] * wave
        self.u = waves + torch.rand((n, n, n), generator=generator, device=DEVICE)
        self.g = waves + torch.rand((n, n, n), generator=generator, device=DEVICE)
        self.alpha = torch.tensor([0.1], dtype=torch.float64)

    def run(self, u, alpha):
        return stt.advance(self.heat, u, steps=STEPS, boundary=self.boundary, coefficients=alpha)

    def forward(self):
        return self.run(self.u, self.alpha)

    def gradient(self, of):
        """Of the first state, of the coefficient, or of both."""
        u, alpha = self.u.detach(), self.alpha.detach()
        wanted = []
        if "state" in of:
            u = u.requires_grad_()
            wanted.append(u)
        if "coefficient" in of:
            alpha = alpha.requires_grad_()
            wanted.append(alpha)
        return torch.autograd.grad(self.run(u, alpha), wanted, self.g)

    def check(self, of):
        """Dot products of what is linear; a difference quotient of the coefficient's."""
        found = self.gradient(of)
        told = []
        if "state" in of:
            forward, back = dot(self.forward(), self.g), dot(self.u, found[0])
            told.append(abs(forward - back) / abs(forward))
        if "coefficient" in of:
            step = 1e-3
            up, down = (dot(self.run(self.u, self.alpha + by), self.g) for by in (step, -step))
            slope = (up - down) / (2 * step)
            told.append(abs(slope - found[-1].item()) / abs(slope))
        return told


def gradients(options, write):
    n = 512 // options.scale
    heat = st.stencil(HEAT, rank=3)
    budget = options.tune or 20
    print(f"{STEPS} steps of heat, {n}^3, f32; times in ms, in brackets of the run itself")
    for boundary in ("periodic", "hold"):
        tune(heat, n, boundary, budget)
        case = Case(n, boundary)
        forward = seconds(case.forward, SAMPLES)
        kernel = st.lookup(heat, like=case.u, steps=STEPS, boundary=boundary, **({} if ON_GPU else {"device": "cpu"}))
        print(f"{boundary}: run {forward * 1e3:.2f}, {kernel.match}: {kernel.evidence.code}", flush=True)
        for of in ("state", "coefficient", "state and coefficient"):
            if boundary == "hold" and of == "coefficient":
                tune(heat.tangent("alpha"), n, boundary, 2 * budget)
            try:
                errors = case.check(of)
                whole = seconds(lambda case=case, of=of: case.gradient(of), SAMPLES)
            except Exception as error:  # of one kind: the others go on
                print(f"  {of}: {type(error).__name__}: {error}", flush=True)
                continue
            back = whole - forward
            print(f"  gradient of the {of:<22} {back * 1e3:8.2f} ({back / forward:.2f})   with the run "
                  f"{whole * 1e3:8.2f} ({whole / forward:.2f})   off by {max(errors):.1e}", flush=True)
            write({"section": "gradients", "boundary": boundary, "of": of, "steps": STEPS, "cells": n, "run_s": forward,
                   "gradient_s": back, "with_run_s": whole, "error": errors, "code": kernel.evidence.code,
                   "match": kernel.match})
        del case
        if ON_GPU:
            torch.cuda.empty_cache()
