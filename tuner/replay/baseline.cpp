#include "tuner/replay/curves.hpp"
#include "tuner/replay/score.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stencil_tune {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

namespace {

/// The mean cost of an evaluation that works, with what failures between them add.
double mean_cost(const RecordedSpace& space) {
  double working = 0, failing = 0;
  double works = 0, fails = 0;
  for (const ConfigurationRecord& evaluation : space.evaluations) {
    (evaluation.failed() ? failing : working) += evaluation.cost_ms;
    (evaluation.failed() ? fails : works) += 1;
  }
  const double of_failures = fails > 0 ? failing / fails : 0;
  return working / works + fails / (works + fails) * of_failures;
}

double median_cost(const RecordedSpace& space) {
  std::vector<double> costs;
  for (const ConfigurationRecord& evaluation : space.evaluations) costs.push_back(evaluation.cost_ms);
  return median_of(std::move(costs));
}

/// Halves go to the even neighbour, as the published numbers were rounded.
std::size_t rounded(double value) { return static_cast<std::size_t>(std::nearbyint(value)); }

std::vector<double> equidistant(double from, double to, std::size_t count) {
  std::vector<double> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    points[i] = from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1);
  }
  return points;
}

/// The expected best time after so many draws without replacement: a place in the order from the slowest.
double expected_best(const std::vector<double>& ascending, std::size_t draws) {
  const auto n = static_cast<double>(ascending.size());
  const auto m = static_cast<double>(draws);
  const std::size_t from_slowest = std::min(rounded(m * (n + 1) / (m + 1)), ascending.size() - 1);
  return ascending[ascending.size() - 1 - from_slowest];
}

}  // namespace

RandomBaseline::RandomBaseline(const RecordedSpace& space, const ScoreSetup& setup) {
  for (const ConfigurationRecord& evaluation : space.evaluations) {
    if (!evaluation.failed()) ascending_.push_back(evaluation.time_ms);
  }
  std::sort(ascending_.begin(), ascending_.end());
  const double typical = median_cost(space);
  const auto evaluations = [&](double share) { return static_cast<double>(evaluations_to(share)); };
  times_ = equidistant(evaluations(setup.from) * typical, evaluations(setup.until) * typical, setup.points);

  const double mean = mean_cost(space);
  std::vector<double> draws, best;  // each number of draws, and the best time expected after it
  std::vector<double> first_and_last;
  for (const double time : times_) {
    const auto count = static_cast<double>(rounded(std::max(time / mean, 1.0)));
    if (!draws.empty() && draws.back() == count) continue;
    draws.push_back(count);
    best.push_back(expected_best(ascending_, static_cast<std::size_t>(count)));
  }
  expected_ = draws.size() < 2 ? std::vector<double>(setup.points, best.front())
                               : monotone_cubic(draws, best, equidistant(draws.front(), draws.back(), setup.points));
}

std::size_t RandomBaseline::evaluations_to(double share) const {
  const double target = optimum() + (median_of(ascending_) - optimum()) * (1 - share);
  const auto slower = ascending_.end() - std::upper_bound(ascending_.begin(), ascending_.end(), target);
  return static_cast<std::size_t>(std::ceil(
      static_cast<double>(slower) / static_cast<double>(ascending_.size() + 1 - static_cast<std::size_t>(slower))));
}

std::size_t RandomBaseline::rank(double time_ms) const {
  return static_cast<std::size_t>(std::lower_bound(ascending_.begin(), ascending_.end(), time_ms) - ascending_.begin());
}

}  // namespace stencil_tune
