// The performance model: how long a candidate will take on a GPU, from its geometry and, once compiled, its registers.
//
// Each part of the machine gets a time as if it were alone: DRAM, the L2 fabric, L1, shared memory, instruction issue,
// and the latency of a block's trips to memory times the waves of blocks (Little's law). The parts overlap, so the
// launch takes about as long as the slowest one, and a little more where several are close: a norm of the times.
#pragma once

#include "generator/stencil/problem.hpp"
#include "runtime/compile/compiler.hpp"
#include "tuner/model/device_model.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/model/work.hpp"
#include "tuner/search/search.hpp"

#include <optional>
#include <string_view>

namespace stencil_tune {

struct Prediction {
  double time_ms = 0;
  double gstencils = 0;    ///< updated cells / second / 1e9
  double share = 0;        ///< of the model's own copy ceiling
  std::string_view bound;  ///< the slowest part: "DRAM", "L2", "L1", "shared memory", "instructions", "latency"
  double dram_ms = 0;
  double l2_ms = 0;
  double l1_ms = 0;
  double shared_ms = 0;
  double issue_ms = 0;
  double latency_ms = 0;
  double dram_bytes = 0;
  double l2_bytes = 0;
  int registers = 0;  ///< given or guessed
  Occupancy occupancy;
};

class PerformanceModel : public CostModel {
 public:
  /// The problem must outlive the model.
  PerformanceModel(const Problem& problem, const Limits& limits, DeviceModel device);

  /// Registers and spills are guessed where `resources` is empty. A candidate that cannot run takes infinitely long.
  Prediction predict(const Tuning& tuning, const std::optional<KernelResources>& resources = std::nullopt) const;

  double cost(const Tuning& tuning) const override { return predict(tuning).time_ms; }

  /// GB/s that the same formula gives a plain copy of the problem's size.
  double copy_ceiling_gbs() const;

  const DeviceModel& device() const noexcept { return device_; }

 private:
  /// What the times of all parts depend on.
  struct Launch {
    double waves;          ///< of blocks
    double cycles_per_ms;  ///< of all SMs that are at work
    double shared;         ///< bytes of an SM's shared memory that are in use
    double spilled;        ///< bytes that all threads write and read again
  };

  /// What a sector costs L2, one that is written being 1.
  struct SectorCosts {
    double first_read;
    double reread;  ///< by another block
  };

  void time_l2(Prediction& p, const Work& work, double repeated_sectors, const SectorCosts& costs,
               double spilled_bytes) const;
  void time_sweep(Prediction& p, const Work& work, const Launch& launch, const Tuning& tuning) const;
  /// Of a sweep's own work, what nothing else that is resident overlaps.
  double unhidden_ms(const Prediction& p, const Work& work) const;
  /// Of a sweep, what clusters and blocks with several tiles leave idle between them.
  static double idle_ms(const Work& work, const Launch& launch, const Tuning& tuning);
  void time_fused_steps(Prediction& p, const Work& work, const Launch& launch, const Tuning& tuning) const;

  const Problem& problem_;
  Limits limits_;
  DeviceModel device_;
};

}  // namespace stencil_tune
