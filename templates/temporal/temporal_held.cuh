// The planes that the levels of a temporal block keep from step to step.
#pragma once

#include "stencil_tune/temporal/temporal_plane.cuh"

namespace stencil_tune {

/// Each level's planes, oldest first. The first kInShared of them are in stages of shared memory, the later ones in
/// registers. In shared memory a thread reads only its own cells:
///
///     kept   0  1                2  3              newest
///            in shared memory    in registers      in the levels' updates
///            ^------------------ moves to the stage of plane 0, after the step
template <class S, class T>
struct KeptPlanes {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;
  using Memory = WarpPlane<S, T>;

  static constexpr int kInShared = T::kSharedPlanes;
  static constexpr int kInRegisters = T::kKept - kInShared;
  static constexpr int kLevelCells = kInShared * Shape::kRows * Shape::kWarpWidth;  ///< of a warp
  static constexpr int kWarpCells = Shape::kLevels * kLevelCells;
  static constexpr int kBytes = T::kGroups * Shape::kWarps * kWarpCells * static_cast<int>(sizeof(Value));

  struct Level {
    Plane planes[kInRegisters > 0 ? kInRegisters : 1];
  };

  Level levels[Shape::kLevels];
  Value* first;    ///< the lane's first word of stage 0, level 0
  int oldest = 0;  ///< cells from there to the oldest plane of level 0

  /// All planes are 0: what boundary zero reads before the first plane.
  STENCIL_DEVICE KeptPlanes(const Tile& tile, int first_byte) {
    STENCIL_UNROLL
    for (int l = 0; l < Shape::kLevels; ++l) {
      STENCIL_UNROLL
      for (int p = 0; p < kInRegisters; ++p) levels[l].planes[p].fill(Value(0));
    }
    if constexpr (kInShared > 0) {
      Value* stages = reinterpret_cast<Value*>(shared_memory() + first_byte);
      first = Memory::first_word(stages + (tile.group * Shape::kWarps + Shape::warp()) * kWarpCells);
      STENCIL_UNROLL
      for (int stage = 0; stage < Shape::kLevels * kInShared; ++stage) {
        Memory::store(first + stage * Memory::kPlaneCells, Plane::all(Value(0)));
      }
    }
  }

  /// Plane kP of the level. kPushed: 1 after the step's push(), 0 before it.
  template <int kLevel, int kP, int kPushed = 0>
  STENCIL_DEVICE Plane plane() const {
    if constexpr (kInShared == 0 || kP >= kInShared) {
      return levels[kLevel].planes[kP - kInShared];
    } else {
      Plane plane;
      Memory::load(stage_at<kLevel>(kP + kPushed), plane);
      return plane;
    }
  }

  /// newest: comes after those that the level keeps, the oldest of which is dropped.
  template <int kLevel>
  STENCIL_DEVICE void push(const Plane& newest) {
    Level& level = levels[kLevel];
    if constexpr (kInShared > 0) Memory::store(stage_at<kLevel>(0), kInRegisters > 0 ? level.planes[0] : newest);
    STENCIL_UNROLL
    for (int p = 0; p + 1 < kInRegisters; ++p) level.planes[p] = level.planes[p + 1];
    if constexpr (kInRegisters > 0) level.planes[kInRegisters - 1] = newest;
  }

  /// After all levels' pushes.
  STENCIL_DEVICE void next_step() {
    if constexpr (kInShared > 0) oldest = cells_to(1);
  }

 private:
  /// Cells from `first` to the stage that is so many planes (kInShared at most) after the oldest.
  STENCIL_DEVICE int cells_to(int planes) const {
    const int ahead = oldest + planes * Memory::kPlaneCells;
    return ahead >= kLevelCells ? ahead - kLevelCells : ahead;
  }
  template <int kLevel>
  STENCIL_DEVICE Value* stage_at(int p) const {
    return first + (kLevel * kLevelCells + cells_to(p));
  }
};

}  // namespace stencil_tune
