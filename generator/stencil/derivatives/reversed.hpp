// Steps taken back: from the state after a step to that before.
//
//     p_next = 2 p - p_prev + m laplacian(p)       p_prev = 2 p - p_next + m laplacian(p)
#pragma once

#include "stencil_tune/stencil.hpp"

namespace stencil_tune {

/// The stencil whose step makes the state before of the state after a step of the given one, by the same names. What a
/// step overwrites has to be a term of an update whose value it leaves, at the cell and with factor 1 or -1, as in
/// leapfrog schemes: rounding then adds up, and does not grow by itself. Throws Error(invalid_argument) where that is
/// not so.
Stencil reversed_of(const Stencil& stencil);

}  // namespace stencil_tune
