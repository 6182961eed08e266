// What a step makes of a constant field alone.
//
//     u_next = 2*u - u_prev + c2*v^2 * (u[x-1] + u[x+1] + ...)      v is read nowhere else
//
// A kernel of several steps makes such a part once a cell, and reads it in the field's place:
//
//     part of v = c2*v^2
//     u_next    = 2*u - u_prev + v * (u[x-1] + u[x+1] + ...)
#pragma once

#include "generator/stencil/step.hpp"

#include <map>

namespace stencil_tune {

struct ConstantParts {
  Stencil stencil;              ///< its stages read a part wherever they read its field
  std::map<int, NodeId> parts;  ///< by the field: an expression of its value at the cell, and of coefficients
};

/// A part is the largest such expression, where it is all that the stages make of the field. Fields that a stage reads
/// by themselves, at another cell or in two ways have none, nor has what a stage adds up weighted
/// (StageFacts::linear_taps): its weight costs nothing. `fields`: those of which parts are wanted.
ConstantParts with_constant_parts(const Stencil& stencil, const StepFacts& step, const std::vector<int>& fields);

}  // namespace stencil_tune
