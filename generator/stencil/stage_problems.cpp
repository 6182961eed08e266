#include "generator/stencil/stage_problems.hpp"

#include "generator/stencil/describe.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

namespace stencil_tune {

std::vector<Problem> stage_problems(const Problem& problem) {
  if (problem.stage != kWholeStep) return {problem};
  std::vector<Problem> stages;
  for (int stage = 0; stage < static_cast<int>(problem.stencil.stages.size()); ++stage) {
    stages.push_back(with_slabs_of(problem, make_problem(problem.stencil, problem.type, problem.boundaries,
                                                         problem.extents, problem.pitch, problem.steps, stage)));
  }
  return stages;
}

void require_updates(const Problem& problem) {
  for (const Problem& stage : stage_problems(problem)) {
    if (updated_box(stage).cells() > 0) continue;
    throw Error(
        ErrorCode::nothing_to_update,
        fmt::format("{} on {}: nothing to update, boundary hold keeps every cell (layers: {}); take a larger grid or "
                    "another boundary",
                    problem.stencil.name, to_string(problem.extents), held_text(stage)));
  }
}

}  // namespace stencil_tune
