#include "tuner/report/report_data.hpp"

#include "db/stored_code.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/textbook.hpp"
#include "generator/definition/corpus.hpp"
#include "runtime/export/export.hpp"
#include "stencil_tune/stencil.hpp"
#include "tuner/model/device_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stencil_tune {
namespace {

std::string value_text(const Parameter& parameter, const Tuning& tuning) {
  const auto value = static_cast<std::size_t>(parameter.get(tuning));
  return value < parameter.words.size() ? std::string(parameter.words[value]) : fmt::format("{}", value);
}

bool was_timed(const TrialRecord& trial) { return trial.outcome == Outcome::ok && !objection_to(trial); }

std::vector<ReportedRate> rates_of(std::span<const TrialRecord> trials) {
  std::vector<ReportedRate> rates;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!was_timed(trials[i])) continue;
    rates.push_back(
        {static_cast<int>(i) + 1, trials[i].code, trials[i].gstencils, sweeps_per_launch(parse_code(trials[i].code))});
  }
  return rates;
}

std::vector<ReportedParameter> parameters_of(const Tuning& winner, std::span<const TrialRecord> trials) {
  std::vector<ReportedParameter> all;
  for (const Parameter& parameter : winner.family->parameters) {
    std::map<int, ReportedValue> values;
    for (const TrialRecord& trial : trials) {
      if (!was_timed(trial)) continue;
      const Tuning tuning = parse_code(trial.code);
      if (tuning.family != winner.family || !parameter.used_by(tuning)) continue;
      ReportedValue& value = values[static_cast<int>(parameter.get(tuning))];
      value.value = value_text(parameter, tuning);
      value.gstencils = std::max(value.gstencils, trial.gstencils);
      ++value.trials;
    }
    if (values.size() < 2) continue;
    ReportedParameter& reported = all.emplace_back();
    reported.name = parameter.name;
    reported.meaning = parameter.meaning;
    reported.winners = value_text(parameter, winner);
    for (const auto& [number, value] : values) reported.values.push_back(value);
  }
  return all;
}

std::vector<ReportedFailure> failures_of(std::span<const TrialRecord> trials) {
  std::map<std::string, int> counts;
  for (const TrialRecord& trial : trials) {
    if (trial.outcome == Outcome::ok) continue;
    ++counts[fmt::format("{}: {}", name(trial.outcome), trial.message.substr(0, trial.message.find('\n')))];
  }
  std::vector<ReportedFailure> failures;
  for (const auto& [reason, count] : counts) failures.push_back({reason, count});
  std::stable_sort(failures.begin(), failures.end(), [](const auto& a, const auto& b) { return a.trials > b.trials; });
  return failures;
}

std::vector<ReportedBaseline> baselines_of(const Problem& problem, const Limits& limits,
                                           std::span<const TrialRecord> trials) {
  std::vector<ReportedBaseline> all;
  for (const Baseline& baseline : textbook_baselines(problem, limits)) {
    if (!baseline.tuning) continue;
    ReportedBaseline reported{std::string(baseline.name), code(*baseline.tuning), 0};
    for (const TrialRecord& trial : trials) {
      if (trial.outcome == Outcome::ok && trial.code == reported.code) {
        reported.gstencils = std::max(reported.gstencils, trial.gstencils);
      }
    }
    if (reported.gstencils > 0) all.push_back(std::move(reported));
  }
  return all;
}

void add_device(const TrialRecord& trial, ElementType type, ReportData& data) {
  for (const DeviceModel& model : device_models()) {
    if (model.gpu != trial.platform.gpu) continue;
    const int lanes = type == ElementType::f64 ? model.f64_lanes : model.f32_lanes;
    data.l2_gbs = model.l2_gbs;
    data.compute_gflops = 2.0 * lanes * model.multiprocessors * model.clock_ghz;
  }
}

/// Of the problem, whose key it is.
std::string options_of(const Problem& problem, const ProblemKey& key) {
  const bool is_known = known_stencil(key.stencil_name, key.stencil_key).has_value();
  std::string text =
      fmt::format("--stencil {} --dims {} --type {} --boundary {}", is_known ? key.stencil_name : "FILE.toml",
                  to_string(key.extents), name(key.type), to_string(key.boundaries, key.extents.rank));
  if (key.pitch != key.extents.n[0]) text += fmt::format(" --pitch {}", key.pitch);
  if (key.steps > 1) text += fmt::format(" --steps {}", key.steps);
  if (!is_whole_step(problem)) text += fmt::format(" --stage {}", key.stage);
  return text;
}

}  // namespace

ReportData collect_report(const Problem& problem, const WinnerRecord& winner, std::span<const TrialRecord> trials) {
  const TrialRecord& trial = winner.trial;
  ReportData data;
  data.winner = winner;
  data.trials = static_cast<int>(trials.size());
  data.rates = rates_of(trials);
  data.failures = failures_of(trials);
  data.baselines = baselines_of(problem, limits_of_architecture(trial.platform.architecture), trials);
  data.operations = problem.facts.operations;
  data.bytes = static_cast<double>(minimal_bytes(problem.facts, problem.type));
  data.options = options_of(problem, trial.problem);
  add_device(trial, problem.type, data);
  if (objection_to(trial)) return data;
  const Tuning tuning = parse_code(trial.code);
  data.parameters = parameters_of(tuning, trials);
  data.kernel = export_kernel(problem, tuning,
                              {.name = export_name(problem.stencil.name), .architecture = trial.platform.architecture})
                    .source;
  return data;
}

}  // namespace stencil_tune
