// Stencils that read further to one side than to the other, in every family: under boundary hold each end of an axis
// keeps the layers that reads to that end need, and no more.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "tests/kernels/expect_right.hpp"
#include "tests/kernels/fused/temporal_cases.hpp"
#include "tests/kernels/kernel_cases.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

/// Reads to one side only on each axis, to different sides on different axes; and 2 cells to one side, 1 to the other.
std::vector<Stencil> one_sided_stencils(int rank) {
  std::vector<const char*> texts;
  if (rank == 1) {
    texts = {"u_next = 0.6 * u + 0.4 * u[x-1]", "u_next = 0.6 * u + 0.4 * u[x+2]",
             "u_next = 0.4 * u + 0.3 * u[x-2] + 0.2 * u[x+1]"};
  } else if (rank == 2) {
    texts = {"u_next = 0.5 * u + 0.3 * u[x-1,y] + 0.2 * u[x,y+1]", "u_next = 0.5 * u + 0.3 * u[x+1,y] + 0.2 * u[x,y-1]",
             "u_next = 0.4 * u + 0.2 * u[x-2,y] - 0.1 * u[x+1,y] + 0.2 * u[x,y-1] - 0.3 * u[x,y+2]"};
  } else {
    texts = {"u_next = 0.4 * u + 0.3 * u[x-1,y,z] + 0.2 * u[x,y+1,z] + 0.1 * u[x,y,z-1]",
             "u_next = 0.4 * u + 0.3 * u[x+1,y,z] + 0.2 * u[x,y-1,z] + 0.1 * u[x,y,z+2]",
             "u_next = 0.4 * u + 0.2 * u[x-2,y,z] - 0.1 * u[x+1,y,z] + 0.2 * u[x,y-1,z] - 0.3 * u[x,y+2,z] + "
             "0.2 * u[x,y,z-2] - 0.1 * u[x,y,z+1] + 0.1 * u[x-1,y+1,z]"};
  }
  std::vector<Stencil> stencils;
  for (const char* text : texts) stencils.push_back(parse_stencil(text, rank));
  return stencils;
}

class OneSidedStencils : public testing::TestWithParam<int> {};  // by rank

/// Every form under hold; under the other boundaries and mixed ones they take turns.
TEST_P(OneSidedStencils, AreSweptRightByEveryForm) {
  const auto boundaries = covering_boundaries();
  std::vector<HostCase> cases;
  std::size_t turn = 0;
  for (const Stencil& stencil : one_sided_stencils(GetParam())) {
    for (const Tuning& form : kernel_forms()) {
      for (const Boundaries& each : {boundaries[0], boundaries[1 + turn++ % (boundaries.size() - 1)]}) {
        const Problem problem = problem_of(stencil, ElementType::f32, each);
        if (const auto tuning = plainest(form, problem)) {
          cases.push_back({*tuning, awkward_grids(problem, *tuning), {}});
        }
      }
    }
  }
  expect_right(cases);
}

TEST_P(OneSidedStencils, AreSweptRightByWhatTheSearchDraws) {
  const Limits limits = limits_of_architecture("sm_90");
  std::mt19937_64 random(static_cast<std::uint64_t>(GetParam()));
  std::vector<HostCase> cases;
  for (const Stencil& stencil : one_sided_stencils(GetParam())) {
    const Problem problem = problem_of(stencil, ElementType::f64, covering_boundaries().front());
    const Space space(problem, limits);
    for (int n = 0; n < 8; ++n) {
      if (const auto tuning = space.sample(random)) cases.push_back({*tuning, awkward_grids(problem, *tuning), {}});
    }
  }
  EXPECT_EQ(cases.size(), 24U);
  expect_right(cases);
}

/// Planes and sums under hold and the other boundaries, which take turns as two to four steps do.
TEST_P(OneSidedStencils, AreFusedRight) {
  using enum Boundary;
  const std::vector<std::string> codes[] = {
      {"temporal.bx32.by1.rx4.v2.pf2"},
      {"temporal.bx32.by1.rx4.v2.pf2.ch2", "temporal.bx32.by1.rx4.sums.v2.pf2.ch2", "temporal.bx64.by1.rx2.pf2"},
      {"temporal.bx32.by4.rx2.ry4.v2.pf2.ch2", "temporal.bx32.by4.rx2.ry4.sums.v2.pf2",
       "temporal.bx64.by4.rx2.ry4.pf2"}};
  constexpr std::array kTurns{zero, clamp, periodic, reflect};
  std::vector<HostCase> cases;
  std::size_t turn = 0;
  for (const Stencil& stencil : one_sided_stencils(GetParam())) {
    for (const std::string& code : codes[GetParam() - 1]) {
      for (const Boundary boundary : {hold, kTurns[turn % kTurns.size()]}) {
        const std::size_t steps = 2 + turn++ % 3;
        HostCase each = temporal_case(stencil, ElementType::f64, {boundary, boundary, boundary},
                                      fmt::format("{}.t{}", code, steps));
        EXPECT_TRUE(boundary != hold || each.problems.size() >= 2) << code << ", " << steps << " steps";
        if (!each.problems.empty()) cases.push_back(std::move(each));
      }
    }
  }
  expect_right(cases);
}

INSTANTIATE_TEST_SUITE_P(OfRank, OneSidedStencils, testing::Values(1, 2, 3));

TEST(OneSidedSteps, AreFusedRightInGroupsClustersAndByTma) {
  constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
  const auto in_3d = one_sided_stencils(3);
  const auto in_2d = one_sided_stencils(2);
  std::vector<HostCase> cases;
  for (const Stencil& stencil : in_2d) {
    for (const char* code :
         {"temporal.bx32.by1.rx4.v2.tmarows.pf2.t4.tg2.ch2", "temporal.bx32.by1.rx4.sums.v2.pf2.t4.tg2.split.ch2",
          "temporal.bx64.by1.rx4.v2.pf2.t4.tg4"}) {
      cases.push_back(temporal_case(stencil, ElementType::f64, kHold, code));
    }
  }
  for (const Stencil& stencil : in_3d) {
    for (const char* code :
         {"temporal.bx32.by3.rx2.ry4.v2.tmarows.pf2.t2.ch2", "temporal.bx32.by3.rx2.ry4.sums.v2.pf2.t2.tg2.ch2"}) {
      cases.push_back(temporal_case(stencil, ElementType::f64, kHold, code));
    }
  }
  cases.push_back(temporal_case(in_3d[0], ElementType::f32, kHold, "temporal.bx32.by3.rx2.ry4.v2.pf2.t4.ch2"));
  cases.push_back(temporal_case(in_3d[2], ElementType::f32, kHold, "temporal.bx32.by3.rx2.ry4.v2.pf2.t2.cl2.ch2"));
  cases.push_back(temporal_case(in_3d[2], ElementType::f32, kHold, "temporal.bx32.by3.rx2.ry4.sums.v2.pf2.t2.cl2"));
  for (const HostCase& each : cases) ASSERT_GE(each.problems.size(), 2U) << code(each.tuning);
  expect_right(cases);
}

TEST(SumsOfATileOfOneWarp, KeepBothItsEdges) {
  constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
  const HostCase each = temporal_case(make_builtin(Shape::star, 3, 1), ElementType::f32, kHold,
                                      "temporal.bx32.by1.rx2.ry6.sums.v2.pf2.t2");
  EXPECT_GE(each.problems.size(), 2U);
  expect_right(std::vector{each});
}

}  // namespace
}  // namespace stencil_tune
