// Which GPUs share a session.
#include "tuner/commands/options/target.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

DeviceFacts gpu(int ordinal, const std::string& name, int multiprocessors) {
  DeviceFacts facts;
  facts.ordinal = ordinal;
  facts.name = name;
  facts.uuid = "GPU-" + std::to_string(ordinal);
  facts.architecture = "sm_90";
  facts.multiprocessors = multiprocessors;
  facts.limits = limits_of_architecture("sm_90");
  return facts;
}

TEST(Targets, GpusOfAModelShareOne) {
  const auto targets = targets_of(
      {gpu(0, "NVIDIA H200", 132), gpu(1, "NVIDIA A100", 108), gpu(2, "NVIDIA H200", 132), gpu(3, "NVIDIA H200", 132)});
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].gpu(), "NVIDIA H200");
  EXPECT_EQ(targets[0].device->ordinal, 0);
  ASSERT_EQ(targets[0].more_devices.size(), 2u);
  EXPECT_EQ(targets[0].more_devices[0].ordinal, 2);
  EXPECT_EQ(targets[0].more_devices[1].ordinal, 3);
  EXPECT_EQ(targets[1].gpu(), "NVIDIA A100");
  EXPECT_TRUE(targets[1].more_devices.empty());
}

TEST(Targets, GpusOfOneNameThatDifferAreNoModel) {
  EXPECT_EQ(targets_of({gpu(0, "NVIDIA H100", 132), gpu(1, "NVIDIA H100", 114)}).size(), 2u);
  EXPECT_TRUE(targets_of({}).empty());
}

}  // namespace
}  // namespace stencil_tune
