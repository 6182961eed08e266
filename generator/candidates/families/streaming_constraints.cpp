#include "generator/candidates/families/streaming_constraints.hpp"

#include "generator/candidates/families/single_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

bool copies_by_tma(const Tuning& tuning) { return tuning.planes == Planes::ring && tuning.copies == Copies::tma; }

Verdict needs_rank_2(const Candidate& candidate, const Limits&) {
  const int rank = candidate.problem().extents.rank;
  if (rank >= 2) return {};
  return fmt::format("the grid has {} axis; there is none left to walk along", rank);
}

Verdict unroll_within_depth(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.unroll <= tuning.depth) return {};
  return fmt::format("{} iterations unrolled together, but the walk has {}", tuning.unroll, tuning.depth);
}

Verdict mixed_needs_axis_taps(const Candidate& candidate, const Limits&) {
  const Problem& problem = candidate.problem();
  const int rank = problem.extents.rank;
  if (candidate.tuning().planes != Planes::mixed || rank < 2 || problem.facts.star) return {};
  const auto walked = static_cast<std::size_t>(rank - 1);
  for (const Tap& tap : problem.facts.taps) {
    const bool in_plane = tap.offset[walked] == 0;
    const bool off_column =
        std::any_of(tap.offset.begin(), tap.offset.begin() + rank - 1, [](int d) { return d != 0; });
    if (in_plane || !off_column) continue;
    return fmt::format(
        "the tap at ({}, {}, {}) is in another plane and another column; registers hold only a "
        "thread's own column",
        tap.offset[0], tap.offset[1], tap.offset[2]);
  }
  return {};
}

// ---- pipelines of planes --------------------------------------------------------------------------------------------

Verdict ring_prefetch(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  // With sums the stage of the plane before is refilled while a plane is added: one is always on its way.
  if (tuning.planes != Planes::ring || tuning.prefetch > 0 || tuning.keeps == Keeps::sums) return {};
  return "no plane is on its way while others are in use; a ring needs pf1 at least";
}

Verdict ring_warps(const Candidate& candidate, const Limits&) {
  const std::int64_t threads = threads_per_block(candidate.tuning());
  if (!copies_by_tma(candidate.tuning()) || threads % kWarpSize == 0) return {};
  return fmt::format("{} threads leave the last warp incomplete; stages are released by whole warps", threads);
}

Verdict ring_edges(const Candidate& candidate, const Limits&) {
  if (!copies_by_tma(candidate.tuning()) || candidate.tuning().keeps == Keeps::sums) return {};
  const Problem& problem = candidate.problem();
  for (int axis = 0; axis + 1 < problem.extents.rank; ++axis) {
    const Boundary boundary = problem.boundaries[static_cast<std::size_t>(axis)];
    if (boundary == Boundary::hold || boundary == Boundary::zero) continue;
    return fmt::format("boundary {} in {}; tensor copies fill cells outside the grid with zeros only", name(boundary),
                       kAxisNames[static_cast<std::size_t>(axis)]);
  }
  return {};
}

Verdict ring_copies(const Candidate& candidate, const Limits& limits) {
  constexpr std::int64_t kFewestBytes = 4;
  const Tuning& tuning = candidate.tuning();
  if (tuning.copies != Copies::threads) return {};
  if (has_storage_types(candidate.problem())) return "fields are stored in several types; a ring's planes have one";
  if (limits.compute_capability < kFirstWithAsynchronousCopies) {
    return fmt::format("sm_{} has no asynchronous copies; they came with sm_{}", limits.compute_capability,
                       kFirstWithAsynchronousCopies);
  }
  const std::int64_t bytes = tuning.vector * storage_bytes(candidate.problem());
  if (bytes >= kFewestBytes) return {};
  return fmt::format("a vector of {} {} cells has {} bytes; an asynchronous copy brings 4, 8 or 16", tuning.vector,
                     name(candidate.problem().type), bytes);
}

// ---- sums kept between planes ---------------------------------------------------------------------------------------

Verdict sums_of_planes(const Candidate& candidate, const Limits&) {
  if (candidate.tuning().keeps != Keeps::sums) return {};
  if (candidate.problem().facts.placed) {
    return "coordinates or the step's number enter the update; sums are made of planes, which know neither";
  }
  if (candidate.shape().axes.reach_width(2) > 0) return {};
  return "the stencil reads one plane at a time; there is nothing to keep between planes";
}

// ---- tensor maps ----------------------------------------------------------------------------------------------------

Verdict tensor_architecture(const Candidate& candidate, const Limits& limits) {
  if (limits.compute_capability >= kFirstWithTensorCopies || !candidate.shape().uses_tensor_maps) return {};
  return fmt::format("sm_{} has no tensor copies; they came with sm_{}", limits.compute_capability,
                     kFirstWithTensorCopies);
}

Verdict tensor_types(const Candidate& candidate, const Limits&) {
  if (!candidate.shape().uses_tensor_maps || !has_storage_types(candidate.problem())) return {};
  return "fields are stored in several types; tensor copies bring cells of one";
}

Verdict tensor_rows(const Candidate& candidate, const Limits&) {
  constexpr std::int64_t kStrideBytes = 16;
  const std::int64_t bytes = candidate.problem().pitch * storage_bytes(candidate.problem());
  if (bytes % kStrideBytes == 0 || !candidate.shape().uses_tensor_maps) return {};
  return fmt::format("rows are {} bytes apart; tensor copies need a multiple of {}", bytes, kStrideBytes);
}

Verdict tensor_box(const Candidate& candidate, const Limits&) {
  constexpr std::int64_t kMostBoxCells = 256;
  const KernelShape& shape = candidate.shape();
  const CopiedBox& box = shape.copied_box;
  if (!shape.uses_tensor_maps || (box.cells <= kMostBoxCells && box.rows <= kMostBoxCells)) return {};
  return fmt::format("a plane of {}x{} cells; one tensor copy brings at most {} along an axis", box.cells, box.rows,
                     kMostBoxCells);
}

/// Boxes are asked for by 32-bit coordinates, those of tiles that end beyond the grid too.
Verdict tensor_grid(const Candidate& candidate, const Limits&) {
  constexpr std::int64_t kMostCells = (std::int64_t{1} << 31) - (1 << 20);
  constexpr std::int64_t kMostPlaneBytes = (std::int64_t{1} << 40) - 1;
  const KernelShape& shape = candidate.shape();
  if (!shape.uses_tensor_maps) return {};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (shape.axes.extents[axis] <= kMostCells) continue;
    return fmt::format("{} cells along {}; tensor copies reach {}", shape.axes.extents[axis], kAxisNames[axis],
                       kMostCells);
  }
  const std::int64_t bytes = saturating_product({shape.axes.strides[2], storage_bytes(candidate.problem())});
  if (bytes <= kMostPlaneBytes) return {};
  return fmt::format("planes are {} bytes apart; tensor copies reach {}", bytes, kMostPlaneBytes);
}

}  // namespace

std::vector<Constraint> tensor_map_constraints() {
  return {
      {"tensor_architecture", "Tensor copies, which TMA makes, came with sm_90.", tensor_architecture},
      {"tensor_types", "Tensor copies bring the cells of fields that are stored in one type.", tensor_types},
      {"tensor_rows", "Rows that tensor copies bring are a multiple of 16 bytes apart.", tensor_rows},
      {"tensor_box", "What a tensor copy brings at once has at most 256 cells along an axis.", tensor_box},
      {"tensor_grid", "Grids that tensor copies read have fewer than 2^31 cells an axis and 2^40 bytes a plane.",
       tensor_grid},
  };
}

std::vector<Constraint> streaming_constraints() {
  std::vector<Constraint> rows{
      {"streaming_needs_rank_2", "A walk needs an axis of its own beside x.", needs_rank_2},
      cover_input_one_cell(),
      {"unroll_within_depth", "No more iterations are unrolled together than the walk has.", unroll_within_depth},
      {"ring_prefetch", "A ring that keeps cells has at least one plane on its way.", ring_prefetch},
      {"ring_warps", "The stages of a ring that TMA fills are released by whole warps.", ring_warps},
      {"ring_edges", "A ring that keeps cells serves boundaries that are 0 beyond an edge, or not read.", ring_edges},
      {"ring_copies", "Asynchronous copies of threads came with sm_80 and bring 4, 8 or 16 bytes.", ring_copies},
      {"sums_of_planes", "Sums are kept of stencils that read several planes.", sums_of_planes},
      covered_tile_not_empty(),
      shuffle_in_warp(),
      {"mixed_needs_axis_taps", "With one plane in shared memory, reads off the plane stay in their column.",
       mixed_needs_axis_taps},
  };
  const std::vector<Constraint> tensor = tensor_map_constraints();
  rows.insert(rows.end(), tensor.begin(), tensor.end());
  return rows;
}

}  // namespace stencil_tune
