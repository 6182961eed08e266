#include "tuner/measure/measurement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace stencil_tune {
namespace {

/// Samples of a kernel with this median and relative spread; each costs its own time.
class Synthetic {
 public:
  Synthetic(double median_ms, double spread, std::uint64_t seed = 1)
      : median_ms_(median_ms), spread_(spread), random_(seed) {}

  Sample operator()() {
    ++taken;
    const double ms = median_ms_ * (1 + spread_ * noise_(random_));
    return {ms, ms};
  }

  int taken = 0;

 private:
  double median_ms_;
  double spread_;
  std::mt19937_64 random_;
  std::normal_distribution<double> noise_;
};

TEST(Summary, MedianOfOddAndEvenCounts) {
  EXPECT_DOUBLE_EQ(summarise(std::vector<double>{3, 1, 2}).median_ms, 2);
  EXPECT_DOUBLE_EQ(summarise(std::vector<double>{4, 1, 2, 3}).median_ms, 2.5);
}

TEST(Summary, IntervalIsTheTabulatedPairOfOrderStatistics) {
  // n: rank of the lower limit for 95 % (a standard table, e.g. Conover, Practical Nonparametric Statistics, A3; the
  // last by exact integers: the normal approximation gives 228).
  for (const auto& [n, rank] :
       {std::pair{6, 1}, {8, 1}, {9, 2}, {11, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {100, 40}, {501, 229}}) {
    std::vector<double> samples(static_cast<std::size_t>(n));
    std::iota(samples.begin(), samples.end(), 1.0);
    const Timing timing = summarise(samples);
    EXPECT_EQ(timing.low_ms, rank) << n;
    EXPECT_EQ(timing.high_ms, n + 1 - rank) << n;
  }
}

TEST(Summary, IntervalCoversTheTrueMedianAsOftenAsItSays) {
  for (const int n : {11, 60, 700}) {
    std::mt19937_64 random(7);
    std::exponential_distribution<double> skewed;  // true median ln 2
    int covered = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> samples;
      for (int i = 0; i < n; ++i) samples.push_back(skewed(random));
      const Timing timing = summarise(samples);
      if (timing.low_ms <= std::log(2.0) && std::log(2.0) <= timing.high_ms) ++covered;
    }
    EXPECT_GE(covered, 0.94 * 2000) << n;
    EXPECT_LE(covered, 0.995 * 2000) << n;
  }
}

TEST(Summary, FewerThanSixSamplesSayNothingAboutSpread) {
  EXPECT_TRUE(std::isinf(relative_interval(summarise(std::vector<double>{1, 1, 1, 1, 1}))));
  EXPECT_EQ(relative_interval(summarise(std::vector<double>{1, 1, 1, 1, 1, 1})), 0);
}

TEST(Summary, NothingMeasuredGivesZeros) { EXPECT_EQ(summarise({}).samples, 0); }

TEST(LaunchesPerSample, MakesSamplesLongEnoughAndEvenOverTheBuffers) {
  EXPECT_EQ(launches_per_sample(10, 2), 2);
  EXPECT_EQ(launches_per_sample(0.28, 2), 2);
  EXPECT_EQ(launches_per_sample(0.005, 2), 100);
  EXPECT_EQ(launches_per_sample(0.2, 3) % 3, 0);
  EXPECT_EQ(launches_per_sample(0.13, 3), 6) << "four would be long enough";
  EXPECT_GT(launches_per_sample(0, 1), 0);  // a launch below the resolution
}

TEST(LaunchesPerSample, DoesNotRepeatLaunchesThatTakeLong) { EXPECT_EQ(launches_per_sample(450, 3), 1); }

TEST(Measure, ASteadyKernelNeedsFewSamples) {
  Synthetic kernel(1, 1e-4);
  const Measurement measured = measure({}, std::ref(kernel));
  EXPECT_EQ(measured.timing.samples, kFewestSamples);
  EXPECT_FALSE(measured.dropped);
}

TEST(Measure, GoesOnUntilTheIntervalIsNarrow) {
  Synthetic kernel(1, 0.01);
  const Measurement measured = measure({}, std::ref(kernel));
  EXPECT_LE(relative_interval(measured.timing), 0.005);
  EXPECT_GT(measured.timing.samples, kFewestSamples);
  EXPECT_NEAR(measured.timing.median_ms, 1, 0.005);
}

TEST(Measure, StopsAtTheCapHoweverNoisy) {
  Synthetic kernel(1, 0.2);
  const Measurement measured = measure({}, std::ref(kernel));
  EXPECT_GT(relative_interval(measured.timing), 0.005);
  EXPECT_NEAR(measured.timing.samples, 400, 60);
}

TEST(Measure, DropsASlowKernelAfterTheFirstLook) {
  MeasurePlan plan;
  plan.best_ms = 1;
  Synthetic slow(1.6, 1e-3);
  const Measurement measured = measure(plan, std::ref(slow));
  EXPECT_TRUE(measured.dropped);
  EXPECT_EQ(slow.taken, 2);  // 3.2 ms
  EXPECT_NEAR(measured.timing.median_ms, 1.6, 0.02);
}

TEST(Measure, IsAsCarefulAsTheBestAsksFor) {
  MeasurePlan plan;
  plan.best_ms = 1;
  Synthetic level(1, 0.01), behind(1.1, 0.01);
  const Measurement careful = measure(plan, std::ref(level));
  const Measurement rough = measure(plan, std::ref(behind));
  EXPECT_LE(relative_interval(careful.timing), 0.005);
  EXPECT_LE(relative_interval(rough.timing), 0.035) << "0.3 of the distance to the best, and its own spread";
  EXPECT_LT(2 * rough.timing.samples, careful.timing.samples);
}

TEST(Measure, FewerSamplesSayThatACandidateIsBehind) {
  MeasurePlan plan;
  plan.best_ms = 1;
  Synthetic level(1.01, 1e-4), behind(1.04, 1e-4);
  EXPECT_EQ(measure(plan, std::ref(level)).timing.samples, kFewestSamples);
  EXPECT_EQ(measure(plan, std::ref(behind)).timing.samples, 6);
}

TEST(Measure, KeepsOneJustWithinTheDropFactor) {
  MeasurePlan plan;
  plan.best_ms = 1;
  Synthetic kernel(1.4, 1e-4);
  EXPECT_FALSE(measure(plan, std::ref(kernel)).dropped);
}

TEST(Measure, TheMedianDecidesWhetherAKernelIsDroppedNotAnEndOfTheInterval) {
  MeasurePlan plan;
  plan.best_ms = 1;
  plan.drop_factor = 1.5;
  plan.first_look_ms = 4;
  const auto dropped = [&](std::vector<double> first) {
    std::size_t next = 0;
    const auto take = [&] {
      const double ms = first[next++ % first.size()];
      return Sample{ms, ms};
    };
    return measure(plan, take).dropped;
  };
  EXPECT_FALSE(dropped({1.4, 1.7, 1.4}));
  EXPECT_TRUE(dropped({1.6, 1.3, 1.6}));
}

TEST(Measure, WithoutABestNothingIsDropped) {
  Synthetic kernel(1000, 1e-4);
  EXPECT_FALSE(measure({}, std::ref(kernel)).dropped);
  EXPECT_EQ(kernel.taken, 1);  // one sample is already over the cap
}

}  // namespace
}  // namespace stencil_tune
