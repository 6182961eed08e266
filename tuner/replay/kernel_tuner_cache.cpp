#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/replay/formats.hpp"
#include "tuner/replay/json_values.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {

std::string with_end_of_cache(std::string text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n,");
  text.resize(last == std::string::npos ? 0 : last + 1);
  return text + "}}";
}

RecordedSpace read_kernel_tuner_cache(const std::string& name, const nlohmann::json& cache) {
  const auto reject = [&](const std::string& why) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: no cache of Kernel Tuner: {}", name, why));
  };
  const auto keys = cache.find("tune_params_keys");
  if (keys == cache.end() || !keys->is_array()) reject("\"tune_params_keys\" is no array");
  if (!cache["cache"].is_object()) reject("\"cache\" is no object");
  SpaceBuilder builder(name);
  for (const auto& [code, entry] : cache["cache"].items()) {
    std::map<std::string, std::string> values;
    for (const auto& key : *keys) {
      if (!key.is_string() || !entry.is_object() ||
          !is_plain(entry.value(key.get<std::string>(), nlohmann::json::array()))) {
        reject(
            fmt::format("configuration {} has no plain value of parameter {}", printable(code), printable(key.dump())));
      }
      values.emplace(key.get<std::string>(), value_text(entry[key.get<std::string>()]));
    }
    if (!entry.contains("time")) reject(fmt::format("configuration {} has no time", printable(code)));
    ConfigurationRecord evaluation;
    if (is_time(entry["time"])) evaluation.time_ms = entry["time"].get<double>();
    evaluation.cost_ms = time_or_zero(entry, "compile_time") + time_or_zero(entry, "benchmark_time");
    builder.add(values, evaluation);
  }
  return builder.build();
}

}  // namespace stencil_tune
