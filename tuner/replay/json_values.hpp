// What the JSON formats of recorded spaces have in common.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>

namespace stencil_tune {

/// Whether it can be a parameter's value: neither an array nor an object.
inline bool is_plain(const nlohmann::json& value) { return value.is_primitive() && !value.is_null(); }

/// A parameter's value as text: 16, true, "float4".
inline std::string value_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A time of an object; 0 where it is missing, null, or none.
inline double time_or_zero(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return 0;
  const double value = at->get<double>();
  return std::isfinite(value) && value > 0 ? value : 0;
}

/// What stands for a failure in place of a time, beside text such as "RuntimeFailedConfig".
inline constexpr double kFailureAsTime = 1e20;

/// Whether it is the time of a kernel that worked.
inline bool is_time(const nlohmann::json& value) {
  return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0 &&
         value.get<double>() < kFailureAsTime;
}

}  // namespace stencil_tune
