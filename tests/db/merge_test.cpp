#include "db/merge.hpp"

#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "tests/db/testing.hpp"

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

class MergeTest : public ::testing::Test {
 protected:
  void fill_other(const std::vector<TrialRecord>& trials, double naive = 0) {
    Database other = Database::open(other_path_);
    TrialStore store(other);
    for (const auto& trial : trials) store.insert(trial, naive);
  }

  TemporaryFolder folder_;
  std::filesystem::path other_path_ = folder_ / "other.db";
  Database database_ = Database::open(folder_ / "t.db");
  TrialStore trials_{database_};
  WinnerStore winners_{database_};
};

TEST_F(MergeTest, AddsTrialsAndChoosesWinnersAnew) {
  trials_.insert(a_trial("a", 100));
  TrialRecord elsewhere = a_trial("c", 50);
  elsewhere.platform.gpu = "NVIDIA A100";
  fill_other({a_trial("b", 200), elsewhere, a_failure("d", Outcome::timeout)}, 77);
  const MergeResult result = merge_database(database_, other_path_);
  EXPECT_EQ(result.added, 3);
  EXPECT_EQ(result.duplicates, 0);
  EXPECT_EQ(result.winners_changed, 2);
  const auto winner = winners_.find(a_problem(), kGpu, Objective::burst);
  ASSERT_TRUE(winner);
  expect_same(winner->trial, a_trial("b", 200));
  EXPECT_EQ(winner->naive_rate, 77);
  EXPECT_EQ(winners_.list().size(), 2U);
}

TEST_F(MergeTest, AgainAddsNothing) {
  trials_.insert(a_trial("a", 100));
  fill_other({a_trial("a", 100), a_trial("b", 200)});
  EXPECT_EQ(merge_database(database_, other_path_).duplicates, 1);
  const MergeResult again = merge_database(database_, other_path_);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.duplicates, 2);
  EXPECT_EQ(again.winners_changed, 0);
  EXPECT_EQ(trials_.find({}).size(), 2U);
}

TEST_F(MergeTest, GivesTheSameWinnerInEitherDirection) {
  TrialRecord lucky = a_trial("a", 480);
  lucky.raced = false;
  trials_.insert(lucky);
  fill_other({a_trial("a", 440), a_trial("b", 450)});
  Database other = Database::open(other_path_);
  merge_database(database_, other_path_);
  merge_database(other, folder_ / "t.db");
  EXPECT_EQ(winners_.find(a_problem(), kGpu, Objective::burst)->trial.code, a_code("b"));
  EXPECT_EQ(WinnerStore(other).find(a_problem(), kGpu, Objective::burst)->trial.code, a_code("b"));
}

TEST_F(MergeTest, DamagedRowsAreLeftOutAndCounted) {
  fill_other({a_trial("a", 100), a_trial("b", 50)});
  run_sql(other_path_, "UPDATE trials SET rate = 9999 WHERE code = '" + a_code("b") + "'");
  const MergeResult result = merge_database(database_, other_path_);
  EXPECT_EQ(result.added, 1);
  EXPECT_EQ(result.damaged, 1);
}

TEST_F(MergeTest, WhatImportWouldRefuseIsLeftOutAndNamed) {
  TrialRecord hostile = a_trial("hostile", 900);
  hostile.platform.gpu = "NVIDIA\x1b[2J";
  TrialRecord reversed = a_trial("reversed", 900);
  reversed.problem.stencil_name = "abc\xe2\x80\xae";
  TrialRecord retired = a_failure("retired", Outcome::timeout);
  retired.code = "direct.bx32.nonsense";
  fill_other({a_trial("a", 100), hostile, reversed, retired, retired});
  const MergeResult result = merge_database(database_, other_path_);
  EXPECT_EQ(result.added, 1);
  ASSERT_EQ(result.refused.size(), 3U);
  EXPECT_TRUE(result.refused.begin()->first.starts_with("direct.bx32.nonsense: ")) << result.refused.begin()->first;
  EXPECT_EQ(result.refused.begin()->second, 2);
  EXPECT_EQ(winners_.list().size(), 1U);
  EXPECT_EQ(winners_.find(a_problem(), kGpu, Objective::burst)->trial.code, a_code("a"));
}

/// What SQLite does for the statements of a connection: their number, and the steps of its virtual machine.
struct Work {
  explicit Work(Database& database) {
    const auto add = [](unsigned, void* work, void* statement, void*) {
      auto& sum = *static_cast<Work*>(work);
      ++sum.statements;
      sum.steps += sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_VM_STEP, 1);
      return 0;
    };
    sqlite3_trace_v2(database.handle(), SQLITE_TRACE_PROFILE, add, this);
  }
  std::int64_t statements = 0;
  std::int64_t steps = 0;
};

TEST_F(MergeTest, TheWorkGrowsWithTheWinnersAlsoWhereTheIndexTakesThemForOneProblem) {
  const auto work_for = [&](int winners) {
    std::vector<WinnerRecord> all;
    for (int i = 0; i < winners; ++i) {
      all.push_back({.trial = a_trial("a", 100), .naive_rate = 7, .trials_seen = 9});
      all.back().trial.problem.steps = 2 + i;  // which the index does not have
    }
    Database database = Database::open(folder_ / (std::to_string(winners) + ".db"));
    Work work(database);
    const MergeResult result = merge_winners(database, all);
    sqlite3_trace_v2(database.handle(), 0, nullptr, nullptr);
    EXPECT_EQ(result.winners_changed, winners);
    EXPECT_EQ(WinnerStore(database).find(all.back().trial.problem, kGpu, Objective::burst)->trials_seen, 9);
    return work;
  };
  const Work half = work_for(100), whole = work_for(200);
  EXPECT_LT(whole.statements, 2.2 * static_cast<double>(half.statements));
  EXPECT_LT(whole.steps, 2.2 * static_cast<double>(half.steps));
}

TEST_F(MergeTest, AWrongResultTakesTheWinnerOutAndTheNextOneComes) {
  trials_.insert(a_trial("a", 100));
  trials_.insert(a_trial("b", 50));
  fill_other({a_failure("a", Outcome::wrong_result)});
  EXPECT_EQ(merge_database(database_, other_path_).winners_changed, 1);
  EXPECT_EQ(winners_.find(a_problem(), kGpu, Objective::burst)->trial.code, a_code("b"));
  const std::array<TrialRecord, 1> wrong{a_failure("b", Outcome::wrong_result)};
  EXPECT_EQ(merge_trials(database_, wrong).winners_changed, 0);
  EXPECT_FALSE(winners_.find(a_problem(), kGpu, Objective::burst)) << "none is left";
}

TEST_F(MergeTest, OtherIsNotChanged) {
  fill_other({a_trial("a", 100)});
  const std::string before = read_file(other_path_);
  merge_database(database_, other_path_);
  EXPECT_EQ(read_file(other_path_), before);
}

TEST_F(MergeTest, RefusesItselfForeignMissingAndDamaged) {
  write_file(folder_ / "x.txt", "hello");
  const auto code_of = [&](const std::filesystem::path& path) {
    return error_of([&] { merge_database(database_, path); }).code();
  };
  std::filesystem::create_symlink(folder_ / "t.db", folder_ / "link.db");
  EXPECT_EQ(code_of(folder_ / "t.db"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder_ / "link.db"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(folder_ / "x.txt"), ErrorCode::database_foreign);
  EXPECT_EQ(code_of(folder_ / "none.db"), ErrorCode::database_io);
  fill_other({a_trial("a", 100)});
  write_file(other_path_, read_file(other_path_).substr(0, 6000));
  EXPECT_EQ(code_of(other_path_), ErrorCode::database_corrupt);
  EXPECT_TRUE(trials_.find({}).empty());
}

}  // namespace
}  // namespace stencil_tune
