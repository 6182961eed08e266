#include "bench/fit/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace stencil_tune {
namespace {

TEST(Judgement, LosesWhatTheFirstTwelveAreBehind) {
  std::vector<double> measured(20, 50.0), predicted(20, 1.0);
  measured[15] = 100;
  EXPECT_DOUBLE_EQ(judge(predicted, measured).lost, 0.5) << "the best is the sixteenth";
  predicted[15] = 2;
  EXPECT_DOUBLE_EQ(judge(predicted, measured).lost, 0);
}

TEST(Judgement, ErrorsThatAllShareAreNoDeviation) {
  const std::vector<double> measured{1, 2, 4}, twice{2, 4, 8}, one_off{1, 2, 8};
  EXPECT_DOUBLE_EQ(judge(twice, measured).level, std::log(2.0));
  EXPECT_NEAR(judge(twice, measured).deviation, 0, 1e-7);
  EXPECT_GT(judge(one_off, measured).deviation, 0.1);
}

TEST(Judgement, OfSeveralProblemsAreMeansAndLevelsDoNotCancelOut) {
  const std::vector<FitRecord> two{judge(std::vector{2.0, 4.0}, std::vector{1.0, 2.0}),
                                   judge(std::vector{4.0, 1.0}, std::vector{2.0, 8.0})};
  const FitRecord both = mean(two);
  EXPECT_EQ(both.problems, 2);
  EXPECT_EQ(both.candidates, 4);
  EXPECT_DOUBLE_EQ(both.agreement, 0) << "1 and -1";
  EXPECT_GE(both.level, std::log(2.0));
  EXPECT_LT(two[1].level, 0);
  EXPECT_DOUBLE_EQ(two[1].highest, std::log(0.5)) << "4 predicted, 8 measured, whichever they are of";
  EXPECT_DOUBLE_EQ(both.highest, std::log(2.0));
}

}  // namespace
}  // namespace stencil_tune
