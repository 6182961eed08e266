// What makes walks through the grid legal, their pipelines and their sums.
#pragma once

#include "generator/candidates/constraint.hpp"

#include <vector>

namespace stencil_tune {

std::vector<Constraint> streaming_constraints();

/// What TMA asks of the grid's rows and of a box, whichever family uses it.
std::vector<Constraint> tensor_map_constraints();

}  // namespace stencil_tune
