#include "runtime/cuda/module.hpp"

#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/fake_driver.hpp"

namespace stencil_tune {
namespace {

const CompiledKernel kKernel{.cubin = std::vector<std::byte>(16), .entry = "kernel", .resources = {}};

TEST(Module, UnloadsOnceHoweverItIsMoved) {
  FakeDriver driver;
  {
    Module first(driver, kKernel);
    Module second(std::move(first));
    Module third(driver, kKernel);
    third = std::move(second);
  }
  EXPECT_EQ(driver.count("load_module"), 2);
  EXPECT_EQ(driver.count("unload_module"), 2);
}

TEST(Module, UnloadsWhenTheKernelIsNotInIt) {
  FakeDriver driver;
  driver.refuse = "function";
  EXPECT_ERROR(Module(driver, kKernel), ErrorCode::launch_failed, "function");
  EXPECT_EQ(driver.count("unload_module"), 1);
}

TEST(Module, PassesGeometryArgumentAndStreamToTheDriver) {
  FakeDriver driver;
  Module module(driver, kKernel);
  const Stream stream(driver);
  const std::vector<std::byte> argument(24, std::byte{3});
  module.launch({.grid = {4, 5, 6}, .block = {32, 8, 1}, .shared_bytes = 1024}, argument, stream.get());
  ASSERT_EQ(driver.launches.size(), 1U);
  EXPECT_EQ(driver.launches[0].grid, (std::array<unsigned, 3>{4, 5, 6}));
  EXPECT_EQ(driver.launches[0].shared_bytes, 1024U);
  EXPECT_EQ(driver.launches[0].argument, argument);
  EXPECT_EQ(driver.launches[0].stream, stream.get());
}

TEST(Module, NoBlocksIsNothingToDo) {
  FakeDriver driver;
  const Module module(driver, kKernel);
  module.launch({.grid = {0, 0, 0}}, {}, nullptr);
  EXPECT_TRUE(driver.launches.empty());
}

TEST(Context, RestoresTheCallersContext) {
  FakeDriver driver;
  driver.gpus.resize(2);
  driver.current = 0;
  {
    const Context context(driver, 1);
    EXPECT_EQ(driver.current, 1);
  }
  EXPECT_EQ(driver.current, 0);
  EXPECT_EQ(driver.count("release_primary_context"), 1);
}

TEST(DeviceBuffer, FreesOnceAndRefusesCopiesBeyondItsEnd) {
  FakeDriver driver;
  {
    DeviceBuffer buffer(driver, 100);
    DeviceBuffer moved(std::move(buffer));
    const std::vector<std::byte> bytes(60);
    EXPECT_NO_THROW(moved.write(bytes, nullptr, 40));
    EXPECT_ERROR(moved.write(bytes, nullptr, 41), ErrorCode::invalid_argument, "100");
  }
  EXPECT_EQ(driver.count("free"), 1);
}

}  // namespace
}  // namespace stencil_tune
