// Prepared launches of boxes: a solver asks for the same few each step.
#pragma once

#include "runtime/library/launch/packed_launch.hpp"

#include <deque>
#include <memory>
#include <shared_mutex>
#include <utility>

namespace stencil_tune {

/// Thread-safe. Remembers the latest boxes and forgets the oldest.
class BoxLaunches {
 public:
  /// Remembers what a solver of so many axes asks for between launches of so many fused steps: each part of its domain,
  /// a middle and two sides along each axis, and for each of those steps the slabs of a shell, two an axis.
  BoxLaunches(int rank, int fused_steps);

  /// Always the same problem and tuning; a launch stays valid for as long as it is held.
  std::shared_ptr<const PackedLaunch> find_or_make(const Problem& problem, const Tuning& tuning, const Box& box);

 private:
  std::shared_ptr<const PackedLaunch> find(const Box& box) const;

  std::size_t remembered_;
  mutable std::shared_mutex mutex_;
  std::deque<std::pair<Box, std::shared_ptr<const PackedLaunch>>> launches_;
};

}  // namespace stencil_tune
