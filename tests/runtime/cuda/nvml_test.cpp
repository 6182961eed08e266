#include "runtime/cuda/nvml.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(Nvml, IsAbsentForAGpuThatIsNotThere) { EXPECT_FALSE(Nvml::open("GPU-no-such-gpu")); }

TEST(Nvml, ThrottleReasonsAreWords) {
  EXPECT_EQ(throttle_reasons(0x0), "");
  EXPECT_EQ(throttle_reasons(0x1), "") << "an idle GPU is not throttled";
  EXPECT_EQ(throttle_reasons(0x4 | 0x40), "power cap, hardware thermal slowdown");
}

}  // namespace
}  // namespace stencil_tune
