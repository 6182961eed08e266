"""What python_peers.py compares with: each makes a step of an update in its own way, on arrays by name."""

import statistics
import time

import torch

from peer_clock import ON_GPU, SAMPLES, seconds


class TorchCompiled:
    """Slices of tensors, torch.compile in its default mode."""

    def __init__(self, update):
        self.update = update

        def write(arrays, name, values):
            update.window(arrays[name]).copy_(values)
            return arrays

        self._step = update.step_on_slices(write)
        if ON_GPU:
            torch._dynamo.reset()
            self._step = torch.compile(self._step, dynamic=False)

    def load(self, arrays):
        self._arrays = dict(arrays)

    def step(self):
        self._step(self._arrays)

    def arrays(self):
        return self._arrays

    def seconds_a_step(self, steps):
        def run():
            for _ in range(steps):
                self.step()
                self.update.rotate(self._arrays)

        return seconds(run) / steps


class CupyKernel(TorchCompiled):
    """A kernel written by hand, a thread a cell, on PyTorch's stream."""

    def __init__(self, update):  # pylint: disable=super-init-not-called
        import cupy

        self.update, self._cupy = update, cupy
        self._stages = []
        for stage in range(len(update.stages)):
            source, names = update.cuda(stage)
            self._stages.append((cupy.RawKernel(source, "peer", options=("--std=c++17",)), names))
        self._block = (32, 8, 1)[:max(2, len(update.extents))] if len(update.extents) > 1 else (256,)
        self._grid = tuple(-(-extent // block) for extent, block in zip(update.extents, self._block))

    def load(self, arrays):
        super().load({name: self._cupy.from_dlpack(tensor) for name, tensor in arrays.items()})
        self._stream = self._cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)

    def step(self):
        with self._stream:
            for kernel, names in self._stages:
                kernel(self._grid, self._block, tuple(self._arrays[name] for name in names))

    def arrays(self):
        return {name: torch.from_dlpack(array) for name, array in self._arrays.items()}


class JaxLoop:
    """Slices of arrays under jit, the steps of a run by lax.fori_loop. JAX has no streams of ours: whole runs by the
    host's clock, which wait for their end."""

    def __init__(self, update):
        import jax

        self.update, self._jax = update, jax

        def write(arrays, name, values):
            return dict(arrays, **{name: arrays[name].at[update.inside].set(values)})

        self._one = update.step_on_slices(write)

    def load(self, arrays):
        numpy = self._jax.numpy
        self._arrays = {name: numpy.array(self._jax.dlpack.from_dlpack(tensor), copy=True)
                        for name, tensor in arrays.items()}

    def step(self):
        self._arrays = self._jax.jit(self._one)(self._arrays)

    def arrays(self):
        return {name: torch.from_dlpack(array) for name, array in self._arrays.items()}

    def seconds_a_step(self, steps):
        jax, update = self._jax, self.update

        def one(_, arrays):
            arrays = dict(self._one(arrays))
            update.rotate(arrays)
            return arrays

        run = jax.jit(lambda arrays: jax.lax.fori_loop(0, steps, one, arrays), donate_argnums=0)
        arrays, self._arrays = self._arrays, None
        arrays = jax.block_until_ready(run(arrays))
        samples = []
        for _ in range(SAMPLES if ON_GPU else 1):
            start = time.perf_counter()
            arrays = jax.block_until_ready(run(arrays))
            samples.append((time.perf_counter() - start) / steps)
        return statistics.median(samples)


SYSTEMS = {"torch.compile": TorchCompiled, "CuPy": CupyKernel, "JAX": JaxLoop}
