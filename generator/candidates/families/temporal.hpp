// What the room of fused steps shares among its files.
#pragma once

#include "generator/candidates/constraint.hpp"
#include "templates/temporal/temporal_geometry.cuh"

#include <vector>

namespace stencil_tune {

/// Warps of a block that have the same levels.
std::int64_t warps_of_group(const Tuning& tuning);

/// What the kernel's geometry follows from; templates/temporal/temporal_tile.cuh puts the same together from the
/// generated constants.
TemporalPlan temporal_plan(const Problem& problem, const Tuning& tuning, const KernelAxes& axes);

void temporal_shape(const Problem& problem, const Tuning& tuning, KernelShape& shape);

std::vector<Constraint> temporal_constraints();

}  // namespace stencil_tune
