#include "tests/kernels/corpus_step_cases.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "tests/generator/corpus.hpp"
#include "tests/kernels/fused/system_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kMostSteps = 6;

Problem step_of(const Stencil& stencil, int steps, const Boundaries& boundaries) {
  const Extents extents{stencil.rank, {512, stencil.rank > 1 ? 512 : 1, stencil.rank > 2 ? 512 : 1}};
  return make_problem(stencil, ElementType::f32, boundaries, extents, 0, steps, kWholeStep);
}

/// From the smallest on.
std::vector<std::string> tiles(int rank) {
  if (rank == 3) return {"bx32.by4.rx2.ry3.v2", "bx32.by4.rx2.ry8.v2", "bx32.by8.rx4.ry8.v4"};
  return {"bx32.by1.rx2.v2", "bx32.by1.rx4.v4", "bx32.by1.rx8.v4"};
}

/// A momentum is divided by the water's depth, which boundary zero makes 0 outside.
bool is_defined(const std::string& name, const Boundaries& boundaries) {
  return name != "shallow2d" || std::find(boundaries.begin(), boundaries.end(), Boundary::zero) == boundaries.end();
}

}  // namespace

std::vector<std::string> corpus_systems() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("corpus")) {
    const std::string name = entry.path().stem().string();
    if (family_named("system").serves(step_of(corpus(name), kMostSteps, {}))) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<HostCase> corpus_step_case(const std::string& name, int steps, const Boundaries& boundaries) {
  const Stencil stencil = corpus(name);
  const Problem large = step_of(stencil, steps, boundaries);
  for (const std::string& tile : tiles(stencil.rank)) {
    const std::string code = fmt::format("system.{}.pf2.t{}.ch2", tile, steps);
    if (!is_legal({large, parse_code(code)}, limits_of_architecture("sm_90"))) continue;
    HostCase found = system_case(stencil, ElementType::f32, boundaries, code);
    if (!found.problems.empty()) return found;
  }
  return std::nullopt;
}

std::vector<HostCase> corpus_step_cases() {
  std::vector<HostCase> cases;
  for (const std::string& name : corpus_systems()) {
    for (const Boundaries& boundaries : covering_boundaries()) {
      for (int steps = 1; steps <= kMostSteps && is_defined(name, boundaries); ++steps) {
        if (auto found = corpus_step_case(name, steps, boundaries)) cases.push_back(std::move(*found));
      }
    }
  }
  return cases;
}

}  // namespace stencil_tune
