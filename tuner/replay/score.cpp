#include "tuner/replay/score.hpp"

#include "tuner/replay/curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace stencil_tune {
namespace {

constexpr double kMargin = 0.1;             // share of the times on both sides: evaluations there count for the curve
constexpr std::size_t kFewestFits = 3;      // the curve is the mean of as many fits at the least
constexpr std::uint64_t kResampling = 100;  // the seed; the published score draws anew each time

struct Progress {
  double elapsed_ms;
  double best_ms;
};

/// The best so far at each evaluation from the first that worked.
std::vector<Progress> progress_of(const SearchRun& run) {
  std::vector<Progress> progress;
  double best = std::numeric_limits<double>::infinity();
  for (const RunStep& step : run) {
    best = std::min(best, step.time_ms);
    if (std::isfinite(best)) progress.push_back({step.elapsed_ms, best});
  }
  return progress;
}

/// 0: no better than random search is expected to be; 1: the optimum; NaN where random search has found that.
std::vector<double> standardised(const RandomBaseline& baseline, const std::vector<double>& best) {
  std::vector<double> performance;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const double room = baseline.best()[i] - baseline.optimum();
    performance.push_back(room > 0 ? (baseline.best()[i] - best[i]) / room : std::nan(""));
  }
  return performance;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double value : values) {
    if (!std::isnan(value)) sum += value, ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// Ranks of the best so far of all runs as one falling curve: the mean of as many fits as there are runs, each to
/// samples drawn again (bagging).
std::vector<double> mean_curve(const RandomBaseline& baseline, std::vector<CurvePoint> points, std::size_t runs) {
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  const std::size_t fits = std::max(runs, kFewestFits);
  const auto drawn = std::max<std::size_t>(
      1, static_cast<std::size_t>(static_cast<double>(points.size()) / std::sqrt(static_cast<double>(fits))));
  std::mt19937_64 random(kResampling);
  std::uniform_int_distribution<std::size_t> pick(0, points.size() - 1);
  std::vector<double> sum(baseline.times().size(), 0.0);
  for (std::size_t fit = 0; fit < fits; ++fit) {
    std::vector<int> times_drawn(points.size(), 0);
    for (std::size_t i = 0; i < drawn; ++i) ++times_drawn[pick(random)];
    std::vector<CurvePoint> sample;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (times_drawn[i] > 0) sample.push_back({points[i].x, points[i].y, static_cast<double>(times_drawn[i])});
    }
    const std::vector<double> curve = falling_curve(sample, baseline.times());
    for (std::size_t i = 0; i < curve.size(); ++i) sum[i] += curve[i];
  }
  for (double& value : sum) value /= static_cast<double>(fits);
  return sum;
}

/// Times in ms of the curve of ranks, held where half of the runs have ended.
std::vector<double> times_of(const RandomBaseline& baseline, const std::vector<double>& ranks, double half_ended) {
  std::vector<double> best;
  std::size_t held = 0;  // where it is held from
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (baseline.times()[i] <= half_ended || i == 0) held = i + 1;
    const double rank = std::nearbyint(ranks[std::min(i, held)]);
    best.push_back(
        baseline.time_of_rank(std::min(static_cast<std::size_t>(std::max(rank, 0.0)), baseline.working() - 1)));
  }
  return best;
}

/// The score of one run alone: by the best that it knows at each time, or the first that it will know.
double score_of_run(const RandomBaseline& baseline, const std::vector<Progress>& progress) {
  std::vector<double> best;
  std::size_t next = 0;
  for (const double time : baseline.times()) {
    while (next + 1 < progress.size() && progress[next + 1].elapsed_ms <= time) ++next;
    best.push_back(progress[next].best_ms);
  }
  return mean_of(standardised(baseline, best));
}

}  // namespace

Nearness nearness_after(std::size_t evaluations, double optimum, const std::vector<SearchRun>& runs) {
  Nearness nearness{.evaluations = evaluations, .least = 1};
  for (const SearchRun& run : runs) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min(evaluations, run.size()); ++i) best = std::min(best, run[i].time_ms);
    const double share = optimum / best;
    nearness.share += share / static_cast<double>(runs.size());
    nearness.least = std::min(nearness.least, share);
    nearness.within += share >= 1 - kNear ? 1 : 0;
  }
  return nearness;
}

Score score_of(const RandomBaseline& baseline, const std::vector<SearchRun>& runs) {
  Score score;
  std::vector<CurvePoint> points;
  std::vector<double> ends;
  const double first = baseline.times().front() * (1 - kMargin), last = baseline.times().back() * (1 + kMargin);
  for (const SearchRun& run : runs) {
    std::vector<Progress> progress = progress_of(run);
    if (progress.empty()) progress.push_back({first, baseline.time_of_rank(baseline.working() / 2)});
    for (const Progress& at : progress) {
      if (at.elapsed_ms < first || at.elapsed_ms > last) continue;
      points.push_back({at.elapsed_ms, static_cast<double>(baseline.rank(at.best_ms))});
    }
    ends.push_back(progress.back().elapsed_ms);
    score.of_runs.push_back(score_of_run(baseline, progress));
  }
  if (runs.empty() || points.empty()) return score;
  const auto ranks = mean_curve(baseline, std::move(points), runs.size());
  score.curve = standardised(baseline, times_of(baseline, ranks, median_of(ends)));
  score.mean = mean_of(score.curve);
  const double mean = mean_of(score.of_runs);
  double squares = 0;
  for (const double of_run : score.of_runs) squares += (of_run - mean) * (of_run - mean);
  score.deviation = runs.size() > 1 ? std::sqrt(squares / static_cast<double>(runs.size() - 1)) : 0;
  return score;
}

}  // namespace stencil_tune
