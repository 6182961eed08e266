// Several steps as one.
//
//     p_next = 2 p - p_prev + m laplacian(p)       p_next_0 = 2 p - p_prev + m laplacian(p)
//                                                  p_next   = 2 p_next_0 - p + m laplacian(p_next_0)
#pragma once

#include "stencil_tune/stencil.hpp"

namespace stencil_tune {

/// The stencil whose step is so many steps of the given one, 2 or more: its stages, once more for each. Outputs
/// of all but the last are called "p_next_0", "p_next_1" and so on. Held layers are right where all time levels have
/// the same. Throws Error(invalid_argument) where steps are not alike, or write a field that they read.
Stencil repeated(const Stencil& stencil, int steps);

}  // namespace stencil_tune
