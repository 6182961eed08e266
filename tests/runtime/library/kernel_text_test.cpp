// A kernel as text: what NVRTC is given, and a file of its own.
#include "generator/trim/trim.hpp"
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/fake_driver.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace stencil_tune {
namespace {

class KernelTextTest : public testing::Test {
 protected:
  KernelTextTest() : library_(std::make_unique<Library::Impl>(parts())) {}

  LibraryParts parts() {
    LibraryParts parts;
    parts.driver = [this]() -> Driver& { return driver_; };
    parts.compiler = [this] { return std::make_shared<FakeCompiler>(compiled_); };
    parts.winners = [](const Problem&, const std::string&) { return std::vector<WinnerRecord>(); };
    return parts;
  }

  Kernel heat(const char* expression = "u_next = u + alpha * laplacian(u); alpha = 0.1") {
    return library_.lookup({.stencil = parse_stencil(expression), .extents = {.rank = 3, .n = {64, 64, 64}}});
  }

  FakeDriver driver_;
  std::atomic<int> compiled_{0};
  Library library_;
};

TEST_F(KernelTextTest, TheSourceIsWholeAndNothingIsCompiledForIt) {
  const std::string source = heat().source();
  EXPECT_NE(source.find("__global__"), std::string::npos);
  EXPECT_EQ(source.find("#include \"stencil_tune/"), std::string::npos);
  EXPECT_EQ(compiled_, 0);
}

TEST_F(KernelTextTest, AFileHasTheLauncherAndWhereItIsFrom) {
  const ExportedFiles files = heat().export_cuda({.name = "conduct"});
  EXPECT_NE(files.source.find("cudaError_t conduct("), std::string::npos);
  EXPECT_NE(files.source.find("(match: default)"), std::string::npos);
  EXPECT_NE(files.source.find("-arch=sm_90"), std::string::npos);
  EXPECT_TRUE(files.header.empty());
  EXPECT_EQ(files.source.find("int main"), std::string::npos);
}

TEST_F(KernelTextTest, ItsLauncherIsNamedAfterTheStencilWhereNoNameIsGiven) {
  const ExportedFiles files = heat().export_cuda({.with_main = true, .split_header = true});
  EXPECT_NE(files.source.find("#include \"expression.h\""), std::string::npos);
  EXPECT_NE(files.header.find("cudaError_t expression("), std::string::npos);
  EXPECT_NE(files.source.find("int main"), std::string::npos);
}

TEST_F(KernelTextTest, BadNamesAndStagesAreRefused) {
  EXPECT_ERROR(heat().export_cuda({.name = "heat(); evil"}), ErrorCode::invalid_argument, "cannot name");
  EXPECT_ERROR(heat().source(1), ErrorCode::invalid_argument, "stage 1");
  EXPECT_ERROR(heat().export_cuda({}, -2), ErrorCode::invalid_argument, "stage -2");
}

TEST_F(KernelTextTest, AnExpressionHasItsRankAndFields) {
  const Stencil wave = parse_stencil("u_next = 2*u - u_prev + c2 * laplacian(u); c2 = 0.2", 2);
  EXPECT_EQ(wave.rank, 2);
  EXPECT_EQ(wave.fields, (std::vector<std::string>{"u", "u_prev", "u_next"}));
  EXPECT_EQ(wave.coefficients.at(0).value, 0.2);
  EXPECT_ERROR(parse_stencil("u[x+1]", 4), ErrorCode::invalid_argument, "rank");
  EXPECT_ERROR(parse_stencil("u_next = u +"), ErrorCode::malformed_definition, "u_next = u +");
}

}  // namespace
}  // namespace stencil_tune
