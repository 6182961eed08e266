// docs/stencils.md shows what was measured and what the definitions look like: it has to be what they are.
//
// STENCIL_TUNE_UPDATE_DOCS=1 writes the text instead of comparing it.
#include "generator/stencil/describe.hpp"
#include "tests/generator/corpus.hpp"
#include "tests/generator/definition/corpus_reference.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

namespace stencil_tune {
namespace {

constexpr const char* kDocs = "docs/stencils.md";
constexpr const char* kRecord = "db/pretuned/h200.json";
constexpr const char* kBegin = "<!-- measured corpus, written by the test CorpusDocs -->\n";
constexpr const char* kEnd = "<!-- end of the measured corpus -->\n";

std::string read(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Measured {
  std::string grid, code;
  double rate = 0, share = 0, naive = 0;
};

/// The winners that ship: one sweep in f32, by definition and stage, and the day of the last race.
struct Record {
  std::string day;
  std::map<std::pair<std::string, int>, Measured> stages;
};

/// The grid that the table shows for a rank; others ship too.
std::string grid_of(const nlohmann::json& trial) {
  const std::string nx = std::to_string(trial.at("nx").get<int>());
  if (nx == "512" && trial.at("nz") == 512) return "512x512x512";
  return nx == "8192" && trial.at("ny") == 8192 ? "8192x8192" : "";
}

Record read_record() {
  Record record;
  const nlohmann::json shipped = nlohmann::json::parse(read(kRecord));
  for (const nlohmann::json& winner : shipped.at("winners")) {
    const nlohmann::json& trial = winner.at("trial");
    const std::string grid = grid_of(trial);
    if (grid.empty() || trial.at("type") != "f32" || trial.at("steps") != 1 || !trial.at("raced")) continue;
    record.day = std::max(record.day, trial.at("created_at").get<std::string>().substr(0, 10));
    record.stages[{trial.at("stencil_name"), trial.at("stage")}] = {"f32, " + grid, trial.at("code"), trial.at("rate"),
                                                                    100 * trial.at("share").get<double>(),
                                                                    winner.at("naive_rate")};
  }
  return record;
}

std::string label(const std::string& name, int stage, std::size_t stages) {
  return stages > 1 ? fmt::format("{}, stage {}", name, stage) : name;
}

std::string rates(const Record& record) {
  std::string text = fmt::format(
      "One sweep, on one NVIDIA H200: the winners that ship, raced on {} "
      "([how](../bench/results/h200/README.md)).\n"
      "The bound is the traffic of the stencil itself, each field it reads read once, each it writes written once, at "
      "the\n"
      "speed of a plain copy.\n\n"
      "| definition | type, grid | GStencil/s | of its bound | naive | candidate |\n"
      "| --- | --- | --- | --- | --- | --- |\n",
      record.day);
  std::string unmeasured;
  for (const auto& [name, stages] : corpus_reference()) {
    for (int stage = 0; stage < static_cast<int>(stages.size()); ++stage) {
      const auto found = record.stages.find({name, stage});
      if (found == record.stages.end()) {
        unmeasured += fmt::format("{}`{}`", unmeasured.empty() ? "" : ", ", label(name, stage, stages.size()));
        continue;
      }
      const Measured& m = found->second;
      text += fmt::format("| `{}` | {} | **{:.1f}** | {:.1f} % | {:.1f} | `{}` |\n", label(name, stage, stages.size()),
                          m.grid, m.rate, m.share, m.naive, m.code);
    }
  }
  return unmeasured.empty() ? text : text + "\nNo winner ships of: " + unmeasured + ".\n";
}

bool is_centre_alone(const StageFacts& facts, int field) {
  return std::all_of(facts.taps.begin(), facts.taps.end(), [&](const Tap& tap) {
    return tap.field != field || tap.offset == Offset{0, 0, 0};
  });
}

/// A picture of each field that a stage reads beyond its centre; fields that look alike are drawn once.
std::string pictures() {
  std::string text = "\n```text\n";
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

TEST(CorpusDocs, ShowWhatWasMeasuredAndWhatTheDefinitionsLookLike) {
  std::string docs = read(kDocs);
  const std::size_t begin = docs.find(kBegin);
  const std::size_t end = docs.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && begin < end && end != std::string::npos) << "the marks are gone";
  const std::size_t first = begin + std::string(kBegin).size();
  const std::string expected = rates(read_record()) + pictures();
  if (std::getenv("STENCIL_TUNE_UPDATE_DOCS") != nullptr) {
    std::ofstream(kDocs) << docs.replace(first, end - first, expected);
    return;
  }
  EXPECT_EQ(docs.substr(first, end - first), expected) << "STENCIL_TUNE_UPDATE_DOCS=1 writes it";
}

TEST(CorpusDocs, NameEveryDefinition) {
  const std::string docs = read(kDocs);
  const std::string by_hand = docs.substr(0, docs.find(kBegin));
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
