// A session without a GPU: the performance model stands where the device worker would.
#pragma once

#include "runtime/model/model.hpp"
#include "tuner/executor/host_check.hpp"
#include "tuner/workers/worker.hpp"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

/// Runs candidates on the host executor; check_on_host, or a fake.
using HostChecker = std::function<std::vector<HostVerdict>(const Problem&, std::span<const Tuning>)>;

/// Takes the place of a DeviceWorker: `run` predicts from the compiled kernel's registers and shared memory, `race`
/// runs the finalists for correctness on a small grid. What it says is never a measurement.
class PredictedDevice : public DeviceWorker {
 public:
  /// The problem must outlive it. An empty checker checks nothing.
  PredictedDevice(const Problem& problem, const Limits& limits, DeviceModel device, HostChecker checker);

  DeviceSession start() override;
  DeviceResult run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan) override;
  std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan& plan) override;

  const PerformanceModel& model() const noexcept { return model_; }

  /// How far the finalists were checked, and whether the winner (a code; empty: there is none) was among them.
  std::string check_note(const std::string& winner = "") const;

 private:
  void check(const std::vector<CodedKernel>& finalists, std::vector<DeviceResult>& results);

  const Problem& problem_;
  Limits limits_;
  PerformanceModel model_;
  HostChecker checker_;
  std::set<std::string> right_;                                 ///< codes of finalists that were right on the CPU
  std::string check_note_;                                      ///< how many; empty: none ran
  std::string not_checked_ = "there was no race of finalists";  ///< why others were not
};

/// A small awkward grid for the same stencil, type and boundaries: odd extents, rows padded as vector loads need it.
/// For fused steps a little more than a tile, which must lie inside.
Problem small_problem(const Problem& problem, const Tuning& tuning);

}  // namespace stencil_tune
