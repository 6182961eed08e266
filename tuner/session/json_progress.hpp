// What a program watching a session reads: a JSON object a line.
#pragma once

#include "tuner/session/session.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace stencil_tune {

/// `event` is "started" (gpu, architecture, ceiling_gbs, predicted), "progress" (phase, elapsed_s, budget_s, trials,
/// max_trials, failed, known, best with code, gstencils and share; null where there is no such limit or result) or
/// "waiting" (what). Sessions that run side by side add their `gpu` to each. Progress is told at most five times a
/// second, and whenever there is a new best.
class JsonProgress : public SessionObserver {
 public:
  /// Writes to `out`, which stays open.
  JsonProgress(std::FILE* out, bool predicted, std::string gpu = "")
      : out_(out), predicted_(predicted), gpu_(std::move(gpu)) {}

  void started(const DeviceSession& device, const Progress& progress) override;
  void finished_trial(const TrialRecord& trial, const Progress& progress) override;
  void idle(const Progress& progress) override;
  void waiting(const std::string& what) override;

 private:
  void tell(nlohmann::ordered_json event);
  void tell_progress(const Progress& progress);

  std::FILE* out_;
  bool predicted_;
  std::string gpu_;
  double told_at_s_ = -1;
  double best_told_ = 0;
};

}  // namespace stencil_tune
