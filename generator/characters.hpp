// ASCII, whatever the locale.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace stencil_tune {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// What stands between commas; nothing of an empty text.
inline std::vector<std::string> between_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream list(text);
  for (std::string part; std::getline(list, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace stencil_tune
