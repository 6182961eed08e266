#include "tests/tuner/verify/sharpness_cases.hpp"

#include "generator/definition/definition.hpp"
#include "tuner/verify/sharpness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace stencil_tune {
namespace {

constexpr int kWidestHalo = 48;  // cells that fused sweeps take from either side of a tile

Problem problem_of(const SharpnessCase& c, Boundary boundary) {
  const int rank = c.stencil.rank;
  const Extents extents{rank, {64, rank > 1 ? 64 : 1, rank > 2 ? 64 : 1}};
  return make_problem(c.stencil, c.type, {boundary, boundary, boundary}, extents, 0, c.sweeps, c.stage);
}

bool can_be_fused(const SharpnessCase& c) {
  const Problem problem = problem_of(c, Boundary::hold);
  const auto& radius = problem.facts.radius;
  return advances_one_field(problem) && c.sweeps * *std::max_element(radius.begin(), radius.end()) <= kWidestHalo;
}

/// Each sweep of it takes an edge strength of edge strengths: bounds grow tenfold, and values overflow.
bool grows_without_bound(const SharpnessCase& c) { return c.stencil.name == "sobel2d" && c.sweeps >= 8; }

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
    for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
      for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
        for (const int count : sweeps) {
          const SharpnessCase one{stencil, stage, type, count};
          if (count == 1 || can_be_fused(one)) cases.push_back(one);
        }
      }
    }
  }
  return cases;
}

Sharpened sharpen(const std::vector<SharpnessCase>& cases, Boundary boundary) {
  Sharpened result;
  for (const SharpnessCase& one : cases) {
    const Sharpness sharpness = sharp_numbers(problem_of(one, boundary), one.sweeps).sharpness;
    result.lines.push_back(fmt::format("{:24} {:5} {:2} sweeps  {:.4f}  {}", one.stencil.name, name(one.type),
                                       one.sweeps, sharpness.share, sharpness.note));
    const bool excused = grows_without_bound(one) && !sharpness.note.empty();
    if (sharpness.share < kSharp && !excused) result.blunt.push_back(result.lines.back());
    ++result.cases;
  }
  return result;
}

}  // namespace stencil_tune
