// The functions that expressions may call, and the names of axes.
#pragma once

#include "generator/definition/expression/operators.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

inline constexpr std::string_view kAxes = "xyz";

enum class Call {
  operation,  ///< on as many operands as it takes
  fold,       ///< an operation on the first two arguments, then on what that makes and the third ...
  laplacian,
  difference,
  sum,  ///< of an expression for each of the numbers that a name takes
  random,
  table,  ///< one of the other arguments, by the number of the first
};

struct Function {
  std::string name;
  Call call;
  std::size_t least_arguments;
  std::size_t most_arguments;
  Operation operation = Operation::number;  ///< what Call::operation and Call::fold apply
  bool reserved = true;  ///< no name may be declared like it; false: a name that is declared like it takes its place
  Difference difference{Difference::Kind::first, 0, 2};  ///< what Call::difference takes; a call may set the accuracy
};

/// Null where there is none of that name.
const Function* find_function(std::string_view name);
std::vector<std::string> function_names();

/// What to write for a function that other languages have and this one has not; empty where nothing is known.
std::string_view advice_on(std::string_view name);

}  // namespace stencil_tune
