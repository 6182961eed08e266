// Systems of fields that nobody wrote.
#pragma once

#include "stencil_tune/stencil.hpp"
#include "tests/kernels/random/random_draw.hpp"

namespace stencil_tune {

/// One to four fields of two to four time levels, advanced in one to four stages, each with a reach of its own on every
/// side: fields that take turns with their next value and such that are written in place, intermediates, outputs that
/// nobody reads, constants at the cell and beside it. Whether its steps can be fused is not said.
Stencil random_system(Draw& draw);

}  // namespace stencil_tune
