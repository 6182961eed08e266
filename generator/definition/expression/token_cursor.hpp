// A reader of tokens: what comes next, and messages at the place where something is wrong.
#pragma once

#include "generator/definition/expression/lexer.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

class TokenCursor {
 public:
  explicit TokenCursor(const ExpressionText& expression) : text_(*expression.text), tokens_(tokenize(expression)) {}

 protected:
  /// Counts one level of nesting while it lives.
  class Level {
   public:
    explicit Level(TokenCursor& cursor);
    ~Level() { --cursor_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    TokenCursor& cursor_;
  };

  const DefinitionText& text() const noexcept { return text_; }
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  bool is(std::string_view symbol) const { return peek().kind == Token::Kind::symbol && peek().text == symbol; }

  std::size_t position() const noexcept { return next_; }
  void go_to(std::size_t position) noexcept { next_ = position; }

  Token take();
  bool accept(std::string_view symbol);
  void expect(std::string_view symbol, std::string_view why);

  /// Goes on to where an expression ends.
  void skip_expression();

  /// For messages: the token in quotes.
  static std::string shown(const Token& token);

  /// Throws Error(malformed_definition) at the token.
  [[noreturn]] void reject(const Token& token, std::string_view message) const;
  [[noreturn]] void reject_leftover() const;

 private:
  const DefinitionText& text_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace stencil_tune
