// Skips a test where there is no GPU.
#pragma once

#include "runtime/cuda/device.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {

template <class Base = ::testing::Test>
class GpuTest : public Base {
 protected:
  void SetUp() override {
    try {
      const auto devices = list_devices();
      if (devices.empty()) GTEST_SKIP() << "no GPU on this machine";
      device_ = devices.front();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  DeviceFacts device_;
};

}  // namespace stencil_tune
