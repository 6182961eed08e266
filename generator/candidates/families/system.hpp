// What the files of the system family share.
#pragma once

#include "generator/candidates/constraint.hpp"

#include <cstdint>
#include <vector>

namespace stencil_tune {

/// Fields that pass through a level of a narrow system at the most (FusedSystem::passing).
inline constexpr std::int64_t kFewPassing = 9;

void system_shape(const Problem& problem, const Tuning& tuning, KernelShape& shape);

/// Planes that a grid has at least, so that no read of a level is reflected at both ends of the walk.
std::int64_t least_planes(const KernelShape& shape);

std::vector<Constraint> system_constraints();

}  // namespace stencil_tune
