// Winners of a user's own database: what is said of them, and of those that cannot run any more.
#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "stencil_tune/stencil.hpp"
#include "tests/db/testing.hpp"
#include "tests/tuner/commands/program_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace stencil_tune {
namespace {

/// A database with winners of the caller's own.
class UserKernelWinnersTest : public CommandLineTest {
 protected:
  void insert(const std::function<void(TrialRecord&)>& change) {
    TrialRecord trial = a_trial("direct.bx32.by8", 400);
    trial.problem.stencil_key = stencil_key(find_builtin("star3d1r"));
    trial.problem.extents.n = {512, 512, 512};
    trial.problem.pitch = 512;
    change(trial);
    Database opened = Database::open(database);
    TrialStore(opened).insert(trial);
    WinnerStore(opened).settle(trial.problem, trial.platform.gpu, Objective::burst);
  }
};

TEST_F(UserKernelWinnersTest, RowsThatDifferInPitchOrExpressionLookDifferent) {
  insert([](TrialRecord&) {});
  insert([](TrialRecord& trial) { trial.problem.pitch = 576; });
  insert([](TrialRecord& trial) { trial.problem.stencil_key = std::string(32, '7'); });
  const std::string listed = run("list").out;
  EXPECT_NE(listed.find("512x512x512    576"), std::string::npos) << listed;
  EXPECT_NE(listed.find("(key 77777777)"), std::string::npos) << listed;
  const std::string shown = run("show --dims 512 --pitch 576").out;
  EXPECT_NE(shown.find("512x512x512, pitch 576, boundary hold"), std::string::npos) << shown;
  EXPECT_NE(shown.find("stencil key: d4a0d546b73993f9e507a984a58e00fb\n"), std::string::npos) << shown;
}

TEST_F(UserKernelWinnersTest, APredictionIsMarkedAndNamesTheMeasuredOneThatShips) {
  insert([](TrialRecord& trial) {
    trial.predicted = true;
    trial.platform.gpu = "NVIDIA H200";
  });
  const std::string listed = run("list").out;
  EXPECT_NE(listed.find("~400.0"), std::string::npos) << listed;
  EXPECT_NE(listed.find("(a measured one ships: s"), std::string::npos) << listed;
  const auto json = nlohmann::json::parse(run("list --json").out);
  EXPECT_EQ(json[0]["origin"], "yours");
  const std::string shown = run("show " + std::to_string(json[0]["id"].get<int>())).out;
  EXPECT_NE(shown.find("origin: yours"), std::string::npos) << shown;
  EXPECT_NE(shown.find("a measured winner of this problem on this GPU ships"), std::string::npos) << shown;
  EXPECT_NE(shown.find("copy ceiling of ~"), std::string::npos) << shown;
  EXPECT_NE(run("show --dims 512").out.find("~400.0  direct.bx32.by8"), std::string::npos) << "a trial of a prediction";
}

/// A database with winners that cannot run: of star3d1r on 512^3, which a winner ships for, on 128^3. One of 64^3 can.
class CannotRunTest : public CommandLineTest {
 protected:
  CannotRunTest() {
    insert(64, "direct.bx32.by8");
    retired_ = insert(512, "direct.bx64.by4");
    insert(128, "direct.bx32.by1024");
    retire_code(database, retired_, "direct.bx32.nonsense");
  }

  std::int64_t insert(std::int64_t n, const std::string& code) {
    TrialRecord trial = a_trial(code, 400);
    trial.problem.stencil_key = stencil_key(find_builtin("star3d1r"));
    trial.problem.extents.n = {n, n, n};
    trial.problem.pitch = n;
    Database opened = Database::open(database);
    return TrialStore(opened).insert(trial).id;
  }

  /// Succeeds, and says on standard error that the retired candidate was left out.
  std::string expect_other(const std::string& arguments) const {
    const ProgramRun result = run(arguments);
    EXPECT_EQ(result.status, 0) << arguments << "\n" << result.err;
    EXPECT_NE(result.err.find("cannot run: direct.bx32.nonsense: "), std::string::npos) << result.err;
    return result.out;
  }

  std::int64_t retired_ = 0;
};

TEST_F(CannotRunTest, ListLeavesThemOutAndNamesThem) {
  const auto json = nlohmann::json::parse(expect_other("list --json"));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["dims"], "64x64x64");
  EXPECT_NE(run("list").err.find("cannot run: direct.bx32.by1024: "), std::string::npos);
}

TEST_F(CannotRunTest, ShowAndExportTakeTheNextWinnerAndSaySo) {
  EXPECT_NE(expect_other("show --dims 512").find("origin: shipped"), std::string::npos);
  EXPECT_NE(expect_other("export --dims 512").find("__global__"), std::string::npos);
  const ProgramRun nearest = run("export --dims 128");
  EXPECT_NE(nearest.out.find("never measured for this problem: tuned for "), std::string::npos) << nearest.out;
  EXPECT_NE(nearest.err.find("cannot run: direct.bx32.by1024: "), std::string::npos) << nearest.err;
}

TEST_F(CannotRunTest, ShowOfOneSaysWhy) {
  const ProgramRun shown = run("show " + std::to_string(retired_));
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("cannot run any more, tune again: direct.bx32.nonsense: "), std::string::npos) << shown.out;
}

TEST_F(CannotRunTest, DbCheckNamesThemAndCallsNothingDamaged) {
  const ProgramRun checked = run("db check");
  EXPECT_EQ(checked.status, 0) << checked.out;
  EXPECT_NE(checked.out.find("cannot run: direct.bx32.nonsense: "), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("cannot run: direct.bx32.by1024: "), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("all is well"), std::string::npos) << checked.out;
}

}  // namespace
}  // namespace stencil_tune
