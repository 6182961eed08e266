// What a block of threads covers, in the kernel's own axes.
//
// Kernels always see three axes: x (contiguous), y, z. direct and tiled take the grid's axes as they are. streaming and
// temporal walk the grid's last axis as their z: a 3D grid keeps its axes, a 2D grid's y becomes the kernel's z and the
// kernel's y has extent 1.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace stencil_tune {

struct KernelAxes {
  std::array<int, kMaxRank> grid_axis{-1, -1, -1};      ///< grid axis of each kernel axis; -1: the grid has none
  std::array<std::int64_t, kMaxRank> extents{1, 1, 1};  ///< of the grid, 1 without an axis
  std::array<Reach, kMaxRank> reach{};                  ///< over all inputs, 0..0 without an axis
};

KernelAxes kernel_axes(const Problem& problem, const Tuning& tuning);

/// How far the stage reads on a grid axis, over all its inputs.
Reach stage_reach(const Problem& problem, int grid_axis);

/// Output cells of one block along the kernel's axes. With cover=input the reach is taken off the block on each axis
/// it covers (streaming: x and y), so that an entry may be zero or negative: no tile at all. temporal: the cells that a
/// tile away from the grid's edges stores.
std::array<std::int64_t, kMaxRank> kernel_tile(const Problem& problem, const Tuning& tuning);

/// The kernel axis along which the tiles of a cluster's blocks follow each other: that on which neighbouring tiles read
/// most of the same, whatever the extents are. -1: the blocks share one tile (temporal).
int cluster_axis(const Problem& problem, const Tuning& tuning);

/// Output cells of the blocks that run together: one block's (kernel_tile), or those of a cluster.
std::array<std::int64_t, kMaxRank> cluster_tile(const Problem& problem, const Tuning& tuning);

/// How many of them cover the whole grid along the kernel's axes; the tile must not be empty.
std::array<std::int64_t, kMaxRank> kernel_tiles(const Problem& problem, const Tuning& tuning);

/// Whether the launch has an axis of blocks for each of the tiles'; otherwise all follow each other in x.
bool numbers_blocks_by_axis(const Tuning& tuning);

/// The blocks that so many are launched as: one each, or a cluster's, which follow each other in x. Those that take
/// several tiles have but one axis.
std::array<std::int64_t, kMaxRank> blocks_of(std::array<std::int64_t, kMaxRank> tiles, const Tuning& tuning);

/// Threads of a block; saturates.
std::int64_t threads_per_block(const Tuning& tuning);

/// The tile a block keeps in shared memory, all inputs with the same layout one after the other:
/// cell (x, y, z) of input i, counted from the first output cell of the tile, stands at
/// ((i * planes + z + reach.low_z) * rows + y + reach.low_y) * pitch + left_pad + x, where z is a slot of the ring of
/// planes for streaming and the low reaches are 0 with halo=cache.
struct SharedTile {
  int left_pad = 0;            ///< cells of a row before the first output cell: the low reach, rounded up to `vector`
  std::int64_t pitch = 0;      ///< cells of a row; a multiple of `vector`
  std::int64_t rows = 0;       ///< rows of a plane
  std::int64_t planes = 0;     ///< tiled: planes of the tile; streaming: the ring (shared: all in reach, mixed: 1)
  int inputs = 0;              ///< fields held
  std::size_t cell_bytes = 0;  ///< storage size; 4 for 16-bit types, which are converted once, when loaded
  std::size_t bytes = 0;       ///< per block; 0 for families that use no shared memory; saturates

  bool operator==(const SharedTile&) const = default;
};

SharedTile shared_tile(const Problem& problem, const Tuning& tuning);

/// The lowest plane (0: the lowest in reach) of which a walking thread still reads something for the first time; planes
/// below it were read at earlier steps and live on in registers. Decides how many planes a ring must hold.
int first_loaded_plane(const Problem& problem, const Tuning& tuning);

/// Whether planes pass through a ring in shared memory that is filled ahead of the walk.
bool uses_ring(const Tuning& tuning);

/// Whether the kernel has planes copied by the copy engine, which needs tensor maps.
bool uses_tensor_maps(const Tuning& tuning);

/// What such a kernel asks the copy engine for at once: a plane of the tile with its halo; temporal: a warp's rows of
/// it.
struct CopiedBox {
  std::int64_t cells = 0;  ///< of a row
  std::int64_t rows = 0;
};

/// Where its rows may start: elsewhere the instruction is illegal (H100 and H200, 2026-11-22).
inline constexpr std::int64_t kBoxStartBytes = 16;

CopiedBox copied_box(const Problem& problem, const Tuning& tuning);

/// Product and sum of non-negative numbers, or the largest int64 where they would be larger.
std::int64_t saturating_product(std::initializer_list<std::int64_t> factors) noexcept;
std::int64_t saturating_sum(std::int64_t a, std::int64_t b) noexcept;

}  // namespace stencil_tune
