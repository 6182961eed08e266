#include "tuner/replay/formats.hpp"

#include "db/trial_store.hpp"
#include "tests/db/testing.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace stencil_tune {
namespace {

constexpr const char* kCsv =
    "block,fixed,path,time_ms,compile_ms,benchmark_ms\n"
    "16,1,a,3.5,900,120\n"
    "128,1,a,,850,\n"
    "32,1,b,2.25,800,80.5\r\n";

constexpr const char* kCache = R"({"device_name": "GPU", "tune_params_keys": ["block", "fixed", "path"],
  "tune_params": {"block": [16, 128, 32], "fixed": [1], "path": ["a", "b"]},
  "cache": {"16,1,a": {"block": 16, "fixed": 1, "path": "a", "time": 3.5, "compile_time": 900, "benchmark_time": 120},
            "128,1,a": {"block": 128, "fixed": 1, "path": "a", "time": "RuntimeFailedConfig", "compile_time": 850},
            "32,1,b": {"block": 32, "fixed": 1, "path": "b", "time": 2.25, "compile_time": 800,
                       "benchmark_time": 80.5}}})";

constexpr const char* kT4 = R"({"schema_version": "1.0.0", "results": [
  {"configuration": {"block": 16, "fixed": 1, "path": "a"}, "invalidity": "correct", "objectives": ["time"],
   "times": {"compilation": 900, "runtimes": [60, 60]}, "measurements": [{"name": "time", "value": 3.5, "unit": "ms"}]},
  {"configuration": {"block": 128, "fixed": 1, "path": "a"}, "invalidity": "runtime", "objectives": ["time"],
   "times": {"compilation": 850}, "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}]},
  {"configuration": {"block": 32, "fixed": 1, "path": "b"}, "invalidity": "correct", "objectives": ["time"],
   "times": {"compilation_time": 800, "benchmark_time": 80.5, "runtimes": [1, 1]},
   "measurements": [{"name": "energy", "value": 7}, {"name": "time", "value": 2.25}]}]})";

class ReadSpacesTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::string write_compressed(const std::string& name, const std::string& text) const {
    const std::string path = folder / name;
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }

  static std::string refusal_of(const std::string& path) {
    try {
      read_spaces(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

/// What all three texts above say.
void expect_three(const RecordedSpace& space) {
  ASSERT_EQ(space.table.size(), 3U) << space.name;
  ASSERT_EQ(space.table.parameters().size(), 2U) << "what never changes is no parameter";
  const TableParameter& block = space.table.parameters()[0];
  EXPECT_EQ(block.name, "block");
  EXPECT_EQ(block.values, (std::vector<std::string>{"16", "32", "128"}));
  EXPECT_TRUE(block.ordered);
  EXPECT_FALSE(space.table.parameters()[1].ordered);
  const std::vector<ValueIndex> slow{0, 0}, fails{2, 0}, fast{1, 1};
  const auto at = [&](const std::vector<ValueIndex>& values) {
    return space.evaluations[space.table.find(values).value()];
  };
  EXPECT_EQ(at(slow).time_ms, 3.5);
  EXPECT_EQ(at(slow).cost_ms, 1020);
  EXPECT_TRUE(at(fails).failed());
  EXPECT_EQ(at(fails).cost_ms, 850);
  EXPECT_EQ(at(fast).time_ms, 2.25);
  EXPECT_EQ(at(fast).cost_ms, 880.5);
}

TEST_F(ReadSpacesTest, EveryFormatSaysTheSame) {
  for (const auto& [name, text] : {std::pair{"a.csv", kCsv}, {"a.json", kCache}, {"a.T4", kT4}}) {
    SCOPED_TRACE(name);
    expect_three(read_spaces(write(name, text)).at(0));
    expect_three(read_spaces(write_compressed(std::string(name) + ".gz", text)).at(0));
  }
}

TEST_F(ReadSpacesTest, ASpaceIsNamedAfterItsFile) {
  EXPECT_EQ(read_spaces(write_compressed("convolution-A100.csv.gz", kCsv)).at(0).name, "convolution-A100");
  EXPECT_EQ(read_spaces(write("A100_T4.json", kT4)).at(0).name, "A100_T4");
}

TEST_F(ReadSpacesTest, ACacheThatIsStillWrittenToIsRead) {
  std::string text = kCache;
  text.resize(text.rfind("}}"));  // Kernel Tuner ends the file with a comma, and the braces when the session ends
  expect_three(read_spaces(write("open.json", text + ",\n")).at(0));
}

TEST_F(ReadSpacesTest, AFailureMayStandAsAHugeTime) {
  std::string text = kCache;
  text.replace(text.find("\"RuntimeFailedConfig\""), 21, "1e20");
  expect_three(read_spaces(write("huge.json", text)).at(0));
}

TEST_F(ReadSpacesTest, DamagedFilesEndInOneClearMessage) {
  const auto without = [](std::string text, const std::string& part, const std::string& replacement) {
    text.replace(text.find(part), part.size(), replacement);
    return text;
  };
  const std::pair<std::string, const char*> texts[] = {
      {"", "header"},
      {"block,time_ms\n1,2\n", "line 1"},
      {without(kCsv, "128,1,a,,850,", "128,1,a"), "line 3: 3 values"},
      {without(kCsv, "2.25", "fast"), "line 4: time_ms is 'fast'"},
      {without(kCsv, "800", "-1"), "compile_ms is '-1'"},
      {without(kCsv, "3.5", "nan"), "time_ms is 'nan'"},
      {without(kCsv, "32,1,b", "16,1,a"), "same configuration"},
      {without(kCsv, "2.25", ""), "two configurations that work"},
      {"block,time_ms,compile_ms,benchmark_ms\n1,2,0,0\n2,3,,\n", "no compile and run times"},
      {"fixed,time_ms,compile_ms,benchmark_ms\n1,2,1,1\n1,3,1,1\n", "no parameter has two values"},
      {"{\"cache\": ", "damaged"},
      {"{\"other\": 1}", "neither"},
      {without(kCache, "\"tune_params_keys\"", "\"keys\""), "tune_params_keys"},
      {"{\"tune_params_keys\": [\"a\"], \"cache\": [1]}", "\"cache\" is no object"},
      {without(kCache, "\"block\": 32,", ""), "no plain value of parameter \"block\""},
      {without(kCache, "\"block\": 32,", "\"block\": [[32]],"), "no plain value of parameter \"block\""},
      {without(kCache, "\"time\": 2.25,", ""), "has no time"},
      {"{\"results\": {}}", "\"results\" is no array"},
      {"{\"results\": [1]}", "result 1 has no configuration"},
      {without(kT4, "\"fixed\": 1, \"path\": \"b\"", "\"path\": \"b\""), "other parameters"},
  };
  for (const auto& [text, message] : texts) {
    const std::string refusal = refusal_of(write("damaged", text));
    EXPECT_NE(refusal.find(message), std::string::npos) << text << "\n" << refusal;
    EXPECT_NE(refusal.find("damaged"), std::string::npos) << "the file is named: " << refusal;
  }
}

TEST_F(ReadSpacesTest, CutCompressedFilesAreRefused) {
  const std::string path = write_compressed("cut.csv.gz", kCsv);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 12);
  EXPECT_NE(refusal_of(path).find("cut.csv.gz: "), std::string::npos) << refusal_of(path);
  EXPECT_NE(refusal_of(folder / "none.csv").find("No such file"), std::string::npos);
  EXPECT_NE(refusal_of(folder.path()).find("folder"), std::string::npos);
}

TEST_F(ReadSpacesTest, ADatabaseHasASpaceForEachProblemWithEnoughTrials) {
  const std::string path = folder / "winners.db";
  {
    Database database = Database::open(path, {});
    TrialStore store(database);
    TrialRecord trial;
    for (int i = 0; i < 24; ++i) {
      const std::string code = "direct.bx" + std::to_string(32 << i % 6) + ".by" + std::to_string(1 << i / 6);
      trial = i == 5 ? a_failure(code, Outcome::timeout) : a_trial(code, 10.0 + i);
      store.insert(trial);
    }
    trial.problem.steps += 1;  // too few of these
    store.insert(trial);
  }
  const auto spaces = read_spaces(path);
  ASSERT_EQ(spaces.size(), 1U);
  EXPECT_EQ(spaces[0].table.size(), 24U);
  EXPECT_EQ(spaces[0].table.parameters().size(), 2U);
  EXPECT_EQ(std::count_if(spaces[0].evaluations.begin(), spaces[0].evaluations.end(),
                          [](const ConfigurationRecord& each) { return each.failed(); }),
            1);
}

TEST_F(ReadSpacesTest, ADatabaseWithoutEnoughTrialsSaysSo) {
  const std::string path = folder / "empty.db";
  Database::open(path, {});
  EXPECT_NE(refusal_of(path).find("no problem has 20"), std::string::npos) << refusal_of(path);
}

}  // namespace
}  // namespace stencil_tune
