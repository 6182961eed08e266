// The walk of a temporal block along z, for levels that keep planes and for levels that keep sums.
#pragma once

#include "stencil_tune/points/no_points.cuh"
#include "stencil_tune/temporal/temporal_output.cuh"
#include "stencil_tune/temporal/temporal_rows.cuh"
#include "stencil_tune/temporal/temporal_share.cuh"

namespace stencil_tune {

/// A block's walk along z. Levels: those of temporal_pipeline.cuh or of temporal_sums.cuh.
template <class S, class T, class Levels>
struct TemporalWalk {
  using Index = typename S::Index;

  const TemporalTile<S, T>& tile;
  InputRows<S, T>& input;
  OutputRows<S, T>& output;
  Levels& levels;

  /// First the levels fill, and may update planes outside the grid. Then all are inside, and plain steps are enough. Last,
  /// the levels run empty.
  STENCIL_DEVICE void run() {
    Index z = tile.first_plane();
    input.start(z);
    z = walk(z, tile.first_plain_plane());
    if (tile.steps_keep_cells()) {
      z = walk_plain<Edges::cells>(z, tile.last_plain_plane());
    } else {
      assume(!tile.grid_ends_within);
      z = walk_plain<Edges::none>(z, tile.last_plain_plane());
      levels.clear_held();
    }
    walk(z, tile.last_plane());
    input.leave();
    levels.leave();
  }

 protected:
  STENCIL_DEVICE Index walk(Index z, Index end) {
#pragma unroll 1
    for (; z < end; ++z) step<Edges::all>(z);
    return z;
  }

  /// As many whole groups of kUnroll steps as there are before `end`.
  template <Edges kEdges>
  STENCIL_DEVICE Index walk_plain(Index z, Index end) {
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
    if constexpr (T::kGroups > 1) levels.begin_step();  // it waits for passed planes too
    input.take(plane);
    if constexpr (T::kGroups == 1) levels.begin_step();
    levels.template step<kEdges>(z - tile.group * T::kGroupDelay, plane, input.constants);
    if (!tile.in_last_group) {
      input.passed.pass(plane);
    } else if (kEdges != Edges::all || z >= tile.first_storing_plane()) {
      output.store(plane);
    }
    input.passed.next_step();
  }
};

/// One walk: the block's tile, or a run of its share. kernel: its arguments, with tensor maps or without.
template <class S, class T, class Levels, class Kernel>
STENCIL_DEVICE void walk_part(const Kernel& kernel, const TemporalPart<S>& part, const NoPoints& points) {
  const Arguments<S>& arguments = plain(kernel);
  const TemporalTile<S, T> tile(arguments, part);
  if (tile.stores_nothing()) return;
  InputRows<S, T> input(arguments, tile, tensor_maps(kernel));
  OutputRows<S, T> output(arguments, tile);
  Levels levels(arguments, tile, points);
  TemporalWalk<S, T, Levels>{tile, input, output, levels}.run();
  if constexpr (T::kShares) {
    // The next walk begins from nothing: no copy is on its way, no thread reads what it writes, no mbarrier counts.
    if constexpr (T::kReadsRim && !T::kCopiedByTma) async_commit();  // a rim's last copies are in no group yet
    async_wait<0>();
    barrier();
    input.end_mbarriers();
    levels.end_mbarriers();
  }
}

/// All that the block makes.
template <class S, class T, class Levels, class Kernel>
STENCIL_DEVICE void walk_levels(const Kernel& kernel, const NoPoints& points) {
  if constexpr (T::kShares) {
    TemporalPart<S> part;
    for (int run = 0; TemporalShare<S, T>::part_of(plain(kernel), run, part); ++run) {
      walk_part<S, T, Levels>(kernel, part, points);
    }
  } else {
    walk_part<S, T, Levels>(kernel, {}, points);
  }
}

}  // namespace stencil_tune
