#include "runtime/export/templates.hpp"

#include "generator/kernel/source.hpp"
#include "generator/trim/tokens.hpp"
#include "generator/trim/trim.hpp"

#include <algorithm>
#include <string>

namespace stencil_tune {

namespace {

constexpr std::string_view kNamespace = "stencil_tune";

/// Whole words only: stencil_tune::x, not stencil_tune_x.
std::string rename(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t found = text.find(from, at);
    if (found == std::string_view::npos) break;
    const std::size_t after = found + from.size();
    const bool whole = (found == 0 || !is_word_character(text[found - 1])) &&
                       (after == text.size() || !is_word_character(text[after]));
    result += text.substr(at, found - at);
    result += whole ? to : from;
    at = after;
  }
  result += text.substr(std::min(at, text.size()));
  return result;
}

}  // namespace

std::string write_out_templates(std::string_view source, std::string_view renamed_namespace,
                                std::string_view also_using) {
  return rename(write_out(source, template_files(), also_using), kNamespace, renamed_namespace);
}

}  // namespace stencil_tune
