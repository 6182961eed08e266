// temporal: kSteps sweeps in one pass over memory. A block walks along z. Level t keeps the planes of the grid
// after t sweeps that the next sweep reads, and works kLag planes behind level t - 1.
//
//      z --->                               one step of the walk
//      level 0   . . . [ p-1  p ] new   <-  plane from global memory, through the warp's own pipeline of copies
//      level 1   . . [ p-1  p ] new     <-  update of level 0's planes
//      level 2   . [ p-1  p ] new       <-  update of level 1's planes
//      output    . new                  <-  update of the last level's planes, stored
//
// - Registers: a lane has kRegisterX cells of kRegisterY rows. A warp spans the tile in x; neighbours in x come by
//   shuffle.
// - Shared memory: only rows at the edge of a warp pass through it, once a plane. In those rows neighbours in x are
//   read there too. Where several warps span the tile, the ends of all lanes' rows pass through it, and nothing is
//   shuffled.
// - Barrier: warps wait for each other once a step, for all levels together (temporal_barrier.cuh).
// - Planes that a level keeps are in registers; newest last (temporal_kept.cuh).
// - Copies: a warp's rows are copied by its lanes or by TMA (temporal_copies.cuh).
// - Levels may be shared out among groups of warps that pass planes on, and a tile among the blocks of a cluster.
// - Constant fields, which no step changes, are read at the cell itself. Each has a pipeline of its own, in which a
//   plane stays until the last level has used it.
//
// Tiles overlap: the cells within kSteps * reach of a tile's edge are computed by two tiles and stored by one. At the
// edges of the grid tiles end with it, so that the tile has all cells that a boundary needs, at every level.
#pragma once

#include "stencil_tune/temporal/temporal_pipeline.cuh"
#include "stencil_tune/temporal/temporal_walk.cuh"

namespace stencil_tune {

template <class S, class T, class Kernel>
STENCIL_DEVICE void temporal(const Kernel& arguments) {
  walk_levels<S, T, Levels<S, T>>(arguments, NoPoints{});
}

}  // namespace stencil_tune
