#include "tuner/exchange/table_objective.hpp"

#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::string_view kTime = "time";

/// ms of one; 0 of what is no unit of time.
double milliseconds_of(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 9> kUnits{{{"ns", 1e-6},
                                                                       {"nanoseconds", 1e-6},
                                                                       {"us", 1e-3},
                                                                       {"\u00b5s", 1e-3},
                                                                       {"microseconds", 1e-3},
                                                                       {"ms", 1},
                                                                       {"milliseconds", 1},
                                                                       {"s", 1e3},
                                                                       {"seconds", 1e3}}};
  for (const auto& [known, ms] : kUnits) {
    if (known == unit) return ms;
  }
  return 0;
}

bool is_rate(std::string_view text) { return text.size() > 2 && text.ends_with("/s"); }

/// By the unit where there is one, else by the name; nothing where it is neither a time nor a rate.
std::optional<TableObjective> recognised(const std::string& name, const std::string& unit) {
  if (unit.empty() ? name == kTime : milliseconds_of(unit) > 0 && !is_rate(name)) {
    return TableObjective{name, unit.empty() ? 1 : milliseconds_of(unit), ""};
  }
  const std::string& rate = unit.empty() ? name : unit;
  if (is_rate(rate) && name != kTime) return TableObjective{name, 0, rate};
  return std::nullopt;
}

}  // namespace

TableObjective table_objective(const std::string& file, const std::string& name, const std::string& unit,
                               std::optional<bool> higher_is_better) {
  const std::string in = unit.empty() ? "" : fmt::format(" in '{}'", printable(unit));
  const auto known = recognised(name, unit);
  if (!known) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: its objective is \"{}\"{}, which is neither a time nor a rate; known are \"time\" in "
                            "ms, whatever has ns, us, ms or s as its unit, of which less is better, and rates whose "
                            "name or unit ends in /s, such as GFLOP/s, of which more is better",
                            file, printable(name), in));
  }
  const bool is_rate = !known->rate.empty();
  if (higher_is_better && *higher_is_better != is_rate) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: it says that of \"{}\"{} {} is better, of a {} {} is", file, printable(name), in,
                            is_rate ? "less" : "more", is_rate ? "rate" : "time", is_rate ? "more" : "less"));
  }
  return *known;
}

std::optional<bool> higher_is_better(const nlohmann::json& file) {
  const auto said = file.find("objective_higher_is_better");
  if (said == file.end()) return std::nullopt;
  const nlohmann::json& first = said->is_array() && !said->empty() ? said->front() : *said;
  return first.is_boolean() ? std::optional(first.get<bool>()) : std::nullopt;
}

std::string objective_name(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return std::string(kTime);
  if (at->is_array() && at->empty()) return std::string(kTime);
  const nlohmann::json& first = at->is_array() ? at->front() : *at;
  return first.is_string() ? first.get<std::string>() : first.dump();
}

}  // namespace stencil_tune
