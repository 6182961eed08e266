#include "generator/candidates/tuning.hpp"

#include "generator/candidates/family.hpp"
#include "generator/characters.hpp"
#include "generator/printable.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ostream>

namespace stencil_tune {
namespace {

std::string describe(std::string_view code) { return fmt::format("candidate code '{}'", code.substr(0, 120)); }

[[noreturn]] void malformed(std::string_view code, const std::string& what) {
  throw Error(ErrorCode::malformed_code, printable(fmt::format("{}: {}", describe(code), what)));
}

/// Every word of the family and, for numbers, the prefix followed by what the user wrote after it.
std::vector<std::string> spellings(const Family& family, std::string_view digits) {
  std::vector<std::string> result;
  for (const Parameter& parameter : family.parameters) {
    if (!parameter.is_word()) result.push_back(fmt::format("{}{}", parameter.prefix, digits.empty() ? "1" : digits));
    for (std::string_view spelling : parameter.words) result.emplace_back(spelling);
  }
  return result;
}

/// The number after a prefix: decimal digits without sign or leading zero.
int parse_number(std::string_view code, std::string_view part, const Parameter& parameter) {
  const std::string_view digits = part.substr(parameter.prefix.size());
  if (digits.empty()) malformed(code, fmt::format("'{}' ({}) lacks its number", part, parameter.name));
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) {
    malformed(code, fmt::format("'{}' ({}) must end in a positive whole number", part, parameter.name));
  }
  int value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || value > kLargestNumber) {
    malformed(code, fmt::format("'{}' ({}) is larger than {}", part, parameter.name, kLargestNumber));
  }
  const int smallest = std::min(parameter.default_value, 1);  // 0 only where it has a meaning
  if (value < smallest) malformed(code, fmt::format("'{}' ({}) must be at least {}", part, parameter.name, smallest));
  if (digits.size() > 1 && digits.front() == '0') {
    malformed(code,
              fmt::format("'{}' ({}) has leading zeros; write '{}{}'", part, parameter.name, parameter.prefix, value));
  }
  return value;
}

/// Whether the part is about the parameter: one of its words, or its prefix before the number or what stands in its
/// place ("by-4" is about by).
bool is_about(const Parameter& parameter, std::string_view part) {
  if (parameter.is_word()) {
    return std::find(parameter.words.begin(), parameter.words.end(), part) != parameter.words.end();
  }
  const auto letters = std::find_if(part.begin(), part.end(), [](char c) { return c < 'a' || c > 'z'; }) - part.begin();
  return part.substr(0, static_cast<std::size_t>(letters)) == parameter.prefix;
}

const Parameter* find_parameter(const Family& family, std::string_view part) {
  const auto found = std::find_if(family.parameters.begin(), family.parameters.end(),
                                  [&](const Parameter& parameter) { return is_about(parameter, part); });
  return found == family.parameters.end() ? nullptr : &*found;
}

[[noreturn]] void unknown_part(std::string_view code, const Family& family, std::string_view part) {
  for (const Family* other : families()) {
    if (const Parameter* parameter = find_parameter(*other, part)) {
      malformed(code, fmt::format("'{}' ({}) is no parameter of family {}", part, parameter->name, family.name));
    }
  }
  const auto digits = std::find_if(part.begin(), part.end(), is_digit);
  const std::string_view number(part.data() + (digits - part.begin()), static_cast<std::size_t>(part.end() - digits));
  const bool numeric = !number.empty() && std::all_of(number.begin(), number.end(), is_digit);
  malformed(code, fmt::format("'{}' is no tuning parameter{}", part,
                              did_you_mean(part, spellings(family, numeric ? number : std::string_view{}))));
}

int parse_value(std::string_view code, std::string_view part, const Parameter& parameter) {
  if (!parameter.is_word()) return parse_number(code, part, parameter);
  return static_cast<int>(std::find(parameter.words.begin(), parameter.words.end(), part) - parameter.words.begin());
}

const Family& parse_family(std::string_view code, std::string_view text) {
  try {
    return family_named(text);
  } catch (const Error& error) {
    malformed(code, error.what());
  }
}

/// Cuts the text before the next dot off `rest`; nothing is left after the last part.
std::string_view next_part(std::string_view& rest, bool& more) {
  const std::size_t dot = rest.find('.');
  more = dot != std::string_view::npos;
  const std::string_view part = rest.substr(0, dot);
  rest = more ? rest.substr(dot + 1) : std::string_view{};
  return part;
}

bool has_parameter(const Family& family, std::string_view name) {
  return std::any_of(family.parameters.begin(), family.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

}  // namespace

Tuning::Tuning(const Family& of) : family(&of) {
  for (const Parameter& parameter : of.parameters) parameter.set(*this, parameter.default_value);
}

Tuning without_launch(Tuning tuning) {
  for (const Parameter& parameter : tuning.family->parameters) {
    if (!parameter.of_launch) continue;
    const bool is_apart = parameter.default_apart && parameter.get(tuning) != parameter.default_value;
    parameter.set(tuning, parameter.default_value + (is_apart ? 1 : 0));  // one stands for all others
  }
  return tuning;
}

int differences(const Tuning& a, const Tuning& b) {
  int count = 0;
  for (const Parameter& parameter : a.family->parameters) count += parameter.get(a) != parameter.get(b) ? 1 : 0;
  if (a.family == b.family) return count;
  for (const Parameter& parameter : b.family->parameters) {
    const bool counted = has_parameter(*a.family, parameter.name);
    count += !counted && parameter.get(a) != parameter.get(b) ? 1 : 0;
  }
  return count;
}

std::string code(const Tuning& tuning) {
  std::string text(tuning.family->name);
  for (const Parameter& parameter : tuning.family->parameters) {
    const int value = parameter.get(tuning);
    if (!parameter.always_coded && value == parameter.default_value) continue;
    text += '.';
    text += part(parameter, value);
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Tuning& tuning) { return out << code(tuning); }

Tuning parse_code(std::string_view text) {
  std::string_view rest = text;
  bool more = false;
  const Family& family = parse_family(text, next_part(rest, more));
  Tuning tuning(family);
  std::vector<const Parameter*> seen;
  while (more) {
    const std::string_view part = next_part(rest, more);
    if (part.empty()) malformed(text, "it has an empty part: parts are separated by single dots");
    const Parameter* parameter = find_parameter(family, part);
    if (parameter == nullptr) unknown_part(text, family, part);
    if (std::find(seen.begin(), seen.end(), parameter) != seen.end()) {
      malformed(text, fmt::format("'{}' gives {} a second value", part, parameter->name));
    }
    seen.push_back(parameter);
    parameter->set(tuning, parse_value(text, part, *parameter));
  }
  return tuning;
}

}  // namespace stencil_tune
