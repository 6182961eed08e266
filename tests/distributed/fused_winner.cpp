#include "tests/distributed/fused_winner.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"

#include <algorithm>
#include <optional>

namespace stencil_tune {
namespace {

constexpr double kGstencils = 1e-6;  // rate of a step: so slow that no exchange counts for anything

/// The narrowest kernel that fuses as many steps; grids are at least as wide as its tile.
std::optional<Tuning> fused_tuning(const Problem& problem, int fused) {
  std::vector<Tuning> narrow{parse_code("temporal.bx32.by4.rx2.ry2.v1.pf2.t2"),
                             parse_code("temporal.bx32.by1.rx2.v1.pf2.t2")};
  if (auto system = default_candidate(family_named("system"), problem, {})) narrow.push_back(*system);
  // For four steps: more rows, and fewer columns where a step reaches one cell.
  narrow.push_back(parse_code("temporal.bx32.by8.ry2.v1.pf2.t2"));
  narrow.push_back(parse_code("temporal.bx32.by8.rx2.ry2.v1.pf2.t2"));
  narrow.push_back(parse_code("system.bx32.by8.rx2.ry3.pf2.t2"));
  for (Tuning& tuning : narrow) {
    tuning.steps = fused;
    if (tuning.family->serves(problem) && is_legal(Candidate(problem, tuning), Limits{})) return tuning;
  }
  return std::nullopt;
}

}  // namespace

std::vector<WinnerRecord> fused_winner(const Problem& problem, int fused, const std::string& architecture) {
  if (problem.steps < 2 || fused < 2 || !is_whole_step(problem)) return {};
  const auto tuning = fused_tuning(problem, std::min(fused, problem.steps));
  if (!tuning) return {};
  WinnerRecord record;
  record.trial.problem = {.stencil_key = stencil_key(problem.stencil),
                          .stencil_name = problem.stencil.name,
                          .stage = problem.stage,
                          .type = problem.type,
                          .boundaries = problem.boundaries,
                          .extents = problem.extents,
                          .pitch = problem.pitch,
                          .steps = problem.steps};
  record.trial.platform.architecture = architecture;
  record.trial.code = code(*tuning);
  record.trial.rate = kGstencils * tuning->steps;
  return {record};
}

}  // namespace stencil_tune
