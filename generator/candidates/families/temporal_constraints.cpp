// What makes fused steps legal.
#include "generator/candidates/families/fused_steps.hpp"
#include "generator/candidates/families/streaming_constraints.hpp"
#include "generator/candidates/families/temporal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
namespace {

Verdict fields(const Candidate& candidate, const Limits&) {
  const Problem& problem = candidate.problem();
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

Verdict warps(const Candidate& candidate, const Limits&) {
  const int threads = candidate.tuning().block_x;
  if (threads == kWarpSize) return {};
  if (threads % kWarpSize != 0)
    return fmt::format("{} threads in x; whole warps of {} span the tile", threads, kWarpSize);
  if (!candidate.shape().axes.has(2)) return "steps of rank 1 are not walked through: one warp";
  return {};
}

/// Rows beyond an edge of the grid are a thread's own, mirrored. Their ends may not be where neighbours look.
Verdict corners(const Candidate& candidate, const Limits&) {
  const KernelAxes& axes = candidate.shape().axes;
  if (candidate.tuning().block_x == kWarpSize || !axes.has(1)) return {};
  const Boundary boundary = axes.boundaries[1];
  if (boundary == Boundary::hold || boundary == Boundary::periodic) return {};
  for (const Tap& tap : candidate.problem().facts.taps) {
    if (axes.offset(tap, 0) == 0 || axes.offset(tap, 1) == 0) continue;
    return fmt::format(
        "the tap at ({}, {}, {}) is in another row and column; under boundary {} in y one warp spans the "
        "tile",
        tap.offset[0], tap.offset[1], tap.offset[2], name(boundary));
  }
  return {};
}

Verdict reach(const Candidate& candidate, const Limits&) {
  const KernelAxes& axes = candidate.shape().axes;
  const auto farthest = [&](std::size_t axis) { return std::max(-axes.reach[axis].low, axes.reach[axis].high); };
  if (Verdict verdict = held_by_neighbours(candidate, {farthest(0), farthest(1)})) return verdict;
  const Reach walked = axes.reach[2];
  if (axes.has(2) && axes.boundaries[2] == Boundary::reflect && -walked.low != walked.high) {
    return fmt::format("boundary reflect mirrors planes -{}..{} into planes that a level does not keep", -walked.low,
                       walked.high);
  }
  return {};
}

Verdict barrier(const Candidate& candidate, const Limits& limits) {
  const Tuning& tuning = candidate.tuning();
  if (Verdict verdict = splits_barrier(candidate, limits)) return verdict;
  if (tuning.barrier == StepBarrier::meet) return {};
  if (tuning.groups > 1 || candidate.shape().fused.exchange_slots > 0) return {};
  return "no warp waits for another";
}

Verdict groups(const Candidate& candidate, const Limits& limits) {
  const bool several = candidate.tuning().groups > 1;
  if (several && !candidate.shape().axes.has(2)) return "steps of rank 1 are not walked through: one group";
  return steps_shared_out_evenly(candidate, limits);
}

Verdict shares(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.shares == 0) return {};
  if (!candidate.shape().axes.has(2)) return "steps of rank 1 are not walked through: there are no planes to share out";
  if (tuning.shares % tuning.cluster == 0) return {};
  return fmt::format("{} blocks are no whole clusters of {}", tuning.shares, tuning.cluster);
}

Verdict held_cells(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.held_loop != HeldLoop::aside || tuning.keeps == Keeps::sums) return {};
  return "levels that keep planes have held cells there";
}

/// At a seam both blocks wait for each other: that keeps either from running ahead.
Verdict clusters(const Candidate& candidate, const Limits&) {
  const Tuning& tuning = candidate.tuning();
  if (tuning.cluster == 1) return {};
  if (tuning.block_y == 1) return "a block of one warp is at two seams of its cluster; a warp is at one";
  const KernelAxes& axes = candidate.shape().axes;
  if (axes.has(1) && axes.reach[1].low < 0 && axes.reach[1].high > 0) return {};
  return "blocks of a cluster exchange rows both ways; a stencil that reaches above and below in y does";
}

}  // namespace

std::vector<Constraint> temporal_constraints() {
  std::vector<Constraint> rows{
      {"temporal_steps", "Fused steps are 2 at least and no more than the run has.", steps_of_run},
      {"temporal_verifiable", "Where they are tuned, the device has memory for the references of as many steps.",
       verifiable_steps},
      {"temporal_architecture", "Asynchronous copies bring the planes of fused steps on sm_80 and newer.",
       asynchronous_copies},
      {"temporal_warps", "Whole warps span a temporal tile in x; on a line, one.", warps},
      {"temporal_prefetch", "A temporal kernel has at least one plane on its way.", planes_on_their_way},
      {"temporal_corners",
       "A temporal tile that is several warps wide reads no cell beyond an edge in y and beside a row at once.",
       corners},
      {"temporal_fields", "Fused steps advance one field by one stage; they read others at the cell itself alone.",
       fields},
      {"temporal_reach", "What a thread of a temporal kernel reads beyond its cells, its neighbours hold.", reach},
      {"temporal_sums",
       "Fused steps keep sums of linear stencils, where planes beyond the walk's ends are 0 or not read.",
       sums_along_the_walk},
      {"temporal_copies", "Tensor copies bring a temporal warp rows that start on 16 bytes, in boxes of 128 bytes.",
       tensor_copies_of_rows},
      {"temporal_barrier", "A barrier that is split parts warps that wait for each other, on sm_90 and newer.",
       barrier},
      {"temporal_shares",
       "The planes of all tiles are shared out among whole clusters of blocks, where a kernel walks.", shares},
      {"temporal_groups", "Fused steps of a walk are shared out evenly among groups of warps.", groups},
      {"temporal_held_cells", "Held cells are put aside where levels keep sums.", held_cells},
      {"temporal_rim",
       "Rows beyond a temporal tile are read where warps exchange rows, by one warp above and another below.",
       rims_read},
      {"temporal_clusters",
       "A temporal tile is shared by blocks of two warps or more, under a stencil that reaches both ways in y.",
       clusters},
      {"temporal_tile_in_grid", "A temporal tile is no larger than the grid.", fused_tile_in_grid},
      {"tile_not_empty", "Fused steps leave cells of a tile outside its halo.", fused_tile_not_empty},
  };
  const std::vector<Constraint> tensor = tensor_map_constraints();
  rows.insert(rows.end(), tensor.begin(), tensor.end());
  return rows;
}

}  // namespace stencil_tune
