#include "generator/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace stencil_tune {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Unicode 15: controls, the format characters (Cf), and the separators of lines and paragraphs.
constexpr std::array<Range, 21> kEscaped{
    {{0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
     {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},
     {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
     {0xe0001, 0xe007f}}};

bool is_escaped(std::uint32_t code_point) {
  return std::any_of(kEscaped.begin(), kEscaped.end(),
                     [&](const Range& range) { return range.first <= code_point && code_point <= range.last; });
}

struct Character {
  std::uint32_t code_point = 0;
  std::size_t bytes = 0;  ///< 0: no UTF-8
};

/// The first character. Neither overlong forms nor surrogates are UTF-8 (RFC 3629).
Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code_point = byte(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {};
    code_point = code_point << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
  if (code_point < kLeast[bytes] || code_point > 0x10ffff || surrogate) return {};
  return {code_point, bytes};
}

std::string escape(std::string_view text, bool keep_line_breaks) {
  std::string result;
  while (!text.empty()) {
    const Character c = decode(text);
    const std::size_t bytes = std::max<std::size_t>(c.bytes, 1);
    const bool kept = keep_line_breaks && text.front() == '\n';
    if (c.bytes == 0 || (c.bytes == 1 && is_escaped(c.code_point) && !kept)) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_escaped(c.code_point) && !kept) {
      result += fmt::format("\\u{{{:x}}}", c.code_point);
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return escape(text, false); }

std::string printable_lines(std::string_view text) { return escape(text, true); }

}  // namespace stencil_tune
