#!/usr/bin/env python3
"""Random definitions on what lies at edges (tests/python/test_edges_random.py), by kernels of every family on a GPU.

    edges_on_gpu.py draw FOLDER COUNT    cases and winners for them; takes a build's STENCIL_TUNE_ON_HOST, and no GPU
    edges_on_gpu.py run FOLDER [JOBS]    runs them on arrays of CuPy against NumPy, in so many processes

Both take the package on PYTHONPATH. A case that fails is printed whole; exit status 1 then."""

import collections
import multiprocessing
import os
import pathlib
import pickle
import random
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "python"
sys.path.append(str(TESTS))


def draw(folder, count):
    import conftest
    import test_edges_random as edges

    gpus, cases = conftest.Gpus(), []
    for seed in range(1, count + 1):
        family, winners = edges.FAMILIES[seed % len(edges.FAMILIES)], edges.Winners(gpus, folder, seed)
        case = edges.random_case(seed, edges.WISHES.get(family, edges.Wishes(placed=True)),
                                 edges.OPEN_FAULTS & edges.OF_KERNELS, lambda case: winners.serve(case, family))
        cases.append((seed, family, case, list(winners.codes)))
    (folder / "cases.pickle").write_bytes(pickle.dumps(cases))
    print(f"{len(cases)} cases")


def run_one(job):
    """The family, and nothing or what went wrong."""
    import cupy
    import test_edges_random as edges

    import stencil_tune as st

    database, (seed, family, case, codes) = job
    edges.named = lambda names, arrays: {name: cupy.asnumpy(array) for name, array in zip(names, arrays)}
    os.environ["PYTEST_CURRENT_TEST"] = "edges_on_gpu.py::test_kernels_of_every_family_agree"  # named by a failure
    try:
        kernel = st.lookup(st.stencil(case.definition.text()), shape=case.shape, dtype="f64",
                           boundary=case.boundary_text, steps=case.steps, database=database)
        found = {kernel.evidence_of(stage).code for stage in range(kernel.stencil.stages)}
        if not found & set(codes):
            return family, f"seed {seed}: {codes} were drawn, {found} found"
        edges.expect_right(case, kernel, cupy.asarray, random.Random(seed))
        return family, None
    except Exception as error:  # pylint: disable=broad-except
        return family, f"seed {seed}, {codes}: {type(error).__name__}: {error}"


def run(folder, jobs):
    cases = pickle.loads((folder / "cases.pickle").read_bytes())
    counts, wrong = collections.Counter(), []
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for family, fault in pool.imap_unordered(run_one, [(str(folder / "winners.db"), case) for case in cases]):
            counts[family] += 1
            if fault:
                wrong.append(fault)
                print(fault, flush=True)
    print(f"{sum(counts.values())} cases ({', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}): "
          f"{len(wrong)} wrong")
    return 1 if wrong or not counts else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("draw", "run"):
        sys.exit(__doc__)
    chosen = pathlib.Path(sys.argv[2]).resolve()
    chosen.mkdir(parents=True, exist_ok=True)
    if sys.argv[1] == "draw":
        sys.path.insert(0, str(TESTS))
        draw(chosen, int(sys.argv[3]))
    else:
        sys.exit(run(chosen, int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count()))
