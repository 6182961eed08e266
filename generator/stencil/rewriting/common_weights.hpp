// Numbers that weigh all terms of a sum, in front of the product that the sum is part of.
//
//     u + dt*b * (9/8*(s[x+1] - s) - 1/24*(s[x+2] - s[x-1]))
//   = u + (9/8*dt)*b * ((s[x+1] - s) - 1/27*(s[x+2] - s[x-1]))
//
// The new factor costs nothing, since it joins one that is the same in all cells, and one term of each sum has lost its
// weight.
#pragma once

#include "stencil_tune/stencil.hpp"

namespace stencil_tune {

/// The same updates; again of what it made, it changes nothing. Nodes of the stencil stay where they are. A weight goes
/// to the front of products that begin with a number or a coefficient: the largest that all sums have which one and the
/// same factor multiplies. A weight is rounded once to the compute type, as before; so is its product with the factor.
/// What is linear and has one output stays as it is (StageFacts::linear_taps say how it is grouped).
Stencil with_common_weights_in_front(const Stencil& stencil);

}  // namespace stencil_tune
