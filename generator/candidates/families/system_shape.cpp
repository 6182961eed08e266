// The shape of whole steps of systems: tiles, the shared memory of their levels, and what a thread holds.
#include "generator/candidates/families/fused_steps.hpp"
#include "generator/candidates/families/single_sweep.hpp"
#include "generator/candidates/families/system.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

FusedLevels tile_of(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, const FusedSystem& system) {
  FusedLevels fused;
  fused.width = fused.warp_width = saturating_product({tuning.block_x, tuning.register_x});
  fused.height = fused.block_height = saturating_product({tuning.block_y, tuning.register_y});
  place_halo_in_x(problem, tuning, axes, system.halo.low[0], system.halo.high[0], fused);
  fused.above = system.halo.low[1];
  fused.below = system.halo.high[1];
  fused.levels = static_cast<int>(system.levels.size());
  fused.delay = system.delay;
  fused.exchange_slots = system.exchange_slots;
  fused.rim_rows = system.rim_rows;
  fused.lag = system.lag;
  return fused;
}

/// Planes of the state on their way, those of constants until the last level has read them, and rows for other warps.
std::int64_t shared_bytes(const Problem& problem, const Tuning& tuning, const KernelShape& shape) {
  const FusedSystem& system = shape.system();
  const FusedLevels& fused = shape.fused;
  std::int64_t cells = 0;  // bytes of a cell in all planes
  const auto add = [&](int field, std::int64_t planes) {
    const auto bytes = static_cast<std::int64_t>(size_of(storage_of(problem, field)));
    cells = saturating_sum(cells, saturating_product({planes, bytes}));
  };
  for (const SystemField& field : system.levels.front().in) add(field.field, tuning.prefetch);
  for (const SystemConstant& constant : system.constants) {
    add(constant.field, tuning.prefetch + 1 + constant.last - constant.first);  // one is copied while one is still read
  }
  const std::int64_t input = saturating_product({cells, fused.height, fused.width});
  const std::int64_t arrivals = arrival_bytes(tuning, tuning.block_y);
  const std::int64_t value = std::max<std::int64_t>(storage_bytes(problem), 4);
  const std::int64_t warps = tuning.block_y + (tuning.rim == Rim::read ? 2 : 0);
  std::int64_t rows = saturating_product({system.exchange_slots, system.exchanged_rows, warps});
  if (tuning.rim == Rim::read) {  // above and below, of planes on their way and one that is published
    for (const SystemField& field : system.levels.front().in) {
      const int of_a_plane = 2 * std::max(field.rows_before, field.rows_after);
      rows = saturating_sum(rows, saturating_product({tuning.prefetch + 1, of_a_plane}));
    }
  }
  return saturating_sum(saturating_sum(input, arrivals), saturating_product({rows, fused.width, value}));
}

/// The work of a step's stages, as work_of_an_output() counts it.
std::int64_t work_of_a_step(const Problem& problem, const Tuning& tuning) {
  if (tuning.shared_parts == SharedParts::again) return work_of_an_output(problem);
  std::int64_t taps = 0;
  std::int64_t operations = 0;
  for (const StepStage& stage : tuned_step(problem, tuning).step.stages) {
    taps += static_cast<std::int64_t>(stage.facts.taps.size());
    operations += stage.facts.operations;
  }
  return std::max<std::int64_t>({taps, operations / 2, 1});
}

/// The planes that the levels keep, and of the largest level the state that enters and its outputs. A wide update holds
/// two more values for each further field that passes: two fused steps of lbm_d3q19, whose planes are 78 values, take
/// 222 registers, and 588 to 820 bytes are spilled where a thread has 128 (NVRTC 13.0).
void estimate_levels(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  const std::int64_t words = problem.type == ElementType::f64 ? 2 : 1;
  const std::int64_t passing = shape.system().passing;
  const std::int64_t planes = saturating_product({tuning.register_x, tuning.register_y, shape.system().kept + passing});
  const std::int64_t beside = 2 * std::max<std::int64_t>(0, passing - kFewPassing);
  shape.live_registers = saturating_product({words, saturating_sum(planes, beside)});
  shape.unrolled_work = saturating_product(
      {work_of_a_step(problem, tuning), tuning.register_x, tuning.register_y, tuning.unroll, tuning.steps});
}

}  // namespace

std::int64_t least_planes(const KernelShape& shape) {
  return shape.axes.boundaries[2] == Boundary::reflect ? 1 + shape.system().most_read : 1;
}

void system_shape(const Problem& problem, const Tuning& tuning, KernelShape& shape) {
  if (!problem.step.obstacle.empty()) return;
  shape.system_levels = fused_system(problem, tuning, shape.axes);
  shape.fused = tile_of(problem, tuning, shape.axes, shape.system());
  shape.shared.bytes = static_cast<std::size_t>(shared_bytes(problem, tuning, shape));
  place_fused_tiles(problem, tuning, shape);
  shape.least_extents[2] = std::max(shape.least_extents[2], least_planes(shape));
  estimate_levels(problem, tuning, shape);
}

}  // namespace stencil_tune
