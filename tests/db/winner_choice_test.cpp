#include "db/winner_choice.hpp"

#include "tests/db/testing.hpp"

#include <algorithm>
#include <random>

namespace stencil_tune {
namespace {

TrialRecord raced(TrialRecord trial, const std::string& created_at) {
  trial.created_at = created_at;
  return trial;
}

TrialRecord timed_alone(TrialRecord trial) {
  trial.raced = false;
  return trial;
}

TrialRecord predicted(TrialRecord trial) {
  trial.predicted = true;
  trial.raced = false;
  return trial;
}

TrialRecord stale(TrialRecord trial) {
  trial.platform.template_signature = kOldSignature;
  return trial;
}

std::string winner_of(const std::vector<TrialRecord>& trials, Objective objective = Objective::burst) {
  const auto winner = choose_winner(trials, objective);
  return winner ? winner->code : "none";
}

TEST(WinnerChoice, HighestRateWins) { EXPECT_EQ(winner_of({a_trial("a", 400), a_trial("b", 450)}), a_code("b")); }

TEST(WinnerChoice, FailuresNeverWin) {
  EXPECT_EQ(winner_of({a_failure("a", Outcome::timeout), a_failure("b", Outcome::wrong_result)}), "none");
  EXPECT_EQ(winner_of({}), "none");
}

TEST(WinnerChoice, PredictedNeverOutranksMeasured) {
  EXPECT_EQ(winner_of({predicted(a_trial("a", 900)), a_trial("b", 10)}), a_code("b"));
  EXPECT_EQ(winner_of({predicted(a_trial("a", 900)), stale(a_trial("b", 10))}), a_code("b"));
  EXPECT_EQ(winner_of({predicted(a_trial("a", 900)), predicted(a_trial("b", 10))}), a_code("a"));
}

TEST(WinnerChoice, OfPredictionsThoseOfTheLatestModelCount) {
  const auto by_model = [](TrialRecord trial, std::string model, std::string when) {
    trial.platform.model = std::move(model);
    trial.created_at = std::move(when);
    return predicted(std::move(trial));
  };
  const TrialRecord older = by_model(a_trial("a", 900), "model 1", "2026-01-01T00:00:00Z");
  const TrialRecord nameless = by_model(a_trial("d", 950), "", "2026-01-01T00:00:00Z");
  const TrialRecord later = by_model(a_trial("b", 10), "model 2", "2026-02-01T00:00:00Z");
  EXPECT_EQ(winner_of({older, nameless, later}), a_code("b"));
  EXPECT_EQ(winner_of({later, older}), a_code("b"));
  EXPECT_EQ(winner_of({older, later, by_model(a_trial("c", 5), "model 2", "2026-02-02T00:00:00Z")}), a_code("b"));
  EXPECT_EQ(winner_of({older, later, a_trial("c", 5)}), a_code("c"));
}

TEST(WinnerChoice, StaleWinsOnlyAlone) {
  EXPECT_EQ(winner_of({stale(a_trial("a", 900)), a_trial("b", 10)}), a_code("b"));
  EXPECT_EQ(winner_of({stale(a_trial("a", 900))}), a_code("a"));
}

TEST(WinnerChoice, ACandidateWhoseCheckWouldNotNoticeAWrongKernelNeverWins) {
  TrialRecord blunt = a_trial("a", 900);
  blunt.sharpness = 0.94;
  EXPECT_EQ(winner_of({blunt, a_trial("b", 10)}), a_code("b"));
  EXPECT_EQ(winner_of({blunt, predicted(a_trial("b", 10))}), a_code("b"));
  EXPECT_EQ(winner_of({blunt}), "none");
  EXPECT_TRUE(ranked_codes(std::vector{blunt}).empty());
  blunt.sharpness = 0.95;
  EXPECT_EQ(winner_of({blunt, a_trial("b", 10)}), a_code("a"));
}

TEST(WinnerChoice, ATrialOfUnknownSharpnessIsJudgedByItsRace) {
  TrialRecord unknown = a_trial("a", 900);
  unknown.sharpness = -1;
  EXPECT_EQ(winner_of({unknown, a_trial("b", 10)}), a_code("a"));
  EXPECT_EQ(winner_of({timed_alone(unknown), a_trial("b", 10)}), a_code("b"));
}

TEST(WinnerChoice, ACodeThatDoesNotParseNeverWins) {
  TrialRecord retired = a_trial("retired", 900);
  retired.code = "direct.bx32.nonsense";
  EXPECT_EQ(winner_of({retired, a_trial("b", 10)}), a_code("b"));
  EXPECT_EQ(winner_of({retired, predicted(a_trial("b", 10))}), a_code("b"));
  EXPECT_EQ(winner_of({retired}), "none");
}

TEST(WinnerChoice, WhatNeverRacedNeverWins) {
  EXPECT_EQ(winner_of({timed_alone(a_trial("a", 900)), a_trial("b", 10)}), a_code("b"));
  EXPECT_EQ(winner_of({timed_alone(a_trial("a", 900)), stale(a_trial("b", 10))}), a_code("b"));
  EXPECT_EQ(winner_of({timed_alone(a_trial("a", 900)), predicted(a_trial("b", 10))}), a_code("b"));
  EXPECT_EQ(winner_of({timed_alone(a_trial("a", 900))}), "none");
}

TEST(WinnerChoice, RaceCorrectsALuckyFirstTiming) {
  EXPECT_EQ(
      winner_of({timed_alone(a_trial("a", 480)), timed_alone(a_trial("b", 470)),
                 raced(a_trial("a", 460), "2026-01-31T13:00:00Z"), raced(a_trial("b", 465), "2026-01-31T13:00:00Z")}),
      a_code("b"));
}

TEST(WinnerChoice, LatestRaceSpeaksForACode) {
  const std::vector<TrialRecord> trials{raced(a_trial("a", 480), "2026-01-31T13:00:00Z"),
                                        raced(a_trial("b", 470), "2026-01-31T13:00:00Z"),
                                        raced(a_trial("a", 440), "2026-02-01T13:00:00Z")};
  EXPECT_EQ(winner_of(trials), a_code("b"));
}

TEST(WinnerChoice, CodeThatWasEverWrongIsOut) {
  EXPECT_EQ(winner_of({a_trial("a", 480), a_trial("b", 470), a_failure("a", Outcome::wrong_result)}), a_code("b"));
  // Under other templates it was another kernel.
  EXPECT_EQ(winner_of({a_trial("a", 480), a_trial("b", 470), stale(a_failure("a", Outcome::wrong_result))}),
            a_code("a"));
}

/// Raced under load too; watts follow from the energy of an update.
TrialRecord loaded(const std::string& name, double burst, double sustained, double nanojoules, Objective objective) {
  TrialRecord trial = a_trial(name, burst);
  trial.sustained_rate = sustained;
  trial.nanojoules = nanojoules;
  trial.watts = nanojoules * sustained;
  trial.objective = objective;
  return trial;
}

TEST(WinnerChoice, OfAKernelTheDataOfTheLatestRaceCounts) {
  const auto on = [](TrialRecord trial, const std::string& data, const std::string& when) {
    trial.problem.kind = SubjectKind::kernel;
    trial.platform.template_signature = data;
    trial.code = "BLOCK=" + std::to_string(static_cast<int>(trial.rate));
    return raced(trial, when);
  };
  const TrialRecord made_up = on(a_trial("a", 500), "", "2026-01-01T00:00:00Z");
  const TrialRecord captured = on(a_trial("b", 100), "captured", "2026-01-02T00:00:00Z");
  EXPECT_EQ(choose_winner(std::vector{made_up, captured}, Objective::burst)->code, "BLOCK=100");
  EXPECT_EQ(choose_winner(std::vector{captured, made_up}, Objective::burst)->code, "BLOCK=100");
  EXPECT_EQ(choose_winner(std::vector{captured, on(made_up, "", "2026-01-03T00:00:00Z")}, Objective::burst)->code,
            "BLOCK=500");
}

TEST(WinnerChoice, TheObjectiveSaysWhichFigureWins) {
  const auto three = [](Objective objective) {
    return std::vector{loaded("bursts", 500, 400, 1.7, objective), loaded("lasts", 480, 450, 1.5, objective),
                       loaded("spares", 430, 420, 1.1, objective)};
  };
  EXPECT_EQ(winner_of(three(Objective::burst), Objective::burst), a_code("bursts"));
  EXPECT_EQ(winner_of(three(Objective::time), Objective::time), a_code("lasts"));
  EXPECT_EQ(winner_of(three(Objective::energy), Objective::energy), a_code("spares"));
}

TEST(WinnerChoice, WhatRacedInBurstsAloneIsNoRivalOfWhatRacedUnderLoad) {
  const std::vector<TrialRecord> both{a_trial("burst", 900), loaded("load", 480, 450, 1.5, Objective::time)};
  EXPECT_EQ(winner_of(both, Objective::time), a_code("load"));
  EXPECT_EQ(winner_of(both, Objective::burst), a_code("burst"));
  EXPECT_EQ(winner_of(both, Objective::energy), "none");
}

TEST(WinnerChoice, NothingPredictedWinsBesideAMeasurementByAnotherObjective) {
  EXPECT_EQ(winner_of({predicted(a_trial("a", 900)), loaded("load", 480, 450, 1.5, Objective::time)}), "none");
  EXPECT_EQ(winner_of({predicted(a_trial("a", 900)), a_failure("b", Outcome::timeout)}), a_code("a"));
}

TEST(WinnerChoice, TheNearestObjectiveIsTheSameThenTimeThenBursts) {
  const auto distance = [](Objective raced_by, Objective asked, int steps) {
    TrialRecord trial = loaded("a", 480, 450, 1.5, raced_by);
    trial.problem.steps = steps;
    return objective_distance(trial, asked);
  };
  EXPECT_EQ(distance(Objective::time, Objective::time, 100), 0);
  EXPECT_EQ(distance(Objective::energy, Objective::energy, 1), 0);
  EXPECT_EQ(distance(Objective::burst, Objective::time, 1), 0) << "which is how sweeps race";
  EXPECT_GT(distance(Objective::burst, Objective::time, 100), 0);
  EXPECT_LT(distance(Objective::burst, Objective::time, 100), distance(Objective::energy, Objective::time, 100));
  EXPECT_LT(distance(Objective::time, Objective::energy, 100), distance(Objective::burst, Objective::energy, 100));
}

TEST(WinnerChoice, WithoutTheFigureOfTheObjectiveTheNextOneDecides) {
  EXPECT_EQ(winner_of({loaded("a", 500, 400, 0, Objective::energy), loaded("b", 480, 450, 0, Objective::energy)},
                      Objective::energy),
            a_code("b"));
  EXPECT_EQ(
      winner_of({loaded("a", 500, 0, 0, Objective::time), loaded("b", 480, 0, 0, Objective::time)}, Objective::time),
      a_code("a"));
  EXPECT_EQ(
      winner_of({loaded("a", 500, 0, 0, Objective::time), loaded("b", 480, 300, 0, Objective::time)}, Objective::time),
      a_code("b"));
}

TEST(WinnerChoice, ARaceUnderLoadSpeaksForACodeUntilTheNextOneUnderLoad) {
  const TrialRecord first = raced(loaded("a", 500, 450, 1.5, Objective::time), "2026-01-31T10:00:00Z");
  const TrialRecord no_time_left = raced(loaded("a", 500, 0, 0, Objective::time), "2026-01-31T11:00:00Z");
  const TrialRecord other = raced(loaded("b", 480, 440, 1.5, Objective::time), "2026-01-31T11:00:00Z");
  EXPECT_EQ(winner_of({first, no_time_left, other}, Objective::time), a_code("a"));
  const TrialRecord again = raced(loaded("a", 500, 430, 1.5, Objective::time), "2026-01-31T12:00:00Z");
  EXPECT_EQ(winner_of({first, again, other}, Objective::time), a_code("b"));
}

TEST(WinnerChoice, OrderOfTrialsDoesNotMatter) {
  std::vector<TrialRecord> trials{timed_alone(a_trial("a", 480)),
                                  raced(a_trial("a", 440), "2026-01-31T13:00:00Z"),
                                  raced(a_trial("a", 445), "2026-01-31T14:00:00Z"),
                                  a_trial("b", 445),
                                  a_trial("c", 500),
                                  a_failure("c", Outcome::wrong_result),
                                  predicted(a_trial("d", 600)),
                                  stale(a_trial("e", 700)),
                                  raced(loaded("f", 300, 280, 2, Objective::time), "2026-01-31T15:00:00Z"),
                                  raced(loaded("g", 310, 270, 2, Objective::time), "2026-01-31T15:00:00Z")};
  for (std::size_t i = 0; i < trials.size(); ++i) trials[i].id = static_cast<std::int64_t>(i) + 1;
  const auto expected = choose_winner(trials, Objective::burst);
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::shuffle(trials.begin(), trials.end(), random);
    EXPECT_EQ(choose_winner(trials, Objective::burst)->id, expected->id);
  }
}

TEST(WinnerChoice, RankingHasOneTrialACodeBestFirst) {
  const std::vector<TrialRecord> trials{timed_alone(a_trial("a", 1)), timed_alone(a_trial("b", 3)),
                                        timed_alone(a_trial("a", 2)), predicted(a_trial("c", 9))};
  const auto ranking = ranked_codes(trials);
  ASSERT_EQ(ranking.size(), 2U);
  EXPECT_EQ(ranking[0].code, a_code("b"));
  EXPECT_EQ(ranking[1].rate, 2);
}

}  // namespace
}  // namespace stencil_tune
