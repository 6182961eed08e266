// temporal, with points: like temporal.cuh and temporal_sums.cuh, and sources add to what each level updates, receivers
// capture it (points/block_points.cuh).
#pragma once

#include "stencil_tune/points/block_points.cuh"
#include "stencil_tune/temporal/temporal.cuh"
#include "stencil_tune/temporal/temporal_sums.cuh"

namespace stencil_tune {

/// A level is a step: what it updates is the state after it. There is one field, whatever the points call it.
template <class S, class T>
struct TemporalPoints : BlockPoints<S, T, T::kLag> {
  using Base = BlockPoints<S, T, T::kLag>;
  using Base::Base;

  template <int kLevel>
  STENCIL_DEVICE void meet(typename S::Index z, TemporalPlane<S, T>& updated) const {
    const PointRounds rounds = Base::rounds(z);
    const int step = Base::tile.group * Base::Shape::kLevels + kLevel;
#pragma unroll 1
    for (unsigned r = rounds.source; r < rounds.sources_end; ++r) {
      Base::add(Base::source(r, step), T::kSourceField, updated);
    }
    if (!Base::captures(step, z)) return;
#pragma unroll 1
    for (unsigned r = rounds.receiver; r < rounds.receivers_end; ++r) {
      Base::capture(Base::receivers(r), T::kReceiverField, step, updated);
    }
  }
};

template <class S, class T, template <class, class, class> class LevelsOf, class Kernel>
STENCIL_DEVICE void temporal_walk_with_points(const Kernel& kernel, const PointTables<typename S::Value>& tables) {
  using Points = TemporalPoints<S, T>;
  const Arguments<S>& arguments = plain(kernel);
  const TemporalTile<S, T> tile(arguments);
  if (tile.stores_nothing()) return;
  const TileIndex at = tile_of_block<T>(arguments.tiles);
  const Points points(tables, tile, (at.y * T::kCluster + tile.rank) * arguments.tiles[0] + at.x);
  using Levels = LevelsOf<S, T, Points>;
  InputRows<S, T> input(arguments, tile, tensor_maps(kernel));
  OutputRows<S, T> output(arguments, tile);
  Levels levels(arguments, tile, points);
  WalkToPoints<T, TemporalSteps<S, T, Levels>>{{{tile, input, output, levels}}}.run();
}

template <class S, class T, class Kernel>
STENCIL_DEVICE void temporal_with_points(const Kernel& kernel, const PointTables<typename S::Value>& tables) {
  temporal_walk_with_points<S, T, Levels>(kernel, tables);
}

template <class S, class T, class Kernel>
STENCIL_DEVICE void temporal_sums_with_points(const Kernel& kernel, const PointTables<typename S::Value>& tables) {
  temporal_walk_with_points<S, T, SumLevels>(kernel, tables);
}

}  // namespace stencil_tune
