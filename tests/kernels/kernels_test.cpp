// Every family, form and setting of the templates, on awkward grids, against the reference: every pair of settings.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/space.hpp"
#include "generator/candidates/textbook/textbook.hpp"
#include "generator/definition/definition.hpp"
#include "stencil_tune/error.hpp"
#include "tests/kernels/expect_right.hpp"
#include "tests/kernels/kernel_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>

namespace stencil_tune {
namespace {

/// Kernels compiled in one translation unit: enough that its fixed cost is small, few enough for all cores to work.
constexpr std::size_t kKernelsTogether = 12;

void expect_all_right(std::span<const HostCase> cases) {
  for (std::size_t first = 0; first < cases.size(); first += kKernelsTogether) {
    expect_right(cases.subspan(first, std::min(kKernelsTogether, cases.size() - first)));
  }
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

constexpr int kParts = 24;

class PairwiseKernels : public testing::TestWithParam<int> {};

TEST_P(PairwiseKernels, AgreeWithTheReferenceInEveryCell) {
  const auto all = pairwise_cases();
  std::vector<HostCase> part;
  for (std::size_t i = static_cast<std::size_t>(GetParam()); i < all.size(); i += kParts) part.push_back(all[i]);
  expect_all_right(part);
}

INSTANTIATE_TEST_SUITE_P(Part, PairwiseKernels, testing::Range(0, kParts));

Tuning form_of(const Tuning& tuning) {
  Tuning form(*tuning.family);
  form.planes = tuning.planes;
  form.keeps = tuning.keeps;
  form.copies = tuning.copies;
  form.cover = tuning.cover;
  form.neighbours = tuning.neighbours;
  return form;
}

// A pair that no case holds is a hole in the net, unless the constraints forbid it.
TEST(KernelCases, PairEveryFormWithEveryTypeBoundaryAndRankItServes) {
  const auto cases = pairwise_cases();
  const auto stencils = covering_stencils();
  for (const Tuning& form : kernel_forms()) {
    const auto expect_pair = [&](const auto& what, const auto& serves, const auto& holds) {
      const bool served = std::any_of(stencils.begin(), stencils.end(), serves);
      const bool held = std::any_of(cases.begin(), cases.end(), [&](const HostCase& host_case) {
        return form_of(host_case.tuning) == form && holds(host_case.problems.front());
      });
      EXPECT_EQ(held, served) << code(form) << " with " << what;
    };
    for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
      expect_pair(
          name(type), [&](const Stencil& s) { return plainest(form, problem_of(s, type, {})).has_value(); },
          [&](const Problem& problem) { return problem.type == type; });
    }
    for (const Boundaries& boundaries : covering_boundaries()) {
      expect_pair(
          to_string(boundaries, kMaxRank),
          [&](const Stencil& s) { return plainest(form, problem_of(s, ElementType::f32, boundaries)).has_value(); },
          [&](const Problem& problem) { return problem.boundaries == boundaries; });
    }
    for (const int rank : {1, 2, 3}) {
      expect_pair(
          rank, [&](const Stencil& s) { return s.rank == rank && plainest(form, problem_of(s, ElementType::f32, {})); },
          [&](const Problem& problem) { return problem.extents.rank == rank; });
    }
  }
}

// ---- the textbook's kernels -----------------------------------------------------------------------------------------

class TextbookKernels : public testing::TestWithParam<std::tuple<Shape, int>> {};

TEST_P(TextbookKernels, AgreeWithTheReferenceAtEveryOrderTheyServe) {
  const auto [shape, rank] = GetParam();
  const Limits limits = limits_of_architecture("sm_90");
  std::vector<HostCase> cases;
  for (int order = 1; order <= (shape == Shape::box && rank == 3 ? 2 : 4); ++order) {
    Extents extents{rank, {64, rank > 1 ? 64 : 1, rank > 2 ? 64 : 1}};
    const Problem problem =
        make_problem(make_builtin(shape, rank, order), order % 2 == 0 ? ElementType::f64 : ElementType::f32,
                     {Boundary::hold, Boundary::hold, Boundary::hold}, extents);
    for (const Baseline& baseline : textbook_baselines(problem, limits)) {
      if (baseline.tuning) cases.push_back({*baseline.tuning, awkward_grids(problem, *baseline.tuning), {}});
    }
  }
  EXPECT_GE(cases.size(), 6U);
  expect_all_right(cases);
}

INSTANTIATE_TEST_SUITE_P(ShapeAndRank, TextbookKernels,
                         testing::Combine(testing::Values(Shape::star, Shape::box), testing::Values(1, 2, 3)));

// ---- what the search and the library may choose ---------------------------------------------------------------------

TEST(DefaultCandidates, AgreeWithTheReferenceForEveryFamily) {
  const Limits limits = limits_of_architecture("sm_90");
  std::vector<HostCase> cases;
  for (const Stencil& stencil : covering_stencils()) {
    Extents extents{stencil.rank, {64, stencil.rank > 1 ? 64 : 1, stencil.rank > 2 ? 64 : 1}};
    const Problem problem = make_problem(stencil, ElementType::f32, covering_boundaries()[5], extents);
    for (const Family* family : families()) {
      const auto tuning = default_candidate(*family, problem, limits);
      if (tuning) cases.push_back({*tuning, awkward_grids(problem, *tuning), {}});
    }
  }
  expect_all_right(cases);
}

class SampledKernels : public testing::TestWithParam<int> {};

TEST_P(SampledKernels, OfTheSearchSpaceAgreeWithTheReference) {
  const auto seed = static_cast<std::uint64_t>(GetParam());
  const auto stencils = covering_stencils();
  const auto boundaries = covering_boundaries();
  const Limits limits = limits_of_architecture("sm_90");
  std::mt19937_64 random(seed);
  std::vector<HostCase> cases;
  for (std::size_t i = 0; i < stencils.size(); ++i) {
    Extents extents{stencils[i].rank, {64, stencils[i].rank > 1 ? 64 : 1, stencils[i].rank > 2 ? 64 : 1}};
    const Problem problem = make_problem(stencils[i], static_cast<ElementType>((i + seed) % 4),
                                         boundaries[(i / 2 + seed) % boundaries.size()], extents);
    const Space space(problem, limits);
    for (int n = 0; n < 2; ++n) {
      if (const auto tuning = space.sample(random)) cases.push_back({*tuning, awkward_grids(problem, *tuning), {}});
    }
  }
  EXPECT_GE(cases.size(), stencils.size());
  expect_all_right(cases);
}

INSTANTIATE_TEST_SUITE_P(Seed, SampledKernels, testing::Values(1));
INSTANTIATE_TEST_SUITE_P(MoreSeeds, SampledKernels, testing::Range(2, 5));

TEST(Kernels, TakeMinimaAndMaximaOfNaNAsTheNumber) {
  const Stencil stencil = parse_stencil("max(min(u[x-1,y], u[x+1,y]), min(0.25, u[x,y+1]))", 2);
  const Boundaries boundaries{Boundary::periodic, Boundary::zero, Boundary::hold};
  std::vector<HostCase> cases;
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    const Problem problem = make_problem(stencil, type, boundaries, Extents{2, {67, 19, 1}});
    for (const char* code : {"direct.bx32.by4", "tiled.bx16.by4"}) cases.push_back({parse_code(code), {problem}, {}});
  }
  expect_all_right(cases);
}

TEST(Kernels, AreNotCalledRightWhereMostResultsMayBeAnything) {
  const Stencil stencil = parse_stencil("u / (u[x-1] - u[x-1])", 1);
  const Boundaries zero{Boundary::zero, Boundary::zero, Boundary::zero};
  const Problem problem = make_problem(stencil, ElementType::f32, zero, Extents{1, {64, 1, 1}});
  try {
    check_on_host(problem, std::vector{Tuning{}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot be verified: for 64 of 64 cells"), std::string::npos)
        << error.what();
  }
}

TEST(Kernels, UpdateNothingWhereHoldLeavesNothing) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 2), ElementType::f32,
                                       {Boundary::hold, Boundary::hold, Boundary::hold}, Extents{3, {9, 4, 9}});
  const auto verdicts = check_on_host(problem, std::vector{Tuning{}});
  EXPECT_TRUE(verdicts.front().right) << verdicts.front().message;
  EXPECT_EQ(verdicts.front().cells_checked, 0);
}

}  // namespace
}  // namespace stencil_tune
