// The grammar that expressions of all definitions share: operators by precedence, one function a level. What a value
// is, and what operators and names make of values, is the deriving parser's: nodes of a stencil (parser.cpp), whole
// numbers of a kernel's launch (whole_numbers.cpp).
#pragma once

#include "generator/definition/expression/token_cursor.hpp"

#include <fmt/format.h>

namespace stencil_tune {

template <class Value>
class ExpressionGrammar : protected TokenCursor {
 public:
  using TokenCursor::TokenCursor;
  virtual ~ExpressionGrammar() = default;

  /// The whole text as one expression. Throws Error(malformed_definition).
  Value run() {
    if (peek().kind == Token::Kind::end) reject(peek(), "an expression is missing");
    const Value root = alternatives();
    if (peek().kind != Token::Kind::end) reject_leftover();
    return root;
  }

 protected:
  /// An expression within another. Loosest first: || && comparisons + - * / % signs ^
  Value alternatives() {
    Value left = conditions();
    while (is("||")) {
      const Token token = take();
      left = binary(token, left, conditions());
    }
    return left;
  }

 private:
  virtual Value number(const Token& token) = 0;
  virtual Value named(const Token& name) = 0;  ///< a name that no parenthesis follows
  virtual Value call(const Token& name) = 0;   ///< the opening parenthesis comes next
  virtual Value unary(const Token& sign, Value operand) = 0;
  virtual Value binary(const Token& symbol, Value left, Value right) = 0;
  virtual Value power(const Token& caret, Value base, Value exponent) = 0;

  Value conditions() {
    Value left = comparison();
    while (is("&&")) {
      const Token token = take();
      left = binary(token, left, comparison());
    }
    return left;
  }

  Value comparison() {
    const Value left = sum();
    for (const std::string_view symbol : {"<", "<=", ">", ">=", "==", "!="}) {
      if (!is(symbol)) continue;
      const Token token = take();
      return binary(token, left, sum());
    }
    return left;
  }

  Value sum() {
    Value left = product();
    while (is("+") || is("-")) {
      const Token token = take();
      left = binary(token, left, product());
    }
    return left;
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
      const Value inner = alternatives();
      expect(")", "to close the parenthesis");
      return inner;
    }
    reject(token, fmt::format("a number, a name or a parenthesis expected, found {}", shown(token)));
  }
};

}  // namespace stencil_tune
