// What a launch of a systolic kernel asks of the machine: rows pass through all levels of a block, its halos included.
#include "generator/candidates/constraint.hpp"
#include "runtime/model/work.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {

Work count_systolic_work(const Candidate& candidate, const Calibration& calibration) {
  const FusedConstants& c = calibration.fused;
  const Problem& problem = candidate.problem();
  const Tuning& tuning = candidate.tuning();
  const KernelShape& shape = candidate.shape();
  const Reach& x = shape.axes.reach[0];
  const Reach& z = shape.axes.reach[2];
  const auto bytes = static_cast<double>(size_of(problem.type));
  const auto width = static_cast<double>(shape.fused.width);
  const double cells = tuning.register_x;  // cells of a lane in a row
  const double levels = shape.fused.levels;
  const double warps = tuning.groups;
  const double side_cells = x.high - x.low;

  Work work;
  work.blocks = static_cast<double>(shape.shares);
  work.threads = static_cast<int>(shape.threads);
  work.shared_bytes = shape.shared.bytes;
  for (std::size_t a = 0; a < kMaxRank; ++a) work.tile[a] = std::max(1.0, static_cast<double>(shape.tile[a]));
  const double columns = std::max(1.0, static_cast<double>(shape.axes.extents[0]) / work.tile[0]);
  work.tiles = {columns, 1, work.blocks / columns};
  work.halo = {width - work.tile[0], 0, static_cast<double>(tuning.steps) * (z.high - z.low)};
  work.steps = work.tile[2] + shape.fused.delay - static_cast<double>(tuning.steps) * z.low;
  const double rows = work.blocks * work.steps;  // rows that pass through all levels

  work.cells = static_cast<double>(updated_box(problem).cells());
  work.cell_bytes = 2 * bytes;
  work.read_bytes = static_cast<double>(problem.extents.cells()) * bytes;
  work.write_bytes = work.cells * bytes;
  work.l2_read_sectors = rows * width * bytes / kSectorBytes;
  work.l2_write_sectors = work.write_bytes / kSectorBytes;
  work.l1_wavefronts = 2 * rows * width * bytes / kWavefrontBytes;

  // A warp takes and gives a lane's cells for each row; each level but the first shuffles words of four bytes. Where a
  // loop's body is one row, its slot is no constant: that costs so many instructions for places in the rings (machine
  // code, H200).
  constexpr double kSlotInstructions = 90;
  const bool one_row = tuning.sums_loop == SumsLoop::step;
  const double operations = std::ceil(problem.facts.operations / 2.0);
  const double shuffles = (levels - 1) * side_cells * bytes / 4;
  const double moved = 2 * cells + side_cells;
  const double others = moved + shuffles + c.step_instructions / tuning.batch + (one_row ? kSlotInstructions : 0);

  constexpr double kLonger = 0.3;  // a multiply-add of three registers (bench/energy.cu)
  const double warp_rows = rows * warps;
  work.arithmetic = warp_rows * levels * cells * operations * (1 + kLonger * shape.factors_in_registers);
  // A block's warps run the same code at nearly the same time: bodies of thousands of instructions wait for none.
  work.instructions = work.arithmetic + warp_rows * others + work.blocks * warps * c.block_instructions;
  work.shared_wavefronts =
      warp_rows * (moved * bytes * kWarpSize / kWavefrontBytes + shuffles) + 2 * rows * width * bytes / kWavefrontBytes;

  work.rounds = 1 + work.steps / (static_cast<double>(tuning.batch) * (1 + tuning.prefetch));
  work.barriers = work.steps / tuning.batch;
  work.asynchronous = true;
  work.live_values = cells * (levels * shape.fused.kept + 1);
  return work;
}

}  // namespace stencil_tune
