// The words of an expression.
#pragma once

#include "generator/definition/text.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// A piece of a definition that holds an expression: text.text().substr(begin, length).
struct ExpressionText {
  const DefinitionText* text;
  std::size_t begin;
  std::size_t length;
};

struct Token {
  enum class Kind { number, name, symbol, end };

  Kind kind = Kind::end;
  std::string_view text;   ///< into the definition's text
  double value = 0;        ///< number
  std::size_t offset = 0;  ///< in the definition's text
};

/// Splits into tokens; the last is `end`. Throws Error(malformed_definition) for characters that have no meaning here
/// and numbers that are not finite in f32.
std::vector<Token> tokenize(const ExpressionText& expression);

}  // namespace stencil_tune
