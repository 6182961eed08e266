// Fused steps of definitions that ask where a cell is and when.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <vector>

namespace stencil_tune {

/// Two to six fused steps of one field, of every rank, with the boundary on all sides: cells, groups of warps, clusters,
/// tiles of several warps, rows copied by TMA.
std::vector<HostCase> placed_temporal_cases(Boundary everywhere);

/// One to six fused steps of systems of one stage and of two, with the boundary on all sides.
std::vector<HostCase> placed_system_cases(Boundary everywhere);

}  // namespace stencil_tune
