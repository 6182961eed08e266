#include "bench/fit/ranking.hpp"

#include "tuner/model/model_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stencil_tune {

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

Ranking rank(std::span<const double> predicted, std::span<const double> measured) {
  constexpr std::size_t kFirst = 12;
  std::vector<std::size_t> order(predicted.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return predicted[a] > predicted[b]; });
  double found = 0;
  for (std::size_t i = 0; i < std::min(kFirst, order.size()); ++i) found = std::max(found, measured[order[i]]);
  const double best = *std::max_element(measured.begin(), measured.end());
  return {1 - found / best, rank_correlation(predicted, measured)};
}

double weight(double gstencils, double best) { return std::pow(gstencils / best, 2); }

Errors errors_of(std::span<const double> predicted, std::span<const double> measured) {
  const double best = *std::max_element(measured.begin(), measured.end());
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

FitRecord judge(const std::string& file, std::span<const MeasuredProblem> problems, const DeviceModel& device,
                const Calibration& calibration) {
  FitRecord record;
  record.trials = file;
  record.problems = static_cast<int>(problems.size());
  for (const MeasuredProblem& measured : problems) {
    const std::vector<double> predicted = predicted_rates(model_for(measured.problem, device, calibration), measured);
    std::vector<double> rates;
    for (const MeasuredCandidate& candidate : measured.candidates) rates.push_back(candidate.gstencils);
    const Ranking ranking = rank(predicted, rates);
    const Errors errors = errors_of(predicted, rates);
    const double share = 1 / static_cast<double>(problems.size());
    record.candidates += static_cast<int>(rates.size());
    record.deviation += share * errors.deviation;
    record.level += share * errors.level * errors.level;
    record.lost += share * ranking.lost;
    record.agreement += share * ranking.agreement;
  }
  record.level = std::sqrt(record.level);
  return record;
}

}  // namespace stencil_tune
