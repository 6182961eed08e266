#include "tuner/replay/curves.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

using Values = std::vector<double>;

TEST(FallingCurveTest, PointsThatRiseArePooledByWeight) {
  EXPECT_EQ(falling_curve({{1, 3}, {2, 1}, {3, 2}}, {1, 2, 3}), (Values{3, 1.5, 1.5}));
  EXPECT_EQ(falling_curve({{1, 3}, {2, 1, 3}, {3, 2, 1}}, {1, 2, 3}), (Values{3, 1.25, 1.25}));
  EXPECT_EQ(falling_curve({{1, 1}, {2, 2}, {3, 6}}, {1, 2, 3}), (Values{3, 3, 3}));
}

TEST(FallingCurveTest, IsLinearBetweenPointsAndLevelBeyond) {
  EXPECT_EQ(falling_curve({{1, 4}, {3, 2}}, {0, 1, 1.5, 2, 3, 9}), (Values{4, 4, 3.5, 3, 2, 2}));
}

TEST(FallingCurveTest, PointsOfEqualXCountAsOne) {
  EXPECT_EQ(falling_curve({{1, 5}, {1, 3}, {2, 0}}, {1, 2}), (Values{4, 0}));
}

TEST(MonotoneCubicTest, GoesThroughThePointsAndNeverBeyond) {
  const Values x{0, 1, 2}, y{0, 1, 1};
  EXPECT_EQ(monotone_cubic(x, y, x), y);
  EXPECT_DOUBLE_EQ(monotone_cubic(x, y, {0.5}).front(), 0.6875);  // derivatives 1.5, 0, 0
  EXPECT_EQ(monotone_cubic(x, y, {1.5}).front(), 1);
}

TEST(MonotoneCubicTest, InnerDerivativesAreHarmonicMeans) {
  // Slopes 1 and 3, width 1: the derivative in the middle is 2 / (1 / 1 + 1 / 3) = 1.5, that at 0 is (3 * 1 - 3) / 2 =
  // 0.
  EXPECT_DOUBLE_EQ(monotone_cubic({0, 1, 2}, {0, 1, 4}, {0.5}).front(), 0.5 - 1.5 / 8);
}

TEST(MonotoneCubicTest, TwoPointsMakeALine) { EXPECT_EQ(monotone_cubic({1, 3}, {5, 1}, {1, 2, 3}), (Values{5, 3, 1})); }

}  // namespace
}  // namespace stencil_tune
