// How the steps of a run are made of launches.
#pragma once

#include "generator/candidates/limits.hpp"
#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <optional>

namespace stencil_tune {

/// Launches of a candidate that fuses steps, then one launch of the same candidate with as many steps as are left,
/// among fewer groups where as many cannot share them evenly, then single steps where that candidate is not legal.
struct RunPlan {
  int fused = 1;                      ///< steps of each of the first launches
  int launches = 0;                   ///< how many of those
  std::optional<Tuning> remainder{};  ///< for the steps that are left; one launch
  int singles = 0;                    ///< steps that are left without it
};

/// problem.steps steps with this candidate.
RunPlan plan_run(const Problem& problem, const Tuning& tuning, const Limits& limits);

}  // namespace stencil_tune
