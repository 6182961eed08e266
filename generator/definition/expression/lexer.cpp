#include "generator/definition/expression/lexer.hpp"

#include "generator/characters.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

namespace stencil_tune {
namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr std::array<std::string_view, 26> kSymbols{"**", "<=", ">=", "==", "!=", "&&", "||", "..", "+",
                                                    "-",  "*",  "/",  "%",  "^",  "(",  ")",  "[",  "]",
                                                    ",",  "=",  "<",  ">",  "!",  "?",  ":",  ";"};

struct Lookalike {
  std::string_view utf8;
  std::string_view write;
};

/// What word processors and papers put in place of ASCII.
constexpr std::array<Lookalike, 10> kLookalikes{{{"\xc2\xb7", "*"},
                                                 {"\xc3\x97", "*"},
                                                 {"\xc3\xb7", "/"},
                                                 {"\xe2\x88\x92", "-"},
                                                 {"\xe2\x80\x93", "-"},
                                                 {"\xc2\xb2", "^2"},
                                                 {"\xc2\xb3", "^3"},
                                                 {"\xe2\x89\xa4", "<="},
                                                 {"\xe2\x89\xa5", ">="},
                                                 {"\xe2\x88\x87", "laplacian(...)"}}};

/// The code point at the start of the text, or its first byte where that is not UTF-8.
std::uint32_t code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc0 ? 2 : 1;
  if (length == 1 || text.size() < length) return byte(0);
  std::uint32_t value = byte(0) & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) value = (value << 6) | (byte(i) & 0x3fu);
  return value;
}

class Lexer {
 public:
  explicit Lexer(const ExpressionText& expression)
      : text_(*expression.text), position_(expression.begin), end_(expression.begin + expression.length) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (;;) {
      while (position_ < end_ && is_space(rest()[0])) ++position_;
      if (position_ == end_) break;
      tokens.push_back(next());
    }
    tokens.push_back({Token::Kind::end, {}, 0, end_});
    return tokens;
  }

 private:
  std::string_view rest() const { return text_.text().substr(position_, end_ - position_); }

  Token take(Token::Kind kind, std::size_t length, double value = 0) {
    const Token token{kind, rest().substr(0, length), value, position_};
    position_ += length;
    return token;
  }

  Token next() {
    const std::string_view rest = this->rest();
    if (is_digit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && is_digit(rest[1]))) return number();
    if (begins_name(rest[0])) {
      std::size_t length = 1;
      while (length < rest.size() && (begins_name(rest[length]) || is_digit(rest[length]))) ++length;
      return take(Token::Kind::name, length);
    }
    for (const std::string_view symbol : kSymbols) {
      if (rest.starts_with(symbol)) return take(Token::Kind::symbol, symbol.size());
    }
    reject_character();
  }

  Token number() {
    const std::string_view rest =
        this->rest().substr(0, this->rest().find(".."));  // in 1..3 the points are no fraction's
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    const auto length = static_cast<std::size_t>(end - rest.data());
    // One limit for all element types: the expression must have a meaning in each.
    if (error != std::errc() || std::fabs(value) > std::numeric_limits<float>::max()) {
      text_.reject(position_, "the number does not fit in f32; its magnitude must lie between 1e-38 and 3.4e38");
    }
    if (length < rest.size() && (begins_name(rest[length]) || rest[length] == '.')) {
      text_.reject(position_ + length, fmt::format("'{}' right after a number; write an operator between them, such as "
                                                   "2*u",
                                                   quotable(rest.substr(length), 1)));
    }
    return take(Token::Kind::number, length, value);
  }

  [[noreturn]] void reject_character() const {
    const std::string_view rest = this->rest();
    for (const Lookalike& lookalike : kLookalikes) {
      if (rest.starts_with(lookalike.utf8)) {
        text_.reject(position_,
                     fmt::format("U+{:04X} has no meaning here; write {}", code_point(rest), lookalike.write));
      }
    }
    const char c = rest[0];
    if (c > ' ' && c <= '~') text_.reject(position_, fmt::format("'{}' has no meaning in an expression", c));
    text_.reject(position_, fmt::format("character U+{:04X} has no meaning in an expression", code_point(rest)));
  }

  const DefinitionText& text_;
  std::size_t position_;
  std::size_t end_;
};

}  // namespace

std::vector<Token> tokenize(const ExpressionText& expression) { return Lexer(expression).run(); }

}  // namespace stencil_tune
