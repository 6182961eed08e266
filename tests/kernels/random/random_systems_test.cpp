// Whole steps of systems that nobody wrote. Thousands of them: scripts/check-long random.
#include "tests/kernels/random/random_systems.hpp"

#include "generator/candidates/family.hpp"
#include "generator/stencil/problem.hpp"
#include "tests/kernels/expect_right.hpp"
#include "tests/kernels/random/random_cases.hpp"
#include "tuner/verify/sharpness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace stencil_tune {
namespace {

bool contains(const std::vector<int>& fields, int field) {
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

TEST(RandomSystems, AreOfAllKinds) {
  std::set<std::size_t> stages, state;
  std::set<int> ranks, oldest;
  int fusable = 0, in_place = 0, passes_on = 0, beside = 0;
  constexpr std::uint64_t kDrawn = 200;
  for (std::uint64_t seed = 0; seed < kDrawn; ++seed) {
    Draw draw(seed);
    const Stencil system = random_system(draw);
    const StepFacts step = analyse_step(system);
    ranks.insert(system.rank);
    stages.insert(step.stages.size());
    state.insert(step.state.size());
    fusable += step.obstacle.empty() ? 1 : 0;
    for (const LeftField& field : step.left) oldest.insert(field.age);
    for (const StepStage& stage : step.stages) {
      for (const int output : stage.facts.outputs) {
        in_place += contains(step.state, output) ? 1 : 0;
        passes_on += contains(step.stages.back().state_out, output) ? 0 : 1;
      }
      for (const Tap& tap : stage.facts.taps) {
        beside += contains(step.constants, tap.field) && tap.offset != Offset{0, 0, 0} ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(ranks, (std::set<int>{1, 2, 3}));
  EXPECT_EQ(stages, (std::set<std::size_t>{1, 2, 3, 4}));
  EXPECT_GE(state.size(), 5U) << "numbers of fields in a state";
  EXPECT_GE(*oldest.rbegin(), 2) << "time levels before the last but one";
  EXPECT_GT(fusable, kDrawn / 2);
  EXPECT_GT(in_place, 10);
  EXPECT_GT(passes_on, 10) << "outputs that end within the step";
  EXPECT_GT(beside, 10) << "constants read beside the cell";
}

TEST(RandomSystems, AreDrawnSoThatACheckWouldNoticeAWrongOne) {
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{7009}}) {  // 7009: one step, as drawn at first
    const HostCase drawn = random_system_case(seed).host_case;
    for (const Problem& grid : drawn.problems) {
      EXPECT_GE(sharp_numbers(grid, sweeps_per_launch(drawn.tuning)).sharpness.share, kSharp) << describe(drawn);
    }
  }
}

TEST(RandomSystems, AreRightInEveryCell) {
  constexpr std::uint64_t kFirst = 1, kCases = 4;
  std::vector<HostCase> cases;
  for (std::uint64_t seed = kFirst; seed < kFirst + kCases; ++seed) {
    cases.push_back(random_system_case(seed).host_case);
  }
  expect_right(cases);
}

}  // namespace
}  // namespace stencil_tune
