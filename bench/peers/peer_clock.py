"""What python_peers.py times with."""

import statistics
import time

import torch

ON_GPU = torch.cuda.is_available()
DEVICE = "cuda" if ON_GPU else "cpu"
SAMPLES = 9
WARM_SECONDS = 0.5  # an idle GPU's clocks take a while to rise


def seconds(work, samples=SAMPLES, rest=False):
    """Of work() on the GPU's clock: the median of samples. `rest`: as long as a sample takes, as the tuner does before
    samples of runs, so that the card's power cap does not lower its clocks."""
    if not ON_GPU:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    began = time.perf_counter()
    while time.perf_counter() - began < WARM_SECONDS:
        work()
        torch.cuda.synchronize()
    found = []
    for _ in range(samples):
        if rest and found:
            time.sleep(found[-1])
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end) / 1000)
    return statistics.median(found)


def fastest_lookup(stencil, like, steps, **more):
    """What lookup() gives; the reference without a GPU."""
    import stencil_tune as st  # the other clocks serve without it

    return st.lookup(stencil, like=like, steps=steps, **more, **({} if ON_GPU else {"device": "cpu"}))
