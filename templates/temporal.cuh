// temporal: kSteps sweeps in one pass over memory. A block walks along z; level t of its pipeline holds the planes of
// the grid after t sweeps that the next sweep reads, and works kLag planes behind level t - 1.
//
//      z --->                               one step of the walk
//      level 0   . . . [ p-1  p ] new   <-  plane from global memory, through a private ring of copies
//      level 1   . . [ p-1  p ] new     <-  update of level 0's planes
//      level 2   . [ p-1  p ] new       <-  update of level 1's planes
//      output    . new                  <-  update of the last level's planes, stored
//
// A warp spans the tile in x (kRegisterX cells a lane, neighbours by shuffle); a thread holds kRegisterY rows of it, and
// only rows at the edge of a warp pass through shared memory, once a plane. All levels advance between two barriers.
//
// Tiles overlap: the cells within kSteps * reach of a tile's edge are computed by two tiles and stored by one. At the
// edges of the grid tiles end with it, so that boundaries are answered from the tile itself, at every level.
#pragma once

#include "stencil_tune/temporal_pipeline.cuh"

namespace stencil_tune {

/// A block's walk along z.
template <class S, class T>
struct TemporalWalk {
  using Tile = TemporalTile<S, T>;
  using Index = typename S::Index;

  const Tile& tile;
  InputRows<S, T>& input;
  OutputRows<S, T>& output;
  Pipeline<S, T>& pipeline;

  /// Levels fill, and may still work on planes outside the grid; then all are inside and plain steps do; then they run
  /// empty.
  STENCIL_DEVICE void run() {
    Index z = tile.first_plane();
    input.start(z);
    z = walk<Edges::all>(z, tile.first_plain_plane());
    if (pipeline.any_cell_held()) {
      z = walk_unrolled<Edges::cells>(z, tile.last_plain_plane());
    } else {
      z = walk_unrolled<Edges::none>(z, tile.last_plain_plane());
    }
    walk<Edges::all>(z, tile.last_plane());
  }

 private:
  template <Edges kEdges>
  STENCIL_DEVICE Index walk(Index z, Index end) {
#pragma unroll 1
    for (; z < end; ++z) step<kEdges>(z);
    return z;
  }

  /// As many whole groups of kUnroll steps as there are before `end`.
  template <Edges kEdges>
  STENCIL_DEVICE Index walk_unrolled(Index z, Index end) {
#pragma unroll 1
    for (; z + T::kUnroll <= end; z += T::kUnroll) {
      STENCIL_UNROLL
      for (int u = 0; u < T::kUnroll; ++u) step<kEdges>(z + u);
    }
    return z;
  }

  template <Edges kEdges>
  STENCIL_DEVICE void step(Index z) {
    TemporalPlane<S, T> plane;
    input.take(plane);
    pipeline.template step<kEdges>(z, plane);
    if (kEdges != Edges::all || z >= tile.first_storing_plane()) output.store(z - Tile::kDelay, plane);
  }
};

template <class S, class T>
STENCIL_DEVICE void temporal(const Arguments<S>& arguments) {
  const TemporalTile<S, T> tile(arguments);
  if (tile.stores_nothing()) return;
  InputRows<S, T> input(arguments, tile);
  OutputRows<S, T> output(arguments, tile);
  Pipeline<S, T> pipeline(arguments, tile);
  TemporalWalk<S, T>{tile, input, output, pipeline}.run();
}

}  // namespace stencil_tune
