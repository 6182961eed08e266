#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/exchange/formats.hpp"
#include "tuner/exchange/json_values.hpp"
#include "tuner/exchange/table_objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kError = "__error__";  // version 1.5 and later; earlier ones have the error in place of the time
constexpr const char* kRate = "GStencil/s";

constexpr const char* kCompilation = "CompilationFailedConfig";
constexpr const char* kRestriction = "InvalidConfig";
constexpr const char* kRun = "RuntimeFailedConfig";

const char* error_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::compile_failed:
    case Outcome::compile_timeout:
      return kCompilation;
    case Outcome::exceeds_limits:
      return kRestriction;
    default:
      return kRun;
  }
}

Outcome outcome_of(const std::string& error) {
  if (error == kCompilation) return Outcome::compile_failed;
  return error == kRestriction ? Outcome::exceeds_limits : Outcome::launch_failed;
}

/// How Python prints a value: keys of configurations are made so.
std::string python_text(const std::string& value) {
  if (value == "true") return "True";
  return value == "false" ? "False" : value;
}

/// By which trials are read: where what was looked for is a rate, by the time beside it, if there is one.
TableObjective objective_of(const std::string& file, const nlohmann::json& cache) {
  TableObjective objective = table_objective(file, objective_name(cache, "objective"), "", higher_is_better(cache));
  const auto has_time = [](const nlohmann::json& entry) {
    return entry.is_object() && entry.contains("time") && is_time(entry["time"]);
  };
  const nlohmann::json& entries = cache["cache"];
  if (std::any_of(entries.begin(), entries.end(), has_time)) return {};
  return objective;
}

/// The error in place of what was measured, or of what was looked for.
std::string error_of(const nlohmann::json& entry, const std::string& measured, const std::string& looked_for) {
  for (const std::string& key : {std::string(kError), measured, looked_for}) {
    if (std::string error = text_or_empty(entry, key.c_str()); !error.empty()) return error;
  }
  return "";
}

TableTrial trial_of(const nlohmann::json& entry, const TableObjective& objective, const std::string& looked_for) {
  TableTrial trial;
  trial.compile_ms = time_or_zero(entry, "compile_time");
  trial.benchmark_ms = time_or_zero(entry, "benchmark_time");
  trial.rate = time_or_zero(entry, kRate);
  trial.when = text_or_empty(entry, "timestamp");
  const auto measured = entry.find(objective.name);
  if (entry.contains(kError) || measured == entry.end() || !is_time(*measured)) {
    trial.outcome = outcome_of(error_of(entry, objective.name, looked_for));
    return trial;
  }
  const auto runs = entry.find("times");
  trial.timing = objective.timing(measured->get<double>(),
                                  runs != entry.end() && runs->is_array() ? static_cast<int>(runs->size()) : 0);
  return trial;
}

Json entry_of(const TrialTable& table, const TableTrial& trial) {
  Json entry;
  for (std::size_t i = 0; i < table.parameters.size(); ++i) entry[table.parameters[i]] = value_of(trial.values[i]);
  if (trial.outcome == Outcome::ok) {
    entry["time"] = trial.timing.median_ms;
    if (trial.rate > 0) entry[kRate] = trial.rate;
  } else {
    entry["time"] = error_of(trial.outcome);
    entry[kError] = error_of(trial.outcome);
  }
  entry["compile_time"] = trial.compile_ms;
  entry["verification_time"] = 0;
  entry["benchmark_time"] = trial.benchmark_ms;
  entry["strategy_time"] = 0;
  entry["framework_time"] = 0;
  entry["timestamp"] = trial.when;
  return entry;
}

/// Values in the order of their size, or of the alphabet.
Json values_of(const TrialTable& table, std::size_t parameter) {
  const auto before = [](const nlohmann::json& a, const nlohmann::json& b) {
    return a.is_number() != b.is_number() ? b.is_number() : a < b;
  };
  std::set<nlohmann::json, decltype(before)> values(before);
  for (const TableTrial& trial : table.trials) values.insert(value_of(trial.values[parameter]));
  return Json(std::vector<nlohmann::json>(values.begin(), values.end()));
}

}  // namespace

TrialTable read_kernel_tuner_cache(const std::string& name, const nlohmann::json& cache) {
  const auto reject = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no cache of Kernel Tuner: {}", name, why));
  };
  const auto keys = cache.find("tune_params_keys");
  if (keys == cache.end() || !keys->is_array()) reject("\"tune_params_keys\" is no array");
  if (!cache["cache"].is_object()) reject("\"cache\" is no object");
  const TableObjective objective = objective_of(name, cache);
  const std::string looked_for = objective_name(cache, "objective");
  TrialTable table;
  table.rate = objective.rate;
  table.kernel = text_or_empty(cache, "kernel_name");
  table.gpu = text_or_empty(cache, "device_name");
  table.size = whole_numbers(cache.value("problem_size", nlohmann::json()));
  table.origin = cache.value("stencil_tune", nlohmann::json());
  for (const auto& key : *keys) {
    if (!key.is_string()) reject(fmt::format("{} is no name of a parameter", printable(key.dump())));
    table.parameters.push_back(key.get<std::string>());
  }
  for (const auto& [code, entry] : cache["cache"].items()) {
    const auto rejected = [&, &shown = code](const std::string& why) {
      reject(fmt::format("configuration {} has {}", printable(shown), why));
    };
    std::vector<std::string> values;
    for (const std::string& parameter : table.parameters) {
      if (!entry.is_object() || !is_plain(entry.value(parameter, nlohmann::json::array()))) {
        rejected(fmt::format("no plain value of parameter \"{}\"", printable(parameter)));
      }
      values.push_back(value_text(entry[parameter]));
    }
    if (!entry.contains(objective.name) && error_of(entry, objective.name, looked_for).empty()) {
      rejected("no " + printable(objective.name));
    }
    table.trials.push_back(trial_of(entry, objective, looked_for));
    table.trials.back().values = std::move(values);
  }
  return table;
}

std::string kernel_tuner_cache(const TrialTable& table) {
  Json file{{"device_name", table.gpu}, {"kernel_name", table.kernel}, {"problem_size", table.size}};
  file["tune_params_keys"] = table.parameters;
  for (std::size_t i = 0; i < table.parameters.size(); ++i) {
    file["tune_params"][table.parameters[i]] = values_of(table, i);
  }
  file["objective"] = "time";
  if (!table.origin.is_null()) file["stencil_tune"] = table.origin;
  std::string text = file.dump(-1, ' ', true, Json::error_handler_t::replace);
  text.back() = ',';
  text += "\n\"cache\": {";
  const char* separator = "\n";
  for (const TableTrial& trial : table.trials) {
    std::vector<std::string> key;
    std::transform(trial.values.begin(), trial.values.end(), std::back_inserter(key), python_text);
    text += separator + Json(fmt::format("{}", fmt::join(key, ","))).dump() + ": " + entry_of(table, trial).dump();
    separator = ",\n";
  }
  return text + "\n}\n}";  // by this end Kernel Tuner knows a whole file
}

}  // namespace stencil_tune
