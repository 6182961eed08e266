// The grammar that expressions of all definitions share: operators by precedence, one function a level. What a value
// is, and what operators and names make of values, is the deriving parser's: nodes of a stencil (parser.cpp), whole
// numbers of a kernel's launch (whole_numbers.cpp).
#pragma once

#include "generator/definition/expression/token_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace stencil_tune {

template <class Value>
class ExpressionGrammar : protected TokenCursor {
 public:
  using TokenCursor::TokenCursor;
  virtual ~ExpressionGrammar() = default;

  /// The whole text as one expression. Throws Error(malformed_definition).
  Value run() {
    if (peek().kind == Token::Kind::end) reject(peek(), "an expression is missing");
    const Value root = expression();
    if (peek().kind != Token::Kind::end) reject_leftover();
    return root;
  }

 protected:
  /// An expression within another. Loosest first: ?: || && comparisons + - * / % signs ^
  Value expression() {
    const Value condition = alternatives();
    if (!is("?")) return condition;
    const Level level(*this);
    const Token token = take();
    const std::optional<bool> known = decided(condition);
    const std::optional<Value> yes = known == false ? skipped() : expression();
    expect(":", "before what is taken where the condition is 0");
    const std::optional<Value> no = known == true ? skipped() : expression();
    return yes && no ? choose(token, condition, *yes, *no) : yes ? *yes : *no;
  }

  /// What binds at least as tightly as + and -.
  Value sum() {
    Value left = product();
    while (is("+") || is("-")) {
      const Token token = take();
      left = binary(token, left, product());
    }
    return left;
  }

 private:
  std::optional<Value> skipped() {
    skip_expression();
    return std::nullopt;
  }

  virtual Value number(const Token& token) = 0;
  virtual Value named(const Token& name) = 0;  ///< a name that no parenthesis follows
  virtual Value call(const Token& name) = 0;   ///< the opening parenthesis comes next
  virtual Value unary(const Token& sign, Value operand) = 0;
  virtual Value binary(const Token& symbol, Value left, Value right) = 0;
  virtual Value power(const Token& caret, Value base, Value exponent) = 0;
  virtual Value choose(const Token& mark, Value condition, Value yes, Value no) = 0;
  /// Whether the condition holds, where that is known while the text is read: what is not taken is then left unread, as
  /// in k == 0 ? 0 : u[x+k] / k.
  virtual std::optional<bool> decided(Value /*condition*/) { return std::nullopt; }

  Value alternatives() {
    Value left = conditions();
    while (is("||")) {
      const Token token = take();
      left = binary(token, left, conditions());
    }
    return left;
  }

  Value conditions() {
    Value left = comparison();
    while (is("&&")) {
      const Token token = take();
      left = binary(token, left, comparison());
    }
    return left;
  }

  /// a < b < c is a < b && b < c.
  Value comparison() {
    constexpr std::array<std::string_view, 6> kSymbols{"<", "<=", ">", ">=", "==", "!="};
    Value last = sum();
    std::optional<Value> holds;
    while (std::any_of(kSymbols.begin(), kSymbols.end(), [this](std::string_view symbol) { return is(symbol); })) {
      const Token token = take();
      const Value next = sum();
      const Value one = binary(token, last, next);
      holds = holds ? binary({token.kind, "&&", 0, token.offset}, *holds, one) : one;
      last = next;
    }
    return holds.value_or(last);
  }

  Value product() {
    Value left = signed_power();
    while (is("*") || is("/") || is("%")) {
      const Token token = take();
      left = binary(token, left, signed_power());
    }
    return left;
  }

  /// Signs bind looser than ^, as in mathematics: -u^2 is -(u^2).
  Value signed_power() {
    const Level level(*this);
    const Token token = peek();
    if (accept("+")) return signed_power();
    if (accept("-") || accept("!")) return unary(token, signed_power());
    const Value base = primary();
    if (!is("^")) return base;
    const Token caret = take();
    return power(caret, base, signed_power());
  }

  Value primary() {
    const Token token = take();
    if (token.kind == Token::Kind::number) return number(token);
    if (token.kind == Token::Kind::name) return is("(") ? call(token) : named(token);
    if (token.kind == Token::Kind::symbol && token.text == "(") {
      const Value inner = expression();
      expect(")", "to close the parenthesis");
      return inner;
    }
    reject(token, fmt::format("a number, a name or a parenthesis expected, found {}", shown(token)));
  }
};

}  // namespace stencil_tune
