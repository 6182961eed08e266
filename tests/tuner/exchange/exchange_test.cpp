// Trials out of the database into other tuners' formats and back; files that those tuners wrote.
#include "db/winner_store.hpp"
#include "tests/tuner/exchange/sample_trials.hpp"
#include "tuner/exchange/formats.hpp"
#include "tuner/exchange/import_tables.hpp"
#include "tuner/exchange/stencil_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace stencil_tune {
namespace {

const std::string kFixtures = STENCIL_TUNE_SOURCE "/tests/tuner/exchange/";

std::vector<TrialTable> read_file_of(const std::string& name, const char* format) {
  TablesOfText read = read_tables(name, read_text(kFixtures + name));
  EXPECT_EQ(read.format, &exchange_format(format));
  return read.tables;
}

class RoundTrip : public ::testing::TestWithParam<const char*> {
 protected:
  const ExchangeFormat& format = exchange_format(GetParam());
  const std::vector<TrialRecord> trials = sample_trials();
  const TrialTable table = stencil_table(trials);
  TemporaryFolder folder;
  Database database = Database::open(folder / "other.db", {});

  std::vector<TrialTable> there_and_back() const { return read_tables("back", format.write({&table, 1})).tables; }
};

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, ::testing::Values("kernel-tuner", "t4", "kernel-launcher"),
                         [](const auto& format) {
                           std::string name = format.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(RoundTrip, KeepsWhatEachTrialIsOf) {
  const bool only_best = format.name == std::string_view("kernel-launcher");
  const auto tables = there_and_back();
  ASSERT_EQ(tables.size(), 1U);
  const StencilTrials back = stencil_trials(tables[0], std::nullopt);
  EXPECT_TRUE(back.refused.empty()) << back.refused.begin()->first;
  ASSERT_EQ(back.trials.size(), only_best ? 5U : trials.size());
  for (const TrialRecord& trial : back.trials) {
    const auto same_code = [&](const TrialRecord& each) { return each.code == trial.code; };
    const auto original = std::find_if(trials.begin(), trials.end(), same_code);
    ASSERT_NE(original, trials.end()) << trial.code;
    EXPECT_EQ(trial.problem, original->problem);
    EXPECT_EQ(trial.outcome == Outcome::ok, original->outcome == Outcome::ok);
    EXPECT_EQ(trial.timing.median_ms, original->timing.median_ms);
    EXPECT_EQ(trial.rate, original->rate);
    EXPECT_EQ(trial.platform.gpu, original->platform.gpu);
    EXPECT_EQ(trial.platform.architecture, original->platform.architecture);
    EXPECT_EQ(trial.platform.template_signature, original->platform.template_signature);
    EXPECT_EQ(trial.created_at, original->created_at);
  }
}

TEST_P(RoundTrip, ImportedTrialsAreKnownButWinNothing) {
  const auto tables = there_and_back();
  const MergeResult first = import_tables(database, tables, std::nullopt);
  EXPECT_GT(first.added, 0);
  EXPECT_EQ(TrialStore(database).known(a_problem(), kGpu, std::nullopt).size(), static_cast<std::size_t>(first.added));
  EXPECT_TRUE(WinnerStore(database).list().empty()) << "nobody raced them here";
  const MergeResult again = import_tables(database, tables, std::nullopt);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.duplicates, first.added);
}

TEST_P(RoundTrip, TrialsOfOtherTemplatesAreStale) {
  TrialTable older = table;
  for (auto& signature : older.origin["templates"]) signature = kOldSignature;
  const std::string text = format.write({&older, 1});
  import_tables(database, read_tables("older", text).tables, std::nullopt);
  EXPECT_TRUE(TrialStore(database).known(a_problem(), kGpu, std::nullopt).empty());
}

TEST_P(RoundTrip, WithoutTheProblemAWinnerNamesIt) {
  auto tables = there_and_back();
  tables[0].origin = nullptr;
  EXPECT_NE(std::string(error_of([&] { import_tables(database, tables, std::nullopt); }).what()).find("--winner"),
            std::string::npos);
  TrialRecord winner = trials.at(11);
  for (TableTrial& row : tables[0].trials) row.rate = 0;
  const StencilTrials back = stencil_trials(tables[0], winner);
  for (const TrialRecord& trial : back.trials) {
    if (trial.outcome != Outcome::ok) continue;
    EXPECT_NEAR(trial.rate * trial.timing.median_ms, winner.rate * winner.timing.median_ms, 1e-9);
  }
  winner.platform.gpu = "NVIDIA A100";
  if (!tables[0].gpu.empty()) {
    EXPECT_NE(std::string(error_of([&] { stencil_trials(tables[0], winner); }).what()).find("A100"), std::string::npos);
  }
}

// ---- a kernel of the user's own, whose parameters files hold in any order

std::vector<std::string> codes_of(const std::vector<TrialRecord>& trials) {
  std::vector<std::string> codes;
  for (const TrialRecord& trial : trials) codes.push_back(trial.code);
  std::sort(codes.begin(), codes.end());
  return codes;
}

TEST_P(RoundTrip, KeepsTheOrderOfAKernelsParameters) {
  const auto own = sample_kernel_trials();
  const TrialTable kernel = stencil_table(own);
  const auto back = read_tables("back", format.write({&kernel, 1})).tables;
  ASSERT_EQ(back.size(), 1U);
  const StencilTrials read = stencil_trials(back[0], std::nullopt);
  EXPECT_TRUE(read.refused.empty()) << read.refused.begin()->first;
  EXPECT_EQ(codes_of(read.trials), codes_of(own));
  for (const TrialRecord& trial : own) TrialStore(database).insert(trial);
  EXPECT_EQ(import_tables(database, back, std::nullopt).added, 0) << "all of them are here";
}

TEST_P(RoundTrip, AFileOfAnotherTunerTakesTheOrderOfTheWinner) {
  const auto own = sample_kernel_trials();
  TrialTable foreign = stencil_table(own);
  foreign.origin = nullptr;
  std::reverse(foreign.parameters.begin(), foreign.parameters.end());
  for (TableTrial& row : foreign.trials) std::reverse(row.values.begin(), row.values.end());
  const auto read = read_tables("foreign", format.write({&foreign, 1})).tables;
  EXPECT_EQ(codes_of(stencil_trials(read.at(0), own.front()).trials), codes_of(own));
}

TEST(StencilTrialsOfATable, OtherParametersThanTheKernelsAreCounted) {
  const auto own = sample_kernel_trials();
  TrialTable table = stencil_table(own);
  table.parameters[1] = "BLOCK";
  const StencilTrials renamed = stencil_trials(table, std::nullopt);
  EXPECT_TRUE(renamed.trials.empty());
  EXPECT_NE(renamed.refused.begin()->first.find("BLOCKS"), std::string::npos) << renamed.refused.begin()->first;
  table = stencil_table(own);
  table.parameters.emplace_back("GROUP");
  for (TableTrial& row : table.trials) row.values.emplace_back("1");
  EXPECT_TRUE(stencil_trials(table, std::nullopt).trials.empty());
  table = stencil_table(own);
  table.origin["parameters"] = {"TILE_M", "x=1,y"};
  EXPECT_NE(std::string(error_of([&] { stencil_trials(table, std::nullopt); }).what()).find("'parameters'"),
            std::string::npos);
}

TEST(StencilTable, HasTheParametersOfItsFamiliesAlone) {
  const auto trials = sample_trials();
  const TrialTable one = stencil_table(std::span(trials).first(12));
  const TrialTable both = stencil_table(trials);
  EXPECT_EQ(one.parameters.front(), "family");
  EXPECT_LT(one.parameters.size(), both.parameters.size());
  EXPECT_EQ(one.size, (std::vector<std::int64_t>{512, 512, 512}));
  const auto depth = std::find(both.parameters.begin(), both.parameters.end(), "coarsening_depth");
  ASSERT_NE(depth, both.parameters.end());
  const auto place = static_cast<std::size_t>(depth - both.parameters.begin());
  EXPECT_EQ(both.trials.front().values[place], kNoValue);
  EXPECT_EQ(both.trials.back().values[place], "8");
}

TEST(StencilTable, LeavesOutWhatWasNotCheckedSharply) {
  auto trials = sample_trials();
  trials[0].sharpness = 0.5;
  EXPECT_EQ(stencil_table(trials).trials.size(), trials.size() - 1);
}

TEST(StencilTrialsOfATable, RowsThatAreNoCandidatesAreCounted) {
  TrialTable table = stencil_table(sample_trials());
  const auto place = [&](const char* name) {
    const auto at = std::find(table.parameters.begin(), table.parameters.end(), name);
    return static_cast<std::size_t>(at - table.parameters.begin());
  };
  table.trials[0].values[0] = "spiral";
  table.trials[1].values[place("threads_in_x")] = "many";
  table.trials[3].values[place("threads_in_x")] = "99999";
  const StencilTrials back = stencil_trials(table, std::nullopt);
  EXPECT_EQ(back.trials.size(), table.trials.size() - 3);
  EXPECT_EQ(back.refused.size(), 3U);
}

TEST(StencilTrialsOfATable, ADamagedOriginIsRefused) {
  TrialTable table = stencil_table(sample_trials());
  for (const char* member : {"problem", "platform", "templates"}) {
    TrialTable damaged = table;
    damaged.origin.erase(member);
    const Error error = error_of([&] { stencil_trials(damaged, std::nullopt); });
    EXPECT_NE(std::string(error.what()).find(member), std::string::npos) << error.what();
  }
  table.origin["problem"]["nx"] = "wide";
  EXPECT_NE(std::string(error_of([&] { stencil_trials(table, std::nullopt); }).what()).find("nx"), std::string::npos);
}

// What the files say stands in the script that made them: scripts/check-exchange --fixtures.
void expect_fixture(const TrialTable& table) {
  EXPECT_EQ(table.parameters, (std::vector<std::string>{"block_size_x", "tile"}));
  ASSERT_EQ(table.trials.size(), 6U);
  const auto at = [&](const char* block, const char* tile) {
    return *std::find_if(table.trials.begin(), table.trials.end(), [&](const TableTrial& trial) {
      return trial.values == std::vector<std::string>{block, tile};
    });
  };
  EXPECT_EQ(at("32", "1").timing.median_ms, 2.5);
  EXPECT_EQ(at("32", "1").timing.samples, 3);
  EXPECT_EQ(at("32", "1").compile_ms, 400);
  EXPECT_EQ(at("32", "1").benchmark_ms, 21);
  EXPECT_EQ(at("128", "1").outcome, Outcome::compile_failed);
  EXPECT_EQ(at("128", "2").outcome, Outcome::launch_failed);
  EXPECT_EQ(at("64", "2").outcome, Outcome::exceeds_limits);
}

TEST(ForeignFiles, ACacheThatKernelTunerWrote) {
  const auto tables = read_file_of("kernel_tuner_cache.json", "kernel-tuner");
  expect_fixture(tables.at(0));
  EXPECT_EQ(tables[0].gpu, "NVIDIA H200");
  EXPECT_EQ(tables[0].kernel, "vector_add");
  EXPECT_EQ(tables[0].size, std::vector<std::int64_t>{10000000});
}

TEST(ForeignFiles, T4ResultsThatKernelTunerWrote) { expect_fixture(read_file_of("kernel_tuner_t4.json", "t4").at(0)); }

TEST(ForeignFiles, RatesBesideAWinnerSayHowLongATrialTook) {
  const auto trials = sample_trials();
  TrialTable table = stencil_table(trials);
  table.origin = nullptr;
  const TrialRecord& winner = trials.at(11);
  nlohmann::json file = nlohmann::json::parse(t4_results(table));
  const auto with_rate_alone = [&](const char* unit) {
    for (auto& result : file["results"]) {
      result["objectives"] = {unit};
      std::erase_if(result["measurements"].get_ref<nlohmann::json::array_t&>(),
                    [](const nlohmann::json& each) { return each["name"] == "time"; });
      for (auto& each : result["measurements"]) each["name"] = unit, each["unit"] = unit;
    }
    return read_tables("rates", file.dump()).tables.at(0);
  };
  const StencilTrials back = stencil_trials(with_rate_alone("GStencil/s"), winner);
  ASSERT_EQ(back.trials.size(), trials.size());
  for (const TrialRecord& trial : back.trials) {
    if (trial.outcome != Outcome::ok) continue;
    const auto same_code = [&](const TrialRecord& each) { return each.code == trial.code; };
    const auto original = std::find_if(trials.begin(), trials.end(), same_code);
    EXPECT_NEAR(trial.rate, original->rate, 1e-9 * original->rate);
    EXPECT_NEAR(trial.timing.median_ms, winner.rate * winner.timing.median_ms / trial.rate, 1e-9);
  }
  const TrialTable others = with_rate_alone("GFLOP/s");
  EXPECT_NE(std::string(error_of([&] { stencil_trials(others, winner); }).what()).find("rates in GFLOP/s"),
            std::string::npos);
}

TEST(ForeignFiles, WisdomThatKernelLauncherWrote) {
  const auto tables = read_file_of("kernel_launcher.wisdom", "kernel-launcher");
  ASSERT_EQ(tables.size(), 2U) << "one for each problem size";
  EXPECT_EQ(tables[0].kernel, "vector_add");
  EXPECT_EQ(tables[0].gpu, "NVIDIA H200");
  EXPECT_EQ(tables[0].architecture, "sm_90");
  EXPECT_EQ(tables[0].size, std::vector<std::int64_t>{10000000});
  ASSERT_EQ(tables[0].trials.size(), 3U);
  EXPECT_EQ(tables[0].trials[0].timing.median_ms, 1.5) << "the fastest first";
}

TEST(ForeignFiles, DamagedWisdomNamesItsLine) {
  const std::string header = R"({"version": "1.0", "objective": "time", "tunable_parameters": ["x"], "key": "k"})";
  const std::pair<std::string, const char*> texts[] = {
      {R"({"version": "2.0", "objective": "time", "tunable_parameters": ["x"], "key": "k"})", "line 1"},
      {R"({"version": "1.0", "objective": "energy", "tunable_parameters": ["x"], "key": "k"})", "objective"},
      {R"({"version": "1.0", "objective": "time", "tunable_parameters": 3, "key": "k"})", "no array"},
      {header + "\n# a comment\n{\"config\": [1, 2], \"time\": 1}", "line 3"},
      {header + "\n{\"config\": [[1]], \"time\": 1}", "no plain value"},
      {header + "\n{\"config\": [1]}", "no time"},
      {header + "\n[1]", "no JSON object"},
  };
  for (const auto& [text, message] : texts) {
    const Error error = error_of([&text = text] { read_wisdom("bad.wisdom", text); });
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("bad.wisdom, line "), 0U) << error.what();
  }
}

TEST(ForeignFiles, WisdomOfSeveralKernelsIsRefused) {
  TrialTable a = stencil_table(sample_trials());
  TrialTable b = a;
  b.kernel = "other";
  const TrialTable tables[] = {a, b};
  EXPECT_NE(std::string(error_of([&] { wisdom(tables); }).what()).find("other"), std::string::npos);
}

}  // namespace
}  // namespace stencil_tune
