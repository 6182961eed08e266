// What a Kernel handle stands for.
#pragma once

#include "runtime/library/box_launches.hpp"
#include "runtime/library/loaded_kernel.hpp"
#include "runtime/library/rotation.hpp"
#include "runtime/library/tap_launch.hpp"
#include "stencil_tune/kernel.hpp"

#include <memory>
#include <string>
#include <vector>

namespace stencil_tune {

/// What runs while the kernel of choice is being compiled.
struct Meanwhile {
  TapLaunch launch;
  std::shared_ptr<LoadedKernel> loaded;
};

struct StageKernel {
  Problem problem;
  Tuning tuning;
  Evidence evidence;
  std::size_t alignment = 1;  ///< bytes
  Box updated;
  std::shared_ptr<const PackedLaunch> whole;  ///< for all updated cells
  std::unique_ptr<BoxLaunches> boxes;
  std::shared_ptr<LoadedKernel> loaded;  ///< null where there is no driver
  std::unique_ptr<Meanwhile> meanwhile;  ///< null: launches wait for the compiler
};

/// All stages of the stencil once, which advances it by some steps.
struct Sweep {
  int steps = 1;
  std::vector<StageKernel> stages{};  ///< at least one
  bool in_background = false;         ///< until it is compiled, runs go without it
};

/// Does not change after lookup made it, but for what LoadedKernel and BoxLaunches guard themselves.
struct Kernel::State {
  Driver* driver = nullptr;  ///< null: looked up for a GPU by its name, to be read and written out
  int device = 0;
  std::string architecture;  ///< "sm_90"
  std::string gpu;           ///< model; empty where an architecture alone was named
  std::vector<Sweep> plan;   ///< the one with most steps first; the last one advances by one step

  /// What launch() runs: one step.
  const std::vector<StageKernel>& stages() const { return plan.back().stages; }

  /// What most of a long run goes through.
  const std::vector<StageKernel>& main_stages() const { return plan.front().stages; }

  /// One of these. Throws Error(invalid_argument) for a stage that the stencil does not have.
  const StageKernel& main_stage(int stage) const;
};

}  // namespace stencil_tune
