#include "generator/candidates/shape.hpp"

#include "generator/candidates/family.hpp"

#include <algorithm>
#include <limits>

namespace stencil_tune {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kTensorCopyAlignment = 16;  // bytes, of addresses and strides: CUDA's driver API manual

/// The axis on which neighbouring tiles read most of the same, whatever the extents are.
int axis_of_most_sharing(const Problem& problem, const KernelShape& shape) {
  constexpr std::int64_t kSectorBytes = 32;  // rows are read by whole ones
  const KernelAxes& axes = shape.axes;
  const std::int64_t sector = kSectorBytes / static_cast<std::int64_t>(size_of(problem.type));
  int most = 0;
  double most_shared = 0;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    if (!axes.has(a)) continue;
    const Reach& reach = axes.reach[a];
    std::int64_t shared = reach.high - reach.low;
    if (a == 0) {
      shared = shape.rows_of_whole_lines ? shape.shared.pitch - shape.tile[0]
                                         : round_up(-reach.low, sector) + round_up(reach.high, sector);
    }
    const double share = static_cast<double>(shared) / static_cast<double>(std::max<std::int64_t>(shape.tile[a], 1));
    if (share >= most_shared) most = static_cast<int>(a), most_shared = share;
  }
  return most;
}

/// The blocks of a cluster have tiles side by side, or share one.
void place_clusters(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  shape.cluster_tile = shape.tile;
  if (shape.placement == Placement::inside) return;
  shape.cluster_axis = axis_of_most_sharing(problem, shape);
  std::int64_t& length = shape.cluster_tile[static_cast<std::size_t>(shape.cluster_axis)];
  length = saturating_product({length, tuning.cluster});
}

void count_tiles(KernelShape& shape) {
  if (!shape.has_tile() || shape.placement == Placement::inside) return;
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    shape.tiles[a] = (shape.axes.extents[a] + shape.cluster_tile[a] - 1) / shape.cluster_tile[a];
  }
}

bool needs_wide_index(const KernelShape& shape) {
  const KernelAxes& axes = shape.axes;
  const long long extents[]{axes.extents[0], axes.extents[1], axes.extents[2]};
  return !fits_32_bits(extents, axes.strides[1], axes.strides[2], beyond_grid(shape));
}

}  // namespace

/// Tiles that end beyond the grid have rows of their own there; fused steps also reach beyond it before and after it.
BeyondGrid beyond_grid(const KernelShape& shape) {
  const std::int64_t reach = shape.axes.reach_width(1);
  if (shape.placement == Placement::aligned) return {saturating_sum(shape.cluster_tile[1], reach), 0};
  return {saturating_sum(shape.fused.height, reach), std::int64_t{shape.fused.delay} + shape.fused.lag};
}

Reach stage_reach(const Problem& problem, int grid_axis) {
  return problem.facts.farthest[static_cast<std::size_t>(grid_axis)];
}

KernelAxes kernel_axes(const Problem& problem, const Tuning& tuning) {
  KernelAxes axes;
  axes.grid_axis = tuning.family->axes(problem.extents.rank);
  if (tuning.walk_axis == WalkAxis::y) std::swap(axes.grid_axis[1], axes.grid_axis[2]);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const int grid_axis = axes.grid_axis[axis];
    if (grid_axis < 0) continue;
    axes.extents[axis] = problem.extents.n[static_cast<std::size_t>(grid_axis)];
    axes.strides[axis] = grid_axis == 0 ? 1 : grid_axis == 1 ? problem.pitch : problem.plane_cells();
    axes.reach[axis] = stage_reach(problem, grid_axis);
    axes.boundaries[axis] = problem.boundaries[static_cast<std::size_t>(grid_axis)];
  }
  return axes;
}

const FusedSystem& KernelShape::system() const {
  static const FusedSystem kNone;
  return system_levels ? *system_levels : kNone;
}

const KernelShape& Candidate::shape() const {
  if (!shape_) {
    KernelShape& shape = shape_.emplace();
    shape.axes = kernel_axes(*problem_, tuning_);
    shape.threads = threads_per_block(tuning_);
    family().shape(*problem_, tuning_, shape);
    place_clusters(*problem_, tuning_, shape);
    count_tiles(shape);
    shape.wide_index = needs_wide_index(shape);
  }
  return *shape_;
}

std::int64_t threads_per_block(const Tuning& tuning) {
  return saturating_product({tuning.block_x, tuning.block_y, tuning.block_z, tuning.groups});
}

bool numbers_blocks_by_axis(const Tuning& tuning) { return tuning.order == BlockOrder::natural && tuning.tiles == 1; }

Lengths blocks_of(Lengths tiles, const Tuning& tuning) {
  if (tuning.tiles > 1) {
    const std::int64_t all = saturating_product({tiles[0], tiles[1], tiles[2]});
    tiles = {all / tuning.tiles + (all % tuning.tiles > 0 ? 1 : 0), 1, 1};
  }
  tiles[0] = saturating_product({tiles[0], tuning.cluster});
  return tiles;
}

std::size_t required_alignment(const Candidate& candidate) {
  const std::size_t vector =
      widest_cell_bytes(candidate.problem()) * static_cast<std::size_t>(candidate.tuning().vector);
  const bool copies = candidate.shape().uses_tensor_maps || candidate.shape().copies_lines;
  return copies ? std::max(vector, kTensorCopyAlignment) : vector;
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) noexcept { return a > kLargest - b ? kLargest : a + b; }

std::int64_t saturating_product(std::initializer_list<std::int64_t> factors) noexcept {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) product = kLargest;
  }
  return product;
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) noexcept {
  return saturating_sum(value, multiple - 1) / multiple * multiple;
}

}  // namespace stencil_tune
