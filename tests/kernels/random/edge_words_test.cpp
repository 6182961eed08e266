// What lies beyond the edges of random definitions: by the reference, by what kernels are made of and by kernels,
// against an evaluator that shares no code with them.
//
// STENCIL_TUNE_CASES says how many are drawn, STENCIL_TUNE_SEED which is the first.
#include "tests/kernels/random/edge_words.hpp"
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/shape.hpp"
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "tests/kernels/expect_right.hpp"
#include "tuner/verify/reference/reference.hpp"
#include "tuner/verify/sharpness.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

using edge_words::Case;
using edge_words::Cells;
using edge_words::Word;

Boundaries boundaries_of(const Case& drawn) {
  Boundaries boundaries{Boundary::hold, Boundary::hold, Boundary::hold};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(drawn.rank); ++axis) {
    if (!drawn.spoken[axis]) boundaries[axis] = parse_boundary(edge_words::text_of(drawn.everywhere[axis]));
  }
  return boundaries;
}

std::string describe(const Case& drawn) {
  return fmt::format("{}on {}x{}x{} with boundary {}\n", drawn.definition(), drawn.n[0], drawn.n[1], drawn.n[2],
                     to_string(boundaries_of(drawn), drawn.rank));
}

Problem problem_of(const Case& drawn, int steps = 1, int stage = kWholeStep) {
  return make_problem(parse_definition(drawn.definition(), "edges"), ElementType::f64, boundaries_of(drawn),
                      {drawn.rank, drawn.n}, 0, steps, stage);
}

/// Where the names of its fields are among those of the case.
int number_of(const Stencil& stencil, int field) {
  constexpr std::array kNames{"u", "v", "u_next", "between", "d"};
  const std::string& name = stencil.fields[static_cast<std::size_t>(field)];
  return static_cast<int>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

std::vector<Cells> inputs_of(const Problem& problem, int steps, const std::vector<Cells>& cells) {
  std::vector<Cells> inputs;
  for (const int field : kernel_inputs(problem, steps)) {
    inputs.push_back(cells[static_cast<std::size_t>(number_of(problem.stencil, field))]);
    inputs.back().resize(static_cast<std::size_t>(problem.allocated_cells()));  // profiles too
  }
  return inputs;
}

/// Nothing where every cell of the field is what it should be.
std::string difference(const Case& drawn, const ReferenceField& found, const std::vector<bool>& written,
                       const Cells& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if ((found.tolerance[i] >= 0) != written[i]) return fmt::format("cell {} is written, or is not", i);
    if (!written[i]) continue;
    const double bound = 1e-9 * std::max(1.0, std::fabs(expected[i]));
    if (found.tolerance[i] < bound && found.accepts(i, expected[i])) continue;
    return fmt::format("cell {} of {} is {} within {}, not {}", i, drawn.cells(), found.value[i], found.tolerance[i],
                       expected[i]);
  }
  return "";
}

std::vector<bool> written_by(const Case& drawn, std::size_t stage) {
  std::vector<bool> written;
  for (std::int64_t z = 0; z < drawn.n[2]; ++z) {
    for (std::int64_t y = 0; y < drawn.n[1]; ++y) {
      for (std::int64_t x = 0; x < drawn.n[0]; ++x) written.push_back(drawn.writes(drawn.stages[stage], {x, y, z}));
    }
  }
  return written;
}

Problem simplified(Problem problem, bool asked) {
  if (asked) problem.stencil.written = {};
  return problem;
}

/// Each stage by itself, by the reference or (`of_kernels`) by the form that kernels are made of.
std::string difference_of_stages(const Case& drawn, std::vector<Cells> cells, bool of_kernels) {
  for (std::size_t stage = 0; stage < drawn.stages.size(); ++stage) {
    const Problem problem = simplified(problem_of(drawn, 1, static_cast<int>(stage)), of_kernels);
    const ReferenceField found = evaluate_reference(problem, inputs_of(problem, 1, cells), std::vector{0.5}).front();
    drawn.run(stage, cells);
    const Cells& expected = cells[static_cast<std::size_t>(number_of(problem.stencil, found.field))];
    const std::string why = difference(drawn, found, written_by(drawn, stage), expected);
    if (!why.empty()) return fmt::format("stage {}: {}", stage, why);
  }
  return "";
}

/// Some steps together. What an edge that holds keeps of u_next is u.
std::string difference_of_steps(const Case& drawn, std::vector<Cells> cells, bool of_kernels) {
  constexpr int kSteps = 2;
  const Problem problem = simplified(problem_of(drawn, kSteps), of_kernels);
  const std::vector<ReferenceField> found =
      evaluate_reference(problem, inputs_of(problem, kSteps, cells), std::vector{0.5}, false, kSteps);
  for (int step = 0; step < kSteps; ++step) {
    cells[edge_words::u_next] = cells[edge_words::u];
    for (std::size_t stage = 0; stage < drawn.stages.size(); ++stage) drawn.run(stage, cells);
    cells[edge_words::u] = cells[edge_words::u_next];
  }
  const auto last = std::find_if(found.begin(), found.end(), [&](const ReferenceField& field) {
    return number_of(problem.stencil, field.field) == edge_words::u_next;
  });
  if (last == found.end()) return "u_next is not stored";
  const std::string why =
      difference(drawn, *last, written_by(drawn, drawn.stages.size() - 1), cells[edge_words::u_next]);
  return why.empty() ? "" : fmt::format("{} steps: {}", kSteps, why);
}

void expect_plain_values(const Case& drawn, std::uint64_t number) {
  Draw draw(number);
  const std::vector<Cells> start = edge_words::random_cells(drawn, draw);
  for (const bool of_kernels : {false, true}) {
    const std::string of = fmt::format("{} of case {}\n", of_kernels ? "kernels' form" : "reference", number);
    EXPECT_EQ(difference_of_stages(drawn, start, of_kernels), "") << of << describe(drawn);
    EXPECT_EQ(difference_of_steps(drawn, start, of_kernels), "") << of << describe(drawn);
  }
}

std::uint64_t asked(const char* variable, std::uint64_t usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}
std::uint64_t first_case() { return asked("STENCIL_TUNE_SEED", 0); }
std::uint64_t cases(std::uint64_t usual) { return asked("STENCIL_TUNE_CASES", usual); }

TEST(EdgeWords, OfAllPairsOnAllAxesAreWhatThePlainEvaluatorSays) {
  const std::uint64_t first_number = first_case(), count = cases(1000);
  std::set<std::array<int, 4>> pairs;  // two axes and their words
  for (std::uint64_t number = first_number; number < first_number + count; ++number) {
    const Case drawn = edge_words::draw_case(number);
    for (int first = 0; first < drawn.rank; ++first) {
      for (int second = first + 1; second < drawn.rank; ++second) {
        const auto word = [&](int axis) { return static_cast<int>(drawn.everywhere[static_cast<std::size_t>(axis)]); };
        pairs.insert({first, second, word(first), word(second)});
      }
    }
    expect_plain_values(drawn, number);
  }
  if (count < 1000) return;
  EXPECT_EQ(pairs.size(), 3U * edge_words::kWords * edge_words::kWords);
}

/// With as many cells as the candidate needs.
Case widened(Case drawn, const Problem& planned, const Tuning& tuning) {
  const Candidate candidate(planned, tuning);
  const KernelShape& shape = candidate.shape();
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (!shape.axes.has(axis)) continue;
    std::int64_t& n = drawn.n[static_cast<std::size_t>(shape.axes.grid_axis[axis])];
    n = std::max<std::int64_t>(n, shape.least_extents[axis]);
  }
  return drawn;
}

/// A kernel of the family for the case, where one serves it whose check would notice a wrong one. The case becomes one
/// of a grid that the kernel serves.
std::optional<HostCase> kernel_for(Case& drawn, const Family& family, int steps, std::uint64_t seed) {
  constexpr std::int64_t kMostCells = 12'000;
  Problem planned = problem_of(drawn, steps);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(drawn.rank); ++axis) planned.extents.n[axis] = 512;
  planned.pitch = 512;
  const Limits limits = limits_of_architecture("sm_90");
  const Space space(planned, limits);
  Draw draw(seed);
  for (int tries = 0; tries < 20; ++tries) {
    const std::optional<Tuning> tuning = space.sample(family, draw.engine());
    if (!tuning) return std::nullopt;
    const Case wide = widened(drawn, planned, *tuning);
    if (wide.cells() > kMostCells) continue;
    Problem grid = problem_of(wide, steps);
    grid.pitch = (grid.extents.n[0] + 15) / 16 * 16;
    if (!is_legal({grid, *tuning}, limits) || updated_box(grid).cells() == 0) continue;
    const int sweeps = sweeps_per_launch(*tuning);
    if (sweeps > 1 && sharp_numbers(grid, sweeps).sharpness.share < kSharp) continue;
    drawn = wide;
    return HostCase{*tuning, {grid}, planned};
  }
  return std::nullopt;
}

/// Kernels are compared with the reference, and the reference of the same cases with the plain evaluator.
void expect_right_kernels(std::uint64_t first, std::uint64_t each) {
  std::vector<HostCase> kernels;
  const auto add = [&](std::string_view name, const edge_words::Wishes& wishes, int steps) {
    const std::size_t enough = kernels.size() + each;
    for (std::uint64_t number = first; kernels.size() < enough && number < first + 40 * each; ++number) {
      Case drawn = edge_words::draw_case(number, wishes);
      const std::optional<HostCase> kernel = kernel_for(drawn, family_named(name), steps, number);
      if (!kernel) continue;
      kernels.push_back(*kernel);
      expect_plain_values(drawn, number);
    }
    EXPECT_EQ(kernels.size(), enough) << name;
  };
  add("direct", {.stages = 1}, 1);
  add("tiled", {.stages = 1}, 1);
  add("streaming", {.stages = 1, .wider = 6}, 1);
  add("temporal", {.stages = 1, .advances_alone = true, .wider = 9}, 3);
  add("system", {.stages = 2, .wider = 9}, 2);
  expect_right(kernels);
}

TEST(EdgeWords, OfKernelsOfEveryFamilyAreWhatThePlainEvaluatorSays) { expect_right_kernels(3, 2); }

TEST(EdgeWords, OfManyKernelsOfEveryFamilyAreWhatThePlainEvaluatorSays) {
  expect_right_kernels(1000 + first_case(), cases(20));
}

}  // namespace
}  // namespace stencil_tune
