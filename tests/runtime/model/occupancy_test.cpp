#include "runtime/model/occupancy.hpp"

#include <gtest/gtest.h>

#include <cuda_occupancy.h>

#include <string>

namespace stencil_tune {
namespace {

cudaOccDeviceProp properties_of(const Limits& limits) {
  constexpr std::size_t kWithoutOptIn = 48 * 1024;
  constexpr std::size_t kOfTheSystem = 1024;
  cudaOccDeviceProp properties;
  properties.computeMajor = limits.compute_capability / 10;
  properties.computeMinor = limits.compute_capability % 10;
  properties.maxThreadsPerBlock = limits.max_threads_per_block;
  properties.maxThreadsPerMultiprocessor = limits.max_threads_per_sm;
  properties.regsPerBlock = limits.registers_per_sm;
  properties.regsPerMultiprocessor = limits.registers_per_sm;
  properties.warpSize = 32;
  properties.numSms = 1;
  properties.sharedMemPerBlock = kWithoutOptIn;
  properties.sharedMemPerMultiprocessor = limits.shared_per_sm;
  properties.sharedMemPerBlockOptin = limits.shared_per_block;
  properties.reservedSharedMemPerBlock = limits.compute_capability >= 80 ? kOfTheSystem : 0;
  return properties;
}

/// What the toolkit's calculator says; negative is an error of its own.
int blocks_by_toolkit(const Limits& limits, const BlockNeeds& needs) {
  const cudaOccDeviceProp properties = properties_of(limits);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = limits.max_threads_per_block;
  attributes.numRegs = needs.registers;
  attributes.sharedSizeBytes = 0;
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = limits.shared_per_block;
  const cudaOccDeviceState state;
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                                     needs.threads, needs.shared_bytes);
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -static_cast<int>(error);
}

class OccupancyOf : public testing::TestWithParam<int> {};

TEST_P(OccupancyOf, EveryBlockIsWhatTheToolkitsCalculatorSays) {
  const Limits limits = limits_of_architecture("sm_" + std::to_string(GetParam()));
  if (blocks_by_toolkit(limits, {32, 32, 0}) == -CUDA_OCC_ERROR_UNKNOWN_DEVICE)
    GTEST_SKIP() << "this toolkit does not know the architecture";
  for (const int threads : {32, 33, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
    for (int registers = 16; registers <= limits.max_registers_per_thread; registers += 7) {
      for (std::size_t shared = 0; shared <= limits.shared_per_block; shared += 1000) {
        const BlockNeeds needs{threads, registers, shared};
        ASSERT_EQ(occupancy_of(limits, needs).blocks, blocks_by_toolkit(limits, needs))
            << threads << " threads, " << registers << " registers, " << shared << " bytes";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architecture, OccupancyOf,
                         testing::Values(70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121),
                         testing::PrintToStringParamName());

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
