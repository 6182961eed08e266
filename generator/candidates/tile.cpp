#include "generator/candidates/tile.hpp"

#include "generator/candidates/temporal.hpp"
#include "generator/kernel/plane_sums.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

namespace stencil_tune {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::array<int, kMaxRank> grid_axes(int rank, Family family) {
  if ((family == Family::streaming || family == Family::temporal) && rank == 2) return {0, -1, 1};
  return {0, rank > 1 ? 1 : -1, rank > 2 ? 2 : -1};
}

}  // namespace

Reach stage_reach(const Problem& problem, int grid_axis) {
  Reach all;
  for (const auto& input : problem.facts.reach) {
    const Reach& reach = input[static_cast<std::size_t>(grid_axis)];
    all.low = std::min(all.low, reach.low);
    all.high = std::max(all.high, reach.high);
  }
  return all;
}

KernelAxes kernel_axes(const Problem& problem, const Tuning& tuning) {
  KernelAxes axes;
  axes.grid_axis = grid_axes(problem.extents.rank, tuning.family);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const int grid_axis = axes.grid_axis[axis];
    if (grid_axis < 0) continue;
    axes.extents[axis] = problem.extents.n[static_cast<std::size_t>(grid_axis)];
    axes.reach[axis] = stage_reach(problem, grid_axis);
  }
  return axes;
}

namespace {

std::array<std::int64_t, kMaxRank> temporal_tile(const Problem& problem, const Tuning& tuning) {
  const TemporalShape shape = temporal_shape(problem, tuning);
  const std::int64_t planes = kernel_axes(problem, tuning).extents[2];
  return {shape.width - shape.left - shape.right, shape.height - shape.above - shape.below,
          (planes + tuning.chunks - 1) / tuning.chunks};
}

}  // namespace

std::array<std::int64_t, kMaxRank> kernel_tile(const Problem& problem, const Tuning& tuning) {
  if (tuning.family == Family::temporal) return temporal_tile(problem, tuning);
  const bool walks = tuning.family == Family::streaming;
  std::array<std::int64_t, kMaxRank> tile{std::int64_t{tuning.block_x} * tuning.register_x,
                                          std::int64_t{tuning.block_y} * tuning.register_y,
                                          walks ? tuning.depth : std::int64_t{tuning.block_z} * tuning.register_z};
  if (tuning.cover == Cover::input) {
    const KernelAxes axes = kernel_axes(problem, tuning);
    const std::size_t covered = walks ? 2 : 3;
    for (std::size_t axis = 0; axis < covered; ++axis) tile[axis] -= axes.reach[axis].high - axes.reach[axis].low;
  }
  return tile;
}

std::array<std::int64_t, kMaxRank> kernel_tiles(const Problem& problem, const Tuning& tuning) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto tile = cluster_tile(problem, tuning);
  if (tuning.family == Family::temporal) {
    const TemporalShape shape = temporal_shape(problem, tuning);
    const auto boundary = [&](std::size_t axis) {
      return axes.grid_axis[axis] < 0 ? Boundary::hold
                                      : problem.boundaries[static_cast<std::size_t>(axes.grid_axis[axis])];
    };
    return {temporal_tiles(axes.extents[0], shape.width, shape.left, shape.right, boundary(0)),
            temporal_tiles(axes.extents[1], shape.height, shape.above, shape.below, boundary(1)), tuning.chunks};
  }
  std::array<std::int64_t, kMaxRank> tiles{};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) tiles[axis] = (axes.extents[axis] + tile[axis] - 1) / tile[axis];
  return tiles;
}

std::array<std::int64_t, kMaxRank> blocks_of(std::array<std::int64_t, kMaxRank> tiles, const Tuning& tuning) {
  if (tuning.tiles > 1) {
    const std::int64_t all = saturating_product({tiles[0], tiles[1], tiles[2]});
    tiles = {all / tuning.tiles + (all % tuning.tiles > 0 ? 1 : 0), 1, 1};
  }
  tiles[0] = saturating_product({tiles[0], tuning.cluster});
  return tiles;
}

bool numbers_blocks_by_axis(const Tuning& tuning) { return tuning.order == BlockOrder::natural && tuning.tiles == 1; }

std::int64_t threads_per_block(const Tuning& tuning) {
  return saturating_product({tuning.block_x, tuning.block_y, tuning.block_z, tuning.groups});
}

bool uses_ring(const Tuning& tuning) { return tuning.family == Family::streaming && tuning.planes == Planes::ring; }

bool uses_tensor_maps(const Tuning& tuning) {
  if (tuning.family == Family::temporal) return tuning.row_copies == Copies::engine;
  return uses_ring(tuning) && tuning.copies == Copies::engine;
}

CopiedBox copied_box(const Problem& problem, const Tuning& tuning) {
  if (tuning.family == Family::temporal) return {temporal_shape(problem, tuning).warp_width, tuning.register_y};
  const SharedTile ring = shared_tile(problem, tuning);
  return {ring.pitch, ring.rows};
}

int first_loaded_plane(const Problem& problem, const Tuning& tuning) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const int reach = axes.reach[2].high - axes.reach[2].low;
  if (tuning.keeps == Keeps::sums) return reach;
  // Of each part (own cells, left halo, right halo) of each row the highest plane that reads it loads it.
  std::map<std::array<int, 3>, int> newest;
  for (const Tap& tap : problem.facts.taps) {
    const int dx = tap.offset[0];
    const int dy = axes.grid_axis[1] < 0 ? 0 : tap.offset[static_cast<std::size_t>(axes.grid_axis[1])];
    const int plane = tap.offset[static_cast<std::size_t>(axes.grid_axis[2])] - axes.reach[2].low;
    for (int j = 0; j < tuning.register_y; ++j) {
      const auto read = [&](int part) {
        const auto [entry, fresh] = newest.try_emplace({tap.field, dy + j, part}, plane);
        entry->second = std::max(entry->second, plane);
      };
      if (std::abs(dx) < tuning.register_x) read(0);
      if (dx != 0) read(dx);  // each offset its own part: no later than the whole halo's
    }
  }
  int first = reach;
  for (const auto& [part, plane] : newest) first = std::min(first, plane);
  return first;
}

namespace {

/// A ring's slot holds one plane of each input as the copy engine writes it: cells as stored, planes from a 128-byte
/// line on, which the engine asks for. Rows of the box are whole lines in memory and in the slot: those that begin on a
/// 32-byte sector and are 16 bytes longer than they must be cost 3 to 5 % on an H200 (2026-11-21), as a line of the one
/// then falls into two of the other.
SharedTile ring_tile(const Problem& problem, const Tuning& tuning) {
  constexpr std::int64_t kLineBytes = 128;
  constexpr std::int64_t kBarrierBytes = 16;  // full and empty, 8 bytes each
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto tile = kernel_tile(problem, tuning);
  const auto size = static_cast<std::int64_t>(size_of(problem.type));
  SharedTile ring;
  ring.left_pad = axes.reach[0].low < 0 ? static_cast<int>(round_up(-axes.reach[0].low, kLineBytes / size)) : 0;
  ring.pitch = round_up(ring.left_pad + tile[0] + axes.reach[0].high, kLineBytes / size);
  ring.rows = tile[1] + axes.reach[1].high - axes.reach[1].low;
  ring.planes = axes.reach[2].high - axes.reach[2].low + 1 - first_loaded_plane(problem, tuning) + tuning.prefetch + 1;
  ring.inputs =
      tuning.keeps == Keeps::sums ? early_inputs(problem.facts) : static_cast<int>(problem.facts.inputs.size());
  ring.cell_bytes = size_of(problem.type);
  const std::int64_t plane_bytes = round_up(saturating_product({ring.pitch, ring.rows, size}), kLineBytes);
  ring.bytes = static_cast<std::size_t>(
      saturating_product({ring.planes, saturating_sum(saturating_product({plane_bytes, ring.inputs}), kBarrierBytes)}));
  return ring;
}

}  // namespace

SharedTile shared_tile(const Problem& problem, const Tuning& tuning) {
  if (tuning.family == Family::temporal) {
    SharedTile shared;  // input planes and exchanged rows: temporal_shape() says how many
    shared.bytes = temporal_shape(problem, tuning).shared_bytes;
    return shared;
  }
  if (uses_ring(tuning)) return ring_tile(problem, tuning);
  const bool walks = tuning.family == Family::streaming;
  if (tuning.family == Family::direct || (walks && tuning.planes == Planes::registers)) return {};

  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto tile = kernel_tile(problem, tuning);
  const bool with_halo = tuning.halo == Halo::shared;
  const auto low = [&](std::size_t axis) { return with_halo ? -axes.reach[axis].low : 0; };
  const auto high = [&](std::size_t axis) { return with_halo ? axes.reach[axis].high : 0; };

  SharedTile shared;
  // Whole vectors on both sides keep the first output cell of every row on a vector boundary.
  shared.left_pad = static_cast<int>(round_up(low(0), tuning.vector));
  shared.pitch = round_up(shared.left_pad + tile[0] + round_up(high(0), tuning.vector), tuning.vector);
  shared.rows = low(1) + tile[1] + high(1);
  if (!walks) {
    shared.planes = low(2) + tile[2] + high(2);
  } else {
    shared.planes = tuning.planes == Planes::mixed ? 1 : axes.reach[2].high - axes.reach[2].low + 1;
  }
  shared.inputs = static_cast<int>(problem.facts.inputs.size());
  shared.cell_bytes = std::max<std::size_t>(size_of(problem.type), 4);
  shared.bytes = static_cast<std::size_t>(saturating_product(
      {static_cast<std::int64_t>(shared.cell_bytes), shared.pitch, shared.rows, shared.planes, shared.inputs}));
  return shared;
}

int cluster_axis(const Problem& problem, const Tuning& tuning) {
  if (tuning.family == Family::temporal) return -1;
  constexpr std::int64_t kSectorBytes = 32;  // rows are read by whole ones
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto tile = kernel_tile(problem, tuning);
  const std::int64_t sector = kSectorBytes / static_cast<std::int64_t>(size_of(problem.type));
  int most = 0;
  double most_shared = 0;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    if (axes.grid_axis[a] < 0) continue;
    const Reach& reach = axes.reach[a];
    std::int64_t shared = reach.high - reach.low;
    if (a == 0) {
      shared = uses_ring(tuning) ? shared_tile(problem, tuning).pitch - tile[0]
                                 : round_up(-reach.low, sector) + round_up(reach.high, sector);
    }
    const double share = static_cast<double>(shared) / static_cast<double>(std::max<std::int64_t>(tile[a], 1));
    if (share >= most_shared) most = static_cast<int>(a), most_shared = share;
  }
  return most;
}

std::array<std::int64_t, kMaxRank> cluster_tile(const Problem& problem, const Tuning& tuning) {
  auto tile = kernel_tile(problem, tuning);
  const int axis = cluster_axis(problem, tuning);
  if (axis >= 0) {
    std::int64_t& length = tile[static_cast<std::size_t>(axis)];
    length = saturating_product({length, tuning.cluster});
  }
  return tile;
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) noexcept { return a > kLargest - b ? kLargest : a + b; }

std::int64_t saturating_product(std::initializer_list<std::int64_t> factors) noexcept {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor == 0) return 0;
    product = product > kLargest / factor ? kLargest : product * factor;
  }
  return product;
}

}  // namespace stencil_tune
