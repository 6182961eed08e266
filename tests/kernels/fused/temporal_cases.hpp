// The kernels of fused steps that the tests run, on the host executor and on a GPU.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <string_view>
#include <vector>

namespace stencil_tune {

/// The candidate on grids that its tile fits into just so, with a few cells more, and with rows padded. Only those that
/// it is legal on.
HostCase temporal_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code);

/// Star and box of either rank and of several orders, every element type, 64-bit indices, with the boundary on all
/// sides.
std::vector<HostCase> temporal_cases(Boundary everywhere);

/// Stars of rank 1, which is not walked along, with 2 to 8 steps fused at each boundary.
std::vector<HostCase> temporal_line_cases();

/// Stars of rank 2 with 2 to 8 steps fused, and of rank 3 with an odd number of warps a block; another
/// boundary on each axis.
std::vector<HostCase> temporal_step_cases();

/// Sums kept between planes, over one and several planes, with boundaries of all kinds across the walk and those along
/// it that sums allow.
std::vector<HostCase> temporal_sums_cases();

/// Cells that boundary hold keeps, in each loop that may keep them: planes and sums, one warp high and several.
std::vector<HostCase> temporal_held_cases();

/// Blocks and clusters that share out the planes of all tiles: planes and sums, rows by lanes and by TMA, rims, groups,
/// constant fields, every boundary.
std::vector<HostCase> temporal_share_cases();

/// Steps shared out among groups of warps: with and without rows exchanged, cells and sums, constant fields, clusters,
/// every boundary.
std::vector<HostCase> temporal_group_cases();

/// Tiles shared by the blocks of a cluster: cells and sums, words of 4 to 16 bytes sent, one row and two, every
/// boundary.
std::vector<HostCase> temporal_cluster_cases();

/// Rows beyond the tile that its first level reads: cells and sums, beside rows by lanes and by TMA, groups, seams,
/// every boundary; tiles that end next to the grid's end.
std::vector<HostCase> temporal_rim_cases();

/// Tiles that several warps span in x: every boundary in a plane, cells and sums, stars and boxes, rows at seams, of
/// which ends are exchanged and of which there are none.
std::vector<HostCase> wide_temporal_cases();

/// Warps that wait for each other at a split barrier: cells and sums, groups that take planes two steps later, seams,
/// wide tiles.
std::vector<HostCase> split_barrier_cases();

/// Rows copied by TMA: cells and sums, groups of warps and clusters, constant fields, planes across the
/// ends of a periodic walk.
std::vector<HostCase> temporal_tma_cases();

/// A stencil that reaches further to one side, with each boundary that can answer it.
std::vector<HostCase> lopsided_temporal_cases();

/// Two of the corpus: a nonlinear stencil, and one that reads all but the corners of its box.
std::vector<HostCase> defined_temporal_cases();

/// Stencils that also read fields which no step changes, one of them twice in a product; of every rank, with and
/// without sums.
std::vector<HostCase> temporal_constant_cases();

}  // namespace stencil_tune
