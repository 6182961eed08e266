#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/formats.hpp"
#include "tuner/exchange/json_values.hpp"
#include "tuner/exchange/table_objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRate = "GStencil/s";
constexpr const char* kLookedFor = "objectives";

struct Invalidity {
  Outcome outcome;
  std::string_view name;
};

/// The first of a name is what it is read as.
constexpr std::array<Invalidity, 9> kInvalidities{{{Outcome::ok, "correct"},
                                                   {Outcome::compile_failed, "compile"},
                                                   {Outcome::compile_timeout, "compile"},
                                                   {Outcome::exceeds_limits, "constraints"},
                                                   {Outcome::wrong_result, "correctness"},
                                                   {Outcome::launch_failed, "runtime"},
                                                   {Outcome::device_lost, "runtime"},
                                                   {Outcome::worker_killed, "runtime"},
                                                   {Outcome::timeout, "timeout"}}};

std::string_view invalidity_of(Outcome outcome) {
  const auto* at = std::find_if(kInvalidities.begin(), kInvalidities.end(),
                                [&](const Invalidity& each) { return each.outcome == outcome; });
  return at->name;
}

Outcome outcome_of(const std::string& invalidity) {
  const auto* at = std::find_if(kInvalidities.begin(), kInvalidities.end(),
                                [&](const Invalidity& each) { return each.name == invalidity; });
  return at == kInvalidities.end() ? Outcome::launch_failed : at->outcome;
}

struct Measurement {
  bool is_there = false;
  double value = 0;  ///< 0: it is no positive number
  std::string unit{};
};

/// The measurement of this name.
Measurement measured(const nlohmann::json& result, const std::string& name) {
  const auto measurements = result.find("measurements");
  if (measurements == result.end() || !measurements->is_array()) return {};
  for (const auto& measurement : *measurements) {
    if (!measurement.is_object() || text_or_empty(measurement, "name") != name) continue;
    const auto value = measurement.find("value");
    const bool is_figure = value != measurement.end() && is_time(*value);
    return {true, is_figure ? value->get<double>() : 0, text_or_empty(measurement, "unit")};
  }
  return {};
}

bool is_correct(const nlohmann::json& result) { return outcome_of(text_or_empty(result, "invalidity")) == Outcome::ok; }

/// By which the results are read: where what was looked for is a rate, by the time beside it, if there is one. Units
/// stand with the results that are correct.
TableObjective objective_of(const std::string& file, const nlohmann::json& file_json) {
  const nlohmann::json& results = file_json["results"];
  const auto first = std::find_if(results.begin(), results.end(), [](const nlohmann::json& result) {
    return result.is_object() && is_correct(result) && measured(result, objective_name(result, kLookedFor)).is_there;
  });
  if (first == results.end()) return {};
  const std::string name = objective_name(*first, kLookedFor);
  TableObjective objective = table_objective(file, name, measured(*first, name).unit, higher_is_better(file_json));
  if (objective.rate.empty()) return objective;
  const Measurement time = measured(*first, TableObjective().name);
  return time.value > 0 ? table_objective(file, TableObjective().name, time.unit, std::nullopt) : objective;
}

/// The schema says compilation_time and benchmark_time, files say compilation and benchmark, or have the single runs
/// alone.
void read_times(const nlohmann::json& times, TableTrial& trial) {
  trial.compile_ms = time_or_zero(times, "compilation") + time_or_zero(times, "compilation_time");
  trial.benchmark_ms = time_or_zero(times, "benchmark") + time_or_zero(times, "benchmark_time");
  const auto runs = times.find("runtimes");
  if (runs == times.end() || !runs->is_array()) return;
  trial.timing.samples = static_cast<int>(runs->size());
  if (trial.benchmark_ms > 0) return;
  for (const auto& run : *runs) trial.benchmark_ms += is_time(run) ? run.get<double>() : 0;
}

TableTrial trial_of(const std::string& file, const nlohmann::json& result, const TableObjective& objective) {
  TableTrial trial;
  const auto times = result.find("times");
  if (times != result.end() && times->is_object()) read_times(*times, trial);
  trial.when = text_or_empty(result, "timestamp");
  trial.outcome = outcome_of(text_or_empty(result, "invalidity"));
  const Measurement measurement = measured(result, objective.name);
  if (trial.outcome != Outcome::ok || measurement.value == 0) {
    if (trial.outcome == Outcome::ok) trial.outcome = Outcome::launch_failed;
    trial.timing = {};
    return trial;
  }
  const TableObjective its = table_objective(file, objective.name, measurement.unit, std::nullopt);
  if (its.rate != objective.rate) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: it has \"{}\" in {} and in {}: one unit of rates is read", file, printable(its.name),
                            printable(objective.rate), its.rate.empty() ? "a time" : printable(its.rate)));
  }
  trial.timing = its.timing(measurement.value, trial.timing.samples);
  trial.rate = measured(result, kRate).value;
  return trial;
}

Json measurements_of(const TableTrial& trial) {
  Json measurements = Json::array();
  if (trial.outcome != Outcome::ok) return measurements;
  measurements.push_back({{"name", "time"}, {"value", trial.timing.median_ms}, {"unit", "ms"}});
  if (trial.rate > 0) measurements.push_back({{"name", kRate}, {"value", trial.rate}, {"unit", kRate}});
  return measurements;
}

Json result_of(const TrialTable& table, const TableTrial& trial) {
  Json configuration = Json::object();
  for (std::size_t i = 0; i < table.parameters.size(); ++i) {
    configuration[table.parameters[i]] = value_of(trial.values[i]);
  }
  const Json times{{"compilation_time", trial.compile_ms},
                   {"framework", 0},
                   {"search_algorithm", 0},
                   {"validation", 0},
                   {"runtimes", Json::array()},
                   {"benchmark_time", trial.benchmark_ms}};
  return {{"timestamp", trial.when},
          {"configuration", configuration},
          {"objectives", {"time"}},
          {"times", times},
          {"invalidity", invalidity_of(trial.outcome)},
          {"correctness", trial.outcome == Outcome::wrong_result ? 0 : 1},
          {"measurements", measurements_of(trial)}};
}

}  // namespace

TrialTable read_t4_results(const std::string& name, const nlohmann::json& results) {
  const auto reject = [&](std::size_t number, const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no T4 results: result {} has {}", name, number, why));
  };
  if (!results["results"].is_array()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no T4 results: \"results\" is no array", name));
  }
  const TableObjective objective = objective_of(name, results);
  std::string looked_for;
  TrialTable table;
  table.rate = objective.rate;
  if (const auto about = results.value("metadata", nlohmann::json()); about.is_object()) {
    table.kernel = text_or_empty(about, "kernel");
    table.gpu = text_or_empty(about, "device_name");
    table.size = whole_numbers(about.value("problem_size", nlohmann::json()));
    table.origin = about.value("stencil_tune", nlohmann::json());
  }
  for (const auto& result : results["results"]) {
    const std::size_t number = table.trials.size() + 1;
    const auto configuration = result.find("configuration");
    if (!result.is_object() || configuration == result.end() || !configuration->is_object()) {
      reject(number, "no configuration");
    }
    if (number == 1) {
      for (const auto& [key, value] : configuration->items()) table.parameters.push_back(key);
    }
    const std::string its = objective_name(result, kLookedFor);
    if (number == 1) looked_for = its;
    if (its != looked_for) reject(number, fmt::format("another objective than the first, \"{}\"", printable(its)));
    TableTrial trial = trial_of(name, result, objective);
    for (const auto& [key, value] : configuration->items()) {
      if (!is_plain(value)) reject(number, fmt::format("no plain value of parameter {}", printable(key)));
      trial.values.push_back(value_text(value));
      const std::size_t place = trial.values.size() - 1;
      if (place >= table.parameters.size() || table.parameters[place] != key) {
        reject(number, "other parameters than the first");
      }
    }
    if (trial.values.size() != table.parameters.size()) reject(number, "other parameters than the first");
    table.trials.push_back(std::move(trial));
  }
  return table;
}

std::string t4_results(const TrialTable& table) {
  Json about{{"timeunit", "milliseconds"}, {"kernel", table.kernel}, {"device_name", table.gpu}};
  about["problem_size"] = table.size;
  if (!table.origin.is_null()) about["stencil_tune"] = table.origin;
  Json file{{"schema_version", "1.0.0"}, {"metadata", about}, {"results", Json::array()}};
  for (const TableTrial& trial : table.trials) file["results"].push_back(result_of(table, trial));
  return file.dump(1, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace stencil_tune
