"""Work for all GPUs of the machine."""

import contextlib
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

from bench import cores, gpus


class Unfinished(Exception):
    """Something is left to do: time is up, or a signal came."""


@contextlib.contextmanager
def deferred_signals():
    """An event that SIGINT and SIGTERM set, in place of what else they do."""
    came = threading.Event()
    before = {number: signal.signal(number, lambda *_: came.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def spread(tasks, at_once=1):
    """Calls each task with the options that give `tune` a GPU and its part of the cores. `at_once` workers share a GPU: one
    compiles while another, which holds the GPU's lock, measures. Each takes every so manieth task, in their order, and stops
    where a task raises. The first error is raised once all workers have ended. A terminal or timeout sends its signal to the
    programs too: they end in good order, and no further task begins."""
    devices = len(gpus())  # without one: predictions
    workers = max(devices, 1) * at_once
    jobs = max(cores() // workers, 1)

    def work(place):
        on_gpu = ["--jobs", str(jobs)] + (["--device", str(place % devices)] if devices else [])
        for task in tasks[place::workers]:
            if signalled.is_set():
                raise Unfinished
            task(on_gpu)

    with deferred_signals() as signalled, ThreadPoolExecutor(workers) as pool:
        ended = [pool.submit(work, place) for place in range(workers)]
    for worker in ended:
        worker.result()
