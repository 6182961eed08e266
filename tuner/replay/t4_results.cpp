#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/replay/formats.hpp"
#include "tuner/replay/json_values.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {
namespace {

/// The measured value of the objective; infinite where it is none.
double objective_of(const nlohmann::json& result) {
  const auto measurements = result.find("measurements");
  if (measurements == result.end() || !measurements->is_array()) return ConfigurationRecord{}.time_ms;
  const auto objectives = result.find("objectives");
  const bool is_named = objectives != result.end() && objectives->is_array() && !objectives->empty();
  const nlohmann::json objective = is_named ? objectives->front() : nlohmann::json("time");
  for (const auto& measurement : *measurements) {
    if (!measurement.is_object() || measurement.value("name", nlohmann::json()) != objective) continue;
    if (measurement.contains("value") && is_time(measurement["value"])) return measurement["value"].get<double>();
  }
  return ConfigurationRecord{}.time_ms;
}

/// The schema says compilation_time and benchmark_time, files say compilation and benchmark, or have the single runs
/// alone.
double cost_of(const nlohmann::json& times) {
  double cost = time_or_zero(times, "compilation") + time_or_zero(times, "compilation_time");
  const double benchmark = time_or_zero(times, "benchmark") + time_or_zero(times, "benchmark_time");
  if (benchmark > 0) return cost + benchmark;
  const auto runs = times.find("runtimes");
  if (runs == times.end() || !runs->is_array()) return cost;
  for (const auto& run : *runs) cost += is_time(run) ? run.get<double>() : 0;
  return cost;
}

}  // namespace

RecordedSpace read_t4_results(const std::string& name, const nlohmann::json& results) {
  const auto reject = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no T4 results: {}", name, why));
  };
  if (!results["results"].is_array()) reject("\"results\" is no array");
  SpaceBuilder builder(name);
  std::size_t number = 0;
  for (const auto& result : results["results"]) {
    ++number;
    const auto configuration = result.find("configuration");
    if (!result.is_object() || configuration == result.end() || !configuration->is_object()) {
      reject(fmt::format("result {} has no configuration", number));
    }
    std::map<std::string, std::string> values;
    for (const auto& [key, value] : configuration->items()) {
      if (!is_plain(value)) reject(fmt::format("result {} has no plain value of parameter {}", number, printable(key)));
      values.emplace(key, value_text(value));
    }
    ConfigurationRecord evaluation;
    if (result.value("invalidity", nlohmann::json()) == "correct") evaluation.time_ms = objective_of(result);
    const auto times = result.find("times");
    if (times != result.end() && times->is_object()) evaluation.cost_ms = cost_of(*times);
    builder.add(values, evaluation);
  }
  return builder.build();
}

}  // namespace stencil_tune
