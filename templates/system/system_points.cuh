// system, with points: like system.cuh, and sources add to the levels' outputs, receivers capture what leaves the last
// level of a step (points/block_points.cuh).
#pragma once

#include "stencil_tune/points/block_points.cuh"
#include "stencil_tune/system/system.cuh"

namespace stencil_tune {

/// A field of the state that leaves a level, under the name that receivers know it by.
struct RecordedField {
  int place, field;
};

/// What the levels ask. Level L says which step of the launch it is of (kStep), the fields that its outputs are (kNumbers),
/// and which it leaves for receivers (kRecorded of them: kRecords).
template <class S, class T>
struct SystemPoints : BlockPoints<S, T, LevelOf<S, 0>::kDelay> {
  using Base = BlockPoints<S, T, LevelOf<S, 0>::kDelay>;
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Base::Base;

  template <class L, class State>
  STENCIL_DEVICE void add_to(const PointRounds& rounds, State& updated) const {
#pragma unroll 1
    for (unsigned r = rounds.source; r < rounds.sources_end; ++r) {
      add_all<L>(Base::source(r, L::kStep), updated, IndicesBelow<L::kOutputs>{});
    }
  }

  template <class L, class State>
  STENCIL_DEVICE void capture_of(const PointRounds& rounds, Index z, const State& leaving) const {
    if constexpr (L::kRecorded > 0) {
      if (!Base::captures(L::kStep, z)) return;
#pragma unroll 1
      for (unsigned r = rounds.receiver; r < rounds.receivers_end; ++r) {
        capture_all<L>(Base::receivers(r), leaving, IndicesBelow<L::kRecorded>{});
      }
    }
  }

 private:
  template <class L, class State, int... kO>
  STENCIL_DEVICE static void add_all(const SourceAmount<Value>& source, State& updated, Indices<kO...>) {
    (Base::add(source, L::kNumbers[kO], updated.fields[kO]), ...);
  }
  template <class L, class State, int... kR>
  STENCIL_DEVICE void capture_all(const ReceiverMask& receivers, const State& leaving, Indices<kR...>) const {
    (capture_field<L, kR>(receivers, leaving), ...);
  }
  template <class L, int kR, class State>
  STENCIL_DEVICE void capture_field(const ReceiverMask& receivers, const State& leaving) const {
    constexpr RecordedField kField = L::kRecords[kR];
    Base::capture(receivers, kField.field, L::kStep, leaving.fields[kField.place]);
  }
};

template <class S, class T, class Kernel>
STENCIL_DEVICE void system_with_points(const Kernel& kernel, const PointTables<typename S::Value>& tables) {
  using Points = SystemPoints<S, T>;
  const Arguments<S>& arguments = plain(kernel);
  const TemporalTile<S, T> tile(arguments);
  const TileIndex at = tile_of_block<T>(arguments.tiles);
  const Points points(tables, tile, at.y * arguments.tiles[0] + at.x);
  SystemInput<S, T> input(arguments, tile, tensor_maps(kernel));
  const SystemOutput<S, T> output(arguments, tile);
  using Levels = SystemLevels<S, T, Points>;
  Levels levels(arguments, tile, output, points);
  WalkToPoints<T, SystemSteps<S, T, Levels>>{{{tile, input, levels}}}.run();
}

}  // namespace stencil_tune
