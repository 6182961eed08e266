#include "db/prune.hpp"

#include "db/check.hpp"
#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "tests/db/testing.hpp"

namespace stencil_tune {
namespace {

constexpr const char* kRetired = "direct.bx32.nonsense";

/// Three trials of one problem, 100, 200 and 300 GStencil/s, ids in that order.
class PruneTest : public ::testing::Test {
 protected:
  PruneTest() {
    Database database = Database::open(path_);
    for (const double rate : {100.0, 200.0, 300.0}) {
      TrialStore(database).insert(a_trial("candidate" + std::to_string(static_cast<int>(rate)), rate));
    }
  }

  PruneResult prune() {
    Database database = Database::open(path_);
    return prune_database(database);
  }

  std::vector<std::int64_t> trials(const std::filesystem::path& path) {
    Database database = Database::open(path, {.access = Access::read});
    std::vector<std::int64_t> ids;
    for (const TrialRecord& trial : TrialStore(database).find({})) ids.push_back(trial.id);
    return ids;
  }

  std::optional<WinnerRecord> winner() {
    Database database = Database::open(path_, {.access = Access::read});
    return WinnerStore(database).find(a_problem(), kGpu, Objective::burst);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";
};

TEST_F(PruneTest, WholeDatabaseStaysAsItIs) {
  const std::string bytes = read_file(path_);
  EXPECT_TRUE(prune().nothing());
  EXPECT_EQ(read_file(path_), bytes);
  EXPECT_EQ(files_of(folder_.path()), (std::vector<std::string>{"t.db", "t.db-journal"}));
}

TEST_F(PruneTest, TakesOutWhatDoesNotParseAndTheNextBestWins) {
  retire_code(path_, 3, kRetired);
  const PruneResult result = prune();
  ASSERT_EQ(result.unusable.size(), 1U);
  EXPECT_TRUE(result.unusable.begin()->first.starts_with(kRetired)) << result.unusable.begin()->first;
  EXPECT_EQ(result.unusable.begin()->second, 1);
  EXPECT_EQ(result.winners, 1);
  EXPECT_EQ(trials(path_), (std::vector<std::int64_t>{1, 2}));
  ASSERT_TRUE(winner());
  EXPECT_EQ(winner()->trial.id, 2);
  EXPECT_TRUE(check_database(path_).cannot_run.empty());
}

TEST_F(PruneTest, TakesOutDamagedTrialsAndWinners) {
  run_sql(path_, "UPDATE trials SET rate = 9999 WHERE id = 1; UPDATE winners SET naive_rate = 5");
  EXPECT_EQ(check_database(path_).problems.size(), 2U);
  const PruneResult result = prune();
  EXPECT_EQ(result.damaged, 1);
  EXPECT_EQ(result.winners, 1);
  EXPECT_TRUE(check_database(path_).ok());
  EXPECT_EQ(winner()->trial.id, 3);
  EXPECT_EQ(winner()->naive_rate, 0);
}

TEST_F(PruneTest, TakesOutTheDamagedTrialOfAWinner) {
  run_sql(path_, "UPDATE trials SET rate = 9999 WHERE id = 3");
  prune();
  EXPECT_TRUE(check_database(path_).ok());
  EXPECT_EQ(winner()->trial.id, 2);
}

TEST_F(PruneTest, KeepsACopyOfWhatWasThere) {
  retire_code(path_, 3, kRetired);
  const PruneResult result = prune();
  EXPECT_EQ(trials(result.copy), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(check_database(result.copy).cannot_run.size(), 2U);
  EXPECT_TRUE(result.copy.filename().string().starts_with("t.db.unpruned-"));
}

TEST_F(PruneTest, ProblemWithoutAUsableTrialHasNoWinner) {
  run_sql(path_, "UPDATE trials SET share = 0.1");
  EXPECT_EQ(prune().damaged, 3);
  EXPECT_FALSE(winner());
  EXPECT_TRUE(trials(path_).empty());
}

}  // namespace
}  // namespace stencil_tune
