// docs/stencils.md shows what the definitions look like: it has to be what they are.
//
// STENCIL_TUNE_UPDATE_DOCS=1 writes the text instead of comparing it, as the target write-docs does.
#include "generator/stencil/describe.hpp"
#include "tests/generator/corpus.hpp"
#include "tests/generator/definition/corpus_reference.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

namespace stencil_tune {
namespace {

constexpr const char* kDocs = "docs/stencils.md";
constexpr const char* kBegin = "<!-- pictures of the corpus, written by the test CorpusDocs -->\n";
constexpr const char* kEnd = "<!-- end of the pictures -->\n";

std::string read(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string label(const std::string& name, int stage, std::size_t stages) {
  return stages > 1 ? fmt::format("{}, stage {}", name, stage) : name;
}

bool is_centre_alone(const StageFacts& facts, int field) {
  return std::all_of(facts.taps.begin(), facts.taps.end(), [&](const Tap& tap) {
    return tap.field != field || tap.offset == Offset{0, 0, 0};
  });
}

/// A picture of each field that a stage reads beyond its centre; fields that look alike are drawn once.
std::string pictures() {
  std::string text = "```text\n";
  for (const auto& [name, stages] : corpus_reference()) {
    const Stencil stencil = corpus(name);
    for (int stage = 0; stage < static_cast<int>(stages.size()); ++stage) {
      const StageFacts facts = analyse(stencil, stage);
      std::map<std::string, std::string> fields_of;
      for (const int field : facts.inputs) {
        if (is_centre_alone(facts, field)) continue;
        const std::string drawn = picture(facts, stencil.rank, field);
        std::string& fields = fields_of[drawn];
        fields += (fields.empty() ? "" : ", ") + stencil.fields[static_cast<std::size_t>(field)];
      }
      for (const auto& [drawn, fields] : fields_of) {
        text += fmt::format("{}: {}\n{}\n", label(name, stage, stages.size()), fields, drawn);
      }
    }
  }
  text.pop_back();
  return text + "```\n";
}

TEST(CorpusDocs, ShowWhatTheDefinitionsLookLike) {
  std::string docs = read(kDocs);
  const std::size_t begin = docs.find(kBegin);
  const std::size_t end = docs.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && begin < end && end != std::string::npos) << "the marks are gone";
  const std::size_t first = begin + std::string(kBegin).size();
  const std::string expected = pictures();
  if (std::getenv("STENCIL_TUNE_UPDATE_DOCS") != nullptr) {
    std::ofstream(kDocs) << docs.replace(first, end - first, expected);
    return;
  }
  EXPECT_EQ(docs.substr(first, end - first), expected) << "the target write-docs writes it";
}

TEST(CorpusDocs, NameEveryDefinition) {
  const std::string docs = read(kDocs);
  const std::string by_hand = docs.substr(0, docs.find("<!-- figures: corpus -->"));
  for (const auto& [name, stages] : corpus_reference()) {
    const std::size_t suffix = name.rfind("_o");  // `acoustic3d_o2`, `_o4`, `_o8`
    const bool named =
        by_hand.find("`" + name + "`") != std::string::npos ||
        (suffix != std::string::npos && by_hand.find("`" + name.substr(suffix) + "`") != std::string::npos);
    EXPECT_TRUE(named) << name;
  }
}

}  // namespace
}  // namespace stencil_tune
