// The planes that the levels of a temporal block keep from step to step.
#pragma once

#include "stencil_tune/temporal/temporal_plane.cuh"

namespace stencil_tune {

/// Each level's planes in registers, oldest first.
template <class S, class T>
struct KeptPlanes {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;

  struct Level {
    Plane planes[T::kKept > 0 ? T::kKept : 1];
  };

  Level levels[Shape::kLevels];

  /// All planes are 0: what boundary zero reads before the first plane.
  STENCIL_DEVICE KeptPlanes() {
    STENCIL_UNROLL
    for (int l = 0; l < Shape::kLevels; ++l) {
      STENCIL_UNROLL
      for (int p = 0; p < T::kKept; ++p) levels[l].planes[p].fill(Value(0));
    }
  }

  template <int kLevel, int kP>
  STENCIL_DEVICE const Plane& plane() const {
    return levels[kLevel].planes[kP];
  }

  /// newest: comes after those that the level keeps, the oldest of which is dropped.
  template <int kLevel>
  STENCIL_DEVICE void push(const Plane& newest) {
    Level& level = levels[kLevel];
    STENCIL_UNROLL
    for (int p = 0; p + 1 < T::kKept; ++p) level.planes[p] = level.planes[p + 1];
    if constexpr (T::kKept > 0) level.planes[T::kKept - 1] = newest;
  }
};

}  // namespace stencil_tune
