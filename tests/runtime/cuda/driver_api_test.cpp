#include "runtime/cuda/driver_api.hpp"

#include "tests/runtime/expect_error.hpp"

namespace stencil_tune {
namespace {

TEST(DriverApi, AMachineWithoutADriverIsToldSo) {
  EXPECT_ERROR(DriverApi::open("libno-such-driver.so.1"), ErrorCode::missing_library, "libno-such-driver.so.1");
  EXPECT_ERROR(DriverApi::open("libno-such-driver.so.1"), ErrorCode::missing_library, "install the NVIDIA driver");
}

TEST(DriverApi, ALibraryWithoutOurFunctionsIsTooOld) {
  EXPECT_ERROR(DriverApi::open("libm.so.6"), ErrorCode::unsupported_driver, "cuInit");
}

}  // namespace
}  // namespace stencil_tune
