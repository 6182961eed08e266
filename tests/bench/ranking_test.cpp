#include "bench/fit/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace stencil_tune {
namespace {

TEST(Ranking, LosesWhatTheFirstTwelveAreBehind) {
  std::vector<double> measured(20, 50.0), predicted(20, 1.0);
  measured[15] = 100;
  EXPECT_DOUBLE_EQ(rank(predicted, measured).lost, 0.5) << "the best is the sixteenth";
  predicted[15] = 2;
  EXPECT_DOUBLE_EQ(rank(predicted, measured).lost, 0);
}

TEST(Ranking, ErrorsThatAllShareAreNoDeviation) {
  const std::vector<double> measured{1, 2, 4}, twice{2, 4, 8}, one_off{1, 2, 8};
  EXPECT_DOUBLE_EQ(errors_of(twice, measured).level, std::log(2.0));
  EXPECT_NEAR(errors_of(twice, measured).deviation, 0, 1e-7);
  EXPECT_GT(errors_of(one_off, measured).deviation, 0.1);
}

}  // namespace
}  // namespace stencil_tune
