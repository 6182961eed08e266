// Derivatives of stencils, as stencils: what gradients flow back through.
//
//     u_next(x) = sum over taps d of c_d u(x + d)        adjoint: grad_u(x) = sum over taps d of c_d grad_u_next(x - d)
//
// In general the weight of a tap is the partial derivative of the update with respect to that read, at the cell that
// read it: where the update is not linear it reads the fields, shifted as the gradient is.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>

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

}  // namespace stencil_tune
