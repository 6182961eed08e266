#include "db/trial_store.hpp"

#include "db/rows/trial_rows.hpp"
#include "tests/db/testing.hpp"

#include <limits>
#include <map>

namespace stencil_tune {
namespace {

class TrialStoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  Database database_ = Database::open(folder_ / "t.db");
  TrialStore store_{database_};
};

TEST_F(TrialStoreTest, GivesBackEveryFieldAfterReopening) {
  TrialRecord trial = a_trial("direct.bx32", 400.125);
  trial.problem.stage = 2;
  trial.problem.type = ElementType::bf16;
  trial.problem.boundaries = {Boundary::periodic, Boundary::reflect, Boundary::clamp};
  trial.problem.pitch = 640;
  trial.problem.steps = 3;
  trial.message = "two\nlines, 'quotes' and \xc3\xa4";
  trial.raced = true;
  trial.sharpness = 0.998;
  trial.sharpness_note = "15 and 16 steps are equal in 93 % of the cells";
  trial.plan = "12x8+4x1";
  trial.objective = Objective::energy;
  trial.sustained_rate = 333.25;
  trial.watts = 612.5;
  trial.nanojoules = 1.75;
  trial.sm_clock_mhz = 1980;
  trial.memory_clock_mhz = 3201;
  trial.throttle = "power cap";
  store_.insert(trial);
  TrialRecord failure = a_failure("direct.bx64", Outcome::launch_failed);
  failure.predicted = true;
  store_.insert(failure);

  Database again = Database::open(folder_ / "t.db", {.access = Access::read});
  const auto trials = TrialStore(again).find({});
  ASSERT_EQ(trials.size(), 2U);
  expect_same(trials[0], trial);
  expect_same(trials[1], failure);
  EXPECT_LT(trials[0].id, trials[1].id);
}

TEST_F(TrialStoreTest, InvalidTrialIsRefusedAndNothingStored) {
  TrialRecord trial = a_trial("a", 400);
  trial.share = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of([&] { store_.insert(trial); }).code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(store_.find({}).empty());
}

TEST_F(TrialStoreTest, EmptyTimeBecomesNow) {
  TrialRecord trial = a_trial("a", 400);
  trial.created_at.clear();
  const std::string before = utc_now();
  store_.insert(trial);
  const std::string stored = store_.find({}).at(0).created_at;
  EXPECT_GE(stored, before);
  EXPECT_LE(stored, utc_now());
}

TEST_F(TrialStoreTest, DensePitchAndBoundariesBeyondTheRankAreNormalised) {
  TrialRecord trial = a_trial("a", 400);
  trial.problem.extents = {2, {64, 32, 1}};
  trial.problem.pitch = 0;
  trial.problem.boundaries = {Boundary::hold, Boundary::zero, Boundary::periodic};
  store_.insert(trial);
  ProblemKey same = trial.problem;
  same.pitch = 64;
  same.boundaries[2] = Boundary::hold;
  same.stencil_name = "another name";
  EXPECT_EQ(store_.find({.problem = same}).size(), 1U);
}

TEST_F(TrialStoreTest, FindsByProblemPlatformAndSession) {
  store_.insert(a_trial("a", 400));
  TrialRecord other = a_trial("b", 400);
  other.problem.extents.n[2] = 511;
  store_.insert(other);
  other = a_trial("c", 400);
  other.platform.gpu = "NVIDIA A100";
  store_.insert(other);
  other = a_trial("d", 400);
  other.session = "session-2";
  store_.insert(other);
  other = a_trial("e", 400);
  other.platform.template_signature = kOldSignature;
  store_.insert(other);
  other = a_trial("f", 400);
  other.predicted = true;
  store_.insert(other);

  const auto codes = [&](const TrialQuery& query) {
    std::string text;
    for (const auto& trial : store_.find(query)) {
      for (const std::string name : {"a", "b", "c", "d", "e", "f"}) text += trial.code == a_code(name) ? name : "";
    }
    return text;
  };
  EXPECT_EQ(codes({.problem = a_problem()}), "acdef");
  EXPECT_EQ(codes({.gpu = "NVIDIA A100"}), "c");
  EXPECT_EQ(codes({.session = "session-2"}), "d");
  EXPECT_EQ(codes({.predicted = true}), "f");
  EXPECT_EQ(codes({.problem = a_problem(), .gpu = kGpu, .predicted = false}), "ade");
}

TEST_F(TrialStoreTest, KnownHasOneFreshTrialACodeOfThisProblem) {
  store_.insert(a_trial("twice", 400));
  store_.insert(a_trial("twice", 410));
  store_.insert(a_failure("failed", Outcome::timeout));
  store_.insert(a_trial("wrong", 500));
  store_.insert(a_failure("wrong", Outcome::wrong_result));
  store_.insert(a_failure("wrong", Outcome::timeout));
  TrialRecord other = a_trial("stale", 400);
  other.platform.template_signature = kOldSignature;
  store_.insert(other);
  other = a_trial("retired", 400);
  other.code = "direct.bx32.nonsense";
  store_.insert(other);
  other = a_trial("elsewhere", 400);
  other.problem.type = ElementType::f64;
  store_.insert(other);
  other = a_trial("predicted", 400);
  other.predicted = true;
  store_.insert(other);

  std::map<std::string, TrialRecord> known;
  for (const TrialRecord& trial : store_.known(a_problem(), kGpu, std::nullopt)) {
    EXPECT_TRUE(known.emplace(trial.code, trial).second) << trial.code;
  }
  ASSERT_EQ(known.size(), 3U);
  EXPECT_EQ(known.at(a_code("failed")).outcome, Outcome::timeout);
  EXPECT_EQ(known.at(a_code("twice")).rate, 410);
  EXPECT_EQ(known.at(a_code("wrong")).outcome, Outcome::wrong_result);
}

TEST_F(TrialStoreTest, KnownPredictionsAreThoseOfOneModel) {
  store_.insert(a_trial("measured", 400));
  for (const char* model : {"model 1", "model 2"}) {
    TrialRecord trial = a_trial(model, 400);
    trial.predicted = true;
    trial.platform.model = model;
    store_.insert(trial);
  }
  const auto known = store_.known(a_problem(), kGpu, "model 2");
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].platform.model, "model 2");
}

TEST_F(TrialStoreTest, KnownLeavesOutWhatDeservesAnotherTry) {
  const auto known = [&] { return store_.known(a_problem(), kGpu, std::nullopt).size(); };
  store_.insert(a_failure("killed", Outcome::worker_killed));
  store_.insert(a_failure("late", Outcome::compile_timeout));
  EXPECT_EQ(known(), 0U);
  store_.insert(a_failure("killed", Outcome::compile_timeout));
  EXPECT_EQ(known(), 1U);
  store_.insert(a_trial("late", 400));
  EXPECT_EQ(known(), 2U);
}

TEST_F(TrialStoreTest, RowWithAWrongChecksumIsSkippedAndReported) {
  store_.insert(a_trial("a", 400));
  store_.insert(a_trial("b", 410));
  run_sql(folder_ / "t.db", "UPDATE trials SET rate = 999 WHERE code = '" + a_code("b") + "'");
  const auto trials = store_.find({});
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].code, a_code("a"));
  EXPECT_EQ(database_.damaged_rows(), (std::set<DamagedRow>{{"trials", 2}}));
}

TEST_F(TrialStoreTest, EveryColumnIsUnderTheChecksum) {
  store_.insert(a_trial("a", 400));
  const std::string original = read_file(folder_ / "t.db");
  for (const std::string change : {"stencil_key = 'x'",
                                   "stage = 1",
                                   "type = 'f64'",
                                   "boundary_x = 'zero'",
                                   "boundary_z = 'zero'",
                                   "rank = 2",
                                   "nx = 1",
                                   "nz = 1",
                                   "pitch = 513",
                                   "steps = 2",
                                   "stencil_name = 'x'",
                                   "gpu = 'x'",
                                   "architecture = 'x'",
                                   "driver = 'x'",
                                   "model = 'x'",
                                   "nvrtc = 'x'",
                                   "template_signature = 'x'",
                                   "machine_code = 'x'",
                                   "code = 'x'",
                                   "outcome = 'timeout'",
                                   "message = 'x'",
                                   "median_ms = 1",
                                   "low_ms = 1",
                                   "high_ms = 1",
                                   "samples = 1",
                                   "rate = 1",
                                   "ceiling_gbs = 1",
                                   "share = 1",
                                   "registers = 1",
                                   "spill_bytes = 1",
                                   "shared_bytes = 1",
                                   "occupancy = 1",
                                   "predicted = 1",
                                   "raced = 0",
                                   "session = 'x'",
                                   "created_at = 'x'",
                                   "sharpness = 1",
                                   "sharpness_note = 'x'",
                                   "plan = 'x'",
                                   "objective = 'x'",
                                   "sustained_rate = 1",
                                   "watts = 1",
                                   "nanojoules = 1",
                                   "sm_clock_mhz = 1",
                                   "memory_clock_mhz = 1",
                                   "throttle = 'x'",
                                   "checksum = 1",
                                   "outcome = 'nonsense'"}) {
    write_file(folder_ / "copy.db", original);
    run_sql(folder_ / "copy.db", "UPDATE trials SET " + change);
    Database copy = Database::open(folder_ / "copy.db", {.access = Access::read});
    EXPECT_TRUE(TrialStore(copy).find({}).empty()) << change;
    EXPECT_EQ(copy.damaged_rows().size(), 1U) << change;
  }
}

TEST_F(TrialStoreTest, RowsThatNoProgramOfOursWroteAreNotUsed) {
  TrialRecord senseless = a_trial("senseless", 900);
  senseless.problem.extents.rank = 77;
  insert_trial_row(database_, senseless);  // with a checksum that is right
  store_.insert(a_trial("sane", 100));
  ASSERT_EQ(store_.find({}).size(), 1U);
  EXPECT_EQ(store_.find({}).front().code, a_code("sane"));
  EXPECT_EQ(database_.damaged_rows(), (std::set<DamagedRow>{{"trials", 1}}));
}

}  // namespace
}  // namespace stencil_tune
