#include "runtime/model/device_model.hpp"

#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(DeviceModel, IsFoundByNameInAnyCase) { EXPECT_EQ(find_device_model("H200").gpu, "NVIDIA H200"); }

TEST(DeviceModel, AnUnknownNameSuggestsTheNearest) {
  try {
    find_device_model("h20");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unknown_name);
    EXPECT_NE(std::string(error.what()).find("h200"), std::string::npos);
  }
}

TEST(DeviceModel, AnArchitectureWithoutOneTakesTheNearestOlder) {
  EXPECT_EQ(model_of_architecture("sm_90").name, "h200");
  EXPECT_EQ(model_of_architecture("sm_80").name, "a100");
  EXPECT_EQ(model_of_architecture("sm_87").name, "rtx3090");
}

TEST(DeviceModel, AGpuThatIsPresentKeepsItsOwnFacts) {
  DeviceFacts facts;
  facts.name = "NVIDIA Something";
  facts.architecture = "sm_90";
  facts.multiprocessors = 66;
  facts.memory_bytes = 40'000'000'000;
  facts.l2_bytes = 30 << 20;
  const DeviceModel model = model_of(facts);
  EXPECT_EQ(model.gpu, "NVIDIA Something");
  EXPECT_EQ(model.multiprocessors, 66);
  EXPECT_DOUBLE_EQ(model.l2_mb, 30);
  EXPECT_DOUBLE_EQ(model.dram_gbs, find_device_model("h200").dram_gbs / 2);
}

}  // namespace
}  // namespace stencil_tune
