// The walk of a temporal block along z, whatever its levels keep between planes.
#pragma once

#include "stencil_tune/temporal/temporal_output.cuh"
#include "stencil_tune/temporal/temporal_rows.cuh"

namespace stencil_tune {

/// A block's walk along z. Pipeline: the levels.
template <class S, class T, class Pipeline>
struct TemporalWalk {
  using Tile = TemporalTile<S, T>;
  using Index = typename S::Index;

  const Tile& tile;
  InputRows<S, T>& input;
  OutputRows<S, T>& output;
  Pipeline& pipeline;

  /// Levels fill, and may still work on planes outside the grid; then all are inside and plain steps do; then they run
  /// empty.
  STENCIL_DEVICE void run() {
    Index z = tile.first_plane();
    input.start(z);
    z = walk<Edges::all>(z, tile.first_plain_plane());
    if (tile.holds_cells) {
      z = walk_unrolled<Edges::cells>(z, tile.last_plain_plane());
    } else {
      z = walk_unrolled<Edges::none>(z, tile.last_plain_plane());
      pipeline.forget_cells();
    }
    walk<Edges::all>(z, tile.last_plane());
    input.leave();
    pipeline.leave();
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
    if constexpr (T::kGroups > 1) pipeline.begin_step();  // what is passed on is exchanged too
    input.take(plane);
    if constexpr (T::kGroups == 1) pipeline.begin_step();
    pipeline.template step<kEdges>(z - tile.group * Tile::kGroupDelay, plane, input.constants);
    if (!tile.in_last_group) {
      input.passed.pass(plane);
    } else if (kEdges != Edges::all || z >= tile.first_storing_plane()) {
      output.store(plane);
    }
    input.passed.next_step();
  }
};

/// Kernel: its arguments, with tensor maps or without.
template <class S, class T, class Pipeline, class Kernel>
STENCIL_DEVICE void walk_levels(const Kernel& kernel) {
  const Arguments<S>& arguments = plain(kernel);
  const TemporalTile<S, T> tile(arguments);
  if (tile.stores_nothing()) return;
  InputRows<S, T> input(arguments, tile, tensor_maps(kernel));
  OutputRows<S, T> output(arguments, tile);
  Pipeline pipeline(arguments, tile);
  TemporalWalk<S, T, Pipeline>{tile, input, output, pipeline}.run();
}

}  // namespace stencil_tune
