// What the JSON formats of trials have in common.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Discarded where the text is no JSON, or has more levels or values than trials have: a few bytes of compressed text
/// may stand for more than fit in memory.
inline nlohmann::json parse_json(std::string_view text) {
  constexpr int kDeepest = 16;
  constexpr int kMost = 1 << 25;  // with keys, beginnings and ends, of which a result of T4 has some 90
  struct TooMuch {};
  const auto limited = [seen = 0](int depth, nlohmann::json::parse_event_t, nlohmann::json&) mutable {
    if (depth > kDeepest || ++seen > kMost) throw TooMuch();
    return true;
  };
  try {
    return nlohmann::json::parse(text, limited, false);
  } catch (const TooMuch&) {
    return nlohmann::json(nlohmann::json::value_t::discarded);
  }
}

/// Whether it can be a parameter's value: neither an array nor an object.
inline bool is_plain(const nlohmann::json& value) { return value.is_primitive() && !value.is_null(); }

/// A parameter's value as text: 16, true, "float4".
inline std::string value_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The value that `text` is of: 16, true, "float4".
inline nlohmann::json value_of(const std::string& text) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  const bool is_one = (value.is_number() || value.is_boolean()) && value.dump() == text;
  return is_one ? value : nlohmann::json(text);
}

/// A text of an object; empty where it is missing or none.
inline std::string text_or_empty(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

/// The whole numbers of an array, or one that stands alone; empty where it is neither.
inline std::vector<std::int64_t> whole_numbers(const nlohmann::json& numbers) {
  if (numbers.is_number_integer()) return {numbers.get<std::int64_t>()};
  if (!numbers.is_array()) return {};
  std::vector<std::int64_t> read;
  for (const auto& number : numbers) {
    if (!number.is_number_integer()) return {};
    read.push_back(number.get<std::int64_t>());
  }
  return read;
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
