#include "generator/tile.hpp"

#include <algorithm>
#include <limits>

namespace stencil_tune {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::array<int, kMaxRank> grid_axes(int rank, Family family) {
  if (family == Family::streaming && rank == 2) return {0, -1, 1};
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

std::array<std::int64_t, kMaxRank> kernel_tile(const Problem& problem, const Tuning& tuning) {
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

std::array<std::int64_t, kMaxRank> kernel_blocks(const Problem& problem, const Tuning& tuning) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto tile = kernel_tile(problem, tuning);
  std::array<std::int64_t, kMaxRank> blocks{};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) blocks[axis] = (axes.extents[axis] + tile[axis] - 1) / tile[axis];
  return blocks;
}

std::int64_t threads_per_block(const Tuning& tuning) {
  return saturating_product({tuning.block_x, tuning.block_y, tuning.block_z});
}

SharedTile shared_tile(const Problem& problem, const Tuning& tuning) {
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
