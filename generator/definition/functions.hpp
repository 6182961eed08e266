// The functions that expressions may call, and the names of axes.
#pragma once

#include "generator/definition/operators.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

inline constexpr std::string_view kAxes = "xyz";

enum class Call { minimum, maximum, absolute, square_root, exponential, select, laplacian, difference };

struct Function {
  std::string name;
  Call call;
  std::size_t least_arguments;
  std::size_t most_arguments;
  Difference difference{Difference::Kind::first, 0, 2};  ///< of Call::difference; a call may set the accuracy
};

/// Null where there is none of that name.
const Function* find_function(std::string_view name);
std::vector<std::string> function_names();

}  // namespace stencil_tune
