// What a launch of fused steps asks of the machine: planes pass through all levels of a block, halos included.
#include "generator/candidates/families/temporal.hpp"
#include "generator/kernel/launch.hpp"
#include "tuner/model/work.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

constexpr double kStepOverhead = 40;    // instructions of a plane that are no level's: copies' and stores' addresses
constexpr double kLevelOverhead = 10;   // and of each level
constexpr double kEngineOverhead = 25;  // of a plane that the copy engine brings: the fence, which waits for stores
constexpr double kSplitOverhead = 25;   // of a plane, where warps wait for each other within a step
constexpr double kBlockOverhead = 400;
constexpr double kRegisters = 15;  // beside values and what every kernel needs
constexpr double kLevelRegisters = 3.3;

/// Rows of the reach, in all planes that a step reads, of which cells beside the thread's own are read.
double rows_with_neighbours(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  if (problem.facts.star) return tuning.register_y;
  const double planes = tuning.keeps == Keeps::sums ? 1 : axes.reach[2].high - axes.reach[2].low + 1;
  return planes * (tuning.register_y + axes.reach[1].high - axes.reach[1].low);
}

/// Cells that a thread has of its neighbours, for one plane of one level.
double neighbour_cells(const Problem& problem, const Tuning& tuning, const KernelAxes& axes) {
  return rows_with_neighbours(problem, tuning, axes) * (axes.reach[0].high - axes.reach[0].low);
}

/// Shuffles of a warp for them, each of which moves four bytes. In tiles of several warps they are read.
double shuffles(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, const FusedLevels& shape) {
  if (shape.width > shape.warp_width) return 0;
  return (problem.type == ElementType::f64 ? 2 : 1) * neighbour_cells(problem, tuning, axes);
}

/// Cells at the ends of its rows that a thread publishes, and those that it reads.
double end_cells(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, const FusedLevels& shape) {
  if (shape.width == shape.warp_width) return 0;
  return shape.end_rows * (axes.reach[0].high - axes.reach[0].low) + neighbour_cells(problem, tuning, axes);
}

/// Instructions of a warp for one plane of one level, less its arithmetic.
double level_instructions(const Problem& problem, const Tuning& tuning, const KernelAxes& axes,
                          const FusedLevels& shape) {
  const double widest = 16.0 / std::max<double>(4, static_cast<double>(size_of(problem.type)));
  const double word = std::min<double>(tuning.register_x, widest);
  const int reach = std::max(-axes.reach[0].low, axes.reach[0].high);
  const double end_word = std::min<double>(widest, (reach & -reach));
  const double edge_rows = axes.reach[1].high - axes.reach[1].low;
  const double exchanged = edge_rows * tuning.register_x / word * shape.exchange_slots;
  const double ends = reach > 0 ? end_cells(problem, tuning, axes, shape) / end_word : 0;
  return shuffles(problem, tuning, axes, shape) + exchanged + ends + kLevelOverhead;
}

/// What a thread holds, by 357 kernels of twelve problems (NVRTC 13.0, sm_90; 14 registers of deviation): its levels'
/// planes; of the level at work its input with halo, its result and what is on its way; and with sums the cells at the
/// grid's edges that boundary hold keeps.
double live_values(const Problem& problem, const Tuning& tuning, const KernelAxes& axes, const FusedLevels& shape) {
  constexpr double kPlanesOfOutputs = 3.6, kPartOfHalo = 0.5, kForAnEdgeCell = 1.5;
  const auto span = [&](std::size_t axis) { return static_cast<double>(axes.reach[axis].high - axes.reach[axis].low); };
  const double outputs = static_cast<double>(tuning.register_x) * tuning.register_y;
  const double sides = span(0) * tuning.register_y + span(1) * tuning.register_x;
  const double halo = problem.facts.star ? sides : sides + span(0) * span(1);
  const bool remembers =
      tuning.keeps == Keeps::sums && (axes.grid_axis[0] >= 0) && problem.boundaries[0] == Boundary::hold;
  const double edges =
      remembers ? shape.levels * span(2) / 2 * (span(0) / 2 * tuning.register_y + span(1) / 2 * tuning.register_x) : 0;
  const double held = shape.kept - tuning.shared_planes;
  return outputs * (shape.levels * held + kPlanesOfOutputs) + kPartOfHalo * halo + kForAnEdgeCell * edges;
}

}  // namespace

Work count_temporal_work(const Problem& problem, const Tuning& tuning) {
  const Candidate candidate(problem, tuning);
  const KernelAxes& axes = candidate.shape().axes;
  const FusedLevels& shape = candidate.shape().fused;
  const Lengths& own = candidate.shape().tile;
  const LaunchGeometry geometry = launch_geometry(candidate, updated_box(problem));
  const auto bytes = static_cast<double>(size_of(problem.type));
  const double outputs = static_cast<double>(tuning.register_x) * tuning.register_y;

  Work work;
  work.blocks = static_cast<double>(geometry.grid[0]) * geometry.grid[1] * geometry.grid[2];
  work.threads = static_cast<int>(candidate.shape().threads);
  work.shared_bytes = candidate.shape().shared.bytes;
  work.halo = {static_cast<double>(shape.left + shape.right), static_cast<double>(shape.above + shape.below),
               static_cast<double>(tuning.steps * (axes.reach[2].high - axes.reach[2].low))};
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    work.tile[a] = std::clamp(static_cast<double>(own[a]), 1.0, static_cast<double>(axes.extents[a]));
    work.tiles[a] = static_cast<double>(axes.extents[a]) / work.tile[a];
  }
  const double planes = work.tile[2] + shape.delay - tuning.steps * axes.reach[2].low;
  work.steps = planes;
  work.cells = static_cast<double>(updated_box(problem).cells());
  const auto inputs = static_cast<double>(problem.facts.inputs.size());
  work.cell_bytes = (inputs + 1) * bytes;
  work.read_bytes = inputs * static_cast<double>(problem.extents.cells()) * bytes;
  work.write_bytes = work.cells * bytes;
  work.l2_read_sectors =
      inputs * work.blocks * static_cast<double>(shape.width * shape.block_height) * planes * bytes / kSectorBytes;
  work.l2_write_sectors = work.write_bytes / kSectorBytes;

  const double warps = work.blocks * static_cast<double>(warps_of_group(tuning));
  const double warp_planes = warps * planes;
  const double operations = problem.facts.linear ? std::ceil(problem.facts.operations / 2.0) : problem.facts.operations;
  const double moved = outputs / tuning.vector;
  const double constants = inputs - 1;  // fields that each level reads from shared memory
  work.arithmetic = warp_planes * tuning.steps * outputs * operations;
  const double value_bytes = std::max(4.0, bytes);
  const double passed = 2 * (tuning.groups - 1) * outputs;  // written by a group and read by the next
  // Each step reads the planes that a level has in shared memory and puts one in the oldest's place.
  const double waiting = tuning.shared_planes > 0 ? tuning.steps * (tuning.shared_planes + 1) * outputs : 0;
  const bool engine = candidate.shape().uses_tensor_maps;
  const double copying = engine ? 2 * moved + kEngineOverhead : 3 * moved;  // of the advanced field, its stores too
  const double others = tuning.steps * level_instructions(problem, tuning, axes, shape) + copying +
                        constants * moved * (1 + tuning.steps) + (passed + waiting) * value_bytes / 16 +
                        tuning.groups * kStepOverhead / std::sqrt(static_cast<double>(tuning.unroll)) +
                        (tuning.barrier == StepBarrier::split ? tuning.groups * kSplitOverhead : 0);
  work.loop_instructions = tuning.unroll * (tuning.steps * outputs * operations + others) / tuning.groups;
  work.instructions = work.arithmetic + warp_planes * others + warps * kBlockOverhead;
  work.l1_wavefronts = inputs * warp_planes * outputs * bytes * 32 / kWavefrontBytes;
  const double edge_cells = tuning.steps * ((axes.reach[1].high - axes.reach[1].low) * tuning.register_x *
                                                static_cast<double>(shape.exchange_slots) +
                                            end_cells(problem, tuning, axes, shape));
  const double ring_cells = outputs * (2 + constants * (1 + tuning.steps));
  work.shared_wavefronts =
      warp_planes * (ring_cells + edge_cells + passed + waiting) * value_bytes * 32 / kWavefrontBytes +
      warp_planes * tuning.steps * shuffles(problem, tuning, axes, shape);
  work.rounds = 1 + planes / (1 + tuning.prefetch);
  work.barriers = shape.exchange_slots > 0 || tuning.groups > 1 ? planes : 0;
  work.asynchronous = true;
  work.live_values = live_values(problem, tuning, axes, shape) + constants * outputs;
  work.other_registers = kRegisters + kLevelRegisters * static_cast<double>(shape.levels);
  return work;
}

}  // namespace stencil_tune
