// Every stencil of the corpus as a file that owes this project nothing.
#include "tests/runtime/export/corpus_export.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <tuple>

namespace stencil_tune {
namespace {

class CorpusExport : public testing::TestWithParam<std::string> {};

TEST_P(CorpusExport, IsSelfContainedInEveryFamily) {
  for (const int stage : corpus_parts(GetParam())) {
    int exported = 0;
    for (const Family* family : families()) {
      const auto source = corpus_export(GetParam(), stage, *family, true);
      if (!source) continue;
      ++exported;
      EXPECT_EQ(source->find("#include \""), std::string::npos);
      EXPECT_NE(source->find("extern \"C\" cudaError_t " + GetParam()), std::string::npos);
      EXPECT_NE(source->find("int main("), std::string::npos);
    }
    EXPECT_GE(exported, stage == kWholeStep ? 1 : 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, CorpusExport, testing::ValuesIn(corpus_names()),
                         [](const auto& test) { return test.param; });

// All of them are compiled by the target check-exports.
TEST(CorpusExportSample, CompilesWithNvccAloneWithoutWarnings) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc here";
  std::string sources;
  for (const auto& [name, stage, family] : {std::tuple{"life", 0, "direct"},
                                            {"gray_scott2d", 0, "tiled"},
                                            {"fdtd2d", 0, "direct"},
                                            {"fdtd2d", 1, "streaming"},
                                            {"acoustic3d_o4", 0, "streaming"},
                                            {"flux_divergence3d", 0, "direct"},
                                            {"jacobi1d", 0, "tiled"}}) {
    const bool with_main =
        std::string_view(name) == "jacobi1d";  // one of them has a self-check: rank 1's is the barest
    const auto source = corpus_export(name, stage, family_named(family), with_main);
    ASSERT_TRUE(source) << name;
    sources += *source;
  }
  EXPECT_EQ(nvcc_complaints(sources), "");
}

TEST(CorpusExportSample, OfAWholeStepCompilesWithItsSelfCheck) {
  if (!has_nvcc()) GTEST_SKIP() << "no nvcc here";
  const auto source = corpus_export("fdtd2d", kWholeStep, family_named("system"), true);
  ASSERT_TRUE(source);
  EXPECT_EQ(nvcc_complaints(*source), "");
}

}  // namespace
}  // namespace stencil_tune
