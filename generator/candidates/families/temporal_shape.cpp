// The shape of fused steps: their geometry, the shared memory that it takes, and what a thread holds.
#include "generator/candidates/families/fused_steps.hpp"
#include "generator/candidates/families/single_sweep.hpp"
#include "generator/candidates/families/temporal.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

/// Planes of the reach (0: the lowest).
struct PlaneRange {
  int first = 0;
  int last = -1;
};

/// The planes in which a warp reads cells that other warps hold: above and below, and beside where tiles are wider than
/// warps.
PlaneRange planes_with_others_cells(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  PlaneRange range;
  if (!axes.has(2)) return range;
  const int centre = -axes.reach[2].low;
  for (const Tap& tap : problem.facts.taps) {
    if (axes.offset(tap, 1) == 0 && !(tuning.block_x > kWarpSize && axes.offset(tap, 0) != 0)) continue;
    const int plane = axes.offset(tap, 2) + centre;
    range = range.last < range.first ? PlaneRange{plane, plane}
                                     : PlaneRange{std::min(range.first, plane), std::max(range.last, plane)};
  }
  return range;
}

/// What the kernel's template goes by: temporal.cpp hands it on as constants.
FusedLevels levels_of(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  const auto [x, y, z] = axes.reach;
  const bool sums = tuning.keeps == Keeps::sums;
  const bool wide = tuning.block_x > kWarpSize;
  FusedLevels fused;
  fused.width = std::int64_t{tuning.block_x} * tuning.register_x;
  fused.warp_width = std::int64_t{kWarpSize} * tuning.register_x;
  fused.block_height = std::int64_t{tuning.block_y} * tuning.register_y;
  fused.height = tuning.cluster * fused.block_height;
  place_halo_in_x(problem, tuning, axes, -tuning.steps * x.low, tuning.steps * x.high, fused);
  const int using_up_rows = tuning.steps - (tuning.rim == Rim::read ? 1 : 0);  // steps
  fused.above = -using_up_rows * y.low;
  fused.below = using_up_rows * y.high;

  // Levels that keep sums read one plane at a time; clamp and reflect answer with any of those in reach.
  const PlaneRange others = planes_with_others_cells(problem, tuning, axes);
  const bool exchanges = others.last >= others.first;
  const int planes = z.high - z.low + 1;
  const int centre = -z.low;
  const bool maps_planes = axes.boundaries[2] == Boundary::clamp || axes.boundaries[2] == Boundary::reflect;
  const bool all = exchanges && maps_planes && !sums && (others.first != centre || others.last != centre);
  fused.first_exchanged = all || sums ? 0 : others.first;
  fused.last_exchanged = sums ? 0 : all ? planes - 1 : others.last;
  fused.exchange_slots = exchanges ? fused.last_exchanged - fused.first_exchanged + 2 : 0;
  fused.end_rows = exchanges && wide ? std::max(0, tuning.register_y - axes.reach_width(1)) : 0;

  // A star's sums take at once what lies ahead of their outputs. The newest plane is used in the step that brings it
  // where no cells of other warps are read of it.
  fused.splits_sums = sums && exchanges && z.high > 0 && others.last <= centre;
  const bool fresh = !exchanges || (sums ? fused.splits_sums : fused.last_exchanged < planes - 1);
  fused.kept = fresh ? planes - 1 : planes;
  fused.lag = z.high + (fresh ? 0 : 1);

  // What one group completes in a step the next takes in the one after, or, where warps wait for each other within a
  // step, in the one after that.
  fused.levels = std::max(1, tuning.steps / tuning.groups);
  fused.rim_rows = tuning.rim == Rim::read ? std::max(-y.low, y.high) : 0;
  fused.rim_age = sums ? 0 : fused.kept - fused.last_exchanged - 1;
  fused.hand_over = tuning.barrier != StepBarrier::meet ? 2 : 1;
  fused.group_delay = fused.levels * fused.lag + fused.hand_over;
  fused.delay = tuning.steps * fused.lag + (tuning.groups - 1) * fused.hand_over;
  return fused;
}

/// Planes of the input on their way and those of fields that no step changes, which wait for the group's last level.
std::int64_t input_bytes(const Problem& problem, const Tuning& tuning, const FusedLevels& fused) {
  const std::int64_t waiting = tuning.prefetch + std::int64_t{fused.levels - 1} * fused.lag + 1;
  const int advanced = problem.facts.inputs[advanced_input(problem).value_or(0)];
  std::int64_t cells = 0;  // bytes of a cell in all planes
  for (const int field : problem.facts.inputs) {
    const auto bytes = static_cast<std::int64_t>(size_of(storage_of(problem, field)));
    const std::int64_t planes = field == advanced ? tuning.prefetch : saturating_product({waiting, tuning.groups});
    cells = saturating_sum(cells, saturating_product({planes, bytes}));
  }
  return saturating_product({cells, fused.block_height, fused.width});
}

/// Rows above and below a tile, from when they are asked for until they are published.
std::int64_t rim_bytes(const Tuning& tuning, const FusedLevels& fused, std::int64_t value) {
  return saturating_product({2, tuning.prefetch + 1, fused.rim_rows, fused.width, value});
}

/// Rows that warps exchange, one more plane of them than those in use.
std::int64_t edge_bytes(const Tuning& tuning, const KernelAxes& axes, const FusedLevels& fused, std::int64_t value) {
  if (fused.exchange_slots == 0) return 0;
  // In a cluster the rows of a warp above and of one below are other blocks', and two barriers a side count those that
  // come; a rim stands there too. A row has room for one thread more, and before a level's first row there is
  // room for a word.
  const std::int64_t warps = tuning.block_y + (tuning.cluster > 1 || tuning.rim == Rim::read ? 2 : 0);
  const std::int64_t places = saturating_product({tuning.block_x + 1, value});
  const std::int64_t rows = saturating_product({warps, axes.reach_width(1), tuning.register_x, places});
  const std::int64_t ends = saturating_product({tuning.block_y, fused.end_rows, axes.reach_width(0), places});
  const std::int64_t after_ends = ends > 0 ? kWordBytes : 0;
  const std::int64_t level =
      saturating_sum(round_up(rows, kWordBytes), saturating_sum(round_up(ends, kWordBytes), after_ends));
  return saturating_sum(saturating_product({fused.exchange_slots, tuning.steps, level}), kWordBytes);
}

/// Cells that boundary hold keeps, of threads at the edges of the grid, from when their plane enters a group's first
/// level until the last one that another level reads has completed its own. Levels that keep planes have them there.
std::int64_t held_bytes(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, const FusedLevels& fused,
                        std::int64_t value) {
  if (tuning.keeps != Keeps::sums || tuning.held_loop == HeldLoop::apart) return 0;
  const auto held = [&](std::size_t axis) {
    return axes.has(axis) ? held_layers(problem, static_cast<std::size_t>(axes.grid_axis[axis])) : HeldLayers{};
  };
  const auto larger = [](const HeldLayers& layers) { return std::max(layers.low, layers.high); };
  const bool one_warp_high = tuning.block_y == 1;
  const std::int64_t columns = saturating_product({2, tuning.block_y, tuning.register_y, larger(held(0))});
  const std::int64_t rows =
      saturating_product({tuning.block_x, tuning.register_x, one_warp_high ? held(1).both() : 2 * larger(held(1))});
  const int read_levels = tuning.groups > 1 ? fused.levels : fused.levels - 1;
  const std::int64_t slots = std::int64_t{read_levels} * fused.lag + 1;
  return saturating_product({tuning.groups, slots, saturating_sum(columns, rows), value});
}

std::int64_t shared_bytes(const Problem& problem, const Tuning& tuning, const KernelAxes& axes,
                          const FusedLevels& fused) {
  const bool splits = tuning.barrier != StepBarrier::meet;
  const std::int64_t value = std::max<std::int64_t>(storage_bytes(problem), 4);
  const std::int64_t plane = saturating_product({fused.block_height, fused.width, value});
  const std::int64_t passed = saturating_product({tuning.groups - 1, splits ? 3 : 2, plane});
  const std::int64_t arrivals = arrival_bytes(tuning, saturating_product({warps_of_group(tuning), tuning.groups}));
  const std::int64_t seams = tuning.cluster > 1 ? saturating_product({tuning.groups, 4, kBarrierBytes}) : 0;
  std::int64_t bytes = splits ? kWordBytes : 0;
  for (const std::int64_t part :
       {input_bytes(problem, tuning, fused), rim_bytes(tuning, fused, value), passed, arrivals,
        edge_bytes(tuning, axes, fused, value), seams, held_bytes(problem, tuning, axes, fused, value)}) {
    bytes = saturating_sum(bytes, part);
  }
  return bytes;
}

/// The planes that a group's levels keep of the field that is advanced, one plane that passes through,
/// one of each constant field, and the outputs.
void estimate_levels(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  const std::int64_t words = problem.type == ElementType::f64 ? 2 : 1;
  const auto inputs = static_cast<std::int64_t>(problem.facts.inputs.size());
  const auto outputs = static_cast<std::int64_t>(problem.facts.outputs.size());
  const FusedLevels& fused = shape.fused;
  const std::int64_t planes = saturating_sum(saturating_product({fused.levels, fused.kept}), inputs);
  const std::int64_t cells = saturating_product({tuning.register_x, tuning.register_y});
  shape.live_registers = saturating_product(
      {words, saturating_sum(saturating_product({cells, outputs}), saturating_product({cells, planes}))});
  shape.unrolled_work = saturating_product(
      {work_of_an_output(problem), tuning.register_x, tuning.register_y, tuning.unroll, fused.levels});
}

}  // namespace

std::int64_t warps_of_group(const Tuning& tuning) {
  return saturating_product({tuning.block_x, tuning.block_y}) / kWarpSize;
}

void temporal_shape(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  const KernelAxes& axes = shape.axes;
  shape.fused = levels_of(problem, tuning, axes);
  shape.shared.bytes = static_cast<std::size_t>(shared_bytes(problem, tuning, axes, shape.fused));
  place_fused_tiles(problem, tuning, shape);
  shape.turns_once = true;
  estimate_levels(problem, tuning, shape);
}

}  // namespace stencil_tune
