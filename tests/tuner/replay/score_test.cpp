#include "tuner/replay/score.hpp"

#include "tests/tuner/replay/small_spaces.hpp"
#include "tuner/replay/replay.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

// 1 to 19 ms: the median is 10, the optimum 1. Random search is half of the way from the one to the other (5.5) after
// 3 evaluations: 14 are slower, and 14 / (19 + 1 - 14) rounds up to 3. At 0.8 (2.8) after 17 / 3, that is 6.
const ScoreSetup kSetup{.from = 0.5, .until = 0.8, .points = 4};

RecordedSpace nineteen() {
  std::vector<double> times;
  for (int i = 1; i <= 19; ++i) times.push_back(i);
  return line_of(times);
}

/// Finds that time at once, and nothing better.
SearchRun finds(double time_ms) {
  SearchRun run;
  for (int i = 1; i <= 7; ++i) run.push_back({100.0 * i, time_ms});
  return run;
}

TEST(ScoreTest, TheBaselineIsTheExpectedBestOfRandomSearch) {
  const RandomBaseline baseline(nineteen(), kSetup);
  EXPECT_EQ(baseline.evaluations_to(0.5), 3U);
  EXPECT_EQ(baseline.evaluations_to(0.8), 6U);
  EXPECT_EQ(baseline.evaluations_to(0.96), 9U);
  EXPECT_EQ(baseline.times(), (std::vector<double>{300, 400, 500, 600}));
  // After M draws of 19 number M * 20 / (M + 1) from the slowest: 15, 16, 16.7, 17.1.
  EXPECT_EQ(baseline.best(), (std::vector<double>{4, 3, 2, 2}));
}

TEST(ScoreTest, FailuresAddTheirShareToWhatAnEvaluationCosts) {
  SpaceBuilder builder("half fails");
  for (int i = 0; i < 38; ++i) {
    const ConfigurationRecord works{1.0 + i / 2, 100};
    builder.add({{"x", std::to_string(i)}}, i % 2 == 0 ? works : ConfigurationRecord{.cost_ms = 100});
  }
  const RandomBaseline baseline(builder.build(), kSetup);
  EXPECT_EQ(baseline.times().back(), 600);
  EXPECT_EQ(baseline.best().front(), 6);  // two draws of 150 ms each in 300 ms: number 13 from the slowest
}

TEST(ScoreTest, TheOptimumAtOnceScoresOneAndWhatRandomFindsZero) {
  const RandomBaseline baseline(nineteen(), kSetup);
  EXPECT_DOUBLE_EQ(score_of(baseline, {finds(1)}).mean, 1);
  // (4 - 2) / 3, (3 - 2) / 2, 0, 0
  EXPECT_NEAR(score_of(baseline, {finds(2)}).mean, (2.0 / 3 + 1.0 / 2) / 4, 1e-12);
  // -6 / 3, -7 / 2, -8, -8
  EXPECT_NEAR(score_of(baseline, {finds(10)}).mean, (-2 - 3.5 - 8 - 8) / 4, 1e-12);
}

TEST(ScoreTest, TheSpreadIsThatOfSingleRuns) {
  const RandomBaseline baseline(nineteen(), kSetup);
  const Score score = score_of(baseline, {finds(1), finds(2)});
  ASSERT_EQ(score.of_runs.size(), 2U);
  EXPECT_DOUBLE_EQ(score.of_runs[0], 1);
  EXPECT_NEAR(score.of_runs[1], 7.0 / 24, 1e-12);
  EXPECT_NEAR(score.deviation, (1 - 7.0 / 24) / std::sqrt(2.0), 1e-12);
}

TEST(ScoreTest, OneRunIsCountedFromWhatItKnowsAtEachTime) {
  const RandomBaseline baseline(nineteen(), kSetup);
  const SearchRun run{{100, 9}, {250, ConfigurationRecord{}.time_ms}, {450, 1}, {700, 5}};
  EXPECT_NEAR(score_of(baseline, {run}).of_runs.front(), ((4.0 - 9) / 3 + (3.0 - 9) / 2 + 1 + 1) / 4, 1e-12);
}

TEST(ScoreTest, RunsThatFoundNothingCountAtTheMedian) {
  const RandomBaseline baseline(nineteen(), kSetup);
  const Score score = score_of(baseline, {{{500, ConfigurationRecord{}.time_ms}}});
  EXPECT_NEAR(score.of_runs.front(), (-2 - 3.5 - 8 - 8) / 4, 1e-12);
}

TEST(ScoreTest, PointsWhereRandomSearchHasTheOptimumAreLeftOut) {
  const RandomBaseline baseline(line_of({1, 2, 3, 4, 5, 6, 7, 8, 9}), {.from = 0.5, .until = 0.96, .points = 3});
  EXPECT_EQ(baseline.best(), (std::vector<double>{2, 1, 1}));
  EXPECT_DOUBLE_EQ(score_of(baseline, {finds(1)}).mean, 1);
  EXPECT_DOUBLE_EQ(score_of(baseline, {finds(2)}).mean, 0);
}

TEST(ScoreTest, RandomSearchScoresAboutZero) {
  std::vector<double> times;
  for (int i = 0; i < 500; ++i) times.push_back(1 + (i * 181 % 500) / 25.0);
  const RecordedSpace space = line_of(times);
  const RandomBaseline baseline(space);
  EXPECT_NEAR(score_of(baseline, replay(space, baseline, "random", 400, 1)).mean, 0, 0.1);
}

TEST(ScoreTest, NearnessIsOfTheBestAmongSoManyEvaluations) {
  const Nearness early = nearness_after(2, 1, {{{1, 4}, {2, 2}, {3, 1}}, {{1, 1.02}}});
  EXPECT_DOUBLE_EQ(early.share, (0.5 + 1 / 1.02) / 2);
  EXPECT_DOUBLE_EQ(early.least, 0.5);
  EXPECT_EQ(early.within, 1);
  EXPECT_EQ(nearness_after(3, 1, {{{1, 4}, {2, 2}, {3, 1}}, {{1, 1.02}}}).within, 2);
}

TEST(ReplayTest, GoesOnUntilSoManyEvaluationsWereMade) {
  const RecordedSpace space = nineteen();
  EXPECT_EQ(replay_run(space, *make_table_strategy("random", space.table, 1), 250, 10).size(), 10U);
}

TEST(ReplayTest, EndsWithTheBudgetOrWithTheSpace) {
  const RecordedSpace space = nineteen();
  const auto search = make_table_strategy("random", space.table, 1);
  EXPECT_EQ(replay_run(space, *search, 250).size(), 3U);  // the last one began in time
  EXPECT_EQ(replay_run(space, *search, 1e9).size(), 16U);
}

}  // namespace
}  // namespace stencil_tune
