#include "generator/definition/text.hpp"

#include "generator/characters.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

constexpr std::size_t kWidestLine = 100;  // characters shown of a line; a longer one is cut around the place
constexpr std::size_t kLongestIdentifier = 64;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// One printable ASCII character a code point.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (is_continuation(c)) continue;
    result += c == '\t' ? ' ' : c >= ' ' && c <= '~' ? c : '?';
  }
  return result;
}

constexpr std::array<std::string_view, 97> kKeywords{
    "alignas",     "alignof",   "and",        "and_eq",    "asm",      "auto",         "bitand",
    "bitor",       "bool",      "break",      "case",      "catch",    "char",         "char8_t",
    "char16_t",    "char32_t",  "class",      "compl",     "concept",  "const",        "consteval",
    "constexpr",   "constinit", "const_cast", "continue",  "co_await", "co_return",    "co_yield",
    "decltype",    "default",   "delete",     "do",        "double",   "dynamic_cast", "else",
    "enum",        "explicit",  "export",     "extern",    "false",    "float",        "for",
    "friend",      "goto",      "if",         "inline",    "int",      "long",         "mutable",
    "namespace",   "new",       "noexcept",   "not",       "not_eq",   "nullptr",      "operator",
    "or",          "or_eq",     "private",    "protected", "public",   "register",     "reinterpret_cast",
    "requires",    "return",    "short",      "signed",    "sizeof",   "static",       "static_assert",
    "static_cast", "struct",    "switch",     "template",  "this",     "thread_local", "throw",
    "true",        "try",       "typedef",    "typeid",    "typename", "union",        "unsigned",
    "using",       "virtual",   "void",       "volatile",  "wchar_t",  "while",        "xor",
    "xor_eq",      "threadIdx", "blockIdx",   "blockDim",  "gridDim",  "warpSize"};

}  // namespace

std::size_t DefinitionText::offset_of(std::size_t line, std::size_t column) const noexcept {
  std::size_t offset = 0;
  for (std::size_t i = 1; i < line; ++i) {
    const std::size_t end = text_.find('\n', offset);
    if (end == std::string::npos) return text_.size();
    offset = end + 1;
  }
  for (std::size_t i = 1; i < column && offset < text_.size(); ++i) {
    ++offset;
    while (offset < text_.size() && is_continuation(text_[offset])) ++offset;
  }
  return offset;
}

void DefinitionText::reject(std::size_t offset, std::string_view message) const {
  offset = std::min(offset, text_.size());
  const std::string_view before = std::string_view(text_).substr(0, offset);
  const std::size_t line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::size_t end = std::min(text_.find('\n', offset), text_.size());
  const std::size_t column = printable(before.substr(begin)).size();
  const std::size_t cut = column > kWidestLine / 2 ? column - kWidestLine / 2 : 0;
  const std::string shown = printable(std::string_view(text_).substr(begin, end - begin));
  throw Error(ErrorCode::malformed_definition,
              fmt::format("{}, line {}, column {}: {}\n  {}\n  {}^", quotable(source_, 200), line, column + 1, message,
                          shown.substr(std::min(cut, shown.size()), kWidestLine), std::string(column - cut, ' ')));
}

std::string quotable(std::string_view text, std::size_t length) {
  const std::string result = printable(text.substr(0, 4 * length));
  return result.size() > length || text.size() > 4 * length ? result.substr(0, length) + "..." : result;
}

bool is_identifier(std::string_view text) {
  if (text.empty() || text.size() > kLongestIdentifier || is_digit(text[0])) return false;
  const auto allowed = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  if (!std::all_of(text.begin(), text.end(), allowed)) return false;
  const bool reserved = text.find("__") != std::string_view::npos ||
                        (text.size() > 1 && text[0] == '_' && text[1] >= 'A' && text[1] <= 'Z');
  return !reserved && std::find(kKeywords.begin(), kKeywords.end(), text) == kKeywords.end();
}

}  // namespace stencil_tune
