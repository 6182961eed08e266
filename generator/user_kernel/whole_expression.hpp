// Expressions of whole numbers: the launch, lengths, rules and counts of a kernel of the user's own.
#pragma once

#include "generator/definition/expression/lexer.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Values of sizes and parameters by name.
using WholeValues = std::map<std::string, std::int64_t, std::less<>>;

/// An expression over names, of 64 bits; conditions are 0 or 1. Operators are those of stencils (grammar.hpp) and %,
/// with / and % as in C. Functions: min, max, ceil_div, select. && and || and select look at what they need alone.
class WholeExpression {
 public:
  /// 0.
  WholeExpression() : WholeExpression(0) {}
  explicit WholeExpression(std::int64_t value);

  /// `known`: the names that may stand in it. Throws Error(malformed_definition) at the place.
  WholeExpression(const ExpressionText& text, std::span<const std::string> known);

  /// As it was written.
  const std::string& text() const noexcept { return text_; }

  /// As C++ over `long long`, with names as they are, and min, max and ceil_div in the namespace whole_numbers.
  std::string c_text() const;

  /// The names that stand in it, each once.
  std::vector<std::string> names() const;

  /// Throws Error(invalid_argument) quoting the expression: more than 64 bits, a division by 0, a name without a value.
  std::int64_t evaluate(const WholeValues& values) const;

 private:
  friend class WholeParser;

  enum class Operation {
    number,
    name,
    negate,
    invert,  ///< !
    add,
    subtract,
    multiply,
    divide,
    remainder,
    less,
    less_equal,
    equal,
    both,    ///< &&
    either,  ///< ||
    minimum,
    maximum,
    ceil_div,
    select,
  };

  /// Operands stand before their users; the last node is the result.
  struct Node {
    Operation operation = Operation::number;
    std::int64_t value = 0;  ///< number
    std::string name{};
    int a = -1, b = -1, c = -1;
  };

  struct Result {
    std::int64_t value = 0;
    const char* error = nullptr;  ///< why there is no value
  };

  static std::string c_text(Operation operation, const std::string& a, const std::string& b, const std::string& c);
  static Result carry_out(Operation operation, Result a, Result b, Result c);
  static Result arithmetic(Operation operation, std::int64_t a, std::int64_t b);

  std::string text_;
  std::vector<Node> nodes_;
};

/// The functions that such an expression may call.
std::span<const std::string_view> whole_functions();

}  // namespace stencil_tune
