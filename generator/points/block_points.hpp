// Points sorted by the blocks of a kernel that keeps the grid on chip.
#pragma once

#include "generator/points/tile_points.hpp"

namespace stencil_tune {

/// `warps` has an entry a block, of single points instead of rounds. A source's cell is its place in the block's tile
/// with the halo, and has an entry in each block that has it; a receiver's mask is its place, in the block whose tile
/// has it.
TilePoints sort_by_blocks(const Candidate& candidate, const PointList& points, const ReceiverCells& receivers);

}  // namespace stencil_tune
