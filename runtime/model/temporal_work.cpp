// What a launch of fused steps asks of the machine: planes pass through all levels of a block, halos included.
#include "generator/candidates/families/temporal.hpp"
#include "generator/kernel_source/launch.hpp"
#include "runtime/model/work.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

// Geometry of a candidate, and what the counts below take from it more than once.
struct Levels {
  const Candidate& candidate;
  const Problem& problem;
  const Tuning& tuning;
  const KernelAxes& axes;
  const FusedLevels& shape;
  double bytes;        // bytes of an element in memory
  double value_bytes;  // bytes of a value on chip
  double inputs;       // fields
  double constants;    // fields beside the advanced one: each level reads them from shared memory at the cell alone
  double outputs;      // cells that a thread computes for one plane of one level
  double operations;   // for one output
  double passed = 0;   // cells that a thread writes for the next group or reads from the one before
  double planes = 0;   // planes that a block walks
  double warps = 0;    // warps of all blocks, as many as share a level
  double warp_planes = 0;

  explicit Levels(const Candidate& c)
      : candidate(c),
        problem(c.problem()),
        tuning(c.tuning()),
        axes(c.shape().axes),
        shape(c.shape().fused),
        bytes(static_cast<double>(size_of(problem.type))),
        value_bytes(std::max(4.0, bytes)),
        inputs(static_cast<double>(problem.facts.inputs.size())),
        constants(inputs - 1),
        outputs(static_cast<double>(tuning.register_x) * tuning.register_y),
        operations(problem.facts.linear ? std::ceil(problem.facts.operations / 2.0)
                                        : problem.facts.operations) {  // fused multiply-add
    passed = 2 * (tuning.groups - 1) * outputs;
  }

  double span(std::size_t axis) const { return static_cast<double>(axes.reach[axis].high - axes.reach[axis].low); }

  // Rows of the reach, in all planes that a step reads, of which cells beside the thread's own are read.
  double rows_with_neighbours() const {
    if (problem.facts.star) return tuning.register_y;
    const double of_planes = tuning.keeps == Keeps::sums ? 1 : span(2) + 1;
    return of_planes * (tuning.register_y + span(1));
  }

  // Cells that a thread has of its neighbours, for one plane of one level.
  double neighbour_cells() const { return rows_with_neighbours() * span(0); }

  // Shuffles of a warp for them, each of which moves four bytes. In tiles of several warps they are read.
  double shuffles() const {
    if (shape.width > shape.warp_width) return 0;
    return (problem.type == ElementType::f64 ? 2 : 1) * neighbour_cells();
  }

  // Cells at the ends of its rows that a thread publishes, and those that it reads.
  double end_cells() const {
    if (shape.width == shape.warp_width) return 0;
    return shape.end_rows * span(0) + neighbour_cells();
  }

  // Cells of its first and last rows that a thread publishes, or reads of its neighbours, for one plane of one level.
  double edge_cells() const {
    return span(1) * tuning.register_x * static_cast<double>(shape.exchange_slots) + end_cells();
  }
};

/// Instructions of a warp for one plane of one level, less its arithmetic.
double level_instructions(const Levels& s, const FusedConstants& c) {
  const double widest = 16.0 / s.value_bytes;
  const double word = std::min<double>(s.tuning.register_x, widest);
  const int reach = std::max(-s.axes.reach[0].low, s.axes.reach[0].high);
  const double end_word = std::min<double>(widest, (reach & -reach));
  const double exchanged = s.span(1) * s.tuning.register_x / word * s.shape.exchange_slots;
  const double ends = reach > 0 ? s.end_cells() / end_word : 0;
  return s.shuffles() + exchanged + ends + c.level_instructions;
}

/// Instructions of a warp for one plane of all levels, less their arithmetic.
double plane_instructions(const Levels& s, const FusedConstants& c) {
  const Tuning& t = s.tuning;
  const double moved = s.outputs / t.vector;
  // The advanced field's copies and loads, and its stores too.
  const double copying = s.candidate.shape().uses_tensor_maps ? 2 * moved + c.tma_instructions : 3 * moved;
  return t.steps * level_instructions(s, c) + copying + s.constants * moved * (1 + t.steps) +
         s.passed * s.value_bytes / 16 + t.groups * c.step_instructions / std::sqrt(static_cast<double>(t.unroll)) +
         (t.barrier != StepBarrier::meet ? t.groups * c.split_instructions : 0);
}

/// What a thread holds: its levels' planes; of the level at work its input with halo, its result and what is on its
/// way; and with sums the cells at the grid's edges that boundary hold keeps, unless they are put aside.
double live_values(const Levels& s, const RegisterConstants& c) {
  const double rx = s.tuning.register_x, ry = s.tuning.register_y;
  const double sides = s.span(0) * ry + s.span(1) * rx;
  const double halo = s.problem.facts.star ? sides : sides + s.span(0) * s.span(1);
  const bool remembers = s.tuning.keeps == Keeps::sums && s.tuning.held_loop == HeldLoop::apart &&
                         (s.axes.grid_axis[0] >= 0) && s.problem.boundaries[0] == Boundary::hold;
  const double edges = remembers ? s.shape.levels * s.span(2) / 2 * (s.span(0) / 2 * ry + s.span(1) / 2 * rx) : 0;
  return s.outputs * (static_cast<double>(s.shape.levels) * s.shape.kept + c.fused_planes) + c.fused_halo * halo +
         c.fused_edge_cell * edges;
}

/// Planes that a block walks which has a share of the planes of all tiles: its part of them with what fills each tile's
/// levels, and what fills them where it begins within a tile.
double planes_of_a_share(const Levels& s, double filling) {
  const KernelShape& shape = s.candidate.shape();
  const auto planes = static_cast<double>(s.axes.extents[2]);
  return static_cast<double>(shape.shared_tiles) * (planes + filling) / static_cast<double>(shape.shares) + filling;
}

/// The share of the cells that DRAM serves once more: tiles that are cut read them beyond their own. Blocks beside them
/// are at other planes, so that L2 has them no more.
double reread_by_shares(const Levels& s) {
  const KernelShape& shape = s.candidate.shape();
  if (shape.shares == 0) return 0;
  const double cut = static_cast<double>(shape.shared_tiles % shape.shares);
  const double read = static_cast<double>(s.shape.width * s.shape.height);
  return cut / static_cast<double>(shape.shared_tiles) *
         (read / static_cast<double>(shape.tile[0] * shape.tile[1]) - 1);
}

/// Blocks, their tiles, and how far they walk.
void count_tiles(Levels& s, Work& work) {
  const LaunchGeometry geometry = launch_geometry(s.candidate, updated_box(s.problem));
  const Lengths& own = s.candidate.shape().tile;
  work.blocks = static_cast<double>(geometry.grid[0]) * geometry.grid[1] * geometry.grid[2];
  work.threads = static_cast<int>(s.candidate.shape().threads);
  work.shared_bytes = s.candidate.shape().shared.bytes;
  work.halo = {static_cast<double>(s.shape.left + s.shape.right), static_cast<double>(s.shape.above + s.shape.below),
               s.tuning.steps * s.span(2)};
  for (std::size_t a = 0; a < kMaxRank; ++a) {
    work.tile[a] = std::clamp(static_cast<double>(own[a]), 1.0, static_cast<double>(s.axes.extents[a]));
    work.tiles[a] = static_cast<double>(s.axes.extents[a]) / work.tile[a];
  }
  const double filling = static_cast<double>(s.shape.delay) - s.tuning.steps * s.axes.reach[2].low;
  s.planes = s.tuning.shares > 0 ? planes_of_a_share(s, filling) : work.tile[2] + filling;
  s.warps = work.blocks * static_cast<double>(warps_of_group(s.tuning));
  s.warp_planes = s.warps * s.planes;
  work.steps = s.planes;
}

/// Bytes and sectors between memory, L2 and L1.
void count_traffic(const Levels& s, Work& work) {
  work.cells = static_cast<double>(updated_box(s.problem).cells());
  work.cell_bytes = (s.inputs + 1) * s.bytes;
  work.read_bytes = s.inputs * static_cast<double>(s.problem.extents.cells()) * (1 + reread_by_shares(s)) * s.bytes;
  work.write_bytes = work.cells * s.bytes;
  work.l2_read_sectors = s.inputs * work.blocks * static_cast<double>(s.shape.width * s.shape.block_height) * s.planes *
                         s.bytes / kSectorBytes;
  work.l2_write_sectors = work.write_bytes / kSectorBytes;
  work.l1_wavefronts = s.inputs * s.warp_planes * s.outputs * s.bytes * 32 / kWavefrontBytes;
}

/// Instructions, and what passes through shared memory.
void count_levels(const Levels& s, const FusedConstants& c, Work& work) {
  const Tuning& t = s.tuning;
  const double others = plane_instructions(s, c);
  work.arithmetic = s.warp_planes * t.steps * s.outputs * s.operations;
  work.loop_instructions = t.unroll * (t.steps * s.outputs * s.operations + others) / t.groups;
  work.instructions = work.arithmetic + s.warp_planes * others + s.warps * c.block_instructions;

  const double ring_cells = s.outputs * (2 + s.constants * (1 + t.steps));
  const double cells = ring_cells + t.steps * s.edge_cells() + s.passed;
  work.shared_wavefronts =
      s.warp_planes * cells * s.value_bytes * 32 / kWavefrontBytes + s.warp_planes * t.steps * s.shuffles();
}

}  // namespace

Work count_temporal_work(const Candidate& candidate, const Calibration& calibration) {
  const Tuning& tuning = candidate.tuning();
  Levels levels(candidate);
  Work work;
  count_tiles(levels, work);
  count_traffic(levels, work);
  count_levels(levels, calibration.fused, work);

  work.rounds = 1 + levels.planes / (1 + tuning.prefetch);
  work.barriers = levels.shape.exchange_slots > 0 || tuning.groups > 1 ? levels.planes : 0;
  work.asynchronous = true;
  const RegisterConstants& registers = calibration.registers;
  work.live_values = live_values(levels, registers) + levels.constants * levels.outputs;
  work.other_registers = registers.fused_other + registers.fused_level * static_cast<double>(levels.shape.levels);
  return work;
}

}  // namespace stencil_tune
