// A candidate: a tuning on a problem, with the shape that follows from both.
//
// The shape is computed once, by the family's own rule, and handed to everything that needs it: constraints, generated
// source, launch, arguments, performance model, host executor, export.
#pragma once

#include "generator/candidates/fused_system.hpp"
#include "generator/candidates/kernel_axes.hpp"
#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"
#include "templates/index_width.cuh"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>

namespace stencil_tune {

/// The tile a block keeps in shared memory, all inputs with the same layout one after the other:
/// cell (x, y, z) of input i, counted from the first output cell of the tile, stands at
/// ((i * planes + z + reach.low_z) * rows + y + reach.low_y) * pitch + left_pad + x. In walks z is a stage of the
/// pipeline of planes.
struct SharedTile {
  int left_pad = 0;            ///< cells of a row before the first output cell: the low reach, rounded up to `vector`
  std::int64_t pitch = 0;      ///< cells of a row; a multiple of `vector`
  std::int64_t rows = 0;       ///< rows of a plane
  std::int64_t planes = 0;     ///< planes of the tile; in walks those in shared memory at one time (mixed: 1)
  int inputs = 0;              ///< fields in it
  std::size_t cell_bytes = 0;  ///< storage size; 4 for 16-bit types, which are converted once, when loaded
  std::size_t bytes = 0;       ///< per block; 0 for families that use no shared memory; saturates

  bool operator==(const SharedTile&) const = default;
};

inline constexpr std::size_t kTensorMapBytes = 128;  ///< bytes of the kernel's argument for an input that TMA copies

/// What a kernel asks TMA for at once: a plane of the tile with its halo; temporal: a warp's rows of it.
struct CopiedBox {
  std::int64_t cells = 0;  ///< cells of a row
  std::int64_t rows = 0;
};

/// The geometry of fused steps and their levels; each level is one sweep:
///
///     |<- left ->|<-------- stored -------->|<- right ->|         one tile in x; in y above and below are its halo
///                               |<- left ->|<-------- stored -------->|<- right ->|         its neighbour
///     grid: the first tile begins, the last one ends with it, so that only inner halos are computed twice
struct FusedLevels {
  std::int64_t width = 0;       ///< cells of a tile in x, halo included
  std::int64_t warp_width = 0;  ///< cells of a warp's part of it
  std::int64_t height = 0;      ///< rows of a tile in y, of all blocks that share it
  std::int64_t block_height = 0;
  int left = 0, right = 0;  ///< halo columns of a tile, rounded up to whole vectors and to what TMA takes
  int shift = 0;         ///< cells that tiles after the first begin earlier in x, for their own to begin with a sector
  int row_multiple = 1;  ///< rows of tiles end at a multiple of so many cells, the last tile's perhaps beyond the grid
  int above = 0, below = 0;  ///< halo rows
  int rim_rows = 0;          ///< rows above and below the tile that its first level reads too
  int rim_age = 0;           ///< planes from the newest to the one whose rows warps publish
  int levels = 0;            ///< levels of one group of warps
  int lag = 0;               ///< planes that a level works behind the one before it
  int delay = 0;             ///< planes from the input to the output
  int kept = 0;              ///< planes, of cells or of sums, that a level keeps from step to step
  int exchange_slots = 0;    ///< planes whose edge cells warps have in shared memory; 0: none are exchanged
  int end_rows = 0;          ///< rows of a warp where the ends of each thread's part are exchanged
  int first_exchanged = 0;   ///< first plane of the reach (0: the lowest) whose edge cells are there at one time ...
  int last_exchanged = -1;   ///< ... and the last one
  bool splits_sums = false;  ///< sums take of a plane what other warps' cells have no part in a step before the rest
  int hand_over = 1;         ///< steps until a group takes what another completed
  int group_delay = 0;       ///< planes from a group's input to the next group's
};

/// Where the tiles of a launch lie.
enum class Placement {
  aligned,  ///< side by side from a 128-byte line on, so that they cover the cells to update
  inside,   ///< with their halos inside the grid (but for periodic axes), overlapping; planes are shared out
};

struct KernelShape {
  KernelAxes axes;
  std::int64_t threads = 0;  ///< threads of a block; saturates
  Lengths tile{};            ///< cells that one block stores; an entry may be zero or negative: no tile at all
  int cluster_axis = -1;   ///< kernel axis along which the tiles of a cluster's blocks follow; -1: they share one tile
  Lengths cluster_tile{};  ///< cells that the blocks of a cluster store together
  Lengths tiles{};         ///< cluster_tiles that cover the whole grid; zero where the tile is empty
  Placement placement = Placement::aligned;
  std::int64_t shares = 0;        ///< parts that rows or planes of all tiles are cut into; 0: a tile has its own blocks
  std::int64_t shared_tiles = 0;  ///< fused steps: tiles of a plane that the shares are cut from
  Lengths whole_tile{};           ///< placement inside: the tile with its halo; along a walk, the planes it must have
  Lengths least_extents{1, 1, 1};  ///< the smallest grid that the tile lies in
  std::int64_t row_multiple = 1;   ///< each row of the grid must have a multiple of so many cells
  SharedTile shared;
  bool rows_of_whole_lines = false;  ///< rows in shared memory are whole 128-byte lines of the grid's
  bool uses_tensor_maps = false;     ///< planes are copied by TMA
  bool copies_lines = false;         ///< bulk copies move whole words of 16 bytes
  bool together = false;             ///< blocks wait for each other: all run at once, and know how many steps they make
  CopiedBox copied_box;
  int first_loaded_plane = 0;  ///< pipeline of planes: the lowest one in reach from which a step loads something
  FusedLevels fused;           ///< the geometry of a launch that makes several sweeps
  std::shared_ptr<const FusedSystem> system_levels;  ///< where the launch makes whole steps of a system of fields
  bool turns_once = false;  ///< serves axes that are longer than KernelAxes::turned_reach alone
  bool wide_index = false;  ///< indices take 64 bits: templates/index_width.cuh

  double factors_in_registers = 0;  ///< systolic: share of multiply-adds whose factor no uniform register keeps
  /// 32-bit registers that a thread's values need at the same time, addresses and coefficients not counted. An upper
  /// bound where the compiler reorders, hence only good for legality.
  std::int64_t live_registers = 0;
  /// Updates' worth of straight-line code: taps (or pairs of operations, where there are more) of all outputs that one
  /// iteration of the innermost rolled loop updates.
  std::int64_t unrolled_work = 0;

  const FusedSystem& system() const;  ///< without levels where the kernel is of no system
  bool has_tile() const { return tile[0] > 0 && tile[1] > 0 && tile[2] > 0; }
};

/// Does not own the problem, which must outlive it. Not for several threads at once: the shape is computed when first
/// asked for, since most candidates that are drawn break a constraint that needs none.
class Candidate {
 public:
  Candidate(const Problem& problem, const Tuning& tuning) : problem_(&problem), tuning_(tuning) {}

  const Problem& problem() const noexcept { return *problem_; }
  const Tuning& tuning() const noexcept { return tuning_; }
  const Family& family() const noexcept { return *tuning_.family; }
  const KernelShape& shape() const;

 private:
  const Problem* problem_;
  Tuning tuning_;
  mutable std::optional<KernelShape> shape_;
};

/// How far beyond the grid the kernel's indices go.
BeyondGrid beyond_grid(const KernelShape& shape);

/// Threads of a block; saturates.
std::int64_t threads_per_block(const Tuning& tuning);

/// Whether the launch has an axis of blocks for each of the tiles'; otherwise all follow each other in x.
bool numbers_blocks_by_axis(const Tuning& tuning);

/// The blocks that so many tiles are launched as: one each, or a cluster's, which follow each other in x. Those that
/// take several tiles have but one axis.
Lengths blocks_of(Lengths tiles, const Tuning& tuning);

/// Bytes that field addresses must be multiples of for this candidate.
std::size_t required_alignment(const Candidate& candidate);

/// Product and sum of non-negative numbers, or the largest int64 where they would be larger.
std::int64_t saturating_product(std::initializer_list<std::int64_t> factors) noexcept;
std::int64_t saturating_sum(std::int64_t a, std::int64_t b) noexcept;
std::int64_t round_up(std::int64_t value, std::int64_t multiple) noexcept;  ///< saturates

}  // namespace stencil_tune
