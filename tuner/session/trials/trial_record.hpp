// Makes the row that the database keeps from what was tuned, compiled and measured.
#pragma once

#include "db/records.hpp"
#include "tuner/workers/worker.hpp"

#include <string>

namespace stencil_tune {

/// What all trials of a session have in common.
struct TrialContext {
  const Subject& subject;
  PlatformKey platform;  ///< each trial adds the signature of its own template
  double ceiling_gbs = 0;
  bool predicted = false;
  std::string session;
  Objective objective = Objective::burst;  ///< what its race ranks by
};

/// The rate of a kernel whose sweep takes that long, as TrialRecord::rate; 0 for none.
double kernel_rate(const Subject& subject, const Timing& timing);

/// What a strategy learns of a trial: ms a sweep; infinite where it is not right, or was not verified.
double score(const TrialRecord& trial);

/// A candidate that never reached the device.
TrialRecord failed_trial(const TrialContext& context, const CompileResult& compiled);

/// A candidate that did, however it ended there.
TrialRecord device_trial(const TrialContext& context, const std::string& code, const CompiledKernel& kernel,
                         const DeviceResult& result);

}  // namespace stencil_tune
