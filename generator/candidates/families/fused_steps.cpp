#include "generator/candidates/families/fused_steps.hpp"

#include "templates/tile_grid.cuh"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::int64_t kBoxStartBytes = 16;  // where rows that TMA brings may start (H100 and H200, 2026-11-22)

std::int64_t box_start_cells(const Problem& problem) {
  return kBoxStartBytes / static_cast<std::int64_t>(size_of(problem.type));
}

/// Cells of which each row of the grid must have a multiple: its last tile ends with it, and starts where TMA may,
/// if that brings rows. The pitch is another matter.
std::int64_t row_multiple(const Problem& problem, const Tuning& tuning) {
  return copied_by_tma(tuning) ? box_start_cells(problem) : 1;
}

/// Cells of a sector, the part of a line that memory writes as a whole.
int sector_cells(const Problem& problem) { return 32 / static_cast<int>(size_of(problem.type)); }

/// Cells of which a tile's halo in x is a multiple: whole vectors, and where TMA may start.
int halo_alignment(const Problem& problem, const Tuning& tuning) {
  return static_cast<int>(std::max<std::int64_t>(tuning.vector, row_multiple(problem, tuning)));
}

}  // namespace

bool copied_by_tma(const Tuning& tuning) { return tuning.copies != Copies::threads; }

// ---- parameters -----------------------------------------------------------------------------------------------------

std::vector<int> of_walks(std::vector<int> values, const Problem&, const Limits&, const KernelAxes& axes) {
  return axes.has(2) ? values : std::vector<int>{1};
}

Parameter one_thread_in_y() {
  Parameter row = threads_in_y();
  row.values = {1};
  row.default_value = 1;
  return row;
}

Parameter copies_of_rows(const std::vector<EnumWord<Copies>>& others) {
  std::vector<EnumWord<Copies>> words{
      {Copies::threads, "cprows", "the warp's lanes, by asynchronous copies of a few bytes (sm_80+)"},
      {Copies::tma, "tmarows", "TMA, a warp's rows of a plane a request (sm_90+)"}};
  words.insert(words.end(), others.begin(), others.end());
  std::vector<std::string_view> by_tma{"true", "false"};
  by_tma.resize(words.size(), "true");
  return word<Copies>("copies", &Tuning::copies, words, "who brings a warp the rows that it reads")
      .as("bool", "kCopiedByTma", by_tma);
}

Parameter tile_borders() {
  return word<Borders>("tile borders", &Tuning::borders,
                       {{Borders::anywhere, "anywhere", "where any cell does: halos are as small as they can be"},
                        {Borders::sectors, "sectors", "between 32-byte sectors, so that no store fills a part of one"}},
                       "where in a row the cells that one tile stores end and the next one's begin")
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes&) {
        const bool rows_begin_with_one = problem.pitch % sector_cells(problem) == 0;
        return rows_begin_with_one ? values : std::vector<int>{static_cast<int>(Borders::anywhere)};
      })
      .without_constant();  // the halo follows from it
}

Parameter rims_of_tiles() {
  return word<Rim>("rim", &Tuning::rim,
                   {{Rim::none, "norim", "nothing: it uses up rows of the tile, as all others do"},
                    {Rim::read, "rim", "rows of the input, so that it leaves all rows of the tile right"}},
                   "what the first level reads above and below the tile")
      .within([](std::vector<int> values, const Problem&, const Limits&, const KernelAxes& axes) {
        const bool has_rim = axes.has(2) && axes.reach_width(1) > 0;
        return has_rim ? values : std::vector<int>{static_cast<int>(Rim::none)};
      })
      .as("bool", "kReadsRim", {"false", "true"});
}

Parameter chunks_of_planes() {
  return number("chunks", "ch", &Tuning::chunks, {},
                {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 17, 19, 21, 23, 26, 29, 32, 35, 40, 48},
                "parts of the last axis that blocks of their own walk")
      .with_neighbours(2)  // the next number alone is often slower, the one after faster
      .within([](std::vector<int> values, const Problem&, const Limits&, const KernelAxes& axes) {
        std::erase_if(values, [&](int chunks) { return chunks > axes.extents[2]; });
        return values;
      })
      .given_at_launch();
}

// ---- constraints ----------------------------------------------------------------------------------------------------

Verdict steps_from(const Candidate& candidate, int least) {
  const auto [steps, of_run] = std::pair(candidate.tuning().steps, candidate.problem().steps);
  if (steps >= least && steps <= of_run) return {};
  return fmt::format("{} fused steps; it takes {} or more, and the run has {}", steps, least, of_run);
}

Verdict steps_of_run(const Candidate& candidate, const Limits&) { return steps_from(candidate, 2); }

Verdict steps_shared_out_evenly(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.steps % tuning.groups == 0) return {};
  return fmt::format("{} steps cannot be shared out among {} groups", tuning.steps, tuning.groups);
}

Verdict sums_along_the_walk(const Candidate& candidate, const Limits&) {
  const KernelAxes& axes = candidate.shape().axes;
  if (candidate.tuning().keeps != Keeps::sums) return {};
  if (axes.reach_width(2) == 0) return "the stencil reads one plane at a time; there is nothing to keep between planes";
  if (!candidate.problem().facts.linear) return "sums of fused steps are those of linear stencils; this one is not";
  const Boundary boundary = axes.boundaries[2];
  if (boundary != Boundary::clamp && boundary != Boundary::reflect) return {};
  return fmt::format("boundary {} along the walk answers with planes that are gone once they are added to sums",
                     name(boundary));
}

Verdict splits_barrier(const Candidate& candidate, const Limits& limits) {
  if (candidate.tuning().barrier == StepBarrier::meet) return {};
  if (limits.compute_capability >= kFirstWithTensorCopies) return {};
  return fmt::format("sm_{} has no barriers at which warps can sleep; they came with sm_{}", limits.compute_capability,
                     kFirstWithTensorCopies);
}

Verdict held_by_neighbours(const Candidate& candidate, const std::array<int, 2>& farthest) {
  const KernelAxes& axes = candidate.shape().axes;
  const std::array<int, 2> own{candidate.tuning().register_x, candidate.tuning().register_y};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (!axes.has(axis)) continue;
    // Rows beyond the grid are mirrored into the thread's own, cells of a row into its neighbour's too.
    const int needed = farthest[axis] + (axis == 1 && axes.boundaries[axis] == Boundary::reflect ? 1 : 0);
    if (own[axis] >= needed) continue;
    return fmt::format("a thread holds {} cells along {}; the stencil reaches {}, so that {} are needed", own[axis],
                       kAxisNames[axis], farthest[axis], needed);
  }
  return {};
}

Verdict verifiable_steps(const Candidate& candidate, const Limits& limits) {
  const int steps = candidate.tuning().steps;
  if (steps <= limits.most_fused_steps) return {};
  return fmt::format("{} fused steps; on this grid the device has memory to verify {}", steps, limits.most_fused_steps);
}

Verdict asynchronous_copies(const Candidate&, const Limits& limits) {
  if (limits.compute_capability >= kFirstWithAsynchronousCopies) return {};
  return fmt::format("sm_{} has no asynchronous copies, which bring the planes; they came with sm_{}",
                     limits.compute_capability, kFirstWithAsynchronousCopies);
}

Verdict registers_suffice(const Candidate& candidate, const Limits& limits, std::int64_t others) {
  const std::int64_t blocks = std::max(1, candidate.tuning().min_blocks);
  const std::int64_t threads = saturating_product({blocks, std::max<std::int64_t>(candidate.shape().threads, 1)});
  const std::int64_t available = limits.registers_per_sm / threads / 8 * 8;
  const std::int64_t live = candidate.shape().live_registers;
  if (live + others <= available) return {};
  return fmt::format("a thread's values need about {} registers; {} threads leave {} to each", live, threads,
                     available);
}

Verdict planes_on_their_way(const Candidate& candidate, const Limits&) {
  if (candidate.tuning().prefetch > 0) return {};
  return "no plane is on its way while others are in use; it needs pf1 at least";
}

/// TMA fills places of shared memory that are multiples of 128 bytes, and cells outside the grid with zeros: where a
/// periodic grid ends within a warp's rows, its lanes copy them. Elsewhere the last tile ends with the grid.
Verdict tensor_copies_of_rows(const Candidate& candidate, const Limits&) {
  constexpr std::int64_t kAlignment = 128;
  if (!copied_by_tma(candidate.tuning())) return {};
  const KernelShape& shape = candidate.shape();
  const KernelAxes& axes = shape.axes;
  if (!axes.has(2)) return "the grid has 1 axis; tensor copies bring the planes of a walk";
  if (axes.extents[0] % shape.row_multiple != 0) {
    return fmt::format(
        "a row of {} cells ends with a tile that starts off a multiple of {}, where tensor copies cannot",
        axes.extents[0], shape.row_multiple);
  }
  if (candidate.tuning().copies == Copies::tma_beyond && axes.boundaries[0] != Boundary::hold) {
    return fmt::format("boundary {} in x; only under hold does no cell depend on those beyond the grid",
                       name(axes.boundaries[0]));
  }
  const std::int64_t bytes =
      saturating_product({shape.copied_box.cells, shape.copied_box.rows, storage_bytes(candidate.problem())});
  if (bytes % kAlignment == 0) return {};
  return fmt::format("a warp's rows of a plane take {} bytes; tensor copies need multiples of {}", bytes, kAlignment);
}

std::int64_t walked_planes(const Candidate& candidate) {
  const KernelAxes& axes = candidate.shape().axes;
  if (!axes.has(2)) return 1;
  const Box box = updated_box(candidate.problem());
  const auto walked = static_cast<std::size_t>(axes.grid_axis[2]);
  return std::max<std::int64_t>(1, box.high[walked] - box.low[walked]);
}

Verdict fused_tile_in_grid(const Candidate& candidate, const Limits&) {
  const KernelShape& shape = candidate.shape();
  const KernelAxes& axes = shape.axes;
  if (shape.fused.width > axes.extents[0] || shape.fused.height > axes.extents[1]) {
    return fmt::format("a tile of {}x{} cells does not lie inside a grid of {}x{}", shape.fused.width,
                       shape.fused.height, axes.extents[0], axes.extents[1]);
  }
  const int chunks = candidate.tuning().chunks;
  const std::int64_t planes = walked_planes(candidate);
  if (chunks <= planes) return {};
  return fmt::format("{} chunks of {} planes", chunks, planes);
}

Verdict fused_tile_not_empty(const Candidate& candidate, const Limits&) {
  const KernelShape& shape = candidate.shape();
  if (shape.has_tile()) return {};
  const FusedLevels& fused = shape.fused;
  return fmt::format("{} fused steps use up a tile of {}x{} cells: its halo is {}+{} columns, {}+{} rows",
                     candidate.tuning().steps, fused.width, fused.height, fused.left, fused.right, fused.above,
                     fused.below);
}

Verdict rims_read(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.rim == Rim::none) return {};
  const KernelShape& shape = candidate.shape();
  if (shape.fused.exchange_slots == 0 || shape.fused.rim_rows == 0)
    return "the first level reads no rows beside its own";
  if (has_storage_types(candidate.problem()))
    return "fields are stored in several types; a rim's are copied as they are";
  if (size_of(candidate.problem().type) < 4) return "cells of 2 bytes are converted; a rim's are copied as they are";
  if (tuning.block_x != kWarpSize) return fmt::format("{} threads in x; a rim is one warp's", tuning.block_x);
  if (tuning.block_y == 1) return "a warp copies one rim, above or below it; a block of one row of warps has both";
  const std::int64_t own = shape.fused.height - shape.fused.above - shape.fused.below;
  const std::int64_t least = 3 * std::int64_t{shape.fused.rim_rows};
  if (own >= least) return {};
  return fmt::format("{} rows of a tile are its own; with a rim of {} it takes {}", own, shape.fused.rim_rows, least);
}

// ---- shape ----------------------------------------------------------------------------------------------------------

void place_halo_in_x(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, int low, int high,
                     FusedLevels& fused) {
  const int alignment = halo_alignment(problem, tuning);
  fused.left = static_cast<int>(round_up(low, alignment));
  fused.right = static_cast<int>(round_up(high, alignment));
  if (tuning.copies == Copies::tma_beyond) fused.row_multiple = static_cast<int>(box_start_cells(problem));
  if (tuning.borders == Borders::anywhere) return;
  const int sector = sector_cells(problem);
  const std::int64_t own = fused.width - fused.left - fused.right;
  if (own > 0) fused.right += static_cast<int>(own % sector);
  if (axes.boundaries[0] != Boundary::periodic) fused.shift = fused.left % sector;
}

bool rows_start_off_the_copies(const Problem& problem, const KernelAxes& axes) {
  return axes.extents[0] % box_start_cells(problem) != 0;
}

namespace {

/// Blocks or clusters lie along the launch's first axis; each walks through as many planes of the tiles as the others.
void share_planes_out(int shares, KernelShape& shape) {
  shape.shared_tiles = saturating_product({shape.tiles[0], shape.tiles[1]});
  const std::int64_t planes = saturating_product({shape.shared_tiles, shape.axes.extents[2]});
  shape.tile[2] = std::min(shape.axes.extents[2], (planes + shares - 1) / shares);
  shape.tiles = {shares, 1, 1};
  shape.shares = shares;
}

}  // namespace

void place_fused_tiles(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  const FusedLevels& fused = shape.fused;
  const KernelAxes& axes = shape.axes;
  shape.tile = {fused.width - fused.left - fused.right, fused.height - fused.above - fused.below,
                (axes.extents[2] + tuning.chunks - 1) / tuning.chunks};
  shape.uses_tensor_maps = copied_by_tma(tuning);
  shape.copied_box = {fused.warp_width, tuning.register_y};
  shape.placement = Placement::inside;
  shape.whole_tile = {fused.width, fused.height, tuning.chunks + 4 * (fused.delay + 1)};
  const auto periodic = [&](std::size_t axis) { return axes.boundaries[axis] == Boundary::periodic; };
  const std::int64_t row_end = round_up(axes.extents[0], fused.row_multiple);
  shape.tiles = {overlapping_tiles(row_end, fused.width, fused.left, fused.right, fused.shift, periodic(0)),
                 overlapping_tiles(axes.extents[1], fused.height, fused.above, fused.below, 0, periodic(1)),
                 tuning.chunks};
  if (tuning.shares > 0) share_planes_out(tuning.shares / tuning.cluster, shape);
  const std::int64_t held_planes =
      axes.has(2) ? held_layers(problem, static_cast<std::size_t>(axes.grid_axis[2])).both() : 0;
  shape.least_extents = {fused.width, fused.height, tuning.chunks + held_planes};
  if (fused.row_multiple == 1) shape.row_multiple = row_multiple(problem, tuning);
}

std::int64_t arrival_bytes(const Tuning& tuning, std::int64_t warps) {
  if (!copied_by_tma(tuning)) return 0;
  return round_up(saturating_product({warps, tuning.prefetch, kBarrierBytes}), kWordBytes);
}

TextbookLoads fused_loads(const Candidate& candidate, double planes_more) {
  const KernelShape& shape = candidate.shape();
  const int steps = candidate.tuning().steps;
  const double planes = static_cast<double>(shape.tile[2]) + planes_more;
  const double loads = static_cast<double>(shape.fused.width * shape.fused.height) * planes /
                       (static_cast<double>(shape.tile[0] * shape.tile[1] * shape.tile[2]) * steps);
  return {loads, 1 - 1 / (loads * steps)};
}

}  // namespace stencil_tune
