// Words of a generated Tuning. It has a constant for each parameter of its family, and for what its template asks besides.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

/// Block rasterization: in which order block numbers visit the tiles of the grid.
enum class BlockOrder { natural, z_first, raster, raster32 };

/// How a thread gets the cells left and right of its own.
enum class Neighbours { cache, shuffle };

/// In which loop threads at an edge of the grid keep the cells that boundary hold does not change: one of their blocks' own,
/// or one of all blocks, without a branch or with one around them. Where levels keep sums, they remember such cells in `apart`
/// alone; in all others they put them aside (temporal_held_cells.cuh).
enum class HeldLoop { apart, aside, chosen, skipped };

/// How the warps of a block wait for each other from step to step (temporal_barrier.cuh).
enum class StepBarrierKind { meet, split, pinned };

/// Which tile the threads of a block cover one to one.
enum class Cover { output, input };

}  // namespace stencil_tune
