#include "runtime/cuda/device_facts.hpp"

#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/fake_driver.hpp"

namespace stencil_tune {
namespace {

TEST(Device, FactsComeFromTheDriver) {
  FakeDriver driver;
  const DeviceFacts facts = read_device(driver, 0);
  EXPECT_EQ(facts.name, "Fake GPU");
  EXPECT_EQ(facts.uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f");
  EXPECT_EQ(facts.architecture, "sm_90");
  EXPECT_EQ(facts.multiprocessors, 132);
  EXPECT_EQ(facts.l2_bytes, std::size_t{60} << 20);
  EXPECT_EQ(facts.driver, "13.0");
  EXPECT_EQ(facts.limits.compute_capability, 90);
  EXPECT_EQ(facts.limits.shared_per_block, 232448U);
}

TEST(Device, IsFoundByOrdinalOrUniqueStartOfItsUuid) {
  FakeDriver driver;
  driver.gpus = {{.name = "A", .uuid_start = 0x10}, {.name = "B", .uuid_start = 0x20}};
  EXPECT_EQ(find_device(driver, "1").name, "B");
  EXPECT_EQ(find_device(driver, "GPU-1011").name, "A");
  EXPECT_ERROR(find_device(driver, "GPU-"), ErrorCode::no_device, "more than one");
  EXPECT_ERROR(find_device(driver, "2"), ErrorCode::no_device, "GPU-20");
  EXPECT_ERROR(find_device(driver, ""), ErrorCode::no_device, "no GPU");
}

TEST(Device, NoneIsAnErrorOnlyWhenOneIsNeeded) {
  FakeDriver driver;
  driver.gpus.clear();
  EXPECT_TRUE(list_devices(driver).empty());
  EXPECT_ERROR(find_device(driver, "0"), ErrorCode::no_device, "no GPU");
}

TEST(Device, CudaVersionsReadAsPeopleWriteThem) {
  EXPECT_EQ(format_cuda_version(13000), "13.0");
  EXPECT_EQ(format_cuda_version(12060), "12.6");
}

}  // namespace
}  // namespace stencil_tune
