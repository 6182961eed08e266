#!/usr/bin/env python3
"""Heat in a cube over the ranks of an MPI job, a GPU each: the library cuts the grid and carries the halos.

    mpirun -n 2 python3 distributed_heat.py                       256 x 256 x 256 cells, 200 steps, halos by NCCL
    mpirun -n 2 python3 distributed_heat.py --by mpi              by MPI, through host memory: slower, needs no NCCL
    mpirun -n 2 python3 distributed_heat.py --cells 61 --steps 50

Needs mpi4py and NumPy, and CuPy for NCCL. Its walls are cold, and hold. A product of sines then decays by a factor known
exactly, which each rank checks on its own cells. The stencil is star3d1r, whose shipped winners fuse steps.
"""

import argparse
import math

import numpy
from mpi4py import MPI

from stencil_tune import distributed


def nccl_of(world, device):
    """An NCCL communicator of all ranks."""
    import cupy
    from cupy.cuda import nccl

    cupy.cuda.Device(device).use()
    unique = world.bcast(nccl.get_unique_id() if world.rank == 0 else None)
    return distributed.nccl(nccl.NcclCommunicator(world.size, unique, world.rank))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=256)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--by", choices=["nccl", "mpi"], default="nccl")
    parser.add_argument("--gpus", type=int, help="that a rank sees, if not one for each rank of its node: they take turns")
    options = parser.parse_args()

    world = MPI.COMM_WORLD
    node = world.Split_type(MPI.COMM_TYPE_SHARED)
    device = node.rank % (options.gpus or node.size)
    ranks = nccl_of(world, device) if options.by == "nccl" else distributed.mpi(world)
    n, alpha = options.cells, 0.1
    grid = distributed.Grid("star3d1r", dims=n, steps=options.steps, ranks=ranks, device=device)
    if world.rank == 0:
        print(f"{grid.steps_per_exchange} steps an exchange; rank 0 runs {grid.evidence}")

    line = numpy.sin(math.pi * numpy.arange(n) / (n - 1))
    z, y, x = grid.owned
    first = (line[z, None, None] * line[None, y, None] * line[None, None, x]).astype(numpy.float32)
    grid.write("in", first)
    grid.advance(options.steps, coefficients={"c0": 1 - 6 * alpha, **{f"c{i}": alpha for i in range(1, 7)}})
    grid.wait()
    u = grid.read("in", numpy.empty_like(first))

    decay = (1 - 6 * alpha * (1 - math.cos(math.pi / (n - 1))))**options.steps
    error = world.allreduce(float(abs(u - decay * first).max()), op=MPI.MAX)
    if world.rank == 0:
        print(f"largest error after {options.steps} steps on {world.size} ranks: {error:.2g}")
    return 0 if error < 1e-4 else 1


if __name__ == "__main__":
    raise SystemExit(main())
