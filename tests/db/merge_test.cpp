#include "db/merge.hpp"

#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "tests/db/testing.hpp"

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
  EXPECT_EQ(winner->naive_gstencils, 77);
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
  run_sql(other_path_, "UPDATE trials SET gstencils = 9999 WHERE code = '" + a_code("b") + "'");
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
