#include "tuner/model/occupancy.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(Occupancy, FollowsTheCalculator) {
  const Limits h200 = limits_of_architecture("sm_90");
  EXPECT_EQ(occupancy_of(h200, {256, 32, 0}).blocks, 8);
  EXPECT_DOUBLE_EQ(occupancy_of(h200, {256, 32, 0}).share, 1.0);
  EXPECT_EQ(occupancy_of(h200, {256, 33, 0}).blocks, 6);  // 40 a thread after rounding: 48 warps
  EXPECT_EQ(occupancy_of(h200, {256, 64, 0}).blocks, 4);
  EXPECT_EQ(occupancy_of(h200, {256, 255, 0}).blocks, 1);
  EXPECT_EQ(occupancy_of(h200, {32, 16, 0}).blocks, 32);
  EXPECT_EQ(occupancy_of(h200, {32, 16, 0}).limited_by, "blocks");
  EXPECT_EQ(occupancy_of(h200, {128, 32, 100 * 1024}).blocks, 2);
  EXPECT_EQ(occupancy_of(h200, {128, 32, 100 * 1024}).limited_by, "shared memory");
  EXPECT_EQ(occupancy_of(h200, {128, 32, 232448}).blocks, 1);
}

TEST(Occupancy, IsZeroWhenABlockDoesNotFit) {
  const Limits h200 = limits_of_architecture("sm_90");
  EXPECT_EQ(occupancy_of(h200, {1024, 65, 0}).blocks, 0);
  EXPECT_EQ(occupancy_of(h200, {128, 32, 232449}).blocks, 0);
  EXPECT_EQ(occupancy_of(h200, {1025, 32, 0}).blocks, 0);
}

}  // namespace
}  // namespace stencil_tune
