#include "tuner/verify/check_kernels.hpp"

#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace stencil_tune {
namespace {

bool contains(const CompiledKernel& kernel, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return std::search(kernel.cubin.begin(), kernel.cubin.end(), bytes.begin(), bytes.end()) != kernel.cubin.end();
}

class CheckSources : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      compiler_ = open_check_compiler();
      compiler_->version();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Compiler> compiler_;
};

TEST_P(CheckSources, VerificationCompiles) {
  const CompiledKernel kernel = compiler_->compile(verification_source(5), GetParam());
  for (const auto* entry : {"fill", "poison", "reference", "compare", "untouched", "unchanged"}) {
    EXPECT_TRUE(contains(kernel, std::string(".text.") + entry)) << entry;
  }
  EXPECT_LT(kernel.resources.stack_bytes, 1024) << "a thread does not copy its arguments, of 5 KiB";
}

TEST_P(CheckSources, CopiesCompile) {
  const CompiledKernel kernel = compiler_->compile(copy_source(), GetParam());
  EXPECT_TRUE(contains(kernel, ".text.copy_4_streaming"));
  EXPECT_EQ(kernel.resources.spill_bytes, 0);
}

TEST_P(CheckSources, CellsOfUsersKernelsCompile) {
  const CompiledKernel kernel = compiler_->compile(cells_source(), GetParam());
  for (const auto* entry : {"fill_cells", "compare_cells"}) {
    EXPECT_TRUE(contains(kernel, std::string(".text.") + entry)) << entry;
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, CheckSources, testing::Values("sm_80", "sm_90"),
                         [](const auto& arch) { return arch.param; });

}  // namespace
}  // namespace stencil_tune
