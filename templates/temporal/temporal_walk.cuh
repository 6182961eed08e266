// The walk of a temporal block along z, for levels that keep planes and for levels that keep sums.
#pragma once

#include "stencil_tune/points/no_points.cuh"
#include "stencil_tune/temporal/plane_walk.cuh"
#include "stencil_tune/temporal/temporal_output.cuh"
#include "stencil_tune/temporal/temporal_rows.cuh"
#include "stencil_tune/temporal/temporal_share.cuh"

namespace stencil_tune {

/// The steps of a block's walk. Levels: those of temporal_pipeline.cuh or of temporal_sums.cuh.
template <class S, class T, class Levels>
struct TemporalSteps {
  using Index = typename S::Index;

  const TemporalTile<S, T>& tile;
  InputRows<S, T>& input;
  OutputRows<S, T>& output;
  Levels& levels;

  STENCIL_DEVICE Index first_plain_plane() const { return tile.first_plain_plane(); }
  STENCIL_DEVICE Index last_plain_plane() const { return tile.last_plain_plane(); }

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

  STENCIL_DEVICE void leave() {
    input.leave();
    levels.leave();
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
  PlaneWalk<T, TemporalSteps<S, T, Levels>>{{tile, input, output, levels}}.run();
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
