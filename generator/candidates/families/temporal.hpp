// What the files of the temporal family share.
#pragma once

#include "generator/candidates/constraint.hpp"

#include <vector>

namespace stencil_tune {

/// Warps of a block that have the same levels.
std::int64_t warps_of_group(const Tuning& tuning);

void temporal_shape(const Problem& problem, const Tuning& tuning, KernelShape& shape);

std::vector<Constraint> temporal_constraints();

}  // namespace stencil_tune
