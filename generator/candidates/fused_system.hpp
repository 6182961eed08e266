// The levels of a system's fused steps as numbers: what the host plans with, and what the generated source says to the
// kernel (templates/system/).
#pragma once

#include "generator/candidates/kernel_axes.hpp"
#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace stencil_tune {

/// Layers of the grid on the low and the high side of each of the kernel's axes.
struct Layers {
  std::array<int, kMaxRank> low{}, high{};
};

/// A field of the state that enters a level.
struct SystemField {
  int field = 0;        ///< index into Stencil::fields
  int below = 0;        ///< planes kept below the one that the level updates
  int newest = 0;       ///< the plane that enters, counted from the one that the level updates
  int rows_before = 0;  ///< rows of the warp above that the level reads ...
  int rows_after = 0;   ///< ... and of the warp below
  int first = 0;        ///< planes in which it does, counted from the one that it updates; last < first: none
  int last = -1;
  int row = 0;  ///< place of its first published row among those of a warp

  bool exchanges() const { return rows_before + rows_after > 0; }
};

/// One stage of one of the steps.
struct SystemLevel {
  int stage = 0;
  std::vector<SystemField> in;
  std::vector<int> out;  ///< fields of the state that leaves
  Layers held;           ///< layers that the stage's outputs keep
  int lag = 0;           ///< planes behind the newest of the state that enters
  int delay = 0;         ///< planes behind the input
  Layers wrong{};        ///< layers of a tile that are wrong when the level has made its step: x, y
};

/// A field that no step changes and that is read at the cell alone.
struct SystemConstant {
  int field = 0;
  int first = 0, last = 0;  ///< delay of the first level that reads it, and of the last
  int first_level = 0;      ///< the first level that reads it
  int readers = 0;          ///< levels that read it
};

struct FusedSystem {
  std::vector<SystemLevel> levels;  ///< none: the kernel is not of a system
  std::vector<SystemConstant> constants;
  Layers halo;                  ///< a tile's, without any alignment; z: planes that the walk starts before ...
  int delay = 0;                ///< ... and ends after the stored ones
  int first_plain = 0;          ///< the first input plane with which no level updates a plane that needs more care
  std::vector<Layers> outputs;  ///< for each output: layers that it keeps
  int exchanged_rows = 0;       ///< rows that a warp publishes for others
  int exchange_slots = 0;
  int rim_rows = 0;              ///< input rows above and below a tile that the first level reads too; 0: none
  bool meets_in_levels = false;  ///< warps wait for each other within levels, rather than between steps
  std::int64_t kept = 0;         ///< planes that all levels keep of the state
  std::int64_t passing = 0;      ///< most fields of a level: those of the state that enter it, and its outputs
  int lag = 0;                   ///< the longest of a level
  int most_read = 0;             ///< planes that a level reads on one side, at the most
};

/// The step whose stages a candidate's levels are: the problem's, or the same with shared parts as fields.
struct TunedStep {
  const Stencil& stencil;
  const StepFacts& step;

  const StageFacts& facts(int stage) const { return step.stages[static_cast<std::size_t>(stage)].facts; }
};

/// Lives as long as the problem. Where there are no shared parts it is the problem's own, whatever the tuning says.
TunedStep tuned_step(const Problem& problem, const Tuning& tuning);

/// Candidates that differ in nothing that the levels depend on share them.
std::shared_ptr<const FusedSystem> fused_system(const Problem& problem, const Tuning& tuning, const KernelAxes& axes);

}  // namespace stencil_tune
