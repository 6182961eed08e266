// Stencils with their tangents: how the state of a run changes with a coefficient, step by step beside the state.
//
//     u_next = S(u, c)        tangent_u_next = sum over reads of dS/dread * tangent_u there + dS/dc
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>

namespace stencil_tune {

/// "tangent_u": the derivative of u with respect to the coefficient.
std::string tangent_name(const std::string& field);

/// The stencil, with a tangent beside each field that its steps change: reads both, writes both, and rotates both
/// alike. On each boundary it is the derivative of a run as it stands, where tangents begin with zero. Coefficients are
/// the same, in the same order. Throws Error(invalid_argument) for several stages, for one without rotations, for what
/// is not the same everywhere and in each step, and for a coefficient that there is not.
Stencil tangent_of(const Stencil& stencil, int coefficient);

/// One of a stencil's stages as a stencil of its own, of the fields that it uses; all coefficients in their order, and
/// no rotation. Throws Error(invalid_argument) for a stage that there is not.
Stencil stage_of(const Stencil& stencil, int stage);

}  // namespace stencil_tune
