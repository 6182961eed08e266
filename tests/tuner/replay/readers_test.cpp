#include "tuner/replay/formats.hpp"

#include "db/trial_store.hpp"
#include "tests/db/testing.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
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

// ---- what was looked for

/// Three configurations, of which the second is the fastest by these values; a fourth failed.
std::string t4_of(const std::string& objective, const std::string& unit, const std::vector<double>& values,
                  const std::string& beside = "") {
  std::string results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    results += "{\"configuration\": {\"block\": " + std::to_string(i) +
               "}, \"invalidity\": \"correct\", \"objectives\": [\"" + objective +
               "\"], \"times\": {\"compilation\": 9}, \"measurements\": [{\"name\": \"" + objective +
               "\", \"value\": " + std::to_string(values[i]) + ", \"unit\": \"" + unit + "\"}" + beside + "]}, ";
  }
  return "{\"schema_version\": \"1.0.0\", \"results\": [" + results +
         "{\"configuration\": {\"block\": 9}, \"invalidity\": \"runtime\", \"objectives\": [\"" + objective +
         "\"], \"times\": {\"compilation\": 9}, \"measurements\": []}]}";
}

std::string cache_of(const std::string& objective, const std::vector<std::string>& entries) {
  std::string text = R"({"tune_params_keys": ["block"], "objective": )" + objective + R"(, "cache": {)";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    text += (i > 0 ? ", \"" : "\"") + std::to_string(i) + "\": {\"block\": " + std::to_string(i) +
            ", \"compile_time\": 9, " + entries[i] + "}";
  }
  return text + "}}";
}

std::vector<double> times_of(const RecordedSpace& space) {
  std::vector<double> times;
  for (const ConfigurationRecord& each : space.evaluations) times.push_back(each.failed() ? -1 : each.time_ms);
  return times;
}

TEST_F(ReadSpacesTest, OfRatesMoreIsBetter) {
  const auto t4 = [&](const std::string& text) { return times_of(read_spaces(write("rates.json", text)).at(0)); };
  const std::vector<double> expected{1000 / 400.0, 1000 / 800.0, 1000 / 500.0, -1};
  EXPECT_EQ(t4(t4_of("GFLOP/s", "", {400, 800, 500})), expected) << "as Kernel Tuner writes it";
  EXPECT_EQ(t4(t4_of("performance", "GFLOP/s", {400, 800, 500})), expected);
  EXPECT_EQ(t4(cache_of("\"GFLOP/s\"", {R"("GFLOP/s": 400)", R"("GFLOP/s": 800)", R"("GFLOP/s": 500)",
                                        R"("GFLOP/s": "RuntimeFailedConfig")"})),
            expected);
}

TEST_F(ReadSpacesTest, TimesBesideRatesAreRead) {
  const auto read = [&](const std::string& text) { return times_of(read_spaces(write("beside.json", text)).at(0)); };
  const std::string beside = R"(, {"name": "time", "value": 0.25, "unit": "ms"})";
  EXPECT_EQ(read(t4_of("GFLOP/s", "", {400, 800}, beside)), (std::vector<double>{0.25, 0.25, -1}));
  EXPECT_EQ(read(cache_of("[\"GFLOP/s\"]", {R"("GFLOP/s": 400, "time": 2)", R"("GFLOP/s": 800, "time": 1)",
                                            R"("GFLOP/s": "CompilationFailedConfig")"})),
            (std::vector<double>{2, 1, -1}));
}

TEST_F(ReadSpacesTest, TimesHaveTheirUnit) {
  const auto read = [&](const char* name, const char* unit) {
    return times_of(read_spaces(write("units.json", t4_of(name, unit, {2, 1}))).at(0)).at(0);
  };
  EXPECT_EQ(read("time", ""), 2);
  EXPECT_EQ(read("time", "seconds"), 2000);
  EXPECT_DOUBLE_EQ(read("duration", "us"), 0.002);
  EXPECT_DOUBLE_EQ(read("kernel_time", "ns"), 2e-6);
}

TEST_F(ReadSpacesTest, WhatIsNeitherATimeNorARateIsRefusedByItsName) {
  const std::string score = R"("score": 0.5)";
  const std::pair<std::string, const char*> texts[] = {
      {t4_of("score", "", {1, 2}), "objective is \"score\""},
      {t4_of("score", "", {-1, -2}), "objective is \"score\""},
      {t4_of("energy", "J", {1, 2}), "objective is \"energy\" in 'J'"},
      {t4_of("time", "furlongs", {1, 2}), "objective is \"time\" in 'furlongs'"},
      {t4_of("GB/s", "ms", {1, 2}), "objective is \"GB/s\" in 'ms'"},
      {cache_of("\"score\"", {score, score}), "objective is \"score\""},
      {cache_of("\"score\"", {score + R"(, "time": 1)", score + R"(, "time": 2)"}), "objective is \"score\""},
      {cache_of("\"GFLOP/s\", \"objective_higher_is_better\": false", {R"("GFLOP/s": 4)", R"("GFLOP/s": 5)"}),
       "of a rate more is"},
      {cache_of("\"time\", \"objective_higher_is_better\": [true]", {R"("time": 4)", R"("time": 5)"}),
       "of a time less is"},
      {cache_of("\"GFLOP/s\"", {R"("GFLOP/s": 4)", R"("block": 1)"}), "configuration 1 has no GFLOP/s"},
  };
  for (const auto& [text, message] : texts) {
    const std::string refusal = refusal_of(write("odd.json", text));
    EXPECT_NE(refusal.find(message), std::string::npos) << text << "\n" << refusal;
    EXPECT_EQ(refusal.rfind("odd: ", 0), 0U) << refusal;
  }
  EXPECT_NE(refusal_of(write("odd.json", t4_of("score", "", {1, 2}))).find("\"time\" in ms"), std::string::npos)
      << "it says what is known";
}

TEST_F(ReadSpacesTest, ResultsOfOneFileHaveOneObjective) {
  std::string text = t4_of("time", "ms", {1, 2});
  text.replace(text.rfind("\"time\""), 6, "\"energy\"");
  EXPECT_NE(refusal_of(write("two.json", text)).find("another objective than the first, \"energy\""),
            std::string::npos);
  text = t4_of("performance", "GFLOP/s", {1, 2});
  text.replace(text.rfind("GFLOP/s"), 7, "TFLOP/s");
  EXPECT_NE(refusal_of(write("units.json", text)).find("one unit of rates is read"), std::string::npos);
}

// ---- files that are made to fill the memory

TEST_F(ReadSpacesTest, AFileThatUnpacksToMoreThanAnySpaceIsRefused) {
  const std::string path = folder / "bomb.csv.gz";
  gzFile file = gzopen(path.c_str(), "wb1");
  const std::string zeros(1 << 20, '\0');
  for (int i = 0; i < 129; ++i) gzwrite(file, zeros.data(), static_cast<unsigned>(zeros.size()));
  gzclose(file);
  EXPECT_LT(std::filesystem::file_size(path), 1U << 20);
  EXPECT_NE(refusal_of(path).find("more than 128 MiB"), std::string::npos) << refusal_of(path);
}

TEST_F(ReadSpacesTest, NestingEndsWhereNoTrialHasMore) {
  const std::string deep(1 << 20, '[');
  for (const std::string& text : {"{\"cache\": " + deep, "{\"results\": " + deep}) {
    EXPECT_NE(refusal_of(write_compressed("deep.json.gz", text)).find("more levels"), std::string::npos);
  }
  EXPECT_NE(refusal_of(write("deep.wisdom",
                             "{\"version\": \"1.0\", \"objective\": \"time\", "
                             "\"tunable_parameters\": [\"x\"], \"key\": \"k\"}\n{\"config\": " +
                                 deep))
                .find("line 2"),
            std::string::npos);
}

TEST_F(ReadSpacesTest, ValuesEndWhereNoSpaceHasMore) {
  std::string many = "{\"results\": [";
  for (int i = 0; i < 1 << 24; ++i) many += "[],";
  EXPECT_NE(refusal_of(write_compressed("many.json.gz", many + "0]}")).find("more levels or values"),
            std::string::npos);
}

TEST_F(ReadSpacesTest, ALineOfCommasIsNoHeader) {
  EXPECT_NE(refusal_of(write("commas.csv", std::string(1 << 20, ','))).find("line 1"), std::string::npos);
}

TEST_F(ReadSpacesTest, ADatabaseMayBeLargerThanATextMay) {
  const std::string path = folder / "large.db";
  Database::open(path, {});
  std::filesystem::resize_file(path, (std::uintmax_t{128} << 20) + 4096);
  EXPECT_EQ(refusal_of(path).find("MiB"), std::string::npos) << refusal_of(path);
}

TEST_F(ReadSpacesTest, APipeIsRefusedAndNotWaitedFor) {
  const std::string path = folder / "pipe.json";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(refusal_of(path).find("it is a pipe"), std::string::npos) << refusal_of(path);
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
