#include "runtime/export/templates.hpp"

#include "generator/trim/tokens.hpp"

#include <algorithm>

namespace stencil_tune {

std::string in_namespace(std::string_view text, std::string_view name) {
  constexpr std::string_view kFrom = "stencil_tune";
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t found = text.find(kFrom, at);
    if (found == std::string_view::npos) break;
    const std::size_t after = found + kFrom.size();
    // Whole words only: stencil_tune::x, not stencil_tune_x.
    const bool whole = (found == 0 || !is_word_character(text[found - 1])) &&
                       (after == text.size() || !is_word_character(text[after]));
    result += text.substr(at, found - at);
    result += whole ? name : kFrom;
    at = after;
  }
  result += text.substr(std::min(at, text.size()));
  return result;
}

}  // namespace stencil_tune
