// Every stage and every whole step of the corpus in every family, with its self-check, through nvcc: the target
// check-exports.
#include "tests/runtime/export/corpus_export.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

class AllExports : public testing::TestWithParam<std::string> {};

TEST_P(AllExports, CompileWithNvccAloneWithoutWarnings) {
  ASSERT_TRUE(has_nvcc()) << "this check is about nvcc, which is not on the PATH";
  for (const int stage : corpus_parts(GetParam())) {
    for (const Family* family : families()) {
      const auto source = corpus_export(GetParam(), stage, *family, true);
      if (!source) continue;
      EXPECT_EQ(nvcc_complaints(*source), "") << "stage " << stage << ", " << family->name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, AllExports, testing::ValuesIn(corpus_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace stencil_tune
