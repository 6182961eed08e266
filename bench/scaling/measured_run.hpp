// Runs of one grid on several GPUs, timed.
#pragma once

#include "bench/scaling/gpu_ranks.hpp"
#include "stencil_tune/decomposition.hpp"
#include "stencil_tune/distributed.hpp"
#include "stencil_tune/library.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace bench {

struct MeasuredRun {
  stencil_tune::Cut cut{1, 1, 1};
  int fused_steps = 1;
  int steps_per_exchange = 1;
  double gstencils = 0;  ///< updated cells of all GPUs: median of the repeats, whole runs in bursts after a rest
  double slowest = 0;    ///< the slowest repeat
  double fastest = 0;    ///< the fastest repeat
  stencil_tune::Match match = stencil_tune::Match::default_candidate;  ///< the worst of all ranks
  std::string evidence{};                                              ///< the first rank's kernel's
};

/// Random cells in each field that a step reads (starting_cells.hpp).
void start_fields(const stencil_tune::DistributedKernel& kernel, const stencil_tune::Request& whole,
                  stencil_tune::DistributedFields& fields);

/// Request::steps steps of the whole grid. library: called on each rank. rest: before each repeat.
MeasuredRun measure(Ranks& ranks, const std::function<stencil_tune::Library()>& library,
                    const stencil_tune::Request& whole,
                    std::chrono::milliseconds rest = std::chrono::milliseconds(500));

/// Throws stencil_tune::Error(illegal_candidate) where a rank ran a default kernel: it says nothing of tuned ones.
void require_tuned(const MeasuredRun& run, const stencil_tune::Request& whole);

}  // namespace bench
