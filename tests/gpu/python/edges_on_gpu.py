#!/usr/bin/env python3
"""Random definitions on what lies at edges (tests/python/test_edges_random.py), by kernels of every family on a GPU.

    edges_on_gpu.py draw FOLDER FIRST COUNT    cases of so many seeds, and winners for them; takes a build's
                                               STENCIL_TUNE_ON_HOST, and no GPU
    edges_on_gpu.py run FOLDER...              runs them on arrays of CuPy against NumPy, a process a core

Both take the package on PYTHONPATH. A case that fails is printed whole; exit status 1 then. A case is skipped where the
library expects single steps to be faster on this GPU than the kernel that was drawn."""

import collections
import multiprocessing
import os
import pathlib
import pickle
import random
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "python"
sys.path.append(str(TESTS))


def draw(folder, first, count):
    import conftest
    import test_edges_random as edges

    gpus, cases = conftest.Gpus(), []
    for seed in range(first, first + count):
        family, winners = edges.FAMILIES[seed % len(edges.FAMILIES)], edges.Winners(gpus, folder, seed)
        case = edges.random_case(seed, edges.WISHES.get(family, edges.Wishes(placed=True)),
                                 edges.OPEN_FAULTS & edges.OF_KERNELS, lambda case: winners.serve(case, family))
        cases.append((seed, family, case, list(winners.codes)))
    (folder / "cases.pickle").write_bytes(pickle.dumps(cases))
    print(f"{len(cases)} cases")


def run_one(job):
    """The family, whether the case was skipped, and nothing or what went wrong."""
    import cupy
    import test_edges_random as edges

    import stencil_tune as st

    database, (seed, family, case, codes) = job
    edges.named = lambda names, arrays: {name: cupy.asnumpy(array) for name, array in zip(names, arrays)}
    os.environ["PYTEST_CURRENT_TEST"] = "edges_on_gpu.py::test_kernels_of_every_family_agree"  # named by a failure
    try:
        kernel = st.lookup(st.stencil(case.definition.text()), shape=case.shape, dtype="f64",
                           boundary=case.boundary_text, steps=case.steps, database=database)
        if not edges.codes_of(kernel) & set(codes):
            if any(f"which is faster than {code} (" in note for code in codes for note in kernel.evidence.notes):
                return family, True, None
            return family, False, f"seed {seed}: {codes} were drawn, {kernel.evidence} found"
        edges.expect_right(case, kernel, cupy.asarray, random.Random(seed))
        return family, False, None
    except Exception as error:  # pylint: disable=broad-except
        return family, False, f"seed {seed}, {codes}: {type(error).__name__}: {error}"


def run(folders):
    jobs = [(str(folder / "winners.db"), case) for folder in folders
            for case in pickle.loads((folder / "cases.pickle").read_bytes())]
    counts, skipped, wrong = collections.Counter(), 0, 0
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        for family, is_skipped, fault in pool.imap_unordered(run_one, jobs):
            counts[family] += not is_skipped
            skipped += is_skipped
            if fault:
                wrong += 1
                print(fault, flush=True)
    print(f"{sum(counts.values())} cases ({', '.join(f'{name} {n}' for name, n in sorted(counts.items()))}): "
          f"{wrong} wrong, {skipped} skipped")
    return 0 if counts.total() and not wrong else 1


if __name__ == "__main__":
    words = sys.argv[1:]
    if len(words) == 4 and words[0] == "draw":
        sys.path.insert(0, str(TESTS))
        chosen = pathlib.Path(words[1]).resolve()
        chosen.mkdir(parents=True, exist_ok=True)
        draw(chosen, int(words[2]), int(words[3]))
    elif len(words) > 1 and words[0] == "run":
        sys.exit(run([pathlib.Path(folder).resolve() for folder in words[1:]]))
    else:
        sys.exit(__doc__)
