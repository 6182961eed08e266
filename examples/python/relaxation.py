#!/usr/bin/env python3
"""The potential between a warm wall and cold ones, by Jacobi's iteration, until what is left of the equation is small: the
run measures the residual every so many steps, and stops by itself.

    relaxation.py                     1024 x 1024 cells, CuPy
    relaxation.py --cells 24 --cpu    the reference, NumPy
"""

import argparse
import math

import stencil_tune as st

LAPLACE = """u_next = 0.25*(u[x-1] + u[x+1] + u[y-1] + u[y+1]);
             measure residual = max(abs(u_next - u)); measure mean = sum(u)"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=1024)
    parser.add_argument("--residual", type=float, default=1e-5)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    if options.cpu:
        import numpy as xp
    else:
        import cupy as xp

    n = options.cells
    u = xp.zeros((n, n))
    wave = xp.sin(math.pi * xp.arange(n) / (n - 1))
    u[0] = wave  # the warm wall; boundary hold keeps the outermost cells
    kernel = st.lookup(st.stencil(LAPLACE, rank=2), like=u, steps=100, device="cpu" if options.cpu else None)
    print(kernel.evidence)

    def until(steps, measured):
        print(f"{steps:6} steps: residual {measured['residual']:.2e}, mean {measured['mean'] / (n - 2)**2:.4f}")
        return measured["residual"] < options.residual

    u, steps = kernel.advance_until([u, u.copy()], steps=20 * n * n, every=100 if options.cpu else 10 * n, until=until)
    height = xp.sinh(math.pi * (1 - xp.arange(n) / (n - 1))) / math.sinh(math.pi)  # what separating variables gives
    error = float(abs(u - height[:, None] * wave[None, :]).max())
    print(f"{steps} steps; {error:.1e} from the solution of Laplace's equation")
    return 0 if error < 0.02 else 1


if __name__ == "__main__":
    raise SystemExit(main())
