// Finalists under continuous load, one straight after the other: what a run of seconds to days gets, where a GPU that
// draws its power cap has lowered its clocks.
//
//   round 1:  warm-up of the first | A settle, count | B settle, count | C settle, count
//   round 2:                         C settle, count | A settle, count                     (B was slow)
//
// At its power limit a GPU is not steady: an H200 takes 10 % more and then less than its limit, over and over within a
// second. So a turn counts for a whole second: half of one differs from the next by up to 12 %, a whole one by 1.5 %.
//
// Batches of launches are queued ahead of the device, which never rests: also not from one finalist to the next, nor
// where a host that other programs keep busy comes late (bench/results/h200/power-cap.txt, "Gaps in the load").
#pragma once

#include "runtime/cuda/driver.hpp"
#include "runtime/cuda/nvml.hpp"
#include "tuner/measure/plan.hpp"

#include <functional>
#include <span>
#include <vector>

namespace stencil_tune {

struct LoadRunner {
  std::function<void(int count)> launch;  ///< queues so many launches
  double launch_ms = 0;                   ///< time of one launch, about
  int period = 1;                         ///< launches come best in multiples of it
  int sweeps = 1;                         ///< sweeps of a launch
};

struct LoadFigures {
  double sweep_ms = 0;  ///< mean of its turns
  double watts = 0;     ///< from the energy counter, else the mean of power readings; 0: neither is there
  ClockReading clocks;  ///< the reading with the lowest SM clock
};

/// `sensors` may be null. Results in the order of the runners.
std::vector<LoadFigures> race_under_load(Driver& driver, CUstream_st* stream, std::span<const LoadRunner> runners,
                                         const RacePlan& plan, const GpuSensors* sensors);

}  // namespace stencil_tune
