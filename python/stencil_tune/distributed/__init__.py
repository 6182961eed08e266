"""Grids over many GPUs: each rank owns a part, and halos travel between them.

>>> from mpi4py import MPI                                                     # doctest: +SKIP
>>> import stencil_tune as st
>>> from stencil_tune import distributed
>>> heat = st.stencil("u_next = u + alpha*laplacian(u); alpha = 0.1", rank=3)
>>> grid = distributed.Grid(heat, dims=1024, steps=100, ranks=MPI.COMM_WORLD)  # doctest: +SKIP
>>> grid.write("u", mine)                        # this rank's cells: grid.owned # doctest: +SKIP
>>> grid.advance(1000)                                                         # doctest: +SKIP
>>> grid.read("u", mine)                                                       # doctest: +SKIP

Ranks are an NCCL communicator, nccl(...), which is the fast way, an mpi4py communicator, or Ranks of your own.
docs/scaling.md has more.
"""

from ._grid import Grid, GridPoints
from ._ranks import Nccl, Ranks, mpi, nccl

__all__ = ["Grid", "GridPoints", "Nccl", "Ranks", "mpi", "nccl"]
