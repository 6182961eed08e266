#include "generator/candidates/streaming_constraints.hpp"

#include "generator/candidates/tile.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {

Verdict streaming_needs_rank_2(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (tuning.family != Family::streaming || problem.extents.rank >= 2) return {};
  return fmt::format("the grid has {} axis; there is none left to walk along", problem.extents.rank);
}

Verdict unroll_within_depth(const Problem&, const Limits&, const Tuning& tuning) {
  if (is_temporal(tuning)) return {};
  if (tuning.unroll <= tuning.depth) return {};
  return fmt::format("{} iterations unrolled together, but the walk has {}", tuning.unroll, tuning.depth);
}

Verdict mixed_needs_axis_taps(const Problem& problem, const Limits&, const Tuning& tuning) {
  const int rank = problem.extents.rank;
  if (tuning.family != Family::streaming || tuning.planes != Planes::mixed || rank < 2 || problem.facts.star) return {};
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

// ---- planes in a ring -----------------------------------------------------------------------------------------------

Verdict ring_architecture(const Problem&, const Limits& limits, const Tuning& tuning) {
  if (!uses_tensor_maps(tuning) || limits.compute_capability >= kFirstWithTensorCopies) return {};
  return fmt::format("sm_{} has no tensor copies; they came with sm_{}", limits.compute_capability,
                     kFirstWithTensorCopies);
}

Verdict ring_prefetch(const Problem&, const Limits&, const Tuning& tuning) {
  // With sums the slot of the plane before is refilled while a plane is added: one is always on its way.
  if (!uses_ring(tuning) || tuning.prefetch > 0 || tuning.keeps == Keeps::sums) return {};
  return "no plane is on its way while others are in use; a ring needs pf1 at least";
}

Verdict ring_warps(const Problem&, const Limits&, const Tuning& tuning) {
  if (!uses_tensor_maps(tuning) || threads_per_block(tuning) % kWarp == 0) return {};
  return fmt::format("{} threads leave the last warp incomplete; slots are given back by whole warps",
                     threads_per_block(tuning));
}

Verdict ring_rows(const Problem& problem, const Limits&, const Tuning& tuning) {
  constexpr std::int64_t kStrideBytes = 16;
  if (!uses_tensor_maps(tuning) || problem.pitch * storage_bytes(problem) % kStrideBytes == 0) return {};
  return fmt::format("rows are {} bytes apart; tensor copies need a multiple of {}",
                     problem.pitch * storage_bytes(problem), kStrideBytes);
}

Verdict ring_box(const Problem& problem, const Limits&, const Tuning& tuning) {
  constexpr std::int64_t kMostBoxCells = 256;
  if (!uses_tensor_maps(tuning) || problem.extents.rank < 2) return {};
  const CopiedBox box = copied_box(problem, tuning);
  if (box.cells <= kMostBoxCells && box.rows <= kMostBoxCells) return {};
  return fmt::format("a plane of {}x{} cells; one tensor copy brings at most {} along an axis", box.cells, box.rows,
                     kMostBoxCells);
}

Verdict ring_edges(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (is_temporal(tuning) || !uses_tensor_maps(tuning) || tuning.keeps == Keeps::sums) return {};
  for (int axis = 0; axis + 1 < problem.extents.rank; ++axis) {
    const Boundary boundary = problem.boundaries[static_cast<std::size_t>(axis)];
    if (boundary == Boundary::hold || boundary == Boundary::zero) continue;
    return fmt::format("boundary {} in {}; tensor copies fill cells outside the grid with zeros only", name(boundary),
                       kAxisNames[static_cast<std::size_t>(axis)]);
  }
  return {};
}

Verdict ring_copies(const Problem& problem, const Limits& limits, const Tuning& tuning) {
  constexpr std::int64_t kFewestBytes = 4;
  if (tuning.copies != Copies::threads) return {};
  if (tuning.keeps != Keeps::sums)
    return "copies are the threads', but cells are kept; threads fill rings of sums only";
  if (limits.compute_capability < kFirstWithAsynchronousCopies) {
    return fmt::format("sm_{} has no asynchronous copies; they came with sm_{}", limits.compute_capability,
                       kFirstWithAsynchronousCopies);
  }
  if (tuning.vector * storage_bytes(problem) >= kFewestBytes) return {};
  return fmt::format("a vector of {} {} cells has {} bytes; an asynchronous copy brings 4, 8 or 16", tuning.vector,
                     name(problem.type), tuning.vector * storage_bytes(problem));
}

// ---- sums kept between planes ---------------------------------------------------------------------------------------

Verdict sums_of_planes(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (tuning.keeps != Keeps::sums) return {};
  if (reach_width(kernel_axes(problem, tuning).reach[2]) > 0) return {};
  return "the stencil reads one plane at a time; there is nothing to keep between planes";
}

Verdict sums_unroll(const Problem&, const Limits&, const Tuning& tuning) {
  const bool sums = tuning.keeps == Keeps::sums;
  if (!sums && tuning.sums_loop == SumsLoop::step) return "step; a walk that keeps cells has no turn of sums";
  if (!sums || is_temporal(tuning) || tuning.unroll == 1) return {};
  return fmt::format("u{}; a walk with sums has a loop of turns or of steps", tuning.unroll);
}

Verdict tile_queue(const Problem&, const Limits&, const Tuning& tuning) {
  if (tuning.tiles == 1) return {};
  if (tuning.keeps == Keeps::sums && uses_tensor_maps(tuning)) return {};
  return fmt::format("tb{}; only walks with sums whose ring the copy engine fills take several tiles", tuning.tiles);
}

Verdict sums_prefetch(const Problem&, const Limits&, const Tuning& tuning) {
  if (tuning.keeps != Keeps::sums || is_temporal(tuning)) return {};
  if (tuning.planes != Planes::registers || tuning.prefetch == 0) return {};
  return fmt::format("pf{}; sums take a plane as it is read, only a ring brings planes ahead", tuning.prefetch);
}

}  // namespace stencil_tune
