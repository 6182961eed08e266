#include "tuner/measure/measurement.hpp"

#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stencil_tune {
namespace {

constexpr std::size_t kFewestForInterval = 6;  // 2 / 2^6 < 5 %: the range of six samples covers the median
constexpr double kSampleMs = 0.5;              // 1000 times the events' resolution
constexpr int kMostLaunches = 4096;
// A launch this long is far slower than any copy: which buffers it found in the caches does not matter, time does.
constexpr double kLongLaunchMs = 50;
constexpr double kPartOfDistance = 0.3;  // how wide a slower candidate's interval may be, over its distance to the best
constexpr double kBehind = 0.02;         // share of the best time: a candidate that is slower by more does not lead

/// How many samples to leave out on each side of the sorted list so that the rest covers the median with 95 %: the
/// largest k with P(Binomial(n, 1/2) < k) <= 2.5 %.
std::size_t left_out(std::size_t n) {
  using RoundUp =
      boost::math::policies::policy<boost::math::policies::discrete_quantile<boost::math::policies::integer_round_up>>;
  const boost::math::binomial_distribution<double, RoundUp> below_median(static_cast<double>(n), 0.5);
  return static_cast<std::size_t>(quantile(below_median, 0.025));
}

/// What is surely slower than the best need not be known as well as the best itself: a trial of a noisy kernel would
/// otherwise take as long as ten others, and one of fused steps, which rests after each sample, twice as long as it has
/// to.
bool is_known_well_enough(const MeasurePlan& plan, const Timing& timing) {
  const double slower = plan.best_ms > 0 ? timing.median_ms / plan.best_ms - 1 : 0;
  const int fewest = slower > kBehind ? static_cast<int>(kFewestForInterval) : kFewestSamples;
  return timing.samples >= fewest &&
         relative_interval(timing) <= std::max(plan.relative_interval, kPartOfDistance * slower);
}

}  // namespace

Timing summarise(std::span<const double> samples_ms) {
  if (samples_ms.empty()) return {};
  std::vector<double> sorted(samples_ms.begin(), samples_ms.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  // With P(X < k) <= 2.5 %, the k-th smallest and the k-th largest (counted from one) bound the median.
  const std::size_t k = n < kFewestForInterval ? 0 : std::max<std::size_t>(left_out(n), 1) - 1;
  return {(sorted[(n - 1) / 2] + sorted[n / 2]) / 2, sorted[k], sorted[n - 1 - k], static_cast<int>(n)};
}

double relative_interval(const Timing& timing) {
  if (timing.samples < static_cast<int>(kFewestForInterval) || !(timing.median_ms > 0)) {
    return std::numeric_limits<double>::infinity();
  }
  return (timing.high_ms - timing.low_ms) / timing.median_ms;
}

int launches_per_sample(double launch_ms, int period) {
  if (launch_ms > kLongLaunchMs) return 1;
  const double wanted = std::ceil(kSampleMs / std::max(launch_ms, 1e-6));
  const int launches = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMostLaunches)));
  return (launches + period - 1) / period * period;
}

Measurement measure(const MeasurePlan& plan, const std::function<Sample()>& take_sample) {
  std::vector<double> samples;
  double elapsed = 0;
  const auto take = [&] {
    const Sample sample = take_sample();
    samples.push_back(sample.launch_ms);
    elapsed += sample.elapsed_ms;
  };

  do take();
  while (elapsed < plan.first_look_ms);
  const Timing first = summarise(samples);
  if (plan.best_ms > 0 && first.median_ms > plan.drop_factor * plan.best_ms) return {first, true};

  Timing timing = first;
  while (elapsed < plan.cap_ms && !is_known_well_enough(plan, timing)) {
    // Looking after every sample would sort too often and stop on lucky streaks.
    const std::size_t batch = std::max<std::size_t>(1, samples.size() / 8);
    for (std::size_t i = 0; i < batch && elapsed < plan.cap_ms; ++i) take();
    timing = summarise(samples);
  }
  return {timing, false};
}

}  // namespace stencil_tune
