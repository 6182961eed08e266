#include "bench/fit/ranking.hpp"

#include "runtime/model/model_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stencil_tune {
namespace {

/// What the best of the model's first twelve lacks to the best of all.
double lost_by_first(std::span<const double> predicted, std::span<const double> measured) {
  constexpr std::size_t kFirst = 12;
  std::vector<std::size_t> order(predicted.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return predicted[a] > predicted[b]; });
  double found = 0;
  for (std::size_t i = 0; i < std::min(kFirst, order.size()); ++i) found = std::max(found, measured[order[i]]);
  return 1 - found / highest(measured);
}

/// How far log(predicted / measured) is off over a problem's candidates, each by its weight.
struct Errors {
  double level = 0;      ///< their mean
  double deviation = 0;  ///< from that mean
};

Errors errors_of(std::span<const double> predicted, std::span<const double> measured) {
  const double best = highest(measured);
  double weights = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (!(predicted[i] > 0)) continue;
    const double w = weight(measured[i], best), error = std::log(predicted[i] / measured[i]);
    weights += w;
    sum += w * error;
    squares += w * error * error;
  }
  if (weights <= 0) return {};
  const double level = sum / weights;
  return {level, std::sqrt(std::max(0.0, squares / weights - level * level))};
}

}  // namespace

PerformanceModel model_for(const Problem& problem, const DeviceModel& device, const Calibration& calibration) {
  return {problem, limits_of_architecture(device.architecture), device, calibration};
}

std::vector<double> predicted_rates(const PerformanceModel& model, const MeasuredProblem& measured) {
  std::vector<double> rates;
  for (const MeasuredCandidate& candidate : measured.candidates) {
    rates.push_back(model.predict(candidate.tuning).gstencils);
  }
  return rates;
}

double highest(std::span<const double> rates) { return *std::max_element(rates.begin(), rates.end()); }

double weight(double gstencils, double best) { return std::pow(gstencils / best, 2); }

FitRecord judge(std::span<const double> predicted, std::span<const double> measured) {
  const Errors errors = errors_of(predicted, measured);
  FitRecord record;
  record.problems = 1;
  record.candidates = static_cast<int>(measured.size());
  record.deviation = errors.deviation;
  record.level = errors.level;
  record.highest = std::log(highest(predicted) / highest(measured));
  record.lost = lost_by_first(predicted, measured);
  record.agreement = rank_correlation(predicted, measured);
  return record;
}

FitRecord mean(std::span<const FitRecord> of_problems) {
  FitRecord all;
  for (const FitRecord& record : of_problems) {
    const double share = 1 / static_cast<double>(of_problems.size());
    all.problems += record.problems;
    all.candidates += record.candidates;
    all.deviation += share * record.deviation;
    all.level += share * record.level * record.level;
    all.highest += share * record.highest * record.highest;
    all.lost += share * record.lost;
    all.agreement += share * record.agreement;
  }
  all.level = std::sqrt(all.level);
  all.highest = std::sqrt(all.highest);
  return all;
}

FitRecord judge(const std::string& file, std::span<const MeasuredProblem> problems, const DeviceModel& device,
                const Calibration& calibration) {
  std::vector<FitRecord> of_problems;
  for (const MeasuredProblem& measured : problems) {
    std::vector<double> rates;
    for (const MeasuredCandidate& candidate : measured.candidates) rates.push_back(candidate.gstencils);
    of_problems.push_back(judge(predicted_rates(model_for(measured.problem, device, calibration), measured), rates));
  }
  FitRecord record = mean(of_problems);
  record.trials = file;
  return record;
}

}  // namespace stencil_tune
