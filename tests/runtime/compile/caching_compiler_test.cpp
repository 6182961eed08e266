#include "runtime/compile/caching_compiler.hpp"

#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <fstream>

namespace stencil_tune {
namespace {

const KernelSource kSource{.text = "text", .entry = "kernel"};

class CachingCompilerTest : public testing::Test {
 protected:
  CachingCompiler make(std::string version = "13.0") {
    return {BinaryCache(folder_.path() / "cache"),
            [this] {
              ++opened_;
              return std::make_unique<FakeCompiler>(compiled_);
            },
            std::move(version)};
  }

  TemporaryFolder folder_;
  std::atomic<int> compiled_{0};
  int opened_ = 0;
};

TEST_F(CachingCompilerTest, CompilesOnceAndServesTheNextRunWithoutOpeningTheCompiler) {
  EXPECT_FALSE(make().find_compiled(kSource, "sm_90"));
  const CompiledKernel first = make().compile(kSource, "sm_90");
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(opened_, 1);
  EXPECT_EQ(make().compile(kSource, "sm_90").cubin, first.cubin);
  EXPECT_TRUE(make().find_compiled(kSource, "sm_90"));
  EXPECT_EQ(compiled_, 1);
  EXPECT_EQ(opened_, 1);
}

TEST_F(CachingCompilerTest, AsksTheCompilerForItsVersionWhereItIsNotKnown) {
  make("").compile(kSource, "sm_90");
  make("13.0").compile(kSource, "sm_90");
  EXPECT_EQ(compiled_, 1) << "both keys name version 13.0";
}

TEST_F(CachingCompilerTest, OtherVersionOrArchitectureIsAnotherBinary) {
  make().compile(kSource, "sm_90");
  make().compile(kSource, "sm_80");
  make("12.6").compile(kSource, "sm_90");
  EXPECT_EQ(compiled_, 3);
}

TEST_F(CachingCompilerTest, ADamagedEntryIsCompiledAgain) {
  make().compile(kSource, "sm_90");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "cache")) {
    std::ofstream(entry.path(), std::ios::binary) << "garbage";
  }
  make().compile(kSource, "sm_90");
  EXPECT_EQ(compiled_, 2);
  make().compile(kSource, "sm_90");
  EXPECT_EQ(compiled_, 2) << "and stored anew";
}

}  // namespace
}  // namespace stencil_tune
