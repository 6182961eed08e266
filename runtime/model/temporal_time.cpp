// How long a step takes in a launch that fuses several.
#include "generator/candidates/family.hpp"
#include "runtime/model/launch_time.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

void time_fused_dram(const Launch& launch, Prediction& p) {
  const FusedConstants& c = launch.calibration.fused;
  time_dram(launch, c.depth_cost, p);
  if (launch.work.tiles[1] <= 1) return;
  if (launch.tuning.order == BlockOrder::z_first) p.dram_ms *= c.apart_cost;
  if (launch.tuning.store != StoreHint::streaming) p.dram_ms *= c.stored_cost;
}

void time_fused_instructions(const Launch& launch, Prediction& p) {
  const Work& work = launch.work;
  const FusedConstants& c = launch.calibration.fused;
  // A multiply-add of half the rate takes its scheduler's register ports for two clocks, whatever comes between.
  const double clocks = std::max(c.f32_clocks, 32 * kSchedulers / lanes(launch.device, launch.problem.type));
  const double others = work.instructions - work.arithmetic;
  const double beyond_cache = std::max(0.0, work.loop_instructions / c.cached_instructions - 1);
  p.issue_ms = (work.arithmetic * clocks + others * c.other_clocks) / kSchedulers / launch.cycles_per_ms *
               (1 + c.fetch_cost * beyond_cache) / ready_clocks(p, c.ready_share);
}

/// How many times over the work of a block's warps overlaps.
double overlap(const Launch& launch) {
  const Tuning& tuning = launch.tuning;
  const FusedConstants& c = launch.calibration.fused;
  if (launch.work.barriers == 0) return c.overlap_of_warps;
  // Groups hand planes over in any case, so that they gain nothing.
  const bool has_slack = tuning.barrier != StepBarrier::meet && tuning.groups == 1;
  const double slack = has_slack ? c.slack_of_last_level / (tuning.steps * tuning.steps) : 0;
  return c.overlap_with_barriers * (1 + slack);
}

}  // namespace

void time_fused_steps(const Launch& launch, Prediction& p) {
  const Work& work = launch.work;
  const FusedConstants& c = launch.calibration.fused;
  const double spilled = c.spill_cost * launch.spilled;
  time_fused_dram(launch, p);
  time_l2(launch, 0, {1, c.reread_cost}, spilled, p);
  p.l1_ms = (work.l1_wavefronts + spilled / kWavefrontBytes) / launch.cycles_per_ms;
  p.shared_ms = work.shared_wavefronts / launch.cycles_per_ms;
  time_fused_instructions(launch, p);

  // Either the planes' trips from memory follow each other, or what a block's warps do.
  const double trips_ms = launch.waves * work.rounds * c.trip_ns / 1e6;
  const double seams_ns = work.barriers * c.seam_ns * std::log2(launch.tuning.cluster);
  const double own_ms = (p.issue_ms + p.l1_ms + p.shared_ms) / overlap(launch);
  p.latency_ms = norm({trips_ms, launch.waves * (c.block_start_ns + seams_ns) / 1e6 + own_ms}, c.norm);
  p.time_ms = together(p, c.norm) / sweeps_per_launch(launch.tuning);
}

}  // namespace stencil_tune
