// Columns of the database out of JSON from elsewhere, each checked for its type.
#pragma once

#include "db/rows/fields.hpp"
#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace stencil_tune {

/// Throws Error(invalid_argument).
[[noreturn]] inline void reject_import(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("import: {}; nothing was imported", printable(why)));
}

/// Takes members out of an object one by one; what is left over was not expected.
class ObjectReader {
 public:
  ObjectReader(const nlohmann::ordered_json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) reject_import(fmt::format("{} must be an object", where_));
  }

  template <typename Value>
  void operator()(std::string_view field, Value& value) {
    const nlohmann::ordered_json& member = take(field);
    if constexpr (kIsNamed<Value>) {
      parse_name(text(member, field), value);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value = text(member, field);
    } else if constexpr (std::is_same_v<Value, bool>) {
      if (!member.is_boolean()) fail(field, "must be true or false");
      value = member.get<bool>();
    } else if constexpr (std::is_same_v<Value, double>) {
      if (!member.is_number()) fail(field, "must be a number");
      value = member.get<double>();
    } else {
      value = integer<Value>(member, field);
    }
  }

  const nlohmann::ordered_json& take(std::string_view field) {
    const auto member = object_.find(std::string(field));
    if (member == object_.end()) fail(field, "is missing");
    taken_.emplace(field);
    return *member;
  }

  void expect_no_more() const {
    if (taken_.size() == object_.size()) return;
    for (const auto& [field, value] : object_.items()) {
      if (!taken_.contains(field)) fail(field, "is not a known field");
    }
  }

 private:
  [[noreturn]] void fail(std::string_view field, std::string_view why) const {
    reject_import(fmt::format("{}: '{}' {}", where_, field, why));
  }

  const std::string& text(const nlohmann::ordered_json& member, std::string_view field) const {
    if (!member.is_string()) fail(field, "must be a text");
    return member.get_ref<const std::string&>();
  }

  template <typename Value>
  Value integer(const nlohmann::ordered_json& member, std::string_view field) const {
    if (!member.is_number_integer()) fail(field, "must be a whole number");
    const bool in_range = member.is_number_unsigned() ? std::in_range<Value>(member.get<std::uint64_t>())
                                                      : std::in_range<Value>(member.get<std::int64_t>());
    if (!in_range) fail(field, "is out of range");
    return static_cast<Value>(member.get<std::int64_t>());
  }

  const nlohmann::ordered_json& object_;
  std::string where_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace stencil_tune
