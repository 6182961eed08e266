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
  /// Always the same problem and tuning; a launch stays valid for as long as it is held.
  std::shared_ptr<const PackedLaunch> find_or_make(const Problem& problem, const Tuning& tuning, const Box& box);

 private:
  static constexpr std::size_t kRemembered = 64;  // 27 make the shell and the inside of a 3D domain

  std::shared_ptr<const PackedLaunch> find(const Box& box) const;

  mutable std::shared_mutex mutex_;
  std::deque<std::pair<Box, std::shared_ptr<const PackedLaunch>>> launches_;
};

}  // namespace stencil_tune
