#include "generator/candidates/temporal_constraints.hpp"

#include "generator/candidates/temporal.hpp"
#include "generator/candidates/tile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stencil_tune {

Verdict temporal_steps(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning) || (tuning.steps > 1 && tuning.steps <= problem.steps)) return {};
  return fmt::format("{} fused steps; it takes 2 or more, and the run has {}", tuning.steps, problem.steps);
}

Verdict temporal_architecture(const Problem&, const Limits& limits, const Tuning& tuning) {
  if (!is_temporal(tuning) || limits.compute_capability >= kFirstWithAsynchronousCopies) return {};
  return fmt::format("sm_{} has no asynchronous copies, which bring the planes; they came with sm_{}",
                     limits.compute_capability, kFirstWithAsynchronousCopies);
}

Verdict temporal_fields(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning)) return {};
  const auto advanced = advanced_input(problem);
  if (!advanced) return "the stencil is not one stage with one output that takes the place of one input after a step";
  for (const Tap& tap : problem.facts.taps) {
    if (tap.field == problem.facts.inputs[*advanced] || tap.offset == Offset{0, 0, 0}) continue;
    return fmt::format("field '{}' is read at ({}, {}, {}); fields that no step changes are read at the cell itself",
                       problem.stencil.fields[static_cast<std::size_t>(tap.field)], tap.offset[0], tap.offset[1],
                       tap.offset[2]);
  }
  return {};
}

Verdict temporal_warps(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning) || tuning.block_x == kWarp) return {};
  if (tuning.block_x % kWarp != 0) {
    return fmt::format("{} threads in x; whole warps of {} span the tile", tuning.block_x, kWarp);
  }
  if (kernel_axes(problem, tuning).grid_axis[2] < 0) return "steps of rank 1 are not walked through: one warp";
  return {};
}

/// Rows beyond an edge of the grid are a thread's own, mirrored; of those the ends may not be where neighbours look.
Verdict temporal_corners(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning) || tuning.block_x == kWarp) return {};
  const KernelAxes axes = kernel_axes(problem, tuning);
  if (axes.grid_axis[1] < 0) return {};
  const auto [x, y] =
      std::pair{static_cast<std::size_t>(axes.grid_axis[0]), static_cast<std::size_t>(axes.grid_axis[1])};
  const Boundary boundary = problem.boundaries[y];
  if (boundary == Boundary::hold || boundary == Boundary::periodic) return {};
  for (const Tap& tap : problem.facts.taps) {
    if (tap.offset[x] == 0 || tap.offset[y] == 0) continue;
    return fmt::format(
        "the tap at ({}, {}, {}) is in another row and column; under boundary {} in y one warp spans the "
        "tile",
        tap.offset[0], tap.offset[1], tap.offset[2], name(boundary));
  }
  return {};
}

Verdict temporal_prefetch(const Problem&, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning) || tuning.prefetch > 0) return {};
  return "no plane is on its way while others are in use; it needs pf1 at least";
}

/// Neighbouring lanes and warps hold all that a thread reads beyond its own cells; mirrored cells are its own.
Verdict temporal_reach(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning)) return {};
  const KernelAxes axes = kernel_axes(problem, tuning);
  const std::array<int, 2> held{tuning.register_x, tuning.register_y};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (axes.grid_axis[axis] < 0) continue;
    const Boundary boundary = problem.boundaries[static_cast<std::size_t>(axes.grid_axis[axis])];
    const int reach = std::max(-axes.reach[axis].low, axes.reach[axis].high);
    const int needed = reach + (boundary == Boundary::reflect ? 1 : 0);
    if (held[axis] >= needed) continue;
    return fmt::format("a thread holds {} cells along {}; the stencil reaches {}, so that {} are needed", held[axis],
                       kAxisNames[axis], reach, needed);
  }
  if (axes.grid_axis[2] < 0) return {};
  const Reach walked = axes.reach[2];
  const Boundary boundary = problem.boundaries[static_cast<std::size_t>(axes.grid_axis[2])];
  if (boundary == Boundary::reflect && -walked.low != walked.high) {
    return fmt::format("boundary reflect mirrors planes -{}..{} into planes that a level does not hold", -walked.low,
                       walked.high);
  }
  return {};
}

/// Planes beyond an end of the walk are none that sums could be given again, nor is what is not linear 0 where they are
/// 0.
Verdict temporal_sums(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning) || tuning.keeps != Keeps::sums || problem.extents.rank < 2) return {};
  if (!problem.facts.linear) return "sums of fused steps are those of linear stencils; this one is not";
  const auto walked = static_cast<std::size_t>(kernel_axes(problem, tuning).grid_axis[2]);
  const Boundary boundary = problem.boundaries[walked];
  if (boundary != Boundary::clamp && boundary != Boundary::reflect) return {};
  return fmt::format("boundary {} along the walk answers with planes that are gone once they are added to sums",
                     name(boundary));
}

/// The copy engine fills cells outside the grid with zeros, and places of shared memory that are multiples of 128
/// bytes. The last tile ends with the grid.
Verdict temporal_copies(const Problem& problem, const Limits&, const Tuning& tuning) {
  constexpr std::int64_t kAlignment = 128;
  if (!is_temporal(tuning) || !uses_tensor_maps(tuning)) return {};
  const KernelAxes axes = kernel_axes(problem, tuning);
  if (axes.grid_axis[2] < 0) return "the grid has 1 axis; tensor copies bring the planes of a walk";
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const int grid_axis = axes.grid_axis[axis];
    if (grid_axis < 0 || problem.boundaries[static_cast<std::size_t>(grid_axis)] != Boundary::periodic) continue;
    return fmt::format("boundary periodic in {}; tensor copies fill cells outside the grid with zeros only",
                       kAxisNames[axis]);
  }
  const std::int64_t multiple = row_multiple(problem, tuning);
  if (axes.extents[0] % multiple != 0) {
    return fmt::format(
        "a row of {} cells ends with a tile that starts off a multiple of {}, where tensor copies cannot",
        axes.extents[0], multiple);
  }
  const CopiedBox box = copied_box(problem, tuning);
  const std::int64_t bytes = saturating_product({box.cells, box.rows, storage_bytes(problem)});
  if (bytes % kAlignment == 0) return {};
  return fmt::format("a warp's rows of a plane take {} bytes; tensor copies need multiples of {}", bytes, kAlignment);
}

Verdict temporal_planes(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning) || tuning.shared_planes == 0) return {};
  if (tuning.keeps == Keeps::sums) return "sums stay in registers, where planes are added to them";
  const int held = temporal_shape(problem, tuning).held;
  if (tuning.shared_planes <= held) return {};
  return fmt::format("{} planes in shared memory; a level holds {}", tuning.shared_planes, held);
}

Verdict temporal_barrier(const Problem& problem, const Limits& limits, const Tuning& tuning) {
  if (!is_temporal(tuning) || tuning.barrier == StepBarrier::meet) return {};
  if (limits.compute_capability < kFirstWithTensorCopies) {
    return fmt::format("sm_{} has no barriers at which warps can sleep; they came with sm_{}",
                       limits.compute_capability, kFirstWithTensorCopies);
  }
  if (tuning.groups > 1 || temporal_shape(problem, tuning).exchange_slots > 0) return {};
  return "no warp waits for another";
}

Verdict temporal_groups(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning) || tuning.groups == 1) return {};
  if (kernel_axes(problem, tuning).grid_axis[2] < 0) return "steps of rank 1 are not walked through: one group";
  if (tuning.steps % tuning.groups == 0) return {};
  return fmt::format("{} steps cannot be shared out among {} groups", tuning.steps, tuning.groups);
}

/// At a seam both blocks wait for each other: that keeps either from running ahead.
Verdict temporal_clusters(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning) || tuning.cluster == 1) return {};
  if (tuning.block_y == 1) return "a block of one warp is at two seams of its cluster; a warp is at one";
  const KernelAxes axes = kernel_axes(problem, tuning);
  const bool both_ways = axes.grid_axis[1] >= 0 && axes.reach[1].low < 0 && axes.reach[1].high > 0;
  if (both_ways) return {};
  return "blocks of a cluster exchange rows both ways; a stencil that reaches above and below in y does";
}

Verdict temporal_tile_in_grid(const Problem& problem, const Limits&, const Tuning& tuning) {
  if (!is_temporal(tuning)) return {};
  const KernelAxes axes = kernel_axes(problem, tuning);
  const TemporalShape shape = temporal_shape(problem, tuning);
  if (shape.width > axes.extents[0] || shape.height > axes.extents[1]) {
    return fmt::format("a tile of {}x{} cells does not lie inside a grid of {}x{}", shape.width, shape.height,
                       axes.extents[0], axes.extents[1]);
  }
  std::int64_t planes = 1;
  if (axes.grid_axis[2] >= 0) {
    const Box box = updated_box(problem);
    const auto walked = static_cast<std::size_t>(axes.grid_axis[2]);
    planes = box.high[walked] - box.low[walked];
  }
  if (tuning.chunks <= std::max<std::int64_t>(planes, 1)) return {};
  return fmt::format("{} chunks of {} planes", tuning.chunks, planes);
}

}  // namespace stencil_tune
