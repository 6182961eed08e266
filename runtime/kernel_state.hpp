// What a Kernel handle stands for.
#pragma once

#include "runtime/box_launches.hpp"
#include "runtime/loaded_kernel.hpp"
#include "runtime/rotation.hpp"
#include "stencil_tune/kernel.hpp"

#include <memory>
#include <vector>

namespace stencil_tune {

struct StageKernel {
  Problem problem;
  Tuning tuning;
  Evidence evidence;
  std::size_t alignment = 1;  ///< bytes
  Box updated;
  std::shared_ptr<const PackedLaunch> whole;  ///< for all updated cells
  std::unique_ptr<BoxLaunches> boxes;
  std::shared_ptr<LoadedKernel> loaded;
};

/// Does not change after lookup made it, but for what LoadedKernel and BoxLaunches guard themselves.
struct Kernel::State {
  Driver* driver = nullptr;
  int device = 0;
  std::vector<StageKernel> stages;  ///< at least one
};

}  // namespace stencil_tune
