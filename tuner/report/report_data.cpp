#include "tuner/report/report_data.hpp"

#include "db/stored_code.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/textbook/textbook.hpp"
#include "generator/stencil/describe.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "runtime/export/export.hpp"
#include "runtime/model/device_model.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iomanip>
#include <map>
#include <optional>
#include <sstream>

namespace stencil_tune {
namespace {

std::string value_text(const Parameter& parameter, const Tuning& tuning) {
  const auto value = static_cast<std::size_t>(parameter.get(tuning));
  return value < parameter.words.size() ? std::string(parameter.words[value]) : fmt::format("{}", value);
}

bool was_timed(const TrialRecord& trial) { return trial.outcome == Outcome::ok && !objection_to(trial); }

/// Reads a time as the database keeps it, 2026-01-31T12:00:00.123Z.
double seconds_since_1970(const std::string& utc) {
  std::istringstream in(utc);
  std::tm time{};
  in >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  double fraction = 0;
  if (in.peek() == '.') in >> fraction;
  return static_cast<double>(timegm(&time)) + fraction;
}

/// The time of the search at each trial: sessions follow each other without a gap.
std::vector<double> seconds_of_search(std::span<const TrialRecord> trials) {
  std::vector<double> seconds;
  double start = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double now = seconds_since_1970(trials[i].created_at);
    const double before = seconds.empty() ? 0 : seconds.back();
    if (i == 0 || trials[i].session != trials[i - 1].session) start = now - before;
    seconds.push_back(std::max(before, now - start));
  }
  return seconds;
}

/// Those that were right, a launch making as many steps as `steps_of` says.
std::vector<ReportedRate> rates_of(std::span<const TrialRecord> trials, int (*steps_of)(const TrialRecord&)) {
  const std::vector<double> seconds = seconds_of_search(trials);
  std::vector<ReportedRate> rates;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const TrialRecord& trial = trials[i];
    if (!was_timed(trial)) continue;
    rates.push_back({static_cast<int>(i) + 1, trial.code, trial.rate, steps_of(trial), seconds[i]});
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
      value.rate = std::max(value.rate, trial.rate);
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
        reported.rate = std::max(reported.rate, trial.rate);
      }
    }
    if (reported.rate > 0) all.push_back(std::move(reported));
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

/// The options that name the problem whose key it is.
std::string options_of(const Problem& problem, const ProblemKey& key, const std::string& definition) {
  std::string text = fmt::format("{} --dims {} --type {} --boundary {}",
                                 definition.empty() ? fmt::format("--stencil {}", key.stencil_name) : definition,
                                 to_string(key.extents), name(key.type), to_string(key.boundaries, key.extents.rank));
  if (key.pitch != key.extents.n[0]) text += fmt::format(" --pitch {}", key.pitch);
  if (key.steps > 1) text += fmt::format(" --steps {}", key.steps);
  if (!is_whole_step(problem)) text += fmt::format(" --stage {}", key.stage);
  return text;
}

/// The values of a trial's configuration; nothing where it is none of the definition any more.
std::optional<ParameterValues> values_of(const UserKernel& kernel, const TrialRecord& trial) {
  try {
    return parse_configuration(kernel, trial.code);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<ReportedParameter> parameters_of(const UserKernel& kernel, const ParameterValues& winner,
                                             std::span<const TrialRecord> trials) {
  std::vector<ReportedParameter> all;
  for (std::size_t place = 0; place < kernel.parameters.size(); ++place) {
    std::map<std::int64_t, ReportedValue> tried;
    for (const TrialRecord& trial : trials) {
      const auto values = was_timed(trial) ? values_of(kernel, trial) : std::nullopt;
      if (!values) continue;
      const std::int64_t number = (*values)[place];
      ReportedValue& value = tried[number];
      value.value = std::to_string(number);
      value.rate = std::max(value.rate, trial.rate);
      ++value.trials;
    }
    if (tried.size() < 2) continue;
    ReportedParameter& reported = all.emplace_back();
    reported.name = kernel.parameters[place].name;
    reported.winners = std::to_string(winner[place]);
    for (const auto& [number, value] : tried) reported.values.push_back(value);
  }
  return all;
}

/// Rates in GFLOP/s stand over operations a byte; others have no roofline.
void add_counts(const UserKernel& kernel, ReportData& data) {
  if (!kernel.flops || !kernel.bytes) return;
  const auto flops = static_cast<double>(kernel.flops->evaluate(kernel.size_values()));
  const auto bytes = static_cast<double>(kernel.bytes->evaluate(kernel.size_values()));
  if (flops <= 0 || bytes <= 0) return;
  data.operations = 1;
  data.bytes = bytes / flops;
}

}  // namespace

ReportData collect_report(const UserKernel& kernel, const WinnerRecord& winner, std::span<const TrialRecord> trials,
                          const std::string& file) {
  ReportData data;
  data.winner = winner;
  data.trials = static_cast<int>(trials.size());
  data.rates = rates_of(trials, [](const TrialRecord&) { return 1; });
  data.failures = failures_of(trials);
  add_counts(kernel, data);
  std::string sizes;
  for (const UserKernelSize& size : kernel.sizes) sizes += fmt::format(" --size {}={}", size.name, size.value);
  data.commands = fmt::format("stencil-tune kernel {0}{1}\nstencil-tune export {0}{1} -o winner.cu", file, sizes);
  const bool is_f64 = std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                                  [](const KernelArgument& each) { return each.type == CellType::f64; });
  add_device(winner.trial, is_f64 ? ElementType::f64 : ElementType::f32, data);
  if (const auto values = values_of(kernel, winner.trial)) {
    data.parameters = parameters_of(kernel, *values, trials);
    data.kernel = user_source(kernel, *values).text;
  }
  return data;
}

ReportData collect_report(const Problem& problem, const WinnerRecord& winner, std::span<const TrialRecord> trials,
                          const std::string& definition) {
  const TrialRecord& trial = winner.trial;
  ReportData data;
  data.winner = winner;
  data.trials = static_cast<int>(trials.size());
  data.rates = rates_of(trials, [](const TrialRecord& each) { return sweeps_per_launch(parse_code(each.code)); });
  data.failures = failures_of(trials);
  data.baselines = baselines_of(problem, limits_of_architecture(trial.platform.architecture), trials);
  data.operations = problem.facts.operations;
  data.bytes = static_cast<double>(least_bytes(problem.stencil, problem.facts, problem.type));
  const std::string options = options_of(problem, trial.problem, definition);
  data.commands =
      fmt::format("stencil-tune tune {0} --candidates {1}\nstencil-tune export {0} -o kernel.cu", options, trial.code);
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
