// What each coefficient of a stencil is for, in words.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

/// A read as definitions write it: "u", "u[x-1]", "u[x+1,z-2]".
std::string read_text(const Stencil& stencil, const Tap& tap);

/// For each coefficient, in the order in which launches take their values: the points that it weighs, "u[x-1], u[x+1]",
/// after a "-" where it is subtracted; where it is a part of weights, or of an update that is no weighted sum, that.
std::vector<std::string> coefficient_roles(const Stencil& stencil);

}  // namespace stencil_tune
