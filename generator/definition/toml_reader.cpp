#include "generator/definition/toml_reader.hpp"

#include "generator/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace stencil_tune {
namespace {

/// The text with every byte that is not ASCII replaced, so that places stay what they are. Only comments may hold such
/// characters, and toml++ 3.3 is undefined on some of them. A byte order mark becomes blanks.
std::string ascii(std::string_view text) {
  std::string result(text);
  if (text.starts_with("\xef\xbb\xbf")) result.replace(0, 3, 3, ' ');
  for (char& c : result) {
    if (static_cast<unsigned char>(c) >= 0x80u) c = '?';
  }
  return result;
}

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

TomlReader::TomlReader(std::string_view source, std::string_view text, std::string_view document)
    : text_(source, text), ascii_(source, ascii(document)) {}

/// toml++ walks what dotted keys nest with recursion that has no limit: a.a.a.a... would exhaust the stack.
/// A key stands on one line; a point inside a number, as in 0.5, nests nothing.
void TomlReader::reject_long_keys() const {
  constexpr std::size_t kMostPoints = 16;
  const std::string_view text = ascii_.text();
  std::size_t in_line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    if (text[begin] == '\n') in_line = 0;
    std::size_t end = begin;
    while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
    const std::string_view word = text.substr(begin, end - begin);
    const auto points = static_cast<std::size_t>(std::count(word.begin(), word.end(), '.'));
    const bool is_number = points == 1 && word.front() != '.' && word.back() != '.';
    if (!is_number) in_line += points;
    if (in_line > kMostPoints) reject(begin, "too many points between names in one line");
    begin = std::max(end, begin + 1);
  }
}

toml::table TomlReader::parse() const {
  reject_long_keys();
  try {
    return toml::parse(ascii_.text());
  } catch (const toml::parse_error& error) {
    reject(offset_of(error.source()), quotable(error.description(), 300));
  } catch (const BrokenToml& error) {
    reject(0, error.what());
  }
}

std::size_t TomlReader::offset_of(const toml::source_region& region) const {
  return ascii_.offset_of(region.begin.line, region.begin.column);
}

std::size_t TomlReader::offset_of(const toml::node& node) const { return offset_of(node.source()); }

std::vector<TomlEntry> TomlReader::entries(const toml::table& table) const {
  std::vector<TomlEntry> all;
  for (const auto& [key, value] : table) all.push_back({key.str(), &value, offset_of(key.source())});
  std::sort(all.begin(), all.end(), [](const TomlEntry& a, const TomlEntry& b) { return a.offset < b.offset; });
  return all;
}

void TomlReader::require_known(const toml::table& table, const std::vector<std::string>& keys) const {
  for (const TomlEntry& entry : entries(table)) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
    reject(entry.offset, fmt::format("unknown key '{}' (known: {}){}", quotable(entry.key), fmt::join(keys, ", "),
                                     did_you_mean(entry.key, keys)));
  }
}

ExpressionText TomlReader::expression(std::string_view key, const toml::node& node) const {
  const auto* string = node.as_string();
  if (string == nullptr) {
    reject(offset_of(node), fmt::format("'{}' must be an expression in quotes", quotable(key)));
  }
  const std::string& value = string->get();
  std::size_t begin = offset_of(node);
  const std::string_view text = ascii_.text();
  const bool multi_line = text.substr(begin).starts_with("\"\"\"") || text.substr(begin).starts_with("'''");
  begin = std::min(begin + (multi_line ? 3 : 1), text.size());
  // TOML drops a line break right after the opening quotes.
  if (multi_line && text.substr(begin).starts_with("\r\n")) begin += 2;
  if (multi_line && text.substr(begin).starts_with("\n")) begin += 1;
  if (text.compare(begin, value.size(), value) != 0) reject(begin, "expressions are written without backslashes");
  return {&text_, begin, value.size()};
}

std::string TomlReader::string_or(const toml::table& document, std::string_view key, std::string_view otherwise) const {
  const toml::node* node = document.get(key);
  if (node == nullptr) return std::string(otherwise);
  if (const auto* string = node->as_string()) return string->get();
  reject(offset_of(*node), fmt::format("'{}' must be a string", key));
}

const toml::table* TomlReader::table(const toml::table& document, std::string_view key) const {
  const toml::node* node = document.get(key);
  if (node == nullptr) return nullptr;
  if (node->as_table() == nullptr) reject(offset_of(*node), fmt::format("'{}' must be a table", key));
  return node->as_table();
}

}  // namespace stencil_tune
