#include "generator/definition/expression/token_cursor.hpp"

#include "generator/definition/definition.hpp"

#include <fmt/format.h>

namespace stencil_tune {

TokenCursor::Level::Level(TokenCursor& cursor) : cursor_(cursor) {
  if (++cursor_.depth_ > kDefinitionLimits.nesting) {
    cursor_.reject(cursor_.peek(), fmt::format("nested more than {} deep", kDefinitionLimits.nesting));
  }
}

Token TokenCursor::take() {
  const Token token = peek();
  if (token.kind != Token::Kind::end) ++next_;
  return token;
}

bool TokenCursor::accept(std::string_view symbol) {
  if (!is(symbol)) return false;
  ++next_;
  return true;
}

void TokenCursor::expect(std::string_view symbol, std::string_view why) {
  if (!accept(symbol)) reject(peek(), fmt::format("'{}' expected {}, found {}", symbol, why, shown(peek())));
}

void TokenCursor::skip_expression() {
  const std::size_t first = next_;
  int open = 0, marks = 0;  // parentheses and brackets; ? without their :
  for (; peek().kind != Token::Kind::end; ++next_) {
    const bool closes = is(")") || is("]");
    if (open == 0 && (closes || is(",") || (is(":") && marks == 0))) break;
    if (is("(") || is("[")) ++open;
    if (closes) --open;
    if (open == 0 && is("?")) ++marks;
    if (open == 0 && is(":")) --marks;
  }
  if (next_ == first) reject(peek(), "an expression is missing");
}

std::string TokenCursor::shown(const Token& token) {
  return token.kind == Token::Kind::end ? "the end of the expression" : fmt::format("'{}'", quotable(token.text));
}

void TokenCursor::reject(const Token& token, std::string_view message) const { text_.reject(token.offset, message); }

void TokenCursor::reject_leftover() const {
  const Token& token = peek();
  if (is(")") || is("]")) reject(token, fmt::format("'{}' closes nothing", token.text));
  if (is("=")) reject(token, "'=' within an expression; write == to compare");
  if (is("**")) reject(token, "'**' is written ^ here");
  reject(token, fmt::format("an operator is missing before {}", shown(token)));
}

}  // namespace stencil_tune
