// An observer that several threads may tell: workers of several GPUs say what they wait for.
#pragma once

#include "tuner/session/session.hpp"

#include <mutex>
#include <string>

namespace stencil_tune {

/// Hands on one call at a time.
class SerialObserver : public SessionObserver {
 public:
  /// `observer` must outlive this.
  explicit SerialObserver(SessionObserver& observer) : observer_(observer) {}

  void started(const DeviceSession& device, const Progress& progress) override {
    const std::lock_guard lock(mutex_);
    observer_.started(device, progress);
  }
  void finished_trial(const TrialRecord& trial, const Progress& progress) override {
    const std::lock_guard lock(mutex_);
    observer_.finished_trial(trial, progress);
  }
  void idle(const Progress& progress) override {
    const std::lock_guard lock(mutex_);
    observer_.idle(progress);
  }
  void waiting(const std::string& what) override {
    const std::lock_guard lock(mutex_);
    observer_.waiting(what);
  }

 private:
  SessionObserver& observer_;
  std::mutex mutex_;
};

}  // namespace stencil_tune
