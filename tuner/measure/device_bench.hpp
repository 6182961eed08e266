// The device worker's inside: one subject on one GPU, candidates loaded, verified and timed.
#pragma once

#include "runtime/cuda/module.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/measure/copy_ceiling.hpp"
#include "tuner/measure/measurement.hpp"
#include "tuner/measure/plan.hpp"
#include "tuner/subject/on_device.hpp"
#include "tuner/subject/subject.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {

/// The outcome of a candidate that an error stopped.
Outcome outcome_of(ErrorCode code);

/// Holds the GPU's primary context, current on the constructing thread.
class DeviceBench {
 public:
  /// Allocates, fills with random input of that seed, computes the reference; the subject must outlive it. Without
  /// sensors a race tells no clocks and no watts. Throws Error(exceeds_device_memory, ...).
  DeviceBench(Driver& driver, const DeviceFacts& device, const Subject& subject, std::uint64_t seed,
              std::unique_ptr<GpuSensors> sensors = nullptr);

  /// Warms up and measures the copy ceiling.
  DeviceSession measure_session();

  /// What the candidate did is its outcome. Throws Error only when the device is gone.
  DeviceResult run(const std::string& code, const CompiledKernel& kernel, const MeasurePlan& plan);

  /// Times the finalists in turns, so that what changes over time hits all of them, first in bursts, then the first of
  /// them under load (load_race.hpp), and verifies each several times more.
  std::vector<DeviceResult> race(const std::vector<CodedKernel>& finalists, const RacePlan& plan);

  /// False after a kernel broke the context: nothing more can be done in this process.
  bool usable();

 private:
  using Candidates = std::vector<std::unique_ptr<CandidateOnDevice>>;

  DeviceResult judge(CandidateOnDevice& candidate, const MeasurePlan& plan);
  void race_in_bursts(const Candidates& candidates, int rounds, std::vector<DeviceResult>& results);
  void race_under_load(std::span<const std::unique_ptr<CandidateOnDevice>> candidates, const RacePlan& plan,
                       std::vector<DeviceResult>& results);
  Measurement time_steps(CandidateOnDevice& candidate, const MeasurePlan& plan);

  Driver& driver_;
  DeviceFacts device_;
  Context context_;
  Stream stream_;
  std::unique_ptr<GpuSensors> sensors_;
  CopyCeiling copies_;
  std::unique_ptr<SubjectOnDevice> subject_;
};

}  // namespace stencil_tune
