#include "generator/stencil/stage_problems.hpp"

namespace stencil_tune {

std::vector<Problem> stage_problems(const Problem& problem) {
  if (problem.stage != kWholeStep) return {problem};
  std::vector<Problem> stages;
  for (int stage = 0; stage < static_cast<int>(problem.stencil.stages.size()); ++stage) {
    stages.push_back(make_problem(problem.stencil, problem.type, problem.boundaries, problem.extents, problem.pitch,
                                  problem.steps, stage));
  }
  return stages;
}

}  // namespace stencil_tune
