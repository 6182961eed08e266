// How long a launch of one step takes.
#include "runtime/model/launch_time.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

/// Vectors that a lane skips to its next cells.
double skipped_vectors(const Tuning& tuning) { return static_cast<double>(tuning.register_x) / tuning.vector - 1; }

void time_sweep_l2(const Launch& launch, Prediction& p) {
  const Work& work = launch.work;
  const SweepConstants& c = launch.calibration.sweep;
  // What L1 cannot keep for the block's other threads is asked of L2 again.
  const double l1_bytes = launch.device.l1_kb * 1024 - launch.shared;
  const double lost = miss_share(p.occupancy.blocks * work.l1_working_set, std::max(1.0, l1_bytes),
                                 launch.calibration.memory.cache_from);
  const double repeats = std::max(0.0, work.l1_wavefronts * kWavefrontBytes / kSectorBytes - work.l2_read_sectors);
  const double near = work.asynchronous ? c.near_share : work.steps > 1 ? 0 : c.near_share_of_short;
  const double reread_cost = c.reread_cost * (1 - near * (1 - 1.0 / launch.tuning.cluster));
  time_l2(launch, lost * repeats, {c.first_read_cost, reread_cost}, c.spill_cost * launch.spilled, p);
  p.l2_ms *= 1 + c.strided_l2_cost * skipped_vectors(launch.tuning);
}

void time_sweep_instructions(const Launch& launch, Prediction& p) {
  const Work& work = launch.work;
  const SweepConstants& c = launch.calibration.sweep;
  const double clocks = c.arithmetic_clocks * 32 * kSchedulers / lanes(launch.device, launch.problem.type);
  const double others = (work.instructions - work.arithmetic) * (work.asynchronous ? c.other_clocks : c.waiting_clocks);
  p.issue_ms =
      (work.arithmetic * clocks + others) / kSchedulers / launch.cycles_per_ms / ready_clocks(p, c.ready_share);
}

/// The time of a sweep's own work that nothing else that is resident overlaps.
double unhidden_ms(const Launch& launch, const Prediction& p) {
  const double own_ms = p.issue_ms + p.l1_ms + p.shared_ms;
  const bool meets = launch.work.barriers > 0;
  if (launch.work.asynchronous) return meets ? own_ms / launch.calibration.sweep.overlap_between_barriers : 0;
  const int overlapping = meets ? std::min(p.occupancy.blocks, p.occupancy.warps) : p.occupancy.warps;
  return (own_ms + std::max(p.dram_ms, p.l2_ms)) / overlapping;
}

/// What clusters and blocks with several tiles leave idle between them.
double idle_ms(const Launch& launch) {
  const Work& work = launch.work;
  const SweepConstants& c = launch.calibration.sweep;
  const double turns_ns = work.tiles_of_block > 1 ? work.tiles_of_block * c.turn_ns : 0;
  const double gather_ns = work.steps > 1 && !work.asynchronous ? c.gather_of_walks_ns : c.gather_ns;
  return launch.waves * (gather_ns * std::log2(launch.tuning.cluster) + turns_ns) / 1e6;
}

}  // namespace

void time_sweep(const Launch& launch, Prediction& p) {
  const Work& work = launch.work;
  const SweepConstants& c = launch.calibration.sweep;
  time_dram(launch, c.depth_cost, p);
  time_sweep_l2(launch, p);

  p.l1_ms = (work.l1_wavefronts * c.l1_cost + c.spill_cost * launch.spilled / kWavefrontBytes) / launch.cycles_per_ms;
  if (!work.asynchronous) p.l1_ms *= 1 + c.strided_l1_cost * skipped_vectors(launch.tuning);
  p.shared_ms = work.shared_wavefronts * c.shared_cost / launch.cycles_per_ms;
  time_sweep_instructions(launch, p);

  // What is resident together overlaps; within one of them trips, transfers and instructions follow each other.
  const double block_ns = c.block_start_ns + work.rounds * c.latency_ns + work.barriers * c.barrier_ns;
  p.latency_ms = launch.waves * block_ns / 1e6 + unhidden_ms(launch, p);

  const double beyond_copy = std::pow(together(p, c.norm) / launch.copy_ms, c.beyond_copy);
  p.time_ms = launch.copy_ms * beyond_copy + idle_ms(launch);
}

}  // namespace stencil_tune
