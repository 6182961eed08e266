#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"
#include "generator/printable.hpp"
#include "runtime/model/device_model.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/stencil_tables.hpp"
#include "tuner/replay/formats.hpp"
#include "tuner/replay/recorded_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace stencil_tune {
namespace {

/// Those that are candidates of the problem today, each with its best rate: codes may differ in what is not used.
std::map<std::string, double> legal_rates(const MeasuredProblem& measured, const Limits& limits) {
  const Space space(measured.problem, limits);
  std::map<std::string, double> rates;
  for (const MeasuredCandidate& candidate : measured.candidates) {
    const Tuning tuning = with_used_values_alone(candidate.tuning);
    if (!space.legal(tuning)) continue;
    double& rate = rates[code(tuning)];
    rate = std::max(rate, candidate.gstencils);
  }
  return rates;
}

}  // namespace

std::vector<RecordedSpace> parse_trials_spaces(const std::string& path, const std::string& text) {
  const RecordedTrials recorded = parse_recorded_trials(path, text);
  const Limits limits = limits_of_architecture(device_model_of_gpu(recorded.gpu).architecture);
  std::vector<RecordedSpace> spaces;
  for (const RecordedProblem& problem : recorded.problems) {
    if (problem.trials.size() < kFewestOfAProblem) continue;
    MeasuredProblem measured = parse_recorded(problem);
    const std::map<std::string, double> rates = legal_rates(measured, limits);
    if (rates.size() < kFewestOfAProblem) continue;
    const auto cells = static_cast<double>(updated_box(measured.problem).cells());
    SpaceBuilder builder(problem.name);
    std::vector<Tuning> tunings;
    for (const auto& [code, rate] : rates) {
      tunings.push_back(parse_code(code));
      builder.add(parameter_values(tunings.back()), {cells / rate / 1e6, kCostOfATrial});
    }
    spaces.push_back(builder.build());
    spaces.back().stencil = std::make_shared<const StencilCandidates>(
        StencilCandidates{std::move(measured.problem), recorded.gpu, std::move(tunings)});
  }
  if (spaces.empty()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no problem has {} recorded candidates to search among",
                                                         printable(path), kFewestOfAProblem));
  }
  return spaces;
}

}  // namespace stencil_tune
