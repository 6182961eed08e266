#include "runtime/model/model_agreement.hpp"

#include "db/stored_code.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace stencil_tune {
namespace {

constexpr int kFewest = 3;

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double mean = static_cast<double>(first + end - 1) / 2;
    for (; first < end; ++first) result[order[first]] = mean;
  }
  return result;
}

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> ra = ranks(a), rb = ranks(b);
  const double mean = (static_cast<double>(ra.size()) - 1) / 2;
  double both = 0, own_a = 0, own_b = 0;
  for (std::size_t i = 0; i < ra.size(); ++i) {
    both += (ra[i] - mean) * (rb[i] - mean);
    own_a += (ra[i] - mean) * (ra[i] - mean);
    own_b += (rb[i] - mean) * (rb[i] - mean);
  }
  return own_a > 0 && own_b > 0 ? both / std::sqrt(own_a * own_b) : 0;
}

Agreement model_agreement(const PerformanceModel& model, std::span<const TrialRecord> trials) {
  std::map<std::string, const TrialRecord*> by_code;
  for (const TrialRecord& trial : trials) {
    if (trial.outcome == Outcome::ok && !trial.predicted && is_readable(trial)) by_code[trial.code] = &trial;
  }
  std::vector<double> predicted, measured;
  for (const auto& [trial_code, trial] : by_code) {
    const Tuning tuning = parse_code(trial_code);
    const double time = model.predict(tuning, KernelResources{trial->registers, trial->spill_bytes, 0, 0}).time_ms;
    if (!std::isfinite(time)) continue;
    predicted.push_back(time);
    measured.push_back(trial->timing.median_ms);
  }
  Agreement agreement{static_cast<int>(predicted.size()), 0};
  if (agreement.trials >= kFewest) agreement.spearman = rank_correlation(predicted, measured);
  return agreement;
}

}  // namespace stencil_tune
