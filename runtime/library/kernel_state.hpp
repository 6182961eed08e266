// What a Kernel handle stands for.
#pragma once

#include "runtime/library/launch/box_launches.hpp"
#include "runtime/library/launch/layer_copier.hpp"
#include "runtime/library/launch/loaded_kernel.hpp"
#include "runtime/library/launch/rotation.hpp"
#include "runtime/library/launch/tap_launch.hpp"
#include "runtime/library/launch/workspace.hpp"
#include "runtime/library/points/point_kernels.hpp"
#include "stencil_tune/kernel.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// What runs while the kernel of choice is being compiled.
struct Meanwhile {
  TapLaunch launch;
  std::shared_ptr<LoadedKernel> loaded;
};

/// A part of the grid that a kernel sees as its whole.
struct Window {
  std::array<std::int64_t, kMaxRank> origin{0, 0, 0};  ///< its first cell, in the grid
  std::vector<std::size_t> inputs, outputs;            ///< bytes from each field's first cell to the window's
  std::vector<int> fields;                             ///< for each field of the kernel's stencil: the grid's
};

struct StageKernel {
  Problem problem;
  Tuning tuning;
  Evidence evidence;
  std::vector<int> inputs;   ///< places of the buffers that a launch takes, in order (generator/stencil/buffers.hpp)
  std::vector<int> outputs;  ///< the same
  std::vector<HeldOutput> held{};  ///< outputs with held layers; none where the boundaries hold nothing
  std::size_t alignment = 1;       ///< bytes
  Box updated;
  std::optional<Window> window{};             ///< nothing where it sees the whole grid
  std::shared_ptr<const PackedLaunch> whole;  ///< for all updated cells
  std::unique_ptr<BoxLaunches> boxes;
  std::shared_ptr<LoadedKernel> loaded;  ///< null where there is no driver
  std::unique_ptr<Meanwhile> meanwhile;  ///< null: launches wait for the compiler
};

/// GStencil/s of a step that these make one after another, by their evidence, of which predictions count less than
/// measurements; 0 where that of one is not known.
double known_rate(const std::vector<StageKernel>& stages);

class Measuring;

/// A part of a plan: what advances the stencil by some steps.
struct PlanPart {
  int steps = 1;
  std::vector<StageKernel> stages{};  ///< each stage once, one kernel for all of them, or passes that some share
  std::vector<int> next{};            ///< [place]: whose buffer stands there afterwards
  bool in_background = false;         ///< until it is compiled, runs go without it
  bool shares_passes = false;         ///< a kernel makes several stages, but not all
  /// Where kernels make zones of the grid: how many of `stages` run side by side, launch after launch.
  std::vector<std::size_t> zones{};
  bool for_points = false;  ///< runs without points have faster ones; compiled where points are placed
  double time = 0;          ///< of its steps; 0: a run has as many of the parts before it as have room

  bool in_zones() const { return !zones.empty(); }
  /// Launches that wait for each other.
  std::size_t passes() const { return in_zones() ? zones.size() : stages.size(); }
};

/// Does not change after lookup made it, but for what LoadedKernel and BoxLaunches guard themselves.
struct Kernel::State {
  Driver* driver = nullptr;  ///< null: looked up for a GPU by its name, to be read and written out
  int device = 0;
  std::string architecture;    ///< "sm_90"
  std::string gpu;             ///< model; empty where an architecture alone was named
  Problem step;                ///< one whole step
  std::vector<PlanPart> plan;  ///< the one with most steps first; the last one advances by one step, stage by stage
  LaunchBuffers buffers;       ///< those of the part that needs most
  std::unique_ptr<Workspaces> workspaces;  ///< null where there is no driver
  std::unique_ptr<LayerCopier> layers;     ///< null where there is no driver
  std::unique_ptr<PointKernels> point_kernels = std::make_unique<PointKernels>();
  std::shared_ptr<Measuring> measuring;  ///< null where the stencil measures nothing, or there is no driver
  Evidence run_evidence{};               ///< the worst match among main_stages(), with the rate of all of them together

  /// What launch() runs: one step.
  const std::vector<StageKernel>& stages() const { return plan.back().stages; }

  /// What most of a long run goes through.
  const std::vector<StageKernel>& main_stages() const { return plan.front().stages; }

  /// GStencil/s of long runs, by their evidence; 0 where that is not known.
  double known_rate() const;

  /// What most of a long run goes through where the stencil has one stage, else the stage's own kernel: fused steps
  /// have one kernel for all stages. Throws Error(invalid_argument) for a stage that the stencil does not have.
  const StageKernel& main_stage(int stage) const;
};

}  // namespace stencil_tune
