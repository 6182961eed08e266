#include "generator/candidates/temporal.hpp"

#include <algorithm>
#include <tuple>

namespace stencil_tune {
namespace {

constexpr int kLanes = 32;
constexpr std::int64_t kBarrierBytes = 8;
constexpr std::int64_t kWordBytes = 16;

/// Saturates.
std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return saturating_sum(value, multiple - 1) / multiple * multiple;
}

/// Planes of the reach (0: the lowest); empty: first > last.
struct PlaneRange {
  int first = 1;
  int last = 0;
  bool empty() const { return first > last; }
};

/// Those of which a warp reads cells that other warps hold: above and below, and beside where tiles are wider than
/// warps.
PlaneRange planes_with_others_cells(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  PlaneRange range;
  if (axes.grid_axis[2] < 0) return range;
  const auto beyond = [&](const Tap& tap, std::size_t axis) {
    return axes.grid_axis[axis] >= 0 && tap.offset[static_cast<std::size_t>(axes.grid_axis[axis])] != 0;
  };
  const int centre = -axes.reach[2].low;
  for (const Tap& tap : problem.facts.taps) {
    if (!beyond(tap, 1) && !(tuning.block_x > kLanes && beyond(tap, 0))) continue;
    const int plane = tap.offset[static_cast<std::size_t>(axes.grid_axis[2])] + centre;
    range = range.empty() ? PlaneRange{plane, plane}
                          : PlaneRange{std::min(range.first, plane), std::max(range.last, plane)};
  }
  return range;
}

/// Those of which warps have edge cells in shared memory at one time.
PlaneRange exchanged_planes(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, PlaneRange range) {
  if (range.empty()) return range;
  if (tuning.keeps == Keeps::sums) return {0, 0};  // one plane at a time
  const int centre = -axes.reach[2].low;
  const Boundary boundary = problem.boundaries[static_cast<std::size_t>(axes.grid_axis[2])];
  const bool maps_planes = boundary == Boundary::clamp || boundary == Boundary::reflect;
  if (maps_planes && (range.first != centre || range.last != centre)) {
    return {0, axes.reach[2].high - axes.reach[2].low};
  }
  return range;
}

/// Under hold, layers that the grid keeps on a side and that a tile beside the last one may hold too, beyond those that
/// its own reach leaves wrong (see temporal_tile.cuh).
int held_beyond(const Problem& problem, const KernelAxes& axes, std::size_t axis, int reach) {
  const int grid_axis = axes.grid_axis[axis];
  if (grid_axis < 0 || problem.boundaries[static_cast<std::size_t>(grid_axis)] != Boundary::hold) return 0;
  const int held = std::max(-axes.reach[axis].low, axes.reach[axis].high);
  return std::max(0, held - reach - 1);
}

}  // namespace

int sweeps_per_launch(const Tuning& tuning) { return tuning.family == Family::temporal ? tuning.steps : 1; }

std::optional<std::size_t> advanced_input(const Problem& problem) {
  const auto& [inputs, outputs] = std::tie(problem.facts.inputs, problem.facts.outputs);
  const auto& rotations = problem.stencil.rotations;
  // With more rotations an older state is wanted too: that of one step ago.
  if (problem.stencil.stages.size() != 1 || outputs.size() != 1 || rotations.size() != 1) return {};
  const auto found = std::find(inputs.begin(), inputs.end(), rotations.front().to);
  if (rotations.front().from != outputs.front() || found == inputs.end()) return {};
  return static_cast<std::size_t>(found - inputs.begin());
}

bool advances_one_field(const Problem& problem) {
  const auto advanced = advanced_input(problem);
  return advanced && std::all_of(problem.facts.taps.begin(), problem.facts.taps.end(), [&](const Tap& tap) {
           return tap.field == problem.facts.inputs[*advanced] || tap.offset == Offset{0, 0, 0};
         });
}

std::int64_t row_multiple(const Problem& problem, const Tuning& tuning) {
  return uses_tensor_maps(tuning) ? kBoxStartBytes / static_cast<std::int64_t>(size_of(problem.type)) : 1;
}

std::int64_t warps_of_group(const Tuning& tuning) {
  return saturating_product({tuning.block_x, tuning.block_y}) / kLanes;
}

TemporalShape temporal_shape(const Problem& problem, const Tuning& tuning) {
  const KernelAxes axes = kernel_axes(problem, tuning);
  const auto& [x, y, z] = axes.reach;
  const PlaneRange others = planes_with_others_cells(problem, tuning, axes);
  const PlaneRange exchanged = exchanged_planes(problem, tuning, axes, others);
  const bool exchanges = !exchanged.empty();
  const int planes = z.high - z.low + 1;
  // The newest plane waits a step where other warps' cells of it are read.
  const bool sums = tuning.keeps == Keeps::sums;
  const bool splits = z.high > 0 && others.last <= -z.low;  // sums take what is ahead of their outputs at once
  const bool fresh = !exchanges || (sums ? splits : exchanged.last < planes - 1);

  TemporalShape shape;
  shape.width = saturating_product({tuning.block_x, tuning.register_x});
  shape.warp_width = saturating_product({kLanes, tuning.register_x});
  shape.block_height = saturating_product({tuning.block_y, tuning.register_y});
  shape.height = saturating_product({tuning.cluster, shape.block_height});
  const auto halo = [&](std::size_t axis, int reach) {
    return tuning.steps * reach + held_beyond(problem, axes, axis, reach);
  };
  const auto alignment = std::max<std::int64_t>(tuning.vector, row_multiple(problem, tuning));
  shape.left = static_cast<int>(round_up(halo(0, -x.low), alignment));
  shape.right = static_cast<int>(round_up(halo(0, x.high), alignment));
  shape.above = halo(1, -y.low);
  shape.below = halo(1, y.high);
  shape.levels = std::max(1, tuning.steps / tuning.groups);
  shape.held = fresh ? planes - 1 : planes;  // of cells or of sums
  shape.lag = z.high + (fresh ? 0 : 1);
  // What a group passes on the next takes a step later, or two where warps wait for each other within a step.
  const int hand_over = tuning.barrier == StepBarrier::split ? 2 : 1;
  shape.delay = tuning.steps * shape.lag + (tuning.groups - 1) * hand_over;
  shape.exchange_slots = exchanges ? exchanged.last - exchanged.first + 2 : 0;
  const int whole_rows = y.high - y.low;  // of a warp, exchanged with those above and below
  shape.end_rows = exchanges && tuning.block_x > kLanes ? std::max(0, tuning.register_y - whole_rows) : 0;

  const auto storage = static_cast<std::int64_t>(size_of(problem.type));
  const std::int64_t value = std::max<std::int64_t>(storage, 4);
  const auto constants = static_cast<std::int64_t>(problem.facts.inputs.size()) - 1;
  // A constant field's plane stays until the group's last level has used it.
  const std::int64_t waiting = tuning.prefetch + std::int64_t{shape.levels - 1} * shape.lag + 1;
  const std::int64_t planes_in_rings =
      saturating_sum(tuning.prefetch, saturating_product({constants, waiting, tuning.groups}));
  const std::int64_t input = saturating_product({planes_in_rings, shape.block_height, shape.width, storage});
  const std::int64_t passed =
      saturating_product({tuning.groups - 1, hand_over + 1, shape.block_height, shape.width, value});
  // In a cluster the rows of a warp above and of one below are other blocks', and two barriers a side count those that
  // come.
  const std::int64_t warps = tuning.block_y + (tuning.cluster > 1 ? 2 : 0);
  // A row stands in shared memory with room for one thread more, and before the first row there is room for a word.
  const std::int64_t places = saturating_product({tuning.block_x + 1, value});
  const std::int64_t rows = saturating_product({warps, whole_rows, tuning.register_x, places});
  const std::int64_t ends = saturating_product({tuning.block_y, shape.end_rows, x.high - x.low, places});
  const std::int64_t level = saturating_sum(round_up(rows, kWordBytes), round_up(ends, kWordBytes));
  const std::int64_t levels = saturating_product({shape.exchange_slots, tuning.steps, level});
  const std::int64_t edges = exchanges ? saturating_sum(levels, kWordBytes) : 0;
  const std::int64_t seams = tuning.cluster > 1 ? saturating_product({tuning.groups, 4, kBarrierBytes}) : 0;
  // Planes that the copy engine brings are counted by barriers of their own.
  const std::int64_t arrivals =
      uses_tensor_maps(tuning)
          ? round_up(saturating_product({warps_of_group(tuning), tuning.groups, tuning.prefetch, kBarrierBytes}),
                     kWordBytes)
          : 0;
  const std::int64_t waiting_planes =
      saturating_product({tuning.shared_planes, tuning.steps, shape.block_height, shape.width, value});
  const std::int64_t meeting = tuning.barrier == StepBarrier::split ? kWordBytes : 0;
  std::int64_t bytes = 0;
  for (const std::int64_t part : {input, passed, arrivals, edges, seams, meeting, waiting_planes}) {
    bytes = saturating_sum(bytes, part);
  }
  shape.shared_bytes = static_cast<std::size_t>(bytes);
  return shape;
}

std::int64_t temporal_tiles(std::int64_t n, std::int64_t size, int before, int after, Boundary boundary) {
  const std::int64_t useful = size - before - after;
  if (useful <= 0) return 0;
  if (boundary == Boundary::periodic) return (n + useful - 1) / useful;
  return n <= size ? 1 : (n - size + useful - 1) / useful + 1;
}

}  // namespace stencil_tune
