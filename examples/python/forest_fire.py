#!/usr/bin/env python3
"""A forest that burns and grows again (Drossel and Schwabl, 1992): fire spreads to neighbouring trees, lightning strikes,
trees grow. Random numbers follow from seed, cell and step alone, so that every run of a seed is the same, on every GPU.

    forest_fire.py                     1024 x 1024 cells, 2000 steps, CuPy
    forest_fire.py --cells 48 --cpu    the reference, NumPy

A cell is 0 (empty), 1 (a tree) or 2 (on fire).
"""

import argparse

import stencil_tune as st

FOREST = """next = u == 2 ? 0
                 : u == 1 ? (max(u[x-1], u[x+1], u[y-1], u[y+1]) == 2 || random(1) < lightning ? 2 : 1)
                 : (random(1) < growth ? 1 : 0);
            lightning = 0.00005; growth = 0.01;
            measure trees = sum(u == 1); measure fires = sum(u == 2)"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    if options.cpu:
        import numpy as xp
    else:
        import cupy as xp

    n = options.cells
    forest = xp.zeros((n, n), dtype=xp.float32)
    kernel = st.lookup(st.stencil(FOREST, rank=2), like=forest, boundary="periodic", steps=options.steps,
                       device="cpu" if options.cpu else None)
    print(kernel.evidence)
    seen = []

    def until(steps, measured):
        trees, fires = (measured[name] / n**2 for name in ("trees", "fires"))
        seen.append((trees, fires))
        print(f"{steps:6} steps: {trees:6.1%} trees, {fires:7.3%} on fire")

    kernel.advance_until([forest, forest.copy()], steps=options.steps, every=max(1, options.steps // 10), until=until)
    trees = [share for share, _ in seen]
    return 0 if 0.05 < trees[-1] < 0.95 and any(fires > 0 for _, fires in seen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
