// Operations on numbers, as the simplified form has them.
#pragma once

#include "stencil_tune/stencil.hpp"

namespace stencil_tune {

/// The operation's value, in f64; operands beyond those that it takes do not count. May be infinite or not a number.
double carry_out(Operation op, double a, double b, double c);

/// Whether the order of its two operands makes no difference.
bool commutes(Operation op);

}  // namespace stencil_tune
