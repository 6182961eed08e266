#include "generator/candidates/explain.hpp"

#include "tests/generator/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kSm90;
using ::testing::Not;
using testing::star;

std::string text(const Problem& problem, std::string_view code) { return explain(problem, kSm90, parse_code(code)); }

TEST(Explain, ShowsTheTextbooksFiguresOfALegalCandidate) {
  EXPECT_THAT(text(star(3, 1), "tiled.bx8.by8.bz8.cin"),
              AllOf(HasSubstr("legal: it keeps all"), HasSubstr("6x6x6 cells a block"), HasSubstr("57.8 %"),
                    HasSubstr("1.37 OP/B"), HasSubstr("bound 3.25"), HasSubstr("13 an update"),
                    HasSubstr("512 a block (8 x 8 x 8)"), HasSubstr("2048 bytes a block of 232448"),
                    HasSubstr("636056 (86x86x86)"), HasSubstr("8 at least")));
}

TEST(Explain, GivesEachParameterThatTheCandidateUsesWithItsMeaning) {
  const std::string walking = text(star(3, 1), "streaming.bx32.by4.rx4.v4.cz4.regs");
  EXPECT_THAT(walking, AllOf(HasSubstr("coarsening depth"), HasSubstr("cz4"),
                             HasSubstr("a thread's own rows in registers"), HasSubstr("ncache")));
  EXPECT_THAT(walking, AllOf(Not(HasSubstr("threads in z")), Not(HasSubstr("hshared"))));
}

TEST(Explain, ListsEveryBrokenConstraintWithItsMeaning) {
  const std::string forbidden = text(star(3, 1), "tiled.bx8.by2.bz8.rx2.cin");
  EXPECT_THAT(forbidden, AllOf(HasSubstr("illegal: it breaks 2 of"), HasSubstr("cover_input_one_cell: "),
                               HasSubstr("tile_not_empty: "), HasSubstr("hold one cell each"), HasSubstr("empty")));
}

TEST(Explain, AgreesWithTheConstraints) {
  const Tuning tuning = parse_code("direct.bx512.by4.rx2.v4");
  const Explanation explanation = explain_candidate({star(3, 1), tuning}, kSm90);
  ASSERT_EQ(explanation.violations.size(), 2u);
  EXPECT_EQ(explanation.violations[0].constraint, first_violation({star(3, 1), tuning}, kSm90)->constraint);
  EXPECT_EQ(explanation.threads, 2048);
}

TEST(Explain, LeavesOutTheAxesThatAKernelDoesNotHave) {
  EXPECT_THAT(text(star(2, 1), "streaming.bx128.by1.cz16.regs"), HasSubstr("128x16 cells a block"));
  EXPECT_THAT(text(star(1, 1), "direct.bx256.by1"), HasSubstr("256 cells a block"));
}

TEST(Explain, SaysWhatFusedStepsKeepInSharedMemory) {
  Problem run = star(3, 1);
  run.steps = 100;
  EXPECT_THAT(text(run, "temporal.bx32.by8.rx4.ry2.pf2.t4"),
              AllOf(HasSubstr("100 steps"), HasSubstr("planes on their way"), Not(HasSubstr(" 0 cells"))));
}

TEST(Explain, CountsTheHaloOfAllFusedSteps) {
  Problem run = star(3, 1);
  run.steps = 100;
  // 120x8 cells of 128x16 are the tile's own, and 512 planes of 520 that four steps walk through.
  EXPECT_THAT(text(run, "temporal.bx32.by8.rx4.ry2.pf2.t4"), HasSubstr("53.8 % of the cells a block reads"));
}

TEST(Explain, SurvivesAbsurdNumbers) {
  EXPECT_THAT(text(star(3, 1), "tiled.bx65536.by65536.bz65536.rx65536.ry65536.rz65536"), HasSubstr("illegal"));
}

}  // namespace
}  // namespace stencil_tune
