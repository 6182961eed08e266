// Expressions of which a kernel's constants decide a part.
#pragma once

#include "generator/trim/tokens.hpp"

#include <functional>
#include <optional>
#include <string>

namespace stencil_tune {

/// The value of an expression, where it is known.
using KnownValue = std::function<std::optional<long long>(Tokens)>;

/// The body of a function with `a ? b : c` replaced by what a known condition chooses, and without the operands of &&
/// and
/// || that decide nothing, where an `if`, a `while`, a `return` or an `=` asks for a truth value.
std::string fold_conditionals(std::string body, const KnownValue& value);

}  // namespace stencil_tune
