// How the steps of a run are made of launches.
#pragma once

#include "generator/candidates/limits.hpp"
#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <optional>
#include <string>

namespace stencil_tune {

/// Launches of a candidate that fuses steps, then one launch of the same candidate with as many steps as are left,
/// among fewer groups where as many cannot share them evenly, then single steps where that candidate is not legal.
struct RunPlan {
  struct Remainder {
    std::string code;  ///< the candidate that makes the steps that are left, in one launch
    int steps = 0;
  };

  int fused = 1;                         ///< steps of each of the first launches
  int launches = 0;                      ///< how many of those
  std::optional<Remainder> remainder{};  ///< nothing where no steps are left for one
  int singles = 0;                       ///< steps that are left without it
  std::string single{};                  ///< the candidate with one step, where it may make those in one pass each
};

/// problem.steps steps with this candidate.
RunPlan plan_run(const Problem& problem, const Tuning& tuning, const Limits& limits);

}  // namespace stencil_tune
