#include "generator/trim/tokens.hpp"

#include "generator/characters.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace stencil_tune {
namespace {

/// Up to the quote that ends the literal whose first quote stands at `quote`.
std::size_t quoted_length(std::string_view text, std::size_t quote) {
  std::size_t end = quote + 1;
  while (end < text.size() && text[end] != text[quote]) end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// R"mark(...)mark"
std::size_t raw_length(std::string_view text, std::size_t quote) {
  const std::size_t open = text.find('(', quote);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ')' + std::string(text.substr(quote + 1, open - quote - 1)) + '"';
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

/// A quote inside a number separates digits.
std::size_t number_length(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && (is_word_character(text[end]) || text[end] == '.' ||
                               (text[end] == '\'' && end + 1 < text.size() && is_word_character(text[end + 1])))) {
    ++end;
  }
  return end;
}

}  // namespace

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_word(const SourceToken& token) { return is_word_character(token.text[0]) && !is_digit(token.text[0]); }

bool is_any(const SourceToken& token, std::initializer_list<std::string_view> texts) {
  return std::find(texts.begin(), texts.end(), token.text) != texts.end();
}

bool opens(const SourceToken& token) { return is_any(token, {"(", "[", "{"}); }

bool is_at(Tokens tokens, std::size_t at, std::string_view text) { return at < tokens.size() && tokens[at] == text; }

bool is_op(Tokens tokens, std::size_t at, std::string_view op) {
  if (at + op.size() > tokens.size()) return false;
  for (std::size_t i = 0; i < op.size(); ++i) {
    if (tokens[at + i].text != op.substr(i, 1) || tokens[at + i].begin != tokens[at].begin + i) return false;
  }
  return true;
}

std::size_t gap_length(std::string_view text) {
  if (text.starts_with("//")) return std::min(text.find('\n'), text.size());
  if (text.starts_with("/*")) {
    const std::size_t end = text.find("*/", 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (text.starts_with("\\\n")) return 2;
  return !text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0 ? 1 : 0;
}

std::size_t token_length(std::string_view text) {
  const char first = text.front();
  if (first == '"' || first == '\'') return quoted_length(text, 0);
  if (is_digit(first)) return number_length(text);
  if (!is_word_character(first)) return 1;
  std::size_t end = 1;
  while (end < text.size() && is_word_character(text[end])) ++end;
  if (end == text.size() || (text[end] != '"' && text[end] != '\'')) return end;
  return text[end] == '"' && text[end - 1] == 'R' ? raw_length(text, end) : quoted_length(text, end);
}

std::vector<SourceToken> tokens_of(std::string_view text) {
  std::vector<SourceToken> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t length = gap_length(rest);
    if (length == 0) {
      length = token_length(rest);
      tokens.push_back({rest.substr(0, length), at});
    }
    at += length;
  }
  return tokens;
}

std::size_t after_bracket(Tokens tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (depth == 0) return i + 1;
  }
  return tokens.size();
}

std::size_t after_template_heads(Tokens tokens) {
  std::size_t at = 0;
  while (is_at(tokens, at, "template")) {
    int depth = 0;
    do {
      ++at;
      if (is_at(tokens, at, "<")) ++depth;
      if (is_at(tokens, at, ">")) --depth;
    } while (depth > 0 && at < tokens.size());
    ++at;
  }
  return std::min(at, tokens.size());
}

}  // namespace stencil_tune
