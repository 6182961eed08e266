#include "runtime/model/work.hpp"

#include "generator/kernel_source/launch.hpp"
#include "generator/stencil/rewriting/sum_parts.hpp"
#include "runtime/model/sweep_registers.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

constexpr double kWarp = 32;

// Geometry of a candidate along the kernel's axes (generator/candidates/shape.hpp), as the counts below need it.
struct Layout {
  const Candidate& candidate;
  const Problem& problem;
  const Tuning& tuning;
  const KernelAxes& axes;
  std::array<double, kMaxRank> tile{1, 1, 1};     // outputs of a block, clipped to the grid
  std::array<double, kMaxRank> updated{1, 1, 1};  // cells
  double bytes;                                   // bytes of an element in memory
  bool streaming;                                 // a block walks along the last axis
  double steps;                                   // planes a block walks
  bool in_shared;                                 // inputs pass through shared memory, with their halo
  bool pipelined;                                 // planes are copied to shared memory ahead of the walk
  bool by_tma;                                    // TMA copies them
  double whole_lines;                             // cells of a row of the pipeline
  double register_z;                              // outputs of a thread along z in one step

  Layout(const Candidate& c, bool walks)
      : candidate(c),
        problem(c.problem()),
        tuning(c.tuning()),
        axes(c.shape().axes),
        bytes(static_cast<double>(size_of(problem.type))),
        streaming(walks),
        in_shared(c.shape().shared.bytes > 0),
        pipelined(c.shape().rows_of_whole_lines),
        by_tma(c.shape().uses_tensor_maps),
        whole_lines(static_cast<double>(c.shape().shared.pitch)),
        register_z(walks ? 1 : tuning.register_z) {
    const Box box = updated_box(problem);
    for (std::size_t a = 0; a < kMaxRank; ++a) {
      if (!axes.has(a)) continue;
      const auto g = static_cast<std::size_t>(axes.grid_axis[a]);
      updated[a] = std::max(1.0, static_cast<double>(box.high[g] - box.low[g]));
      tile[a] = std::clamp(static_cast<double>(c.shape().tile[a]), 1.0, updated[a]);
    }
    steps = streaming ? tile[2] : 1;
  }

  // Whether planes of the input come to shared memory: late inputs of sums do not.
  bool shares(std::size_t input) const {
    return in_shared && !(tuning.keeps == Keeps::sums && is_late(problem.facts, input));
  }

  // Tiles of the grid; the last ones on an axis count by the part of them that is inside.
  double tile_count() const { return updated[0] / tile[0] * (updated[1] / tile[1]) * (updated[2] / tile[2]); }

  // Sectors of a run of `width` cells that starts `before` cells left of a tile's first column; tiles start at column
  // 0.
  double row_sectors(double before, double width) const {
    const bool fixed_phase = std::fmod(tile[0] * bytes, kSectorBytes) == 0 &&
                             std::fmod(static_cast<double>(problem.pitch) * bytes, kSectorBytes) == 0;
    if (!fixed_phase) return ((width - 1) * bytes + kSectorBytes) / kSectorBytes;
    return std::ceil((width - before) * bytes / kSectorBytes) + std::ceil(before * bytes / kSectorBytes);
  }
};

// Cells of one input read beyond a tile on each kernel axis, both sides together; `left` is the low side of x.
struct Halos {
  double x = 0, y = 0, z = 0, left = 0;

  Halos(const Layout& s, std::size_t input) {
    const auto& reach = s.problem.facts.reach[input];
    const auto on = [&](std::size_t axis) {
      return s.axes.grid_axis[axis] < 0 ? Reach{} : reach[static_cast<std::size_t>(s.axes.grid_axis[axis])];
    };
    x = on(0).high - on(0).low;
    y = on(1).high - on(1).low;
    z = on(2).high - on(2).low;
    left = -on(0).low;
  }
};

// Distinct sectors a block reads of one input: a star needs no corners, so its halo rows have no ends.
double block_read_sectors(const Layout& s, const Halos& h, bool shared) {
  const double with_ends =
      s.pipelined && shared ? s.whole_lines * s.bytes / kSectorBytes : s.row_sectors(h.left, s.tile[0] + h.x);
  if (s.in_shared || !s.problem.facts.star) return (s.tile[1] + h.y) * (s.tile[2] + h.z) * with_ends;
  const double halo_rows = s.tile[2] * h.y + s.tile[1] * h.z;
  return s.tile[1] * s.tile[2] * with_ends + halo_rows * s.row_sectors(0, s.tile[0]);
}

// Cells one thread reads in one step: in the rows of its register tile, and left and right of them.
struct ThreadReads {
  double row_cells = 0;
  double side_cells = 0;
};

ThreadReads thread_reads(const Layout& s, const Halos& h, bool z_held) {
  const double rx = s.tuning.register_x, ry = s.tuning.register_y, rz = s.register_z;
  const double hz = z_held ? 0 : h.z;
  if (s.problem.facts.star) return {(ry * rz + rz * h.y + ry * hz) * rx, ry * rz * h.x};
  const double rows = (ry + h.y) * (rz + hz);
  return {rows * rx, rows * h.x};
}

// Wavefronts of one warp-wide access of `cells` cells a lane: rows of a narrow block lie in lines of their own.
double wavefronts(const Layout& s, double cells) {
  const double lines = std::ceil(kWarp / std::min<double>(kWarp, s.tuning.block_x));
  return std::max(lines, kWarp * cells * s.bytes / kWavefrontBytes);
}

// Cells that a thread reads of a ring at once: rows are aligned there, whatever they are in memory
// (templates/streaming/ring.cuh).
double ring_vector(const Layout& s) {
  for (const int cells : {16 / static_cast<int>(s.bytes), 4, 2}) {
    if (cells <= 16 / static_cast<int>(s.bytes) && s.tuning.register_x % cells == 0) return cells;
  }
  return 1;
}

// An input whose tile passes through shared memory.
void count_shared_input(const Layout& s, const Halos& h, double warp_steps, Work& work) {
  const Tuning& t = s.tuning;
  const bool z_held = s.streaming && t.planes != Planes::shared;
  const ThreadReads reads = thread_reads(s, h, z_held);
  const double plane_rows = s.in_shared ? s.tile[1] + h.y : s.tile[1];
  const double planes = s.streaming ? 1 : s.in_shared ? s.tile[2] + h.z : s.tile[2];
  const double loaded = (s.tile[0] + (s.in_shared ? h.x : 0)) * plane_rows * planes / work.threads;  // cells a thread
  const double cell_bytes = std::max(4.0, s.bytes);  // 16-bit cells are widened on the way in

  const double issued = s.by_tma ? 0 : loaded;  // what TMA copies is nobody's instructions
  const double read_at_once = s.pipelined ? ring_vector(s) : 1;
  const double for_a_load =
      s.pipelined ? 1.5 / t.vector : 3 + 1.0 / t.vector;  // a copy, or loads and stores cell by cell

  work.l1_wavefronts += warp_steps * issued / t.vector * wavefronts(s, t.vector);
  work.shared_wavefronts += warp_steps * (loaded + reads.row_cells + reads.side_cells) * cell_bytes / 4;
  work.instructions += warp_steps * (issued * for_a_load + (reads.row_cells + reads.side_cells) / read_at_once);
  work.live_values += reads.row_cells / 2 + (z_held ? (1 + h.z) * t.register_x * t.register_y : 0);
}

// An input whose neighbouring cells are left to L1.
void count_cached_input(const Layout& s, const Halos& h, double warp_steps, Work& work) {
  const Tuning& t = s.tuning;
  const bool z_held = s.streaming;
  const ThreadReads reads = thread_reads(s, h, z_held);
  const double rows = reads.row_cells / t.vector;
  const bool shuffled = t.neighbours == Neighbours::shuffle;
  const double side_loads = shuffled ? reads.side_cells / 4 : reads.side_cells;  // only lanes at the warp's ends load

  // A load one cell off its line takes a second wavefront.
  work.l1_wavefronts +=
      warp_steps * (rows * wavefronts(s, t.vector) + side_loads * (wavefronts(s, 1) + (shuffled ? 0 : 1)));
  work.instructions += warp_steps * (rows + reads.side_cells + (shuffled ? reads.side_cells : 0));
  work.live_values += (reads.row_cells + reads.side_cells) / 2 + (z_held ? h.z * t.register_x * t.register_y : 0);
}

void count_arithmetic(const Layout& s, double warps, const SweepConstants& c, Work& work) {
  const StageFacts& facts = s.problem.facts;
  const auto outputs = static_cast<double>(facts.outputs.size());
  const double fields = outputs + static_cast<double>(facts.inputs.size());
  const double operations = facts.linear ? std::ceil(facts.operations / 2.0) : facts.operations;  // fused multiply-add
  const double conversions = is_half(s.problem.type) ? fields : 0;
  const double results = s.tuning.register_x * s.tuning.register_y * s.register_z;
  const double warp_steps = work.blocks * warps * s.steps;
  const double stores = results / s.tuning.vector * outputs;
  const double addresses =
      (c.step_instructions + 2 * s.tuning.register_y) * (s.candidate.shape().wide_index ? 1.3 : 1.0);

  work.arithmetic = warp_steps * results * operations;
  work.instructions += work.arithmetic + work.blocks * warps * c.thread_instructions +
                       warp_steps * (stores + addresses / s.tuning.unroll + results * conversions);
  work.l1_wavefronts += warp_steps * stores * wavefronts(s, s.tuning.vector);
  work.live_values += results;
}

void count_rounds(const Layout& s, Work& work) {
  if (!s.in_shared) {
    // Nothing orders the loads of an unrolled walk: they leave together.
    work.rounds = std::ceil(s.steps / s.tuning.unroll) + (s.streaming ? 0.5 : 0);
    return;
  }
  if (s.pipelined) {
    work.asynchronous = true;
    work.rounds = 1 + work.tiles_of_block * s.steps / (1 + s.tuning.prefetch);  // planes are on their way meanwhile
    if (!s.by_tma) work.barriers = s.steps;
    return;
  }
  work.barriers = s.steps * (s.streaming ? 2 : 1);
  work.rounds = s.steps + (s.streaming ? 1 : 0) + (s.in_shared ? 0 : 0.25 * s.steps);
}

Work count_sweep(const Layout& s, const Calibration& calibration) {
  const Problem& problem = s.problem;
  const Tuning& tuning = s.tuning;
  const LaunchGeometry geometry = launch_geometry(s.candidate, updated_box(problem));
  const auto inputs = static_cast<double>(problem.facts.inputs.size());
  const auto outputs = static_cast<double>(problem.facts.outputs.size());

  Work work;
  work.tiles_of_block = tuning.tiles;
  work.blocks = work.tiles_of_block * geometry.grid[0] * geometry.grid[1] * geometry.grid[2];
  work.threads = static_cast<int>(geometry.block[0] * geometry.block[1] * geometry.block[2]);
  work.shared_bytes = geometry.shared_bytes;
  work.steps = s.steps;
  work.tile = s.tile;
  work.cells = static_cast<double>(updated_box(problem).cells());
  work.cell_bytes = (inputs + outputs) * s.bytes;
  work.read_bytes = inputs * static_cast<double>(problem.extents.cells()) * s.bytes;
  work.write_bytes = outputs * work.cells * s.bytes;
  work.l2_write_sectors = outputs * s.tile_count() * s.tile[1] * s.tile[2] * s.row_sectors(0, s.tile[0]);
  for (std::size_t a = 0; a < kMaxRank; ++a) work.tiles[a] = s.updated[a] / s.tile[a];

  const double warps = std::ceil(work.threads / kWarp);
  const double warp_steps = work.blocks * warps * s.steps;
  for (std::size_t input = 0; input < problem.facts.inputs.size(); ++input) {
    const Halos h(s, input);
    const double sectors = block_read_sectors(s, h, s.shares(input));
    work.l2_read_sectors += s.tile_count() * sectors;
    work.l1_working_set += sectors * kSectorBytes / s.steps;
    const std::array<double, kMaxRank> halo{h.x, h.y, h.z};
    for (std::size_t a = 0; a < kMaxRank; ++a) work.halo[a] = std::max(work.halo[a], halo[a]);
    if (s.shares(input)) {
      count_shared_input(s, h, warp_steps, work);
    } else {
      count_cached_input(s, h, warp_steps, work);
    }
  }
  count_arithmetic(s, warps, calibration.sweep, work);
  count_rounds(s, work);
  return work;
}

}  // namespace

Work count_direct_work(const Candidate& candidate, const Calibration& calibration) {
  Work work = count_sweep(Layout(candidate, false), calibration);
  guess_registers_of_tile(candidate, calibration.registers, work);
  return work;
}

Work count_tiled_work(const Candidate& candidate, const Calibration& calibration) {
  return count_sweep(Layout(candidate, false), calibration);
}

Work count_streaming_work(const Candidate& candidate, const Calibration& calibration) {
  Work work = count_sweep(Layout(candidate, true), calibration);
  guess_registers_of_walk(candidate, calibration.registers, work);
  return work;
}

}  // namespace stencil_tune
