#include "db/winner_store.hpp"

#include "db/check.hpp"
#include "db/trial_store.hpp"
#include "tests/db/testing.hpp"

namespace stencil_tune {
namespace {

class WinnerStoreTest : public ::testing::Test {
 protected:
  std::string winner_code() const {
    const auto winner = winners_.find(a_problem(), kGpu, Objective::burst);
    return winner ? winner->trial.code : "none";
  }

  TemporaryFolder folder_;
  Database database_ = Database::open(folder_ / "t.db");
  TrialStore trials_{database_};
  WinnerStore winners_{database_};
};

TEST_F(WinnerStoreTest, ImprovingTrialBecomesTheWinnerAtOnce) {
  EXPECT_EQ(winner_code(), "none");
  EXPECT_FALSE(trials_.insert(a_failure("bad", Outcome::compile_failed)).is_winner);
  EXPECT_EQ(winner_code(), "none");
  EXPECT_TRUE(trials_.insert(a_trial("a", 400)).is_winner);
  EXPECT_FALSE(trials_.insert(a_trial("b", 390)).is_winner);
  EXPECT_EQ(winner_code(), a_code("a"));
  EXPECT_TRUE(trials_.insert(a_trial("c", 401)).is_winner);
  EXPECT_EQ(winner_code(), a_code("c"));
}

TEST_F(WinnerStoreTest, CarriesItsEvidence) {
  trials_.insert(a_trial("a", 400), 290);
  trials_.insert(a_failure("b", Outcome::timeout));
  trials_.insert(a_trial("c", 300));
  const auto winner = winners_.find(a_problem(), kGpu, Objective::burst);
  ASSERT_TRUE(winner);
  expect_same(winner->trial, a_trial("a", 400));
  EXPECT_EQ(winner->naive_rate, 290);
  EXPECT_EQ(winner->trials_seen, 3);
}

TEST_F(WinnerStoreTest, NaiveRateStaysWithItsSession) {
  trials_.insert(a_trial("a", 400), 290);
  trials_.insert(a_trial("b", 410));
  EXPECT_EQ(winners_.find(a_problem(), kGpu, Objective::burst)->naive_rate, 290);
  TrialRecord later = a_trial("c", 420);
  later.session = "session-2";
  trials_.insert(later);
  EXPECT_EQ(winners_.find(a_problem(), kGpu, Objective::burst)->naive_rate, 0);
}

TEST_F(WinnerStoreTest, MeasuredReplacesPredictedAndNeverTheOtherWay) {
  TrialRecord prediction = a_trial("guess", 900);
  prediction.predicted = true;
  trials_.insert(prediction);
  EXPECT_EQ(winner_code(), a_code("guess"));
  trials_.insert(a_trial("slow", 10));
  EXPECT_EQ(winner_code(), a_code("slow"));
  prediction.code = a_code("guess2");
  prediction.rate = 1000;
  EXPECT_FALSE(trials_.insert(prediction).is_winner);
  EXPECT_EQ(winner_code(), a_code("slow"));
  winners_.settle(a_problem(), kGpu, Objective::burst);
  EXPECT_EQ(winner_code(), a_code("slow"));
}

TEST_F(WinnerStoreTest, SettlingPrefersTheRace) {
  for (TrialRecord alone : {a_trial("lucky", 480), a_trial("steady", 470)}) {
    alone.raced = false;
    trials_.insert(alone);
  }
  for (auto [code, rate] : {std::pair{"steady", 468.0}, std::pair{"lucky", 460.0}}) {
    TrialRecord race = a_trial(code, rate);
    race.raced = true;
    trials_.insert(race);
  }
  const auto winner = winners_.settle(a_problem(), kGpu, Objective::burst, 290);
  ASSERT_TRUE(winner);
  EXPECT_EQ(winner->trial.code, a_code("steady"));
  EXPECT_EQ(winner->trial.rate, 468);
  EXPECT_EQ(winner->naive_rate, 290);
  EXPECT_EQ(winner_code(), a_code("steady"));
}

TEST_F(WinnerStoreTest, WinnerFoundWrongLosesToTheNext) {
  trials_.insert(a_trial("a", 480));
  trials_.insert(a_trial("b", 470));
  trials_.insert(a_failure("a", Outcome::wrong_result));
  EXPECT_EQ(winner_code(), a_code("b"));
  trials_.insert(a_failure("b", Outcome::wrong_result));
  EXPECT_EQ(winner_code(), "none");
}

TEST_F(WinnerStoreTest, TrialOfTodaysTemplatesReplacesAStaleWinner) {
  TrialRecord old = a_trial("old", 480);
  old.platform.template_signature = kOldSignature;
  trials_.insert(old);
  trials_.insert(a_trial("new", 400));
  EXPECT_EQ(winner_code(), a_code("new"));
}

TEST_F(WinnerStoreTest, ACodeThatDoesNotParseAndExcludedOnesDoNotWin) {
  TrialRecord retired = a_trial("retired", 900);
  retired.code = "direct.bx32.nonsense";
  trials_.insert(retired);
  EXPECT_EQ(winner_code(), "none");
  trials_.insert(a_trial("first", 480));
  trials_.insert(a_trial("slower", 400));
  EXPECT_EQ(winner_code(), a_code("first"));
  winners_.settle(a_problem(), kGpu, Objective::burst, 0, {a_code("first")});
  EXPECT_EQ(winner_code(), a_code("slower"));
}

TEST_F(WinnerStoreTest, ATrialReplacesAWinnerWhoseCodeWasRetired) {
  const auto id = trials_.insert(a_trial("first", 480)).id;
  retire_code(folder_ / "t.db", id, "direct.bx32.nonsense");
  EXPECT_EQ(winner_code(), "direct.bx32.nonsense");
  EXPECT_TRUE(trials_.insert(a_trial("slower", 400)).is_winner);
  EXPECT_EQ(winner_code(), a_code("slower"));
  EXPECT_TRUE(database_.damaged_rows().empty());
}

TEST_F(WinnerStoreTest, EachPartOfTheProblemAndTheGpuHasAWinnerOfItsOwn) {
  trials_.insert(a_trial("base", 100));
  std::vector<TrialRecord> others(10, a_trial("other", 200));
  others[0].problem.stencil_key = "ffffffffffffffffffffffffffffffff";
  others[1].problem.stage = 1;
  others[2].problem.type = ElementType::f64;
  others[3].problem.boundaries[0] = Boundary::periodic;
  others[4].problem.boundaries[2] = Boundary::zero;
  others[5].problem.extents.n[2] = 511;
  others[6].problem.pitch = 544;
  others[7].problem.steps = 8;
  others[8].platform.gpu = "NVIDIA A100";
  others[9].problem.extents = {2, {512, 512, 1}};
  for (const auto& other : others) trials_.insert(other);
  EXPECT_EQ(winners_.list().size(), 11U);
  EXPECT_EQ(winner_code(), a_code("base"));
}

TEST_F(WinnerStoreTest, NameArchitectureAndDriverDoNotTellProblemsApart) {
  trials_.insert(a_trial("a", 100));
  TrialRecord other = a_trial("b", 200);
  other.problem.stencil_name = "heat3d";
  other.platform.driver = "12.9";
  other.platform.nvrtc = "12.9";
  trials_.insert(other);
  EXPECT_EQ(winners_.list().size(), 1U);
  EXPECT_EQ(winner_code(), a_code("b"));
}

TEST_F(WinnerStoreTest, ListsWhatANearestSizeLookupNeeds) {
  trials_.insert(a_trial("512", 100));
  TrialRecord other = a_trial("256", 100);
  other.problem.extents.n = {256, 256, 256};
  trials_.insert(other);
  other = a_trial("f64", 100);
  other.problem.type = ElementType::f64;
  trials_.insert(other);
  other = a_trial("a100", 100);
  other.platform.gpu = "NVIDIA A100";
  other.platform.architecture = "sm_80";
  trials_.insert(other);

  const ProblemKey problem = a_problem();
  WinnerQuery query{.stencil_key = problem.stencil_key, .type = problem.type, .boundaries = problem.boundaries};
  EXPECT_EQ(winners_.list(query).size(), 3U);
  query.gpu = kGpu;
  const auto here = winners_.list(query);
  ASSERT_EQ(here.size(), 2U);
  EXPECT_EQ(here[0].trial.code, a_code("256"));
  EXPECT_EQ(here[1].trial.code, a_code("512"));
  EXPECT_EQ(winners_.list({.architecture = "sm_80"}).size(), 1U);
  EXPECT_EQ(winners_.list({.predicted = true}).size(), 0U);
}

TEST_F(WinnerStoreTest, TamperedWinnerIsSkippedReportedAndChosenAnew) {
  trials_.insert(a_trial("a", 400));
  trials_.insert(a_trial("b", 300));
  run_sql(folder_ / "t.db", "UPDATE winners SET trial_id = 2");
  EXPECT_EQ(winner_code(), "none");
  EXPECT_FALSE(database_.damaged_rows().empty());
  winners_.settle(a_problem(), kGpu, Objective::burst);
  EXPECT_EQ(winner_code(), a_code("a"));
}

TEST_F(WinnerStoreTest, WinnerUnderAnotherProblemsKeyIsNotUsed) {
  trials_.insert(a_trial("a", 400));
  run_sql(folder_ / "t.db", "UPDATE winners SET nx = 256, pitch = 256");
  ProblemKey other = a_problem();
  other.extents.n[0] = other.pitch = 256;
  EXPECT_FALSE(winners_.find(other, kGpu, Objective::burst));
}

TEST_F(WinnerStoreTest, TamperedTrialOfAWinnerIsNotUsed) {
  trials_.insert(a_trial("a", 400));
  run_sql(folder_ / "t.db", "UPDATE trials SET code = 'evil'");
  EXPECT_EQ(winner_code(), "none");
  trials_.insert(a_trial("b", 300));
  EXPECT_EQ(winner_code(), a_code("b"));
}

TEST(WinnerStoreRemove, TakesOutTheWinnerWithAllTrialsOfItsProblemAndNothingElse) {
  TemporaryFolder folder;
  Database database = Database::open(folder / "t.db");
  TrialStore trials(database);
  TrialRecord elsewhere = a_trial("direct.bx32", 50);
  elsewhere.platform.gpu = "another GPU";
  const std::int64_t kept = trials.insert(elsewhere).id;
  const std::int64_t loser = trials.insert(a_trial("direct.bx64", 100)).id;
  const std::int64_t best = trials.insert(a_trial("direct.bx128", 200)).id;

  WinnerStore winners(database);
  EXPECT_FALSE(winners.remove(loser));
  EXPECT_FALSE(winners.remove(best + 100));
  EXPECT_EQ(winners.list().size(), 2u);

  const auto removed = winners.remove(best);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->winner.trial.code, "direct.bx128");
  EXPECT_EQ(removed->trials, 2);
  ASSERT_EQ(winners.list().size(), 1u);
  EXPECT_EQ(winners.list()[0].trial.id, kept);
  ASSERT_EQ(trials.find({}).size(), 1u);
  EXPECT_EQ(trials.find({})[0].id, kept);
  EXPECT_TRUE(check_database(database.path()).ok());
}

}  // namespace
}  // namespace stencil_tune
