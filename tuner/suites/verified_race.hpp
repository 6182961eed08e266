// Kernels side by side: those that are right race, the others get a row that says what is wrong with them.
#pragma once

#include "tuner/session/final_table.hpp"
#include "tuner/workers/worker.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

/// A kernel that is to race, and the name of its row.
struct Contestant {
  std::string name;
  std::string code;
  CompiledKernel kernel;
};

struct VerifiedRace {
  std::vector<Contestant> right;
  std::vector<DeviceResult> results;  ///< one for each of these, as raced
  std::vector<ReportRow> wrong;       ///< without a figure
};

/// Verifies each as in tuning, awkward grids included, then races those that are right (DeviceWorker::race). Throws
/// Error(compile_failed) where none is right.
VerifiedRace race_right_ones(DeviceWorker& device, std::vector<Contestant> contestants, const RacePlan& plan);

}  // namespace stencil_tune
