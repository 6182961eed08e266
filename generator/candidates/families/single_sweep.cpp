#include "generator/candidates/families/single_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {

std::array<int, kMaxRank> axes_of_the_grid(int rank) { return {0, rank > 1 ? 1 : -1, rank > 2 ? 2 : -1}; }

std::array<int, kMaxRank> axes_of_a_walk(int rank) {
  return rank == 2 ? std::array<int, kMaxRank>{0, -1, 1} : axes_of_the_grid(rank);
}

Lengths tile_of_threads(const Tuning& tuning) {
  return {std::int64_t{tuning.block_x} * tuning.register_x, std::int64_t{tuning.block_y} * tuning.register_y,
          std::int64_t{tuning.block_z} * tuning.register_z};
}

void take_off_halo(const Tuning& tuning, KernelShape& shape, std::size_t axes) {
  if (tuning.cover != Cover::input) return;
  for (std::size_t axis = 0; axis < axes; ++axis) shape.tile[axis] -= shape.axes.reach_width(axis);
}

SharedTile rows_with_halo(const Problem& problem, const Tuning& tuning, const KernelShape& shape) {
  const auto& [x, y, z] = shape.axes.reach;
  SharedTile shared;
  shared.left_pad = static_cast<int>(round_up(-x.low, tuning.vector));
  shared.pitch = round_up(shared.left_pad + shape.tile[0] + round_up(x.high, tuning.vector), tuning.vector);
  shared.rows = -y.low + shape.tile[1] + y.high;
  shared.inputs = static_cast<int>(problem.facts.inputs.size());
  shared.cell_bytes = std::max<std::size_t>(size_of(problem.type), 4);
  return shared;
}

void fill_bytes(SharedTile& shared) {
  shared.bytes = static_cast<std::size_t>(saturating_product(
      {static_cast<std::int64_t>(shared.cell_bytes), shared.pitch, shared.rows, shared.planes, shared.inputs}));
}

std::int64_t work_of_an_output(const Problem& problem) {
  const auto taps = static_cast<std::int64_t>(problem.facts.taps.size());
  return std::max<std::int64_t>({taps, problem.facts.operations / 2, 1});
}

void estimate(const Problem& problem, const Tuning& tuning, std::int64_t input_values, KernelShape& shape) {
  const std::int64_t words = problem.type == ElementType::f64 ? 2 : 1;
  const auto inputs = static_cast<std::int64_t>(problem.facts.inputs.size());
  const auto outputs = static_cast<std::int64_t>(problem.facts.outputs.size());
  const std::int64_t results = saturating_product({tuning.register_x, tuning.register_y, tuning.register_z, outputs});
  shape.live_registers =
      saturating_product({words, saturating_sum(results, saturating_product({inputs, input_values}))});
  shape.unrolled_work = saturating_product(
      {work_of_an_output(problem), tuning.register_x, tuning.register_y, tuning.register_z, tuning.unroll});
}

void estimate_rows_at_once(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  estimate(problem, tuning, std::int64_t{tuning.register_x} + shape.axes.reach_width(0), shape);
}

std::string tile_constants(const Candidate& candidate) {
  const KernelShape& shape = candidate.shape();
  return fmt::format(
      "  static constexpr int kClusterAxis = {};\n"
      "  static constexpr int kTileX = {}, kTileY = {}, kTileZ = {};\n",
      shape.cluster_axis, shape.tile[0], shape.tile[1], shape.tile[2]);
}

std::string rows_at_once(const Candidate& candidate, const ThreadTile& tile) {
  return reads_ahead(candidate, tile) + tile_reads(candidate, tile);
}

std::string inside_constants(const Candidate& candidate, const ThreadTile& tile, int planes_ahead) {
  const auto is_inside = [&](std::size_t axis, bool one_output) {
    return candidate.tuning().neighbours == Neighbours::cache && one_output &&
           candidate.shape().axes.boundaries[axis] == Boundary::hold;
  };
  return fmt::format("  static constexpr bool kInsideX = {}, kInsideY = {}, kInsideZ = {};\n",
                     is_inside(0, tile.x == 1), is_inside(1, tile.y == 1),
                     is_inside(2, tile.z == 1 && planes_ahead == 0));
}

std::string shared_tile_constants(const SharedTile& shared, int top, int below) {
  return fmt::format(
      "  // The tile in shared memory: see shared_tile.cuh.\n"
      "  static constexpr int kTilePitch = {}, kTileRows = {}, kTilePlanes = {};\n"
      "  static constexpr int kTileLeft = {}, kTileTop = {}, kTileBelow = {};\n",
      shared.pitch, shared.rows, shared.planes, shared.left_pad, top, below);
}

// ---- the textbook's counts ------------------------------------------------------------------------------------------

namespace {

using Cells = std::array<double, kMaxRank>;

double product(const Cells& lengths) { return lengths[0] * lengths[1] * lengths[2]; }

Cells tile_of(const KernelShape& shape) {
  return {static_cast<double>(shape.tile[0]), static_cast<double>(shape.tile[1]), static_cast<double>(shape.tile[2])};
}

Cells reach_of(const KernelShape& shape) {
  return {static_cast<double>(shape.axes.reach_width(0)), static_cast<double>(shape.axes.reach_width(1)),
          static_cast<double>(shape.axes.reach_width(2))};
}

Cells with_halo(const KernelShape& shape) {
  const auto [tile, reach] = std::pair(tile_of(shape), reach_of(shape));
  return {tile[0] + reach[0], tile[1] + reach[1], tile[2] + reach[2]};
}

/// Distinct cells that a tile's outputs read: without corners when every tap lies on an axis.
double cells_read(const Cells& tile, const Cells& reach, bool star) {
  if (!star) return product({tile[0] + reach[0], tile[1] + reach[1], tile[2] + reach[2]});
  return product(tile) + reach[0] * tile[1] * tile[2] + reach[1] * tile[0] * tile[2] + reach[2] * tile[0] * tile[1];
}

}  // namespace

/// Only a row of lanes' ends load their x halo where neighbours come from shuffles.
TextbookLoads loads_through_cache(const Candidate& candidate, int outputs_z) {
  const Tuning& tuning = candidate.tuning();
  const KernelShape& shape = candidate.shape();
  const bool star = candidate.problem().facts.star;
  const Cells of_thread{static_cast<double>(tuning.register_x), static_cast<double>(tuning.register_y),
                        static_cast<double>(outputs_z)};
  Cells reach = reach_of(shape);
  const double halo_share = 1 - product(tile_of(shape)) / cells_read(tile_of(shape), reach, star);
  if (tuning.neighbours == Neighbours::shuffle) reach[0] /= std::min(tuning.block_x, kWarpSize);
  return {cells_read(of_thread, reach, star) / product(of_thread), halo_share};
}

TextbookLoads loads_through_shared_memory(const Candidate& candidate) {
  const double loaded = product(with_halo(candidate.shape()));
  const double outputs = product(tile_of(candidate.shape()));
  return {loaded / outputs, 1 - outputs / loaded};
}

// ---- defaults and constraints ---------------------------------------------------------------------------------------

Tuning block(const Family& family, int x, int y, int z) {
  Tuning tuning(family);
  tuning.block_x = x;
  tuning.block_y = y;
  tuning.block_z = z;
  return tuning;
}

Tuning flat_block(const Family& family, int rank) {
  return rank == 1 ? block(family, 256, 1, 1) : block(family, 32, 8, 1);
}

namespace {

Verdict judge_shuffles(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.neighbours != Neighbours::shuffle) return {};
  const int lanes = tuning.block_x;
  if (lanes != 8 && lanes != 16 && lanes % kWarpSize != 0) {
    return fmt::format("rows of {} threads are not split evenly over warps; shuffles need 8, 16 or a multiple of {}",
                       lanes, kWarpSize);
  }
  if (threads_per_block(tuning) % kWarpSize != 0) {
    return fmt::format("{} threads leave the last warp incomplete; shuffles need whole warps",
                       threads_per_block(tuning));
  }
  const Reach reach = stage_reach(candidate.problem(), 0);
  const int widest = std::max(-reach.low, reach.high);
  if (widest <= tuning.register_x) return {};
  return fmt::format("the stencil reaches {} cells along x, but the next lane holds only {}", widest,
                     tuning.register_x);
}

Verdict judge_covered_cell(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  const bool one = tuning.register_x == 1 && tuning.register_y == 1 && tuning.register_z == 1 && tuning.vector == 1;
  if (tuning.cover != Cover::input || one) return {};
  return fmt::format("a thread covers one input cell, but its register tile is {}x{}x{} and its vector {}",
                     tuning.register_x, tuning.register_y, tuning.register_z, tuning.vector);
}

Verdict judge_covered_tile(const Candidate& candidate, const Limits&) {
  const KernelShape& shape = candidate.shape();
  if (shape.has_tile()) return {};
  const Tuning& tuning = candidate.tuning();
  return fmt::format("the input tile of {}x{}x{} cells is no larger than the reach of {}x{}x{}", tuning.block_x,
                     tuning.block_y, tuning.block_z, shape.axes.reach_width(0), shape.axes.reach_width(1),
                     shape.axes.reach_width(2));
}

}  // namespace

Constraint shuffle_in_warp() {
  return {"shuffle_in_warp",
          "Shuffles need rows split evenly over whole warps and a reach within the next lane's cells.", judge_shuffles};
}

Constraint cover_input_one_cell() {
  return {"cover_input_one_cell", "Threads that cover the input tile hold one cell each.", judge_covered_cell};
}

Constraint covered_tile_not_empty() {
  return {"tile_not_empty", "An input tile is larger than the stencil's reach on every axis it covers.",
          judge_covered_tile};
}

}  // namespace stencil_tune
