// The walk of a block along z, for fused steps of one field and of systems.
#pragma once

#include "stencil_tune/boundary.cuh"

namespace stencil_tune {

/// Steps: what the block's steps work on (tile, input, levels), how one is made (step), where all levels are inside the grid
/// (first_plain_plane, last_plain_plane), and what follows the last one (leave).
template <class T, class Steps>
struct PlaneWalk : Steps {
  using Index = typename Steps::Index;
  using Steps::tile, Steps::input, Steps::levels;

  /// First the levels fill, and may update planes outside the grid. Then all are inside, and plain steps are enough. Last,
  /// the levels run empty.
  STENCIL_DEVICE void run() {
    Index z = tile.first_plane();
    input.start(z);
    z = walk(z, Steps::first_plain_plane());
    if (tile.steps_keep_cells()) {
      z = walk_plain<Edges::cells>(z, Steps::last_plain_plane());
    } else {
      assume(!tile.grid_ends_within);
      z = walk_plain<Edges::none>(z, Steps::last_plain_plane());
      levels.clear_held();
    }
    walk(z, tile.last_plane());
    Steps::leave();
  }

 protected:
  STENCIL_DEVICE Index walk(Index z, Index end) {
#pragma unroll 1
    for (; z < end; ++z) Steps::template step<Edges::all>(z);
    return z;
  }

  /// Makes as many whole groups of kUnroll steps as there are before `end`.
  template <Edges kEdges>
  STENCIL_DEVICE Index walk_plain(Index z, Index end) {
#pragma unroll 1
    for (; z + T::kUnroll <= end; z += T::kUnroll) {
      STENCIL_UNROLL
      for (int u = 0; u < T::kUnroll; ++u) Steps::template step<kEdges>(z + u);
    }
    return z;
  }
};

}  // namespace stencil_tune
