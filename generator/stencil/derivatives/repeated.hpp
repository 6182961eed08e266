// Several steps as one.
//
//     p_next = 2 p - p_prev + m laplacian(p)       p_next_0 = 2 p - p_prev + m laplacian(p)
//                                                  p_next   = 2 p_next_0 - p + m laplacian(p_next_0)
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>

namespace stencil_tune {

/// What an output is called that so many of the steps follow, where there are `steps` in all: "p_next_0" after the
/// first, as it is after the last.
std::string repeated_name(const std::string& output, int step, int steps);

/// The stencil whose step is so many steps of the given one, 2 or more: its stages, once more for each. Held layers are
/// right where all time levels have the same. Throws Error(invalid_argument) where steps are not alike, or write a
/// field that they read.
Stencil repeated(const Stencil& stencil, int steps);

}  // namespace stencil_tune
