// `stencil-tune db export --format` and `db import --format` as a user runs them.
#include "tests/tuner/commands/program_run.hpp"
#include "tests/tuner/exchange/sample_trials.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace stencil_tune {
namespace {

class DbTrialsTest : public CommandLineTest {
 protected:
  DbTrialsTest() { store_sample_trials(database); }

  std::string file = (folder / "trials.json").string();
};

TEST_F(DbTrialsTest, WhatOneDatabaseExportsAnotherImports) {
  const std::string other = " --db " + (folder / "other.db").string();
  for (const char* format : {"kernel-tuner", "t4"}) {
    const std::string named = file + " --format " + format;
    const ProgramRun out = run("db export " + named);
    EXPECT_EQ(out.status, 0) << out.err;
    EXPECT_NE(out.out.find("13 trials of star3d1r written to"), std::string::npos) << out.out;
    const ProgramRun in = run("db import " + named + other);
    EXPECT_EQ(in.status, 0) << in.err;
    const bool is_first = std::string_view(format) == "kernel-tuner";
    EXPECT_EQ(in.out.find(is_first ? "13 trials added, 0 here" : "0 trials added, 13 here"), 0U) << in.out;
    EXPECT_EQ(run("db import " + named).out.find("0 trials added, 13 here"), 0U) << "where they come from";
  }
}

TEST_F(DbTrialsTest, ReplayReadsWhatWasExported) {
  ASSERT_EQ(run("db export " + file + " --format kernel-tuner").status, 0);
  const ProgramRun replayed = run("replay " + file + " --strategy random --repeats 2");
  EXPECT_EQ(replayed.status, 0) << replayed.err;
  EXPECT_NE(replayed.out.find("\ntrials "), std::string::npos) << replayed.out;
}

TEST_F(DbTrialsTest, StandardOutputTakesTheFile) {
  const ProgramRun result = run("db export --format kernel-launcher");
  EXPECT_EQ(result.out.find("{\"version\":\"1.0\""), 0U) << result.out;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 6) << "a header and the five fastest";
}

TEST_F(DbTrialsTest, WhatCannotBeDoneIsSaid) {
  expect_error("db export --format kernel_tuner", 2, "'kernel-tuner'");
  expect_error("db export --winner 3", 2, "--format");
  expect_error("db export --format t4 --winner 99", 1, "no measured winner '99'");
  {
    Database opened = Database::open(database, {});
    TrialRecord guess = sample_trials().front();
    guess.predicted = true;
    guess.problem.extents.n[2] *= 2;
    TrialStore(opened).insert(guess);
  }
  const auto listed = nlohmann::json::parse(run("list --json").out);
  const auto guess =
      std::find_if(listed.begin(), listed.end(), [](const auto& each) { return each["predicted"] == true; });
  ASSERT_NE(guess, listed.end());
  const std::string id = (*guess)["id"].dump();
  expect_error("db export --format t4 --winner " + id, 1, "winner " + id + " is predicted");
  expect_error("db export --format t4 --db " + (folder / "none.db").string(), 1, "none.db");
  ASSERT_EQ(run("db export " + file + " --format t4").status, 0);
  expect_error("db import " + file + " --format kernel-tuner", 2, "--format t4");
  expect_error("db import " + database + " --format t4", 2, "is not T4 results");
  expect_error("db import " + (folder / "none.json").string() + " --format t4", 1, "No such file");
}

}  // namespace
}  // namespace stencil_tune
