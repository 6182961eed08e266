// What makes fused steps of systems legal.
#include "generator/candidates/families/fused_steps.hpp"
#include "generator/candidates/families/streaming_constraints.hpp"
#include "generator/candidates/families/system.hpp"

#include "generator/stencil/indices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

Verdict obstacle(const Candidate& candidate, const Limits&) {
  const Problem& problem = candidate.problem();
  if (!is_whole_step(problem)) return fmt::format("stage {} alone is no whole step", problem.stage);
  if (!problem.step.obstacle.empty()) return problem.step.obstacle;
  if (candidate.shape().system().levels.front().in.empty()) {
    return "no field is read beside its cell or from step to step; there is nothing to fuse";
  }
  return {};
}

Verdict steps_of_step(const Candidate& candidate, const Limits&) {
  return steps_from(candidate, candidate.problem().step.stages.size() > 1 ? 1 : 2);
}

Verdict one_warp(const Candidate& candidate, const Limits&) {
  const int threads = candidate.tuning().block_x;
  if (threads == kWarpSize) return {};
  return fmt::format("{} threads in x; one warp of {} spans the tile", threads, kWarpSize);
}

/// Cells that a side of the grid holds are a thread's own too, but of rows, where lanes give theirs to all others. What
/// a boundary answers beyond a row's end the last lane answers alone.
Verdict reach(const Candidate& candidate, const Limits&) {
  const KernelAxes& axes = candidate.shape().axes;
  std::array<int, 2> farthest{0, 0};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const Boundary boundary = axes.boundaries[axis];
    const bool of_any_lane = axis == 0 && (boundary == Boundary::hold || boundary == Boundary::periodic);
    if (!axes.has(axis) || of_any_lane) continue;
    for (const StepStage& stage : candidate.problem().step.stages) {
      farthest[axis] = std::max(farthest[axis], stage.facts.radius[static_cast<std::size_t>(axes.grid_axis[axis])]);
    }
  }
  return held_by_neighbours(candidate, farthest);
}

/// Where a level reads beyond the last plane, it asks for the plane that answers without a division.
Verdict planes_reflected_once(const Candidate& candidate, const Limits&) {
  const std::int64_t planes = candidate.shape().axes.extents[2], least = least_planes(candidate.shape());
  if (planes >= least) return {};
  return fmt::format("boundary reflect along {} planes, of which levels read so far that it takes {}", planes, least);
}

Verdict walk_axis(const Candidate& candidate, const Limits&) {
  const int rank = candidate.problem().extents.rank;
  if (candidate.tuning().walk_axis == WalkAxis::z || rank == 3) return {};
  return fmt::format("a walk along y of a grid of rank {}, whose walks go along its last axis", rank);
}

/// Beyond an edge a part has the value at the cell that the boundary reads in place; zero reads none.
Verdict shared_parts(const Candidate& candidate, const Limits&) {
  if (candidate.tuning().shared_parts == SharedParts::again) return {};
  const Problem& problem = candidate.problem();
  if (!problem.parts_once) return "no part of an update that is worth keeping is read at several cells";
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.extents.rank); ++axis) {
    if (problem.boundaries[axis] != Boundary::zero) continue;
    return fmt::format("boundary zero in {}; a part made of zeros need not be zero", kAxisNames[axis]);
  }
  return {};
}

/// Buffers change places among them, and spare ones with them.
Verdict cells_of_one_size(const Candidate& candidate, const Limits&) {
  const Problem& problem = candidate.problem();
  std::vector<int> changed = problem.step.state;
  for (const Stage& stage : problem.stencil.stages) {
    for (const Update& update : stage.updates) changed.push_back(update.output);
  }
  for (const int field : changed) {
    const ElementType type = storage_of(problem, field), first = storage_of(problem, changed.front());
    if (size_of(type) == size_of(first)) continue;
    return fmt::format("'{}' is stored as {} and '{}' as {}", problem.stencil.fields[at(changed.front())], name(first),
                       problem.stencil.fields[at(field)], name(type));
  }
  return {};
}

/// A wide system's kernels whose values spill are slow, and compile for longest: among 677 trials of acoustic waves in
/// layers (H200, 2026-11-30) those that this refuses had 0.68 of their winner's rate at most.
/// 16 are what narrow systems' winners have at the least beside their values. Of 24 drawn kernels of wide ones (waves
/// and Maxwell's equations in layers as whole fields, NVRTC 13.0) those that this refuses spill 380 to 8424 bytes, the
/// others 320 at most.
Verdict registers(const Candidate& candidate, const Limits& limits) {
  if (candidate.shape().system().passing <= kFewPassing) return registers_suffice(candidate, limits, 16);
  return registers_suffice(candidate, limits, candidate.tuning().unroll > 1 ? 40 : 28);
}

}  // namespace

std::vector<Constraint> system_constraints() {
  std::vector<Constraint> rows{
      {"system_step", "The stages of a whole step pass a state on, in which each field is written once.", obstacle},
      {"system_cells", "Fields that a system's steps change are stored in cells of one size.", cells_of_one_size},
      {"system_steps", "Fused steps are 2 at least, or 1 of several stages, and no more than the run has.",
       steps_of_step},
      {"system_verifiable", "Where they are tuned, the device has memory for the references of as many steps.",
       verifiable_steps},
      {"system_architecture", "Asynchronous copies bring the planes of fused steps on sm_80 and newer.",
       asynchronous_copies},
      {"system_walk", "Of 3D grids alone a block walks along another axis than the last.", walk_axis},
      {"system_warps", "One warp spans the tile of a system in x.", one_warp},
      {"system_prefetch", "A kernel of a system has at least one plane on its way.", planes_on_their_way},
      {"system_reach", "What a thread of a system reads beyond its cells, its neighbours hold.", reach},
      {"system_planes", "No read of a level is reflected at both ends of the walk.", planes_reflected_once},
      {"system_copies", "Tensor copies bring a system's warp rows that start on 16 bytes, in boxes of 128 bytes.",
       tensor_copies_of_rows},
      {"system_shared_parts", "Parts that are read at several cells are computed once a cell, and no edge is zero.",
       shared_parts},
      {"system_rim",
       "Rows beyond a system's tile are read where warps exchange rows, by one warp above and another below.",
       rims_read},
      {"system_tile_in_grid", "A tile of a system is no larger than the grid.", fused_tile_in_grid},
      {"tile_not_empty", "Fused steps leave cells of a tile outside its halo.", fused_tile_not_empty},
      {"system_registers", "The values of a system's threads fit in the registers of an SM.", registers},
  };
  const std::vector<Constraint> tensor = tensor_map_constraints();
  rows.insert(rows.end(), tensor.begin(), tensor.end());
  return rows;
}

}  // namespace stencil_tune
