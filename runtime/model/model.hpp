// The performance model: how long a candidate will take on a GPU, from its geometry and, once compiled, its registers.
//
// Each part of the machine gets a time as if it were alone: DRAM, the L2 fabric, L1, shared memory, instruction issue,
// and the latency of a block's trips to memory times the waves of blocks (Little's law). The parts overlap, so the
// launch takes about as long as the slowest one, and a little more where several are close: a norm of the times.
#pragma once

#include "generator/stencil/problem.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/model/calibration.hpp"
#include "runtime/model/cost_model.hpp"
#include "runtime/model/device_model.hpp"
#include "runtime/model/prediction.hpp"
#include "runtime/model/work.hpp"

#include <optional>

namespace stencil_tune {

/// Registers that a thread would take if it might, before the kernel is compiled.
double needed_registers(const Problem& problem, const Work& work, const RegisterConstants& constants);

/// Those that the launch bounds leave a thread; the rest is spilled.
int register_limit(const Limits& limits, const Tuning& tuning, int threads);

class PerformanceModel : public CostModel {
 public:
  /// By the device's calibration (calibration_of). The problem must outlive the model.
  PerformanceModel(const Problem& problem, const Limits& limits, DeviceModel device);
  /// By a calibration of the caller's, which must outlive the model too.
  PerformanceModel(const Problem& problem, const Limits& limits, DeviceModel device, const Calibration& calibration);

  /// Registers and spills are guessed where `resources` is empty. A candidate that cannot run takes infinitely long.
  Prediction predict(const Tuning& tuning, const std::optional<KernelResources>& resources = std::nullopt) const;

  double cost(const Tuning& tuning) const override { return predict(tuning).time_ms; }

  /// GB/s that the same formula gives a plain copy of the problem's size.
  double copy_ceiling_gbs() const;

  const Problem& problem() const noexcept { return problem_; }
  const DeviceModel& device() const noexcept { return device_; }
  const Calibration& calibration() const noexcept { return calibration_; }

 private:
  const Problem& problem_;
  Limits limits_;
  DeviceModel device_;
  const Calibration& calibration_;
  ParameterTerms terms_;
};

}  // namespace stencil_tune
