#include "generator/candidates/run_plan.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"

namespace stencil_tune {

namespace {

/// The same candidate with so many steps, among fewer groups where as many cannot share them evenly.
Tuning with_steps(Tuning tuning, int steps) {
  tuning.steps = steps;
  while (steps % tuning.groups != 0) --tuning.groups;
  return tuning;
}

}  // namespace

RunPlan plan_run(const Problem& problem, const Tuning& tuning, const Limits& limits) {
  const int fused = sweeps_per_launch(tuning);
  RunPlan plan{.fused = fused, .launches = problem.steps / fused};
  const int left = problem.steps % fused;
  const Tuning remainder = with_steps(tuning, left);
  if (left > 1 && is_legal({problem, remainder}, limits)) {
    plan.remainder = {code(remainder), left};
  } else {
    plan.singles = left;
  }
  const Tuning single = with_steps(tuning, 1);
  const bool makes_whole_steps = problem.stage == kWholeStep;
  if (plan.singles > 0 && makes_whole_steps && is_legal({problem, single}, limits)) plan.single = code(single);
  return plan;
}

}  // namespace stencil_tune
