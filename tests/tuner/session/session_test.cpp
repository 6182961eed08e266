#include "tests/tuner/search/random_search.hpp"
#include "tests/tuner/session/session_fakes.hpp"
#include "tuner/session/trials/time_budget.hpp"

#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "generator/kernel_source/signature.hpp"
#include "runtime/model/model.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace stencil_tune {
namespace {

using testing::FakeClock;
using testing::FakeCompilers;
using testing::FakeDevice;

// Wide blocks and register tiles are fast; every candidate has its own time.
double landscape(const Tuning& tuning) {
  const double spread = static_cast<double>(std::hash<std::string>{}(code(tuning)) % 1000) / 1e5;
  return 1.0 + 8.0 / tuning.block_x + 1.0 / tuning.register_x + spread;
}

class SessionTest : public ::testing::Test {
 protected:
  SessionResult run(SessionOptions options, std::uint64_t seed = 1) {
    const auto strategy = by_code(make_random(space, seed));
    return run_session({subject(), platform, *strategy, compilers, device, database, clock, observer, stop,
                        named_candidates(baselines), codes(warm_starts)},
                       options);
  }

  static SessionOptions trials(int count) {
    SessionOptions options;
    options.budget_s = 1e6;
    options.max_trials = count;
    return options;
  }

  /// As the problem is now.
  const Subject& subject() { return subject_.emplace(problem); }

  std::vector<TrialRecord> stored() { return TrialStore(database).find({}); }

  /// Ok ones, of the same problem and GPU; they are not in the database.
  std::vector<TrialRecord> trials_of_another_session() {
    Database other = Database::open(folder.path() / "other.db");
    const auto strategy = by_code(make_random(space, 7));
    run_session({subject(), platform, *strategy, compilers, device, other, clock, observer, stop,
                 named_candidates(baselines), codes(warm_starts)},
                trials(10));
    auto all = TrialStore(other).find({});
    std::erase_if(all, [](const TrialRecord& trial) { return trial.outcome != Outcome::ok; });
    return all;
  }

  testing::TemporaryFolder folder;
  Problem problem = testing::star(1, 64);
  Limits limits = limits_of_architecture("sm_90");
  Space space{problem, limits};
  PlatformKey platform{"Fake GPU", "sm_90", "13.0", "13.0", ""};
  Database database = Database::open(folder.path() / "trials.db");
  FakeClock clock;
  FakeCompilers compilers{clock};
  FakeDevice device{clock, landscape};
  SilentProgress observer;
  std::atomic<bool> stop{false};
  std::vector<Baseline> baselines = textbook_baselines(problem, limits);
  std::vector<Tuning> warm_starts{};

 private:
  std::optional<StencilSubject> subject_;
};

TEST_F(SessionTest, TheWinnerIsTheFastestOfAllThatRan) {
  const SessionResult result = run(trials(60));
  ASSERT_TRUE(result.winner);
  const auto all = stored();
  const auto best = std::min_element(all.begin(), all.end(), [](const TrialRecord& a, const TrialRecord& b) {
    return a.timing.median_ms < b.timing.median_ms;
  });
  EXPECT_EQ(result.winner->code, best->code);
  EXPECT_EQ(WinnerStore(database).find(problem_key(problem), "Fake GPU", Objective::burst)->trial.code, best->code);
  EXPECT_NEAR(result.winner->rate, 62.0 * 62 * 62 / (best->timing.median_ms * 1e6), 1e-9);
}

TEST_F(SessionTest, MaxTrialsCountsEveryNewCandidateAndNoMore) {
  EXPECT_EQ(run(trials(17)).trials, 17);
  EXPECT_EQ(device.ran.size(), 17u);
  EXPECT_EQ(compilers.submitted.size(), 17u);
}

TEST_F(SessionTest, BaselinesAreTriedFirstAndTimedToTheEnd) {
  run(trials(20));
  std::vector<std::string> expected;
  for (const Baseline& baseline : baselines) {
    const std::string candidate = code(*baseline.tuning);
    if (std::find(expected.begin(), expected.end(), candidate) == expected.end()) expected.push_back(candidate);
  }
  ASSERT_GE(device.ran.size(), expected.size());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), device.ran.begin()));
  for (const std::string& candidate : expected) EXPECT_EQ(device.plans[candidate].best_ms, 0) << candidate;
}

TEST_F(SessionTest, WarmStartsComeBeforeAllElseOnceAndNotAgainInALaterSession) {
  warm_starts = {parse_code("direct.bx64.by2"), parse_code("direct.bx128.by2.rx2"), parse_code("direct.bx64.by2")};
  run(trials(20));
  EXPECT_EQ(device.ran[0], "direct.bx64.by2");
  EXPECT_EQ(device.ran[1], "direct.bx128.by2.rx2");
  EXPECT_EQ(std::count(device.ran.begin(), device.ran.end(), "direct.bx64.by2"), 1);
  device.ran.clear();
  run(trials(20));
  EXPECT_EQ(std::count(device.ran.begin(), device.ran.end(), "direct.bx64.by2"), 0);
}

TEST_F(SessionTest, OthersAreMeasuredAgainstTheBestSoFar) {
  run(trials(20));
  const MeasurePlan& last = device.plans[device.ran.back()];
  EXPECT_GT(last.best_ms, 0);
  EXPECT_LE(last.best_ms, 1.0 + 8.0 / 32 + 1.0 + 0.01);  // the naive kernel's time
}

TEST_F(SessionTest, ASlowCandidateThatWasDroppedDoesNotRace) {
  device.time_ms = [](const Tuning& tuning) { return tuning.family->name == "direct" ? landscape(tuning) : 100.0; };
  run(trials(60));
  ASSERT_FALSE(device.raced.empty());
  for (const std::string& candidate : device.raced)
    EXPECT_EQ(parse_code(candidate).family->name, "direct") << candidate;
}

TEST_F(SessionTest, RunningAgainRepeatsNothing) {
  run(trials(40));
  const std::set<std::string> first(device.ran.begin(), device.ran.end());
  device.ran.clear();
  const SessionResult again = run(trials(40));
  EXPECT_EQ(again.known, 40);
  EXPECT_EQ(device.ran.size(), 40u);
  for (const std::string& candidate : device.ran) EXPECT_EQ(first.count(candidate), 0u) << candidate;
}

TEST_F(SessionTest, TheIncumbentRacesAgainstTheNewFinalists) {
  const std::string incumbent = run(trials(40)).winner->code;
  device.raced.clear();
  run(trials(20), 2);
  EXPECT_NE(std::find(device.raced.begin(), device.raced.end(), incumbent), device.raced.end());
}

TEST_F(SessionTest, TheRaceHasTheLastWord) {
  const std::string first = run(trials(40)).winner->code;
  device.race_ms = [&](const Tuning& tuning) { return code(tuning) == first ? 50.0 : landscape(tuning); };
  EXPECT_NE(run(trials(10), 2).winner->code, first);
}

TEST_F(SessionTest, TrialsOfOtherTemplatesAreNotUsed) {
  for (const TrialRecord& trial : trials_of_another_session()) {
    TrialRecord old = trial;
    old.platform.template_signature = "templates-old";
    old.rate = 1e6;
    TrialStore(database).insert(old);
  }
  const SessionResult result = run(trials(30));
  EXPECT_EQ(result.known, 0);
  EXPECT_LT(result.winner->rate, 1e6);
  EXPECT_EQ(result.winner->platform.template_signature, template_signature(parse_code(result.winner->code)));
}

TEST_F(SessionTest, EachTrialCarriesTheSignatureOfItsOwnTemplate) {
  run(trials(30));
  std::set<std::string> signatures;
  for (const TrialRecord& trial : stored()) {
    EXPECT_EQ(trial.platform.template_signature, template_signature(parse_code(trial.code))) << trial.code;
    signatures.insert(trial.platform.template_signature);
  }
  EXPECT_GT(signatures.size(), 1u);
}

TEST_F(SessionTest, KnownCandidatesThatCannotRunArePassedOverAndNamed) {
  TrialRecord bad = trials_of_another_session().front();
  bad.rate = 1e6;  // the best by far
  for (const char* candidate : {"direct.bx32.nonsense", "direct.bx32.by1024"}) {
    bad.code = candidate;
    bad.platform.template_signature = template_signature(parse_code("direct.bx32"));
    TrialStore(database).insert(bad);
  }
  const SessionResult result = run(trials(30));
  EXPECT_EQ(result.trials, 30);
  EXPECT_EQ(result.known, 0);
  ASSERT_EQ(result.passed_over.size(), 2u);
  EXPECT_TRUE(result.passed_over[0].starts_with("direct.bx32.nonsense: ")) << result.passed_over[0];
  EXPECT_TRUE(result.passed_over[1].starts_with("direct.bx32.by1024: ")) << result.passed_over[1];
  ASSERT_TRUE(result.winner);
  EXPECT_LT(result.winner->rate, 1e6);
  EXPECT_EQ(WinnerStore(database).find(problem_key(problem), "Fake GPU", Objective::burst)->trial.code,
            result.winner->code);
}

class RunSessionTest : public SessionTest {
 protected:
  RunSessionTest() {
    problem = testing::star(1, 256);
    problem.steps = 11;
    device.limits = limits;
  }

  SessionResult run_with(const char* candidate, int most_trials = 100) {
    const auto strategy = by_code(make_listed(space, {parse_code(candidate)}));
    return run_session({subject(), platform, *strategy, compilers, device, database, clock, observer, stop, {}, {}},
                       trials(most_trials));
  }

  static constexpr const char* kFused = "temporal.bx32.by4.rx2.ry4.v2.pf3.t4";
};

TEST_F(RunSessionTest, TheRateOfARunCountsTheStepsThatAreLeftOver) {
  device.time_ms = [](const Tuning& tuning) { return tuning.steps == 4 ? 1.0 : 3.0; };  // time of a sweep
  const SessionResult result = run_with(kFused);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->plan, "4x2+3x1");
  const double cells = 254.0 * 254 * 254;
  EXPECT_NEAR(result.winner->rate, 11 * cells / ((8 * 1.0 + 3 * 3.0) * 1e6), 1e-9);
  EXPECT_EQ(device.ran.back(), "temporal.bx32.by4.rx2.ry4.v2.pf3.t3") << "verified and timed before the race";
}

class RelaunchTest : public RunSessionTest {
 protected:
  /// Candidates that ran and no compiler had.
  std::set<std::string> relaunched_where_compiling_takes(double seconds) {
    compilers.takes_s = [=](const Tuning&) { return seconds; };
    device.time_ms = [](const Tuning& tuning) {
      return (tuning.steps > 1 ? 1 : 3) + 0.01 * std::abs(tuning.chunks - 6);
    };
    SessionOptions options;
    options.budget_s = 60;
    const Space of_run(problem, limits);
    const PerformanceModel model(problem, limits, find_device_model("h200"));
    const auto strategy = by_code(make_local(of_run, model, 1));
    run_session({subject(), platform, *strategy, compilers, device, database, clock, observer, stop, {}, {}}, options);
    std::set<std::string> relaunched(device.ran.begin(), device.ran.end());
    EXPECT_EQ(relaunched.size(), device.ran.size()) << "none twice";
    for (const std::string& compiled : compilers.submitted) relaunched.erase(compiled);
    return relaunched;
  }
};

TEST_F(RelaunchTest, FillsTheTimeInWhichADeviceWouldWaitForCompilers) {
  const std::set<std::string> relaunched = relaunched_where_compiling_takes(5);
  EXPECT_GT(relaunched.size(), 15u);
  std::set<std::string> kernels;  // those that compilers made
  for (const std::string& compiled : compilers.submitted) kernels.insert(code(without_launch(parse_code(compiled))));
  for (const std::string& candidate : relaunched) {
    EXPECT_TRUE(kernels.contains(code(without_launch(parse_code(candidate))))) << candidate;
  }
}

TEST_F(RelaunchTest, DoesNotCompeteWithWhatIsCompiled) {
  EXPECT_EQ(relaunched_where_compiling_takes(0), std::set<std::string>{});
}

/// The fastest of its candidates comes from the compiler after the search is over, while what the others leave over is
/// compiled.
class LateCandidateTest : public RunSessionTest {
 protected:
  SessionResult run_where_its_remainder_takes(double seconds) {
    std::vector<Tuning> candidates;
    for (const char* prefetch : {"pf1", "pf2", "pf3", "pf4"}) {
      candidates.push_back(parse_code(fmt::format("temporal.bx32.by4.rx2.ry4.v2.{}.t4", prefetch)));
    }
    candidates.push_back(parse_code(kLate));
    const auto is_late = [](const Tuning& tuning) { return tuning.block_y == 8; };
    compilers.takes_s = [=](const Tuning& tuning) {
      if (tuning.steps == 3) return is_late(tuning) ? seconds : 6.0;
      return is_late(tuning) ? 46.0 : 1.0;
    };
    device.time_ms = [=](const Tuning& tuning) { return is_late(tuning) ? 0.5 : 1.0; };
    SessionOptions options;
    options.budget_s = 70;
    const auto strategy = by_code(make_listed(space, candidates));
    return run_session({subject(), platform, *strategy, compilers, device, database, clock, observer, stop, {}, {}},
                       options);
  }

  static constexpr const char* kLate = "temporal.bx32.by8.rx2.ry4.v2.pf3.t4";
};

TEST_F(LateCandidateTest, RacesWithTheOthers) {
  const SessionResult result = run_where_its_remainder_takes(6);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->code, kLate);
  EXPECT_EQ(result.winner->plan, "4x2+3x1");
}

TEST_F(LateCandidateTest, GivesWayToThoseWhoseRunsCanBeRated) {
  const SessionResult result = run_where_its_remainder_takes(1000);
  ASSERT_TRUE(result.winner);
  EXPECT_NE(result.winner->code, kLate);
  EXPECT_EQ(result.winner->plan, "4x2+3x1");
}

TEST_F(RunSessionTest, AsManyTrialsAsWereAskedForAreOfTheSearch) {
  const SessionResult result = run_with(kFused, 1);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->plan, "4x2+3x1") << "what is left over is timed beyond them";
  EXPECT_EQ(result.trials, 2);
  EXPECT_EQ(device.ran, (std::vector<std::string>{code(parse_code(kFused)), "temporal.bx32.by4.rx2.ry4.v2.pf3.t3"}));
}

TEST_F(RunSessionTest, ARateIsTheKernelsAloneWhereTheRestCouldNotBeTimed) {
  device.time_ms = [](const Tuning&) { return 1.0; };
  device.outcome = [](const Tuning& tuning) { return tuning.steps == 3 ? Outcome::wrong_result : Outcome::ok; };
  const SessionResult result = run_with(kFused);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->plan, "");
}

/// One of three kernels that fuse steps is the fastest after a rest, one under load, and one needs the least energy.
class ObjectiveTest : public RunSessionTest {
 protected:
  ObjectiveTest() {
    problem.steps = 12;
    device.time_ms = [](const Tuning& tuning) { return tuning.steps == 2 ? 1.0 : tuning.steps == 3 ? 1.05 : 1.1; };
    device.load_ms = [](const Tuning& tuning) { return tuning.steps == 2 ? 1.6 : tuning.steps == 3 ? 1.1 : 1.2; };
    device.watts = [](const Tuning& tuning) { return tuning.steps == 4 ? 500.0 : 700.0; };
  }

  SessionResult race(Objective objective, bool bursts_alone = false) {
    const auto strategy = by_code(make_listed(space, {fusing(2), fusing(3), fusing(4)}));
    SessionOptions options = trials(100);
    options.objective = objective;
    options.bursts_alone = bursts_alone;
    return run_session({subject(), platform, *strategy, compilers, device, database, clock, observer, stop, {}, {}},
                       options);
  }

  static Tuning fusing(int steps) {
    Tuning tuning = parse_code(kFused);
    tuning.steps = steps;
    return tuning;
  }

  int steps_of_winner(Objective objective) {
    return parse_code(WinnerStore(database).find(problem_key(problem), "Fake GPU", objective)->trial.code).steps;
  }
};

TEST_F(ObjectiveTest, TheWinnerOfARunIsTheFastestUnderLoad) {
  const SessionResult result = race(Objective::time);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(steps_of_winner(Objective::time), 3);
  EXPECT_EQ(result.finalists.front().code, result.winner->code);
  const double cells = 254.0 * 254 * 254;
  EXPECT_NEAR(result.winner->rate, cells / 1.05e6, 1e-9);
  EXPECT_NEAR(result.winner->sustained_rate, cells / 1.1e6, 1e-9);
  EXPECT_EQ(result.winner->watts, 700);
  EXPECT_NEAR(result.winner->nanojoules, 700 / result.winner->sustained_rate, 1e-9);
  EXPECT_EQ(result.winner->objective, Objective::time);
}

TEST_F(ObjectiveTest, TheFastestInABurstWinsWhereThatIsAskedForAndRacesUnderLoadTheSame) {
  const SessionResult result = race(Objective::burst);
  EXPECT_EQ(steps_of_winner(Objective::burst), 2);
  EXPECT_NEAR(result.winner->sustained_rate, 254.0 * 254 * 254 / 1.6e6, 1e-9);
}

TEST_F(ObjectiveTest, ARunRacesInBurstsAloneWhereThatIsAskedFor) {
  const SessionResult result = race(Objective::burst, true);
  EXPECT_TRUE(device.under_load.empty());
  EXPECT_EQ(steps_of_winner(Objective::burst), 2);
  EXPECT_EQ(result.winner->sustained_rate, 0);
}

TEST_F(ObjectiveTest, TheLeastEnergyWinsWhereThatIsAskedFor) {
  race(Objective::energy);
  EXPECT_EQ(steps_of_winner(Objective::energy), 4);
}

TEST_F(ObjectiveTest, EachObjectiveHasAWinnerOfItsOwn) {
  for (const Objective objective : kObjectives) race(objective);
  EXPECT_EQ(steps_of_winner(Objective::time), 3);
  EXPECT_EQ(steps_of_winner(Objective::burst), 2);
  EXPECT_EQ(steps_of_winner(Objective::energy), 4);
}

TEST_F(ObjectiveTest, WithoutAPowerReadingTheRateUnderLoadDecides) {
  device.watts = nullptr;
  const SessionResult result = race(Objective::energy);
  EXPECT_EQ(steps_of_winner(Objective::energy), 3);
  EXPECT_EQ(result.winner->watts, 0);
  EXPECT_EQ(result.winner->nanojoules, 0);
}

TEST_F(ObjectiveTest, OneSweepRacesUnderLoadForItsEnergyAlone) {
  problem.steps = 1;
  const auto tune = [&](Objective objective) {
    SessionOptions options = trials(10);
    options.objective = objective;
    return run(options);
  };
  EXPECT_EQ(tune(Objective::time).winner->objective, Objective::burst);
  EXPECT_TRUE(device.under_load.empty());
  EXPECT_EQ(tune(Objective::energy).winner->objective, Objective::energy);
  EXPECT_FALSE(device.under_load.empty());
}

TEST_F(ObjectiveTest, TheStepsThatAreLeftOverCountUnderLoadToo) {
  problem.steps = 11;
  const auto strategy = by_code(make_listed(space, {fusing(4)}));
  device.time_ms = [](const Tuning& tuning) { return tuning.steps == 4 ? 1.0 : 3.0; };
  device.load_ms = [](const Tuning&) { return 2.0; };
  const SessionResult result = run_session(
      {subject(), platform, *strategy, compilers, device, database, clock, observer, stop, {}, {}}, trials(100));
  EXPECT_EQ(result.winner->plan, "4x2+3x1");
  EXPECT_NEAR(result.winner->sustained_rate, 11 * 254.0 * 254 * 254 / ((8 * 2.0 + 3 * 3.0) * 1e6), 1e-9);
  EXPECT_NEAR(result.winner->watts, result.winner->nanojoules * result.winner->sustained_rate, 1e-9);
}

TEST_F(ObjectiveTest, AShortBudgetLeavesTimeForTheFewestUnderLoad) {
  SessionOptions options = trials(100);
  for (const auto& [budget_s, under_load] : {std::pair(1, 1u), std::pair(5, 2u)}) {
    options.budget_s = budget_s;
    device.under_load.clear();
    const double before = clock.now;
    const auto strategy = by_code(make_listed(space, {fusing(2), fusing(3), fusing(4)}));
    const SessionResult result = run_session(
        {subject(), platform, *strategy, compilers, device, database, clock, observer, stop, {}, {}}, options);
    EXPECT_EQ(device.under_load.size(), under_load);
    EXPECT_GT(result.winner->sustained_rate, 0) << "what raced in bursts alone does not win by time";
    EXPECT_LE(clock.now, before + latest_end_s(options));
  }
}

TEST_F(SessionTest, FailuresAreRecordedAndTheSessionGoesOn) {
  compilers.outcome = [](const Tuning& t) { return t.register_x == 2 ? Outcome::compile_failed : Outcome::ok; };
  device.outcome = [](const Tuning& t) { return t.block_x == 64 ? Outcome::timeout : Outcome::ok; };
  const SessionResult result = run(trials(80));
  EXPECT_EQ(result.trials, 80);
  std::map<Outcome, int> counted;
  for (const TrialRecord& trial : stored()) {
    if (!trial.raced && trial.outcome != Outcome::ok) ++counted[trial.outcome];
  }
  EXPECT_GT(counted[Outcome::compile_failed], 0);
  EXPECT_GT(counted[Outcome::timeout], 0);
  EXPECT_EQ(counted, result.failures);
}

TEST_F(SessionTest, ACandidateWhoseCompilerWasKilledIsCompiledOnceMore) {
  for (const Outcome outcome : {Outcome::worker_killed, Outcome::compile_timeout}) {
    std::set<std::string> met;
    compilers.outcome = [&](const Tuning& t) { return met.insert(code(t)).second ? outcome : Outcome::ok; };
    const SessionResult result = run(trials(10));
    EXPECT_EQ(result.trials, 10);
    EXPECT_EQ(result.failures.at(outcome), 10);
    for (const BaselineResult& baseline : result.baselines) EXPECT_TRUE(baseline.trial) << baseline.reason;
  }
}

TEST_F(SessionTest, ACandidateWhoseCompilerIsKilledTwiceIsDoneWith) {
  const std::string naive = code(*baselines.front().tuning);
  compilers.outcome = [&](const Tuning& t) { return code(t) == naive ? Outcome::worker_killed : Outcome::ok; };
  for (int session = 0; session < 2; ++session) {
    run(trials(20));
    EXPECT_EQ(std::count(compilers.submitted.begin(), compilers.submitted.end(), naive), 2);
  }
}

TEST_F(SessionTest, TheSecondTryComesInTheNextSessionWhereThisOneEnds) {
  const std::string naive = code(*baselines.front().tuning);
  compilers.outcome = [&](const Tuning& t) {
    stop = code(t) == naive;
    return stop ? Outcome::worker_killed : Outcome::ok;
  };
  EXPECT_FALSE(run(trials(10)).baselines.front().trial);
  stop = false;
  compilers.outcome = [](const Tuning&) { return Outcome::ok; };
  EXPECT_TRUE(run(trials(10)).baselines.front().trial);
}

TEST_F(SessionTest, ADeviceWorkerThatWasKilledCostsATryToo) {
  device.outcome = [&](const Tuning&) { return device.ran.size() == 1 ? Outcome::worker_killed : Outcome::ok; };
  const SessionResult result = run(trials(10));
  EXPECT_EQ(result.trials, 10);
  for (const BaselineResult& baseline : result.baselines) EXPECT_TRUE(baseline.trial) << baseline.reason;
}

TEST_F(SessionTest, AWrongResultNeverWinsHoweverFast) {
  device.outcome = [](const Tuning& t) { return t.register_x == 4 ? Outcome::wrong_result : Outcome::ok; };
  const SessionResult result = run(trials(80));
  EXPECT_NE(parse_code(result.winner->code).register_x, 4);
}

TEST_F(SessionTest, ACandidateWhoseCheckWouldNotNoticeAWrongKernelNeverWinsHoweverFast) {
  device.sharpness = [](const Tuning& t) { return t.register_x == 4 ? 0.9 : 1; };
  const SessionResult result = run(trials(80));
  EXPECT_NE(parse_code(result.winner->code).register_x, 4);
  EXPECT_EQ(result.winner->sharpness, 1);
  for (const std::string& raced : device.raced) EXPECT_NE(parse_code(raced).register_x, 4) << raced;
  int blunt = 0;
  for (const TrialRecord& trial : stored()) {
    EXPECT_EQ(trial.sharpness, parse_code(trial.code).register_x == 4 ? 0.9 : 1) << trial.code;
    EXPECT_EQ(trial.sharpness_note, "as faked");
    blunt += trial.sharpness < kSharp ? 1 : 0;
  }
  EXPECT_GT(blunt, 0);
}

TEST_F(SessionTest, AFinalistThatTurnsOutWrongInTheRaceDoesNotWin) {
  const std::string first = run(trials(40)).winner->code;
  device.outcome = [&](const Tuning& t) { return code(t) == first ? Outcome::wrong_result : Outcome::ok; };
  EXPECT_NE(run(trials(5), 2).winner->code, first);
}

TEST_F(SessionTest, AnInterruptKeepsEveryFinishedTrialAndTheBestRacesInTheNextSession) {
  device.after_run = [&] { stop = device.ran.size() == 12; };
  const SessionResult result = run(trials(100));
  EXPECT_EQ(result.stopped, StopReason::interrupted);
  EXPECT_EQ(result.trials, 12);
  EXPECT_EQ(stored().size(), 12u);
  EXPECT_TRUE(device.raced.empty());
  EXPECT_FALSE(result.winner) << "nothing raced";
  ASSERT_TRUE(result.best);

  stop = false;
  device.after_run = {};
  const SessionResult next = run(trials(1), 2);
  EXPECT_NE(std::find(device.raced.begin(), device.raced.end(), result.best->code), device.raced.end());
  ASSERT_TRUE(next.winner);
  EXPECT_TRUE(next.winner->raced);
}

TEST_F(SessionTest, ALoneFinalistRacesToo) {
  const SessionResult result = run(trials(1));
  EXPECT_EQ(device.raced.size(), 1u);
  ASSERT_TRUE(result.winner);
  EXPECT_TRUE(result.winner->raced);
}

TEST_F(SessionTest, FinalistsThatWereTimedAloneDoNotWin) {
  device.races = false;
  const SessionResult result = run(trials(30));
  EXPECT_FALSE(result.winner);
  EXPECT_TRUE(result.finalists.empty());
  for (const TrialRecord& trial : stored()) EXPECT_FALSE(trial.raced);
}

TEST_F(SessionTest, WhatAStopCutShortIsNoTrial) {
  device.outcome = [&](const Tuning&) {
    stop = device.ran.size() == 12;
    return stop ? Outcome::worker_killed : Outcome::ok;
  };
  const SessionResult result = run(trials(100));
  EXPECT_EQ(result.stopped, StopReason::interrupted);
  EXPECT_EQ(stored().size(), 11u);
}

TEST_F(SessionTest, AStopWhileTheDeviceMakesReadyIsNoError) {
  device.at_start = [&] {
    stop = true;
    throw Error(ErrorCode::device_lost, "the device worker was stopped");
  };
  EXPECT_EQ(run(trials(100)).stopped, StopReason::interrupted);
}

TEST_F(SessionTest, EachTrialIsStoredBeforeTheNextOneRuns) {
  device.after_run = [&] { EXPECT_EQ(stored().size() + 1, device.ran.size()); };
  SessionOptions options = trials(10);
  run(options);
}

TEST_F(SessionTest, TheBudgetEndsTheSearchInTimeForTheRace) {
  SessionOptions options;
  options.budget_s = 10;
  const SessionResult result = run(options);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_LE(result.seconds, 10);
  EXPECT_GE(result.seconds, 8);
  EXPECT_FALSE(device.raced.empty());
}

TEST_F(SessionTest, MakingReadyTakesOfTheBudget) {
  SessionOptions options;
  options.budget_s = 10;
  device.start_s = 8;
  const SessionResult result = run(options);
  EXPECT_DOUBLE_EQ(result.ready_seconds, 8);
  EXPECT_LE(result.seconds, 10);
  EXPECT_TRUE(result.winner);
}

TEST_F(SessionTest, TheFirstResultIsAwaitedUntilTheSessionHasToEnd) {
  SessionOptions options;
  options.budget_s = 10;
  device.start_s = 12;
  const SessionResult result = run(options);
  EXPECT_TRUE(result.winner);
  EXPECT_LE(result.seconds, latest_end_s(options));
}

TEST_F(SessionTest, ADeviceThatIsNotReadyInTimeEndsTheSession) {
  SessionOptions options;
  options.budget_s = 10;
  device.start_s = latest_end_s(options);
  device.at_start = [] { throw Error(ErrorCode::timeout, "not finished in time"); };
  const SessionResult result = run(options);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_FALSE(result.was_ready);
  EXPECT_EQ(result.trials, 0);
  EXPECT_GT(result.unfinished, 0);
  EXPECT_LE(result.seconds, latest_end_s(options));
}

/// A strategy that takes its time, and now and then finds nothing in it.
class SlowStrategy : public SearchStrategy<std::string> {
 public:
  SlowStrategy(std::unique_ptr<SearchStrategy<std::string>> strategy, FakeClock& clock, double takes_s, int finds_every)
      : strategy_(std::move(strategy)), clock_(clock), takes_s_(takes_s), finds_every_(finds_every) {}

  std::string_view name() const override { return "slow"; }
  std::optional<std::string> propose() override {
    clock_.now += takes_s_;
    return finds_every_ > 0 && ++asked_ % finds_every_ == 0 ? strategy_->propose() : std::nullopt;
  }
  bool has_more() const override { return true; }
  void report(const std::string& code, double time_ms) override { strategy_->report(code, time_ms); }

 private:
  std::unique_ptr<SearchStrategy<std::string>> strategy_;
  FakeClock& clock_;
  double takes_s_;
  int finds_every_;
  int asked_ = 0;
};

class SlowStrategyTest : public SessionTest {
 protected:
  SessionResult run_slow(double takes_s, int finds_every) {
    baselines.clear();
    SlowStrategy strategy(by_code(make_random(space, 1)), clock, takes_s, finds_every);
    SessionOptions options;
    options.budget_s = 10;
    return run_session({subject(), platform, strategy, compilers, device, database, clock, observer, stop, {}, {}},
                       options);
  }
};

TEST_F(SlowStrategyTest, ASessionDoesNotWaitForMoreProposalsThanItHasTimeFor) {
  const SessionResult result = run_slow(4, 1);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_TRUE(result.winner);
  EXPECT_EQ(result.choosing_seconds, 4);
  EXPECT_LE(result.seconds, 15 + 4) << "the last proposal comes to its end";
}

TEST_F(SlowStrategyTest, AStrategyThatFindsNothingEndsASessionInTime) {
  const SessionResult result = run_slow(0.5, 0);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_EQ(result.trials, 0);
  EXPECT_LE(result.seconds, 15);
}

TEST_F(SlowStrategyTest, AStrategyThatHasMoreIsAskedAgain) {
  const SessionResult result = run_slow(0.1, 3);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_GT(result.trials, 10);
}

TEST_F(SessionTest, WhatWasSpentBeforeASessionIsOfItsBudget) {
  SessionOptions options;
  options.budget_s = 10;
  options.spent_s = 6;
  const double start = clock.now;
  const SessionResult result = run(options);
  EXPECT_GT(result.seconds, 8);
  EXPECT_LE(result.seconds, 10);
  EXPECT_LE(clock.now - start, 4);
}

TEST_F(SessionTest, ASpentBudgetEndsASessionInWhichEverythingFails) {
  SessionOptions options;
  options.budget_s = 10;
  device.start_s = 20;
  device.outcome = [](const Tuning&) { return Outcome::wrong_result; };
  const SessionResult result = run(options);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_LT(result.seconds, 25);
  EXPECT_FALSE(result.winner);
}

TEST_F(SessionTest, ASpentBudgetEndsASessionThatCompilesForEver) {
  SessionOptions options;
  options.budget_s = 10;
  compilers.stuck = true;
  const SessionResult result = run(options);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_GT(result.unfinished, 0);
  EXPECT_LE(result.seconds, latest_end_s(options));
}

TEST_F(SessionTest, WhatBeginsLastHasItsDeadlineAndNothingFollows) {
  SessionOptions options;
  options.budget_s = 10;
  const double deadline = deadline_within(options.budget_s, 20);
  device.outcome = [](const Tuning&) { return Outcome::timeout; };
  device.after_run = [&] { clock.now += deadline - 0.9; };  // two end just before the search does
  const SessionResult result = run(options);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_GT(result.seconds, latest_end_s(options));
  EXPECT_LE(result.seconds, latest_end_s(options) + deadline);
}

TEST_F(SessionTest, ASessionThatFoundSomethingBeginsNothingBeyondItsBudget) {
  SessionOptions options;
  options.budget_s = 10;
  device.after_run = [&] { clock.now += 4; };
  const SessionResult result = run(options);
  EXPECT_TRUE(result.winner);
  EXPECT_LE(result.seconds, options.budget_s + 4.2);
}

TEST_F(SessionTest, AShortRunAwaitsTheFirstKernelsThatFuseSteps) {
  problem.steps = 11;
  const auto fuses = [](const Tuning& tuning) { return tuning.family->fuses_steps; };
  warm_starts = {parse_code("temporal.bx32.by4.rx2.ry2.v2.pf2.t3.ch2")};
  compilers.takes_s = [&](const Tuning& tuning) { return fuses(tuning) ? 6 : 0.1; };
  device.time_ms = [&](const Tuning& tuning) { return fuses(tuning) ? 0.1 : landscape(tuning); };
  SessionOptions options;
  options.budget_s = 8;
  const SessionResult result = run(options);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->code, code(warm_starts.front()));
  EXPECT_GT(result.seconds, options.budget_s);
  EXPECT_LE(result.seconds, latest_end_s(options)) << "the race has its time";
  EXPECT_LE(compilers.submitted.size(), 120u) << "nothing new begins while they are awaited";

  EXPECT_LT(run(options).seconds, options.budget_s + 5) << "one is known now, and two race under load for 6 s";
}

class RaceSessionTest : public SessionTest {
 protected:
  RaceSessionTest() {
    problem.steps = 11;
    warm_starts = {parse_code(kRival), parse_code("direct.bx64.by2")};
    baselines.clear();
    device.start_s = 3;
    compilers.takes_s = [this](const Tuning& tuning) { return code(tuning) == kRival ? rival_takes_s : 0.1; };
  }

  SessionResult race() {
    SessionOptions options;
    options.most_s = options.budget_s = 2;
    options.objective = Objective::burst;
    options.race_against = kRival;
    return run(options);
  }

  static constexpr const char* kRival = "temporal.bx32.by4.rx2.ry2.v2.pf2.t3.ch2";  // what would run untuned
  double rival_takes_s = 1;
};

TEST_F(RaceSessionTest, TakesTheDeviceForAsLongAsSaid) {
  const SessionResult result = race();
  ASSERT_TRUE(result.winner);
  EXPECT_TRUE(result.winner->raced);
  EXPECT_GE(device.ran.size(), 10u);
  EXPECT_LE(result.seconds, 2.2) << "from when it was ready";
  EXPECT_LT(device.plans.at(kRival).cap_ms, MeasurePlan{}.cap_ms) << "there is time for more candidates";
  EXPECT_TRUE(device.under_load.empty());
  EXPECT_EQ(result.winner->objective, Objective::burst);
  EXPECT_EQ(result.winner->session.substr(0, 15), "race of 2 s at ");
}

TEST_F(RaceSessionTest, IsNotOverBeforeItTimedWhatWouldRunUntuned) {
  rival_takes_s = 9;
  device.time_ms = [](const Tuning& tuning) { return tuning.family->fuses_steps ? 0.1 : landscape(tuning); };
  const SessionResult result = race();
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->code, kRival);
  EXPECT_LE(device.ran.size(), 30u) << "nothing new begins while it is awaited";
  EXPECT_LE(result.seconds, 7);
}

TEST_F(RaceSessionTest, OfNoTimeOrOneCompilerTimesWhatWouldRunUntunedFirst) {
  std::swap(warm_starts.front(), warm_starts.back());
  FakeCompilers one(clock, 1);
  one.takes_s = compilers.takes_s;
  const auto strategy = by_code(make_random(space, 1));
  SessionOptions options;
  options.most_s = options.budget_s = 1e-3;
  options.race_against = kRival;
  const SessionResult result = run_session(
      {subject(), platform, *strategy, one, device, database, clock, observer, stop, {}, codes(warm_starts)}, options);
  EXPECT_EQ(one.submitted.front(), kRival);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->code, kRival);
}

TEST_F(RaceSessionTest, HasNoWinnerWhereWhatWouldRunUntunedWasNotCompiledInTime) {
  compilers.outcome = [](const Tuning& tuning) {
    return code(tuning) == kRival ? Outcome::compile_timeout : Outcome::ok;
  };
  const SessionResult result = race();
  EXPECT_GT(result.trials, 1);
  EXPECT_TRUE(device.raced.empty());
  EXPECT_FALSE(result.winner) << "it may be slower";
}

TEST_F(RaceSessionTest, PassesOverWhatIsWrongOrDoesNotCompile) {
  device.outcome = [](const Tuning& tuning) { return tuning.block_x == 64 ? Outcome::wrong_result : Outcome::ok; };
  compilers.outcome = [](const Tuning& tuning) {
    return code(tuning) == kRival ? Outcome::compile_failed : Outcome::ok;
  };
  const SessionResult result = race();
  ASSERT_TRUE(result.winner);
  EXPECT_NE(result.winner->code, kRival);
  EXPECT_NE(parse_code(result.winner->code).block_x, 64);
  EXPECT_LE(result.seconds, 2.2);
}

TEST_F(SessionTest, OneCompilerAloneMakesAKernelThatIsCompiledSoonFirst) {
  problem.steps = 11;
  const char* const fused = "temporal.bx32.by4.rx2.ry2.v2.pf2.t3.ch2";
  warm_starts = {parse_code(fused), parse_code("direct.bx64.by2")};
  FakeCompilers one(clock, 1);
  one.takes_s = [](const Tuning& tuning) { return tuning.family->fuses_steps ? 1e6 : 1.0; };
  const auto strategy = by_code(make_random(space, 1));
  SessionOptions options;
  options.budget_s = 8;
  const SessionResult result = run_session({subject(), platform, *strategy, one, device, database, clock, observer,
                                            stop, named_candidates(baselines), codes(warm_starts)},
                                           options);
  ASSERT_GE(one.submitted.size(), 2u);
  EXPECT_EQ(one.submitted[0], "direct.bx64.by2");
  EXPECT_EQ(one.submitted[1], fused);
  EXPECT_TRUE(result.winner);
}

TEST_F(SessionTest, TakesLongerOnceTheBestIsWorthIt) {
  SessionOptions options;
  options.budget_s = options.most_s.emplace(10);
  const auto seconds_where = [&](bool is_worth_it) {
    options.longer = {[=](const TrialRecord& best) { return is_worth_it && best.rate > 0; }, 30, 34};
    return run(options).seconds;
  };
  EXPECT_LE(seconds_where(false), 10);
  const double longer = seconds_where(true);
  EXPECT_GT(longer, 20);
  EXPECT_LE(longer, 34);
}

TEST_F(SessionTest, ARunWhoseFusedKernelsNeverCompileEndsInTime) {
  problem.steps = 11;
  warm_starts = {parse_code("temporal.bx32.by4.rx2.ry2.v2.pf2.t3.ch2")};
  compilers.takes_s = [](const Tuning& tuning) { return tuning.family->fuses_steps ? 1e6 : 1.0; };
  for (const double budget : {1.0, 8.0, 30.0, 60.0}) {
    SessionOptions options;
    options.budget_s = budget;
    const double run_deadline = deadline_within(budget, 20);
    const double start = clock.now;
    device.after_run = [&] {
      if (clock.now - start > budget) clock.now += run_deadline - 0.1;  // what comes last takes all of its deadline
    };
    const SessionResult result = run(options);
    EXPECT_EQ(result.stopped, StopReason::budget);
    EXPECT_TRUE(result.winner);
    EXPECT_LE(result.seconds, latest_end_s(options) + run_deadline) << budget;
  }
}

TEST_F(SessionTest, AClockThatJumpsEndsTheSearchAndLosesNothing) {
  SessionOptions options;
  options.budget_s = 60;
  device.after_run = [&] {
    if (device.ran.size() == 12) clock.now += 1e6;  // the machine slept
  };
  const SessionResult result = run(options);
  EXPECT_EQ(result.stopped, StopReason::budget);
  EXPECT_EQ(result.trials, 12);
  ASSERT_TRUE(result.winner);
  EXPECT_TRUE(result.winner->raced);
  device.after_run = {};
  EXPECT_EQ(run(trials(5)).known, 12);
}

TEST_F(SessionTest, AClockThatGoesBackEndsNothingEarly) {
  SessionOptions options = trials(30);
  options.budget_s = 60;
  device.after_run = [&] {
    if (device.ran.size() == 12) clock.now -= 900;
  };
  EXPECT_EQ(run(options).trials, 30);
}

TEST(DeadlineWithin, IsAsUsualUnlessTheBudgetIsShorter) {
  EXPECT_EQ(deadline_within(60, 20), 20);
  EXPECT_EQ(deadline_within(10, 20), 10);
  EXPECT_EQ(deadline_within(1, 20), 5);
  EXPECT_EQ(deadline_within(std::numeric_limits<double>::infinity(), 60), 60);
}

TEST(CompileDeadline, IsTheBudgetButThirtySecondsAtTheLeast) {
  EXPECT_EQ(compile_deadline_s(60, 60), 60);
  EXPECT_EQ(compile_deadline_s(8, 60), 30);
  EXPECT_EQ(compile_deadline_s(std::numeric_limits<double>::infinity(), 60), 60);
}

TEST(Grace, LeavesTheProgramTimeWithinATenthOfTheBudgetOrFiveSeconds) {
  for (const double budget : {0.1, 12.0, 50.0, 600.0}) {
    EXPECT_LT(grace_s(budget), std::max(5.0, budget / 10));
    EXPECT_GE(grace_s(budget), 4);
  }
  EXPECT_EQ(grace_s(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
}

TEST_F(SessionTest, CompilingRunsAheadOfTheDevice) {
  compilers.one_at_a_time = true;
  int fewest = 1000;
  device.after_run = [&] {
    if (device.ran.size() < 90) fewest = std::min(fewest, compilers.pending());
  };
  run(trials(100));
  EXPECT_GE(fewest, compilers.width());
}

TEST_F(SessionTest, ADeviceThatIsGoneEndsTheSessionAndLosesNothing) {
  device.outcome = [&](const Tuning&) { return device.ran.size() > 8 ? Outcome::device_lost : Outcome::ok; };
  try {
    run(trials(100));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost);
  }
  EXPECT_EQ(stored().size(), 11u);
}

TEST_F(SessionTest, OneLostDeviceIsOnlyATrial) {
  device.outcome = [&](const Tuning&) { return device.ran.size() == 8 ? Outcome::device_lost : Outcome::ok; };
  EXPECT_EQ(run(trials(30)).trials, 30);
}

TEST_F(SessionTest, PredictionsAreStoredAsSuchAndNeverOutrankAMeasurement) {
  SessionOptions predicted = trials(20);
  predicted.predicted = true;
  run(predicted);
  for (const TrialRecord& trial : stored()) EXPECT_TRUE(trial.predicted);

  device.time_ms = [](const Tuning& tuning) { return 1000 * landscape(tuning); };
  const SessionResult measured = run(trials(20));
  EXPECT_EQ(measured.known, 0);
  EXPECT_FALSE(WinnerStore(database).find(problem_key(problem), "Fake GPU", Objective::burst)->trial.predicted);
}

TEST_F(SessionTest, WhatAnotherModelPredictedIsNeitherKnownNorTheWinner) {
  SessionOptions predicted = trials(20);
  predicted.predicted = true;
  platform.model = "model 1";
  const double flattering = run(predicted).winner->rate;
  EXPECT_GT(run(predicted).known, 0);

  platform.model = "model 2";
  device.time_ms = [](const Tuning& tuning) { return 2 * landscape(tuning); };
  const SessionResult result = run(predicted);
  EXPECT_EQ(result.known, 0);
  ASSERT_TRUE(result.winner);
  EXPECT_EQ(result.winner->platform.model, "model 2");
  EXPECT_LT(result.winner->rate, 0.75 * flattering);
  EXPECT_EQ(WinnerStore(database).find(problem_key(problem), "Fake GPU", Objective::burst)->trial.id,
            result.winner->id);
}

}  // namespace
}  // namespace stencil_tune
