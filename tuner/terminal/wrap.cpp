#include "tuner/terminal/wrap.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

constexpr std::string_view kBlanks = " ";

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }

/// Bytes of the first `columns` characters.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    if (begins_character(text[bytes]) && columns-- == 0) break;
  }
  return bytes;
}

/// Bytes of the first line of the text, of which more than `columns` are left.
std::size_t first_line(std::string_view text, std::size_t columns) {
  const std::size_t room = bytes_of(text, columns);
  const std::size_t front = std::min(text.find_first_not_of(kBlanks), text.size());
  const std::size_t blank = text.substr(0, room + 1).rfind(' ');
  if (blank != std::string_view::npos && blank > front) return blank;
  for (std::size_t end = room; end > front + 1; --end) {
    if (text[end] == '.' || std::string_view("/,|").find(text[end - 1]) != std::string_view::npos) return end;
  }
  return std::max<std::size_t>(room, 1);
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::vector<std::string> wrap(std::string_view text, int columns) {
  std::vector<std::string> lines;
  while (columns > 0 && columns_of(text) > static_cast<std::size_t>(columns)) {
    const std::size_t length = first_line(text, static_cast<std::size_t>(columns));
    const std::string_view line = text.substr(0, length);
    lines.emplace_back(line.substr(0, line.find_last_not_of(kBlanks) + 1));
    text.remove_prefix(length);
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string wrap_lines(std::string_view text, int columns, std::string_view indent) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool broken = columns > 0 && columns_of(line) > static_cast<std::size_t>(columns);
    if (broken) {
      const std::size_t head = wrap(line, columns).front().size();
      std::string_view rest = line.substr(head);
      rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
      result += line.substr(0, head);
      const int left = std::max(1, columns - static_cast<int>(columns_of(indent)));
      for (const std::string& part : wrap(rest, left)) (result += '\n').append(indent).append(part);
    } else {
      result += line;
    }
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace stencil_tune
