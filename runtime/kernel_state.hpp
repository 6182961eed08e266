// What a Kernel handle stands for.
#pragma once

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
  LaunchGeometry geometry;  ///< for all updated cells
  std::shared_ptr<LoadedKernel> loaded;
};

/// Does not change after lookup made it, but for what LoadedKernel guards itself.
struct Kernel::State {
  Driver* driver = nullptr;
  int device = 0;
  std::vector<StageKernel> stages;   ///< at least one
  std::vector<double> coefficients;  ///< the stencil's own values
};

}  // namespace stencil_tune
