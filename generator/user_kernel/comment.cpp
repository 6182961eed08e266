#include "generator/user_kernel/comment.hpp"

#include "generator/definition/definition.hpp"
#include "generator/definition/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::string_view kOpening = "/* stencil-tune";

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

/// Behind the line that opens a definition, from `at` on; npos where there is none.
std::size_t find_opened(std::string_view source, std::size_t at) {
  while (at < source.size()) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    if (trimmed(source.substr(at, end - at)) == kOpening) return end;
    at = end + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::string definition_comment(std::string_view source, std::string_view file) {
  const DefinitionText text(file, source);
  const std::size_t begin = find_opened(source, 0);
  if (begin == std::string_view::npos) {
    text.reject(0, fmt::format("there is no definition here; open a comment with '{}' on a line of its own, or name "
                               "this source in a .toml file",
                               kOpening));
  }
  const std::size_t end = source.find("*/", begin);
  if (end == std::string_view::npos) text.reject(begin, "the definition's comment has no end: */ is missing");
  if (end - begin > kDefinitionLimits.bytes) {
    text.reject(begin, fmt::format("a definition of more than {} bytes", kDefinitionLimits.bytes));
  }
  if (const std::size_t second = find_opened(source, end); second != std::string_view::npos) {
    text.reject(source.rfind(kOpening, second), "a second definition; a source has one");
  }
  std::string document(source);
  for (std::size_t i = 0; i < document.size(); ++i) {
    if ((i < begin || i >= end) && document[i] != '\n') document[i] = ' ';
  }
  return document;
}

}  // namespace stencil_tune
