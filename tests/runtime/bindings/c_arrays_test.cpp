#include "runtime/bindings/c_handles.hpp"
#include "runtime/library/library_parts.hpp"
#include "stencil_tune/stencil_tune.h"
#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/fake_driver.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

/// dlpack.h's DLTensor.
struct Described {
  void* data;
  std::int32_t device_type = 2;
  std::int32_t device = 0;
  std::int32_t rank = 3;
  std::uint8_t type_code = 2;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;
  const std::int64_t* shape;
  const std::int64_t* strides;
  std::uint64_t byte_offset = 0;
};

/// An array of a library: what it says of itself.
struct Array {
  explicit Array(std::uintptr_t address) {
    described.data = reinterpret_cast<void*>(address);
    described.shape = shape.data();
    described.strides = strides.data();
  }
  Array(const Array&) = delete;

  std::array<std::int64_t, 3> shape{16, 24, 32};
  std::array<std::int64_t, 3> strides{24 * 32, 32, 1};
  Described described{};
};

/// dlpack.h's DLPackExchangeAPI.
struct Table {
  std::uint32_t major = 1;
  std::uint32_t minor = 3;
  std::array<void*, 4> others{};
  int (*describe)(void*, void*) = [](void* array, void* to) {
    if (static_cast<Array*>(array)->described.data == nullptr) return -1;
    *static_cast<Described*>(to) = static_cast<Array*>(array)->described;
    return 0;
  };
  int (*current_stream)(std::int32_t, std::int32_t, void**) = [](std::int32_t, std::int32_t, void** stream) {
    *stream = reinterpret_cast<void*>(0x70);
    return 0;
  };
};

int locks = 0;
int unlocked = 0;

class ArraysTest : public testing::Test {
 protected:
  ArraysTest() {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [this] { return std::make_shared<FakeCompiler>(compiled_); };
    parts.winners = [](const Problem&, const std::string&) { return std::vector<WinnerRecord>(); };
    library_ = make_c_handle(Library(std::make_unique<Library::Impl>(std::move(parts))));
    stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;
    request.stencil = "heat3d";
    request.extents[0] = 32, request.extents[1] = 24, request.extents[2] = 16;
    EXPECT_EQ(stencil_tune_lookup(library_, &request, &kernel_), STENCIL_TUNE_OK) << message();
    locks = unlocked = 0;
  }
  ~ArraysTest() override {
    stencil_tune_release(kernel_);
    stencil_tune_close(library_);
  }

  static std::string message() { return stencil_tune_error_message(); }

  stencil_tune_status step() { return stencil_tune_step_of_arrays(kernel_, &how_, arrays_.data()); }

  FakeDriver driver_;
  std::atomic<int> compiled_{0};
  stencil_tune_library* library_ = nullptr;
  stencil_tune_kernel* kernel_ = nullptr;
  Array in_{0x100000}, out_{0x900000};
  std::array<Array*, 2> arrays_{&in_, &out_};
  Table table_;
  std::array<std::int32_t, 2> fields_{0, 1};
  stencil_tune_exchange how_{sizeof(stencil_tune_exchange),
                             &table_,
                             [](void* arrays, std::ptrdiff_t i) -> void* { return static_cast<Array**>(arrays)[i]; },
                             []() -> void* { return ++unlocked, &unlocked; },
                             [](void* thread) { locks += thread == &unlocked ? 1 : 0; },
                             fields_.data(),
                             2,
                             0};
};

TEST_F(ArraysTest, AStepOnArraysIsOneOnTheirAddresses) {
  ASSERT_EQ(step(), STENCIL_TUNE_OK) << message();
  void* fields[] = {in_.described.data, out_.described.data};
  ASSERT_EQ(stencil_tune_step_on_device(kernel_, reinterpret_cast<CUstream_st*>(0x70), fields), STENCIL_TUNE_OK);
  out_.described.byte_offset = 0x1000;
  ASSERT_EQ(step(), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(driver_.launches.size(), 3U);
  EXPECT_EQ(driver_.launches[0].argument, driver_.launches[1].argument);
  EXPECT_EQ(driver_.launches[0].stream, driver_.launches[1].stream) << "the library's current one";
  EXPECT_NE(driver_.launches[2].argument, driver_.launches[1].argument);
  EXPECT_EQ(unlocked, 2) << "once a launch";
  EXPECT_EQ(locks, 2);
}

TEST_F(ArraysTest, AStepIntoANewArrayCopiesFirst) {
  ASSERT_EQ(stencil_tune_step_into_new_of_arrays(kernel_, &how_, arrays_.data()), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(step(), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(driver_.box_copies.size(), 1U);
  EXPECT_EQ(driver_.launches[0].argument, driver_.launches[1].argument);
  EXPECT_EQ(driver_.launches[0].stream, driver_.launches[1].stream);
  EXPECT_EQ(unlocked, 2);
}

TEST_F(ArraysTest, ArgumentsMayHaveAnotherOrderThanFields) {
  ASSERT_EQ(step(), STENCIL_TUNE_OK) << message();
  fields_ = {1, 0};
  arrays_ = {&out_, &in_};
  ASSERT_EQ(step(), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(driver_.launches[0].argument, driver_.launches[1].argument);
}

TEST_F(ArraysTest, WhatIsNotLikeTheKernelsGridIsRefused) {
  const std::vector<std::function<void(Array&)>> changes{
      [](Array& array) { array.shape[0] = 15; },
      [](Array& array) { array.shape[2] = 33; },
      [](Array& array) { array.strides[0] = 25 * 32; },
      [](Array& array) { array.strides[1] = 64; },
      [](Array& array) { array.strides[2] = 2; },
      [](Array& array) { array.described.rank = 2; },
      [](Array& array) { array.described.bits = 64; },
      [](Array& array) { array.described.type_code = 0; },
      [](Array& array) { array.described.type_code = 4; },
      [](Array& array) { array.described.lanes = 2; },
      [](Array& array) { array.described.device = 1; },
      [](Array& array) { array.described.device_type = 1; },
      [](Array& array) { array.described.device_type = 3; },
      [](Array& array) { array.described.data = nullptr; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (const std::size_t which : {0, 1}) {
      Array changed(0x500000);
      changes[i](changed);
      arrays_ = {&in_, &out_};
      arrays_[which] = &changed;
      EXPECT_EQ(step(), STENCIL_TUNE_INVALID_ARGUMENT) << i;
      EXPECT_NE(message().find("array " + std::to_string(which)), std::string::npos) << i << message();
    }
  }
  EXPECT_TRUE(driver_.launches.empty());
  EXPECT_EQ(unlocked, 0);
}

TEST_F(ArraysTest, ArraysOfManagedMemoryAndDenseOnesWithoutStridesAreTaken) {
  in_.described.device_type = 13;
  out_.described.strides = nullptr;
  EXPECT_EQ(step(), STENCIL_TUNE_OK) << message();
}

TEST_F(ArraysTest, AnotherInterfaceIsRefused) {
  how_.count = 1;
  EXPECT_EQ(step(), STENCIL_TUNE_INVALID_ARGUMENT);
  how_.count = 2;
  table_.major = 2;
  EXPECT_EQ(step(), STENCIL_TUNE_INVALID_ARGUMENT);
  table_.major = 1;
  table_.current_stream = [](std::int32_t, std::int32_t, void**) { return -1; };
  EXPECT_EQ(step(), STENCIL_TUNE_INVALID_ARGUMENT);
  how_.struct_size = 8;
  EXPECT_EQ(step(), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_TRUE(driver_.launches.empty());
}

TEST_F(ArraysTest, AFailedLaunchGivesTheLockBack) {
  arrays_ = {&in_, &in_};
  EXPECT_EQ(step(), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("overlaps"), std::string::npos) << message();
  EXPECT_EQ(locks, 1);
}

}  // namespace
}  // namespace stencil_tune
