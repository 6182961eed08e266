#include "tests/tuner/verify/sharpness_cases.hpp"

#include "generator/definition/definition.hpp"
#include "tests/generator/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace stencil_tune {
namespace {

constexpr int kWidestHalo = 48;           // cells that fused sweeps take from either side of a tile
constexpr int kMostStepsOfSystems = 4;    // their references take seconds
constexpr int kMostUnrolledTerms = 8000;  // terms in a kernel's code

Problem problem_of(const SharpnessCase& c, Boundary boundary) {
  const int rank = c.stencil.rank;
  const Extents extents{rank, {64, rank > 1 ? 64 : 1, rank > 2 ? 64 : 1}};
  const Boundaries boundaries{boundary, boundary, boundary};
  return make_problem(with_ends(c.stencil, boundaries), c.type, boundaries, extents, 0, c.sweeps, c.stage);
}

/// How many sweeps a kernel may fuse by the halo and the code: less than four of boxes of order 6 and more in 3D, as
/// constraint code_size asks.
int most_sweeps(const StageFacts& facts) {
  const int radius = std::max(1, *std::max_element(facts.radius.begin(), facts.radius.end()));
  return std::min(kWidestHalo / radius, kMostUnrolledTerms / static_cast<int>(facts.taps.size()));
}

/// The same of a stage or whole step; 1 where nothing fuses it, 0 where there is no such kernel.
int most_sweeps(const Stencil& stencil, int stage) {
  if (stage != kWholeStep && most_sweeps(analyse(stencil, stage)) < 2) return 1;  // problems of wide ones take long
  const Problem problem = problem_of({stencil, stage}, Boundary::hold);
  if (stage != kWholeStep) return advances_one_field(problem) ? most_sweeps(problem.facts) : 1;
  return problem.step.obstacle.empty() ? std::min(most_sweeps(problem.facts), kMostStepsOfSystems) : 0;
}

/// A step of several stages, fields or time levels.
bool is_system(const Stencil& stencil) {
  return stencil.stages.size() > 1 || stencil.stages[0].updates.size() > 1 || stencil.rotations.size() > 1;
}

/// Each sweep of it takes an edge strength of edge strengths: bounds grow tenfold, and values overflow.
bool grows_without_bound(const SharpnessCase& c) { return c.stencil.name == "sobel2d" && c.sweeps >= 8; }

/// Sweeps that reach all cells but one of the small grid, 17 cells wide, from every edge: clamped and mirrored cells
/// make neighbours alike there. Such a candidate cannot win, which errs on the careful side.
bool reaches_across(const SharpnessCase& c, Boundary boundary) {
  if (boundary != Boundary::clamp && boundary != Boundary::reflect) return false;
  const auto radius = problem_of(c, boundary).facts.radius;
  return c.sweeps * *std::max_element(radius.begin(), radius.end()) >= 16;
}

}  // namespace

std::vector<SharpnessCase> sharpness_cases(int highest_order, const std::vector<int>& sweeps) {
  std::vector<Stencil> stencils;
  std::set<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator("corpus")) files.insert(file.path());
  for (const auto& file : files) stencils.push_back(load_definition(file.string()));
  for (const std::string& name : builtin_names()) {
    const Stencil stencil = find_builtin(name);
    if (analyse(stencil, 0).radius[0] <= highest_order) stencils.push_back(stencil);
  }
  std::vector<SharpnessCase> cases;
  for (const Stencil& stencil : stencils) {
    std::vector<int> stages;
    for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) stages.push_back(stage);
    if (is_system(stencil)) stages.push_back(kWholeStep);
    for (const int stage : stages) {
      const int most = most_sweeps(stencil, stage);
      for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
        for (const int count : sweeps) {
          if (count <= most) cases.push_back({stencil, stage, type, count});
        }
      }
    }
  }
  return cases;
}

std::string title(const SharpnessCase& c) {
  const std::string part = c.stage == kWholeStep ? "step" : fmt::format("{}", c.stage);
  return fmt::format("{:24} {:4} {:4} {:2} sweeps", c.stencil.name, part, name(c.type), c.sweeps);
}

Sharpness sharpness_of(const SharpnessCase& c, Boundary boundary) {
  return sharp_numbers(problem_of(c, boundary), c.sweeps).sharpness;
}

bool is_blunt(const SharpnessCase& c, Boundary boundary, const Sharpness& sharpness) {
  if (sharpness.share >= kSharp) return false;
  return !(grows_without_bound(c) && !sharpness.note.empty()) && !reaches_across(c, boundary);
}

std::string to_text(const Sharpness& sharpness) { return fmt::format("{:.4f}  {}", sharpness.share, sharpness.note); }

}  // namespace stencil_tune
