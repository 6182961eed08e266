// Derivatives of stencils, as stencils: what gradients flow back through.
//
//     u_next(x) = sum over taps d of c_d u(x + d)        adjoint: grad_u(x) = sum over taps d of c_d grad_u_next(x - d)
//
// In general the weight of a tap is the partial derivative of the update with respect to that read, at the cell that
// read it: where the update is not linear it reads the fields, shifted as the gradient is.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

/// "grad_u": the field that holds the derivative of the loss with respect to u.
std::string gradient_name(const std::string& field);

/// The adjoint of a stencil of one stage: reads the gradients of its outputs, and of its own inputs those that the
/// derivatives depend on, and writes the gradient of each input that has one. Coefficients are the same, in the same
/// order. Where each output becomes an input after a step and nothing else moves, the gradients rotate the other way.
/// On a boundary that is periodic it is the adjoint as it stands, and on one that is zero too, where the update is the
/// same everywhere. Coordinates, profiles, layers and distances from edges are those of the cell that read: they are
/// right in a launch with zeros outside, on a grid that has room for what cells read beyond its edges. Distances come
/// from coordinates and the coefficients edge_coefficient_name(), which follow the stencil's own. The gradient of a
/// field that exists in layers alone exists there. Where |x|, min, max and a select have no derivative, one side's
/// counts (0 for |x|).
/// Throws Error(invalid_argument) for several stages, or where no input has a derivative.
Stencil adjoint_of(const Stencil& stencil);

/// For each coefficient that an output depends on the field "grad_NAME": what each cell adds to the derivative of the
/// loss with respect to it. Reads the gradients of the outputs and the inputs at the same cell as the stencil does,
/// with its boundary. Throws Error(invalid_argument) for several stages, or where nothing depends on a coefficient.
Stencil coefficient_adjoint_of(const Stencil& stencil);

/// A step back through all stages, as a step of its own that runs can repeat: the state holds the gradient of each
/// field of the stencil's state, "grad_u", before the step that of the state after a step of the stencil, after it that
/// of the state before. `wanted` names fields that no step changes, and coefficients: the gradient of each, "grad_v",
/// is part of the state too, and a step back adds to it. It may name fields that a stage writes and a later one reads:
/// their gradients are left in "grad_q" after the step. Reads the fields that derivatives depend on, as they were
/// before the stencil's step, and makes again what its stages hand on. It is right where adjoint_of() is, with
/// distances as the launch has them. Where the stencil's boundary is hold on an axis it is right as well, from
/// gradients of 0 in the held layers on, but for what these layers themselves would get:
///   - under hold, if it keeps as many layers as each stage of the stencil does,
///   - under zero, if the axis is one of `held`.
/// Throws Error(invalid_argument) where it is not known, or no gradient of the state depends on another.
Stencil adjoint_step_of(const Stencil& stencil, const std::vector<std::string>& wanted, Along held = 0);

}  // namespace stencil_tune
