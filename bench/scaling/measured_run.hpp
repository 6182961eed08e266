// Runs of one grid on several GPUs, timed and compared with one GPU.
#pragma once

#include "stencil_tune/decomposition.hpp"
#include "stencil_tune/library.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct MeasuredRun {
  stencil_tune::Cut cut{1, 1, 1};
  int fused_steps = 1;
  int steps_per_exchange = 1;
  double gstencils = 0;    ///< of all GPUs: median of the repeats, whole runs in bursts after a rest
  std::string evidence{};  ///< of the first rank's kernel
};

/// Request::steps steps of the whole grid on so many GPUs.
MeasuredRun measure(const stencil_tune::Request& whole, int gpus);

/// Cells of all fields after `steps` steps on so many GPUs, from random ones that the seed gives.
std::vector<std::vector<std::byte>> cells_after(const stencil_tune::Request& whole, int gpus, int steps);

}  // namespace bench
