// What a launch of whole steps of a system asks of the machine: the state passes through all levels of a block, halos
// included. Coarse: it counts cells and operations of each level, not how a kernel arranges them.
#include "generator/kernel_source/launch.hpp"
#include "runtime/model/work.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

double of(std::size_t number) { return static_cast<double>(number); }

/// What a warp does for one plane of one level, for each of a thread's cells.
struct LevelWork {
  double operations = 0;
  double shuffles = 0;  ///< each moves four bytes
};

LevelWork work_of(const Problem& problem, const StageFacts& stage) {
  LevelWork work;
  work.operations = stage.linear ? std::ceil(stage.operations / 2.0) : stage.operations;  // fused multiply-add
  std::set<std::pair<int, Offset>> rows;  // rows that hold cells read beside a thread's own
  for (const Tap& tap : stage.taps) {
    if (tap.offset[0] != 0) rows.insert({tap.field, {tap.offset[0], tap.offset[1], tap.offset[2]}});
  }
  work.shuffles = of(rows.size()) * (problem.type == ElementType::f64 ? 2 : 1);
  return work;
}

/// For each stage, whatever the rest of the tuning says.
std::shared_ptr<const std::vector<LevelWork>> work_of_stages(const Problem& problem, const Tuning& tuning) {
  return problem.remembered->recall<std::vector<LevelWork>>({static_cast<int>(tuning.shared_parts)}, [&] {
    std::vector<LevelWork> all;
    for (const StepStage& stage : tuned_step(problem, tuning).step.stages) all.push_back(work_of(problem, stage.facts));
    return all;
  });
}

/// The share of a tile's warps that are at work in a level, away from the grid's edges.
double share_at_work(const SystemLevel& level, const Tuning& tuning) {
  if (tuning.edge_warps == EdgeWarps::work) return 1;
  const int resting = level.wrong.low[1] / tuning.register_y + level.wrong.high[1] / tuning.register_y;
  return std::max(0.0, 1.0 - static_cast<double>(resting) / tuning.block_y);
}

/// The share of a walk's instructions that is left where the plain loop fills the levels. The other loop takes half as
/// many more for a step (acoustic3d_o4, three steps: 1197 and 768, NVRTC 13.0), which the fitted constants contain.
double share_of_filling(const KernelShape& shape, const Tuning& tuning, double steps) {
  if (tuning.filling == Filling::apart || tuning.chunks == 1) return 1;
  const double filling = static_cast<double>(shape.system().delay + shape.system().halo.low[2]);
  return steps / (steps + 0.5 * filling * (tuning.chunks - 1) / tuning.chunks);
}

/// Blocks, their tiles, and how far they walk.
void count_tiles(const Candidate& candidate, Work& work) {
  const KernelShape& shape = candidate.shape();
  const LaunchGeometry geometry = launch_geometry(candidate, updated_box(candidate.problem()));
  work.blocks = static_cast<double>(geometry.grid[0]) * geometry.grid[1] * geometry.grid[2];
  work.threads = static_cast<int>(shape.threads);
  work.shared_bytes = shape.shared.bytes;
  work.halo = {static_cast<double>(shape.fused.left + shape.fused.right),
               static_cast<double>(shape.fused.above + shape.fused.below),
               static_cast<double>(shape.system().halo.low[2] + shape.system().halo.high[2])};
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    work.tile[a] = std::clamp(static_cast<double>(shape.tile[a]), 1.0, static_cast<double>(shape.axes.extents[a]));
    work.tiles[a] = static_cast<double>(shape.axes.extents[a]) / work.tile[a];
  }
  work.steps = work.tile[2] + shape.system().delay + shape.system().halo.low[2];
}

/// Ends of tiles' rows in the middle of a 32-byte sector, of one output.
double borders_within_sectors(const Candidate& candidate, const Work& work) {
  const KernelShape& shape = candidate.shape();
  const Problem& problem = candidate.problem();
  const std::int64_t sector = kSectorBytes / static_cast<std::int64_t>(size_of(problem.type));
  const bool periodic = shape.axes.boundaries[0] == Boundary::periodic;
  const int first = periodic ? 0 : shape.fused.left - shape.fused.shift;  // border; the others are whole tiles apart
  const bool between_sectors = problem.pitch % sector == 0 && shape.tile[0] % sector == 0 && first % sector == 0;
  return between_sectors ? 0 : work.cells / work.tile[0];
}

}  // namespace

Work count_system_work(const Candidate& candidate, const Calibration& calibration) {
  const Problem& problem = candidate.problem();
  const Tuning& tuning = candidate.tuning();
  const KernelShape& shape = candidate.shape();
  const FusedConstants& c = calibration.fused;
  const double bytes = of(size_of(problem.type));
  const double value_bytes = std::max(4.0, bytes);
  const double inputs = of(kernel_inputs(problem, tuning.steps).size());
  const double outputs = of(kernel_outputs(problem, tuning.steps).size());
  const double cells = static_cast<double>(tuning.register_x) * tuning.register_y;  // cells of a thread in a plane
  Work work;
  count_tiles(candidate, work);
  const double warps = work.blocks * tuning.block_y;
  const double warp_planes = warps * work.steps;

  work.cells = static_cast<double>(updated_box(problem).cells());
  work.cell_bytes = (inputs + outputs) * bytes;
  work.read_bytes = inputs * static_cast<double>(problem.extents.cells()) * bytes;
  work.write_bytes = outputs * work.cells * bytes;
  work.l2_read_sectors = inputs * warp_planes * 32 * cells * bytes / kSectorBytes;
  work.l2_write_sectors = work.write_bytes / kSectorBytes;
  work.split_sectors = (outputs - 1) * borders_within_sectors(candidate, work);  // L2 joins those of one output
  work.l1_wavefronts = (inputs + outputs) * warp_planes * cells * bytes * 32 / kWavefrontBytes;

  double shuffles = 0;
  const auto stages = work_of_stages(problem, tuning);
  for (const SystemLevel& level : shape.system().levels) {
    const LevelWork& each = (*stages)[static_cast<std::size_t>(level.stage)];
    const double at_work = share_at_work(level, tuning);
    work.arithmetic += warp_planes * cells * each.operations * at_work;
    shuffles += each.shuffles * tuning.register_y * at_work;
  }
  const double moved = cells / tuning.vector;
  const double others = shuffles + of(shape.system().levels.size()) * c.level_instructions +
                        (3 * inputs + outputs) * moved + c.step_instructions / std::sqrt(tuning.unroll);
  const double filling = share_of_filling(shape, tuning, work.steps);
  work.arithmetic *= filling;
  work.instructions = work.arithmetic + warp_planes * others * filling + warps * c.block_instructions;
  work.loop_instructions = tuning.unroll * (work.arithmetic / std::max(1.0, warp_planes) + others);
  const double exchanged = 2.0 * shape.system().exchanged_rows * tuning.register_x;
  work.shared_wavefronts =
      warp_planes * ((2 * inputs * cells + exchanged) * value_bytes * 32 / kWavefrontBytes + shuffles);

  work.rounds = 1 + work.steps / (1 + tuning.prefetch);
  work.barriers = shape.system().exchange_slots > 0 ? work.steps : 0;
  work.asynchronous = true;
  work.live_values = static_cast<double>(shape.live_registers) / (problem.type == ElementType::f64 ? 2 : 1);
  work.other_registers = calibration.registers.fused_other;
  work.spilling_levels = of(shape.system().levels.size());
  return work;
}

}  // namespace stencil_tune
