#!/usr/bin/env python3
"""Maxwell's equations on Yee's grid (corpus/fdtd2d.toml) between a conducting wall and a magnetic one: the lowest mode
swings at the frequency that the scheme gives it.

    cavity.py                     512 x 512 cells, CuPy
    cavity.py --cells 16 --cpu    the reference, NumPy
"""

import argparse
import math
import pathlib

import stencil_tune as st

DEFINITION = pathlib.Path(__file__).resolve().parents[2] / "corpus" / "fdtd2d.toml"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=512)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    if options.cpu:
        import numpy as xp
    else:
        import cupy as xp

    n, courant = options.cells, 0.5
    yee = st.stencil(DEFINITION.read_text())
    # Boundary hold keeps what the first step would need from beyond the grid: the electric field of the first column, and
    # the magnetic one of the last, both 0. Between them hz = cos(k (x + 1/2)); nothing depends on y.
    k = math.pi / (2 * n - 1)
    fields = {name: xp.zeros((n, n)) for name in yee.arguments}
    fields["hz"][:] = xp.cos(k * (xp.arange(n) + 0.5))[None, :]
    fields["hz"][:, -1] = 0
    frequency = 2 * math.asin(courant * math.sin(k / 2))  # sin(w / 2) = c sin(k / 2)
    steps = round(math.pi / frequency)  # half a period: the mode has turned over
    kernel = st.lookup(yee, like=fields["hz"], boundary="x=hold,y=periodic", steps=steps,
                       device="cpu" if options.cpu else None)
    print(kernel.evidence)
    before = float(fields["hz"][0, 0])
    arrays = [fields[name] for name in yee.arguments]
    kernel.advance(arrays, steps=steps, coefficients={"ce": courant, "ch": courant})
    after = float(arrays[yee.arguments.index("hz")][0, 0])
    print(f"{steps} steps, half a period: hz beside the wall was {before:.4f} and is {after:.4f}")
    return 0 if abs(after + before) < 0.05 else 1


if __name__ == "__main__":
    raise SystemExit(main())
