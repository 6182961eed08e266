// Times of the machine's parts for the work of a launch: what all kernel families share.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/stencil/problem.hpp"
#include "runtime/model/calibration.hpp"
#include "runtime/model/device_model.hpp"
#include "runtime/model/prediction.hpp"
#include "runtime/model/work.hpp"

#include <initializer_list>

namespace stencil_tune {

inline constexpr double kSchedulers = 4;  ///< in an SM

/// A launch on a GPU, and what the times of all parts depend on.
struct Launch {
  const Problem& problem;
  const Tuning& tuning;
  const Work& work;
  const DeviceModel& device;
  const Calibration& calibration;
  double copy_ms;            ///< time of a plain copy of the problem's size
  double active_blocks = 0;  ///< blocks that run at once, on all SMs
  double waves = 0;          ///< turns that all blocks take
  double cycles_per_ms = 0;  ///< summed over all SMs that are at work
  double shared = 0;         ///< bytes of an SM's shared memory that are in use
  double spilled = 0;        ///< bytes that all threads write and read again
};

/// What a sector costs L2, one that is written being 1.
struct SectorCosts {
  double first_read;
  double reread;  ///< by another block
};

/// Each fills the times of all parts, and time_ms: of one step. One function a way of working (family_model.hpp).
void time_sweep(const Launch& launch, Prediction& p);
void time_fused_steps(const Launch& launch, Prediction& p);
void time_resident_steps(const Launch& launch, Prediction& p);

/// Walking several planes keeps as many distant DRAM pages open at once, which loses `depth_cost` of the rate for each
/// doubling of the walk.
void time_dram(const Launch& launch, double depth_cost, Prediction& p);
void time_l2(const Launch& launch, double repeated_sectors, const SectorCosts& costs, double spilled_bytes,
             Prediction& p);

/// How likely data last touched `distance` bytes ago has left the cache.
double miss_share(double distance, double cache_bytes, double cache_from);

/// The times of parts that overlap, together.
double norm(std::initializer_list<double> times, double power);
double together(const Prediction& p, double power);

/// FMAs of the type that an SM starts per clock.
double lanes(const DeviceModel& device, ElementType type);

/// The share of the clocks in which a scheduler has an instruction ready, where one warp has in `ready_share` of them.
double ready_clocks(const Prediction& p, double ready_share);

}  // namespace stencil_tune
