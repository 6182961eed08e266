#include "tuner/measure/device_bench.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(OutcomeOfErrors, TellsMemoryFromFailedLaunches) {
  EXPECT_EQ(outcome_of(ErrorCode::exceeds_device_memory), Outcome::exceeds_limits);
  EXPECT_EQ(outcome_of(ErrorCode::launch_failed), Outcome::launch_failed);
  EXPECT_EQ(outcome_of(ErrorCode::timeout), Outcome::timeout);
  EXPECT_EQ(outcome_of(ErrorCode::device_lost), Outcome::device_lost);
}

}  // namespace
}  // namespace stencil_tune
