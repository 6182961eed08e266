// Every stencil of the corpus as kernels: each stage in every family, at each boundary, on awkward grids.
//
// Kernels are compared with the evaluator of the expression graph (check_cases_on_host), and that evaluator, boundaries
// included, with the corpus' plain C++ (corpus_reference.cpp).
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/space.hpp"
#include "tests/generator/corpus.hpp"
#include "tests/generator/definition/corpus_reference.hpp"
#include "tests/kernels/kernel_cases.hpp"
#include "tuner/executor/field_data.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace stencil_tune {
namespace {

constexpr std::size_t kUniformBoundaries = 5;  // the first of covering_boundaries()
constexpr int kSamples = 2;                    // drawn from the search space, beside one candidate a form

std::vector<std::string> corpus_names() {
  std::vector<std::string> names;
  for (const auto& [name, stages] : corpus_reference()) names.push_back(name);
  return names;
}

std::size_t place_of(const std::string& name) {
  const auto& all = corpus_reference();
  return static_cast<std::size_t>(std::distance(all.begin(), all.find(name)));
}

int stage_count(const Stencil& stencil) { return static_cast<int>(stencil.stages.size()); }

Problem stage_problem(const Stencil& stencil, int stage, ElementType type, const Boundaries& boundaries,
                      const Extents& extents) {
  return make_problem(with_ends(stencil, boundaries), type, boundaries, extents, 0, 1, stage);
}

Extents cube(int rank, std::int64_t n) { return {rank, {n, rank > 1 ? n : 1, rank > 2 ? n : 1}}; }

// ---- the reference of the kernels -----------------------------------------------------------------------------------

/// Where index i of an axis of n cells is found, step by step; -1: outside, where boundary zero has 0.
std::int64_t place_inside(std::int64_t i, std::int64_t n, Boundary boundary) {
  while (i < 0 || i >= n) {
    switch (boundary) {
      case Boundary::hold:
        throw std::logic_error("a step under hold read outside the grid");
      case Boundary::zero:
        return -1;
      case Boundary::clamp:
        i += i < 0 ? 1 : -1;
        break;
      case Boundary::periodic:
        i += i < 0 ? n : -n;
        break;
      case Boundary::reflect:
        i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
        break;
    }
  }
  return i;
}

/// The stage as corpus_reference() has it, on whole grids.
class PlainStage {
 public:
  PlainStage(const Problem& problem, const FieldData& data, const CellUpdate& update)
      : problem_(problem), data_(data), update_(update) {}

  std::map<std::string, double> at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    const auto read = [&](const std::string& field, int dx, int dy, int dz) {
      return cell(field, {x + dx, y + dy, z + dz});
    };
    return update_(read, [&](const std::string& name) { return coefficient(name); });
  }

 private:
  double cell(const std::string& field, std::array<std::int64_t, kMaxRank> place) const {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (field != std::string(1, "xyz"[axis]) + "_in_layer") continue;
      const LayerWidths widths = problem_.stencil.layers.value_or(LayerWidths{});
      const bool in_low = widths.low[axis] > 0 && place[axis] < widths.low[axis];
      const bool in_high = widths.high[axis] > 0 && place[axis] >= problem_.extents.n[axis] - widths.high[axis];
      return in_low || in_high ? 1 : 0;
    }
    const std::vector<int> inputs = kernel_inputs(problem_);
    const auto is_field = [&](int index) { return problem_.stencil.fields[static_cast<std::size_t>(index)] == field; };
    const auto input = std::find_if(inputs.begin(), inputs.end(), is_field);
    const auto& cells = data_.inputs.at(static_cast<std::size_t>(input - inputs.begin()));
    if (is_profile(problem_.stencil, *input)) {
      return entry(cells, static_cast<std::size_t>(axes_of(profile_along(problem_.stencil, *input)).front()), place);
    }
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      place[axis] = place_inside(place[axis], problem_.extents.n[axis], problem_.boundaries[axis]);
      if (place[axis] < 0) return 0;
    }
    return cells.at(
        static_cast<std::size_t>((place[2] * problem_.extents.n[1] + place[1]) * problem_.pitch + place[0]));
  }

  /// An entry of an array along one axis. Under hold the nearest one answers beyond the ends.
  double entry(const std::vector<double>& entries, std::size_t axis,
               const std::array<std::int64_t, kMaxRank>& place) const {
    const Boundary boundary = problem_.boundaries[axis] == Boundary::hold ? Boundary::clamp : problem_.boundaries[axis];
    const std::int64_t at = place_inside(place[axis], problem_.extents.n[axis], boundary);
    return at < 0 ? 0 : entries.at(static_cast<std::size_t>(at));
  }

  double coefficient(const std::string& name) const {
    for (std::size_t i = 0; i < problem_.stencil.coefficients.size(); ++i) {
      if (problem_.stencil.coefficients[i].name == name) return data_.coefficients[i];
    }
    throw std::logic_error("no coefficient " + name);
  }

  const Problem& problem_;
  const FieldData& data_;
  const CellUpdate& update_;
};

void expect_same(const Problem& problem, const FieldData& data, const CellUpdate& update) {
  const PlainStage plain(problem, data, update);
  const Box box = updated_box(problem);
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
        const auto outputs = plain.at(x, y, z);
        const auto index = static_cast<std::size_t>((z * problem.extents.n[1] + y) * problem.pitch + x);
        for (const ReferenceField& expected : data.expected) {
          const std::string& field = problem.stencil.fields[static_cast<std::size_t>(expected.field)];
          ASSERT_TRUE(expected.accepts(index, outputs.at(field)))
              << field << " at (" << x << ", " << y << ", " << z << ") of " << to_string(problem.extents) << ", "
              << to_string(problem.boundaries, kMaxRank) << ": " << expected.value[index] << ", plainly "
              << outputs.at(field);
        }
      }
    }
  }
}

class CorpusStencil : public testing::TestWithParam<std::string> {};

/// A few cells beyond what hold keeps.
Extents small_extents(const Problem& problem) {
  Extents extents{problem.stencil.rank, {7, 1, 1}};
  if (extents.rank > 1) extents.n[1] = 5;
  if (extents.rank > 2) extents.n[2] = 3;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(extents.rank); ++axis) {
    extents.n[axis] += held_layers(problem, axis).both();
  }
  return extents;
}

TEST_P(CorpusStencil, ReferenceIsThePlainImplementationAtEveryBoundary) {
  const Stencil stencil = corpus(GetParam());
  for (int stage = 0; stage < stage_count(stencil); ++stage) {
    const CellUpdate& update = corpus_reference().at(GetParam()).at(static_cast<std::size_t>(stage));
    for (const Boundaries& boundaries : covering_boundaries()) {
      Problem problem = stage_problem(stencil, stage, ElementType::f64, boundaries, cube(stencil.rank, 64));
      problem = stage_problem(stencil, stage, ElementType::f64, boundaries, small_extents(problem));
      ASSERT_GT(updated_box(problem).cells(), 0);
      expect_same(problem, random_data(problem, 1), update);
      if (const auto exact = exact_data(problem, 2)) expect_same(problem, *exact, update);
    }
  }
}

// ---- the kernels ----------------------------------------------------------------------------------------------------

/// Element types take turns, the definition's own first.
ElementType type_of(const Stencil& stencil, std::size_t turn) {
  constexpr std::array kTypes{ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16};
  const ElementType own = stencil.element.value_or(ElementType::f32);
  return turn % 2 == 0 ? own : kTypes[turn / 2 % kTypes.size()];
}

/// Candidates of every form; boundaries and element types take turns.
std::vector<HostCase> cases_of_each_form(const Stencil& stencil, int stage, std::size_t turn) {
  std::vector<HostCase> cases;
  for (const Tuning& form : kernel_forms()) {
    const Problem problem = stage_problem(stencil, stage, type_of(stencil, turn),
                                          covering_boundaries()[turn % kUniformBoundaries], cube(stencil.rank, 64));
    if (const auto tuning = plainest(form, problem)) cases.push_back({*tuning, awkward_grids(problem, *tuning), {}});
    ++turn;
  }
  return cases;
}

std::vector<HostCase> sampled_cases(const Stencil& stencil, int stage, std::size_t turn) {
  const auto boundaries = covering_boundaries();
  const Limits limits = limits_of_architecture("sm_90");
  std::mt19937_64 random(turn);
  std::vector<HostCase> cases;
  for (int n = 0; n < kSamples; ++n, ++turn) {
    const Problem problem = stage_problem(stencil, stage, type_of(stencil, turn), boundaries[turn % boundaries.size()],
                                          cube(stencil.rank, 64));
    const auto tuning = Space(problem, limits).sample(random);
    if (tuning) cases.push_back({*tuning, awkward_grids(problem, *tuning), {}});
  }
  return cases;
}

TEST_P(CorpusStencil, IsRightInEveryFamilyOnTheHostExecutor) {
  const Stencil stencil = corpus(GetParam());
  for (int stage = 0; stage < stage_count(stencil); ++stage) {
    const std::size_t turn = place_of(GetParam()) + static_cast<std::size_t>(stage);
    std::vector<HostCase> cases = cases_of_each_form(stencil, stage, turn);
    for (HostCase& sample : sampled_cases(stencil, stage, turn)) cases.push_back(std::move(sample));
    for (const std::string_view family : {"direct", "tiled", "streaming"}) {
      const bool is_there =
          std::any_of(cases.begin(), cases.end(), [&](const HostCase& c) { return c.tuning.family->name == family; });
      EXPECT_TRUE(is_there || (family == "streaming" && stencil.rank == 1)) << family;
    }
    const auto verdicts = check_cases_on_host(cases);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_TRUE(verdicts[i].right) << describe(cases[i]) << "\n" << verdicts[i].message;
      EXPECT_GT(verdicts[i].cells_checked, 0) << describe(cases[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, CorpusStencil, testing::ValuesIn(corpus_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace stencil_tune
