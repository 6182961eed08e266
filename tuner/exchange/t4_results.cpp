#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/formats.hpp"
#include "tuner/exchange/json_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRate = "GStencil/s";

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

/// The measurement of that name; 0 where there is none.
double measured(const nlohmann::json& result, const nlohmann::json& name) {
  const auto measurements = result.find("measurements");
  if (measurements == result.end() || !measurements->is_array()) return 0;
  for (const auto& measurement : *measurements) {
    if (!measurement.is_object() || measurement.value("name", nlohmann::json()) != name) continue;
    if (measurement.contains("value") && is_time(measurement["value"])) return measurement["value"].get<double>();
  }
  return 0;
}

double objective_of(const nlohmann::json& result) {
  const auto objectives = result.find("objectives");
  const bool is_named = objectives != result.end() && objectives->is_array() && !objectives->empty();
  return measured(result, is_named ? objectives->front() : nlohmann::json("time"));
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

TableTrial trial_of(const nlohmann::json& result) {
  TableTrial trial;
  const auto times = result.find("times");
  if (times != result.end() && times->is_object()) read_times(*times, trial);
  trial.when = text_or_empty(result, "timestamp");
  trial.outcome = outcome_of(text_or_empty(result, "invalidity"));
  const double ms = objective_of(result);
  if (trial.outcome != Outcome::ok || ms == 0) {
    if (trial.outcome == Outcome::ok) trial.outcome = Outcome::launch_failed;
    trial.timing = {};
    return trial;
  }
  trial.timing = {ms, ms, ms, trial.timing.samples};
  trial.gstencils = measured(result, kRate);
  return trial;
}

Json measurements_of(const TableTrial& trial) {
  Json measurements = Json::array();
  if (trial.outcome != Outcome::ok) return measurements;
  measurements.push_back({{"name", "time"}, {"value", trial.timing.median_ms}, {"unit", "ms"}});
  if (trial.gstencils > 0) measurements.push_back({{"name", kRate}, {"value", trial.gstencils}, {"unit", kRate}});
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
  TrialTable table;
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
    TableTrial trial = trial_of(result);
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
