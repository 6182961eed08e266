// Users' kernels from C, on a driver that runs them on the CPU.
#include "runtime/bindings/c_handles.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/generator/user_kernel/definitions.hpp"
#include "tests/runtime/library/host_driver.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

class CUserKernel : public ::testing::Test {
 protected:
  CUserKernel() {
    std::ofstream(file_) << testing::kSaxpy;
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [] { return std::make_shared<SourceCompiler>(); };
    parts.kernel_winners = [](const std::string&) { return std::vector<WinnerRecord>(); };
    library_ = make_c_handle(Library(std::make_unique<Library::Impl>(std::move(parts))));
  }
  ~CUserKernel() override {
    stencil_tune_user_kernel_release(kernel_);
    stencil_tune_close(library_);
  }

  void find(std::int64_t n) {
    const stencil_tune_user_kernel_size size = {"n", n};
    ASSERT_EQ(stencil_tune_user_kernel_find(library_, file_.c_str(), &size, 1, -1, &kernel_), STENCIL_TUNE_OK)
        << message();
  }
  static std::string message() { return stencil_tune_error_message(); }

  TemporaryFolder folder_;
  std::string file_ = (folder_.path() / "saxpy.cu").string();
  HostDriver driver_;
  stencil_tune_library* library_ = nullptr;
  stencil_tune_user_kernel* kernel_ = nullptr;
};

TEST_F(CUserKernel, SaysWhatItIs) {
  find(500);
  EXPECT_EQ(stencil_tune_user_kernel_match(kernel_), STENCIL_TUNE_MATCH_DEFAULT);
  EXPECT_STREQ(stencil_tune_user_kernel_code(kernel_), "BLOCK=32,ITEMS=1");
  EXPECT_NE(std::string(stencil_tune_user_kernel_evidence(kernel_)).find("nothing is known of saxpy"),
            std::string::npos);
  EXPECT_EQ(stencil_tune_user_kernel_rate(kernel_), 0);
  EXPECT_STREQ(stencil_tune_user_kernel_unit(kernel_), "");
  EXPECT_EQ(stencil_tune_user_kernel_device(kernel_), 0);
  ASSERT_EQ(stencil_tune_user_kernel_argument_count(kernel_), 4);
  EXPECT_STREQ(stencil_tune_user_kernel_argument_name(kernel_, 1), "x");
  EXPECT_STREQ(stencil_tune_user_kernel_argument_type(kernel_, 1), "f32*");
  EXPECT_STREQ(stencil_tune_user_kernel_argument_type(kernel_, 3), "i32");
  EXPECT_EQ(stencil_tune_user_kernel_argument_cells(kernel_, 1), 500);
  EXPECT_EQ(stencil_tune_user_kernel_argument_cells(kernel_, 3), 0);
  EXPECT_EQ(stencil_tune_user_kernel_argument_is_written(kernel_, 0), 1);
  EXPECT_EQ(stencil_tune_user_kernel_argument_is_written(kernel_, 1), 0);
  for (const int beyond : {-1, 4}) {
    EXPECT_EQ(stencil_tune_user_kernel_argument_name(kernel_, beyond), nullptr);
    EXPECT_EQ(stencil_tune_user_kernel_argument_type(kernel_, beyond), nullptr);
  }
  char* source = nullptr;
  ASSERT_EQ(stencil_tune_user_source(kernel_, &source), STENCIL_TUNE_OK);
  EXPECT_TRUE(std::string(source).starts_with("#define BLOCK 32\n"));
  stencil_tune_free_text(source);
}

TEST_F(CUserKernel, LaunchesWithArgumentsAsTheDriverTakesThem) {
  find(500);
  std::vector<float> y(500, 1), x(500, 4);
  float *py = y.data(), *px = x.data(), a = 0.5F;
  int n = 500;
  void* arguments[] = {&py, &px, &a, &n, &n};
  EXPECT_EQ(stencil_tune_user_kernel_launch(kernel_, nullptr, arguments, 4), STENCIL_TUNE_INVALID_ARGUMENT)
      << "not prepared";
  ASSERT_EQ(stencil_tune_user_kernel_prepare(kernel_), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(stencil_tune_user_kernel_launch(kernel_, nullptr, arguments, 4), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(y, std::vector<float>(500, 3));

  for (const int count : {-1, 3, 5}) {
    EXPECT_EQ(stencil_tune_user_kernel_launch(kernel_, nullptr, arguments, count), STENCIL_TUNE_INVALID_ARGUMENT)
        << count;
  }
  arguments[2] = nullptr;
  EXPECT_EQ(stencil_tune_user_kernel_launch(kernel_, nullptr, arguments, 4), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("nothing for argument 'a'"), std::string::npos) << message();
}

TEST_F(CUserKernel, LaunchesOnThreadsWithoutAContext) {
  find(500);
  driver_.current = -1;
  std::vector<float> y(500, 1), x(500, 4);
  float *py = y.data(), *px = x.data(), a = 0.5F;
  int n = 500;
  void* arguments[] = {&py, &px, &a, &n};
  ASSERT_EQ(stencil_tune_user_kernel_launch_on_device(kernel_, nullptr, arguments, 4), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(y, std::vector<float>(500, 3));
  EXPECT_EQ(driver_.current, -1) << "as it was before";
}

TEST_F(CUserKernel, WhatIsWrongIsSaid) {
  const stencil_tune_user_kernel_size unknown = {"m", 5}, none = {"n", 0}, nameless = {nullptr, 5};
  const auto status = [&](const char* definition, const stencil_tune_user_kernel_size* size) {
    return stencil_tune_user_kernel_find(library_, definition, size, 1, -1, &kernel_);
  };
  EXPECT_EQ(status(file_.c_str(), &unknown), STENCIL_TUNE_UNKNOWN_NAME) << message();
  EXPECT_EQ(status(file_.c_str(), &none), STENCIL_TUNE_INVALID_ARGUMENT) << message();
  EXPECT_EQ(status(file_.c_str(), &nameless), STENCIL_TUNE_INVALID_ARGUMENT) << message();
  EXPECT_EQ(status("nowhere.cu", &unknown), STENCIL_TUNE_FILE_IO) << message();
  EXPECT_EQ(status(nullptr, &unknown), STENCIL_TUNE_INVALID_ARGUMENT) << message();
  EXPECT_EQ(stencil_tune_user_kernel_find(library_, file_.c_str(), nullptr, 0, -2, &kernel_),
            STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("device -2: an ordinal, or -1"), std::string::npos) << message();
  EXPECT_EQ(kernel_, nullptr);
}

}  // namespace
}  // namespace stencil_tune
