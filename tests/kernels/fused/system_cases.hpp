// The kernels of whole steps of systems that the tests run.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <string_view>
#include <vector>

namespace stencil_tune {

/// Two stages, the first of which writes an intermediate, which keeps its own layers, and a field that nobody reads:
/// reads of both off the axes, a constant at the cell.
Stencil predictor_corrector(int rank);

/// The candidate on grids that its tile fits into just so, with some cells more, and with rows padded.
HostCase system_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code);

/// Two time levels, several fields, several stages and constants beside the cell, in every rank, with the boundary on
/// all sides.
std::vector<HostCase> system_cases(Boundary everywhere);

/// One to six fused steps of systems, with another boundary on each axis.
std::vector<HostCase> system_step_cases();

/// Levels that work later in place of meeting, rows brought by TMA, 64-bit indices, chunks, 16-bit types.
std::vector<HostCase> system_parameter_cases();

/// Rows brought by TMA that end off a multiple of 16 bytes, so that the last tile ends beyond the grid: each on three
/// grids.
std::vector<HostCase> system_row_end_cases();

/// Rows beyond the tile that the first level reads: one field and several, of one side and of both, that wait for the
/// next step or are read at once, every boundary.
std::vector<HostCase> system_rim_cases();

/// Parts of updates that are computed once a cell and passed on.
std::vector<HostCase> system_shared_part_cases();

}  // namespace stencil_tune
