// temporal: kSteps sweeps in one pass over memory. A block walks along z; level t of its pipeline holds the planes of
// the grid after t sweeps that the next sweep reads, and works kLag planes behind level t - 1.
//
//      z --->                               one step of the walk
//      level 0   . . . [ p-1  p ] new   <-  plane from global memory, through the warp's own ring of copies
//      level 1   . . [ p-1  p ] new     <-  update of level 0's planes
//      level 2   . [ p-1  p ] new       <-  update of level 1's planes
//      output    . new                  <-  update of the last level's planes, stored
//
// A warp spans the tile in x (kRegisterX cells a lane, neighbours by shuffle); a thread holds kRegisterY rows of it, and
// only rows at the edge of a warp pass through shared memory, once a plane, where neighbours in x read them too. All
// levels advance while warps wait for each other once (temporal_barrier.cuh). Where several warps span the tile, the ends
// of all lanes' rows pass through shared memory as well, and nothing is shuffled: wider tiles overlap less.
//
// The planes that a level holds are in registers; the oldest of them may wait in shared memory (temporal_held.cuh). A
// warp's lanes copy its rows, or the copy engine does (temporal_copies.cuh).
//
// The levels may be shared out among groups of warps that pass planes on, and a tile among the blocks of a cluster.
//
// Further fields, which no step changes, are read at the cell itself. Their planes wait in private rings of their own
// until the last level has used them.
//
// Tiles overlap: the cells within kSteps * reach of a tile's edge are computed by two tiles and stored by one. At the
// edges of the grid tiles end with it, so that boundaries are answered from the tile itself, at every level.
#pragma once

#include "stencil_tune/temporal/temporal_pipeline.cuh"
#include "stencil_tune/temporal/temporal_walk.cuh"

namespace stencil_tune {

template <class S, class T, class Kernel>
STENCIL_DEVICE void temporal(const Kernel& arguments) {
  walk_levels<S, T, Pipeline<S, T>>(arguments);
}

}  // namespace stencil_tune
