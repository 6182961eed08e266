// Kernels of definitions that ask where a cell is and when, and of those that store fields in types of their own.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <vector>

namespace stencil_tune {

/// Two to six fused steps of one field, every other number with a boundary, of every rank, with the boundary on all
/// sides: cells, groups of warps, clusters, tiles of several warps, rows copied by TMA.
std::vector<HostCase> placed_temporal_cases(Boundary everywhere);

/// One to six fused steps of systems of one stage and of two, with the boundary on all sides; of those of two stages
/// every other number.
std::vector<HostCase> placed_system_cases(Boundary everywhere);

/// Arrays along one axis and two, read at the cell and beside it, and of time, with the boundary on all sides: every
/// family, one to six steps.
std::vector<HostCase> profile_cases(Boundary everywhere);

/// Fields of every storage type, with scales and shifts and without, read at the cell and beside it, written, selected
/// by, with the boundary on all sides: every family that takes them, one to six steps.
std::vector<HostCase> stored_cases(Boundary everywhere);

/// Definitions that say what lies beyond their edges, field by field and side by side: every way of moving cells, some
/// of three steps; one to six fused steps of one field and of systems.
std::vector<HostCase> edge_cases();
std::vector<HostCase> fused_edge_cases();

}  // namespace stencil_tune
