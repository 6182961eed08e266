// How long something may take.
#pragma once

#include <atomic>
#include <chrono>

namespace stencil_tune {

/// Until a deadline, and no longer than until someone asks to stop. Without either: for ever.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  Patience() = default;

  /// `stop`, where there is one, must outlive it; it may be set from a signal handler.
  Patience(Clock::time_point deadline, const std::atomic<bool>* stop = nullptr) : deadline_(deadline), stop_(stop) {}

  bool is_over() const { return (stop_ != nullptr && *stop_) || Clock::now() >= deadline_; }

 private:
  Clock::time_point deadline_ = Clock::time_point::max();
  const std::atomic<bool>* stop_ = nullptr;
};

}  // namespace stencil_tune
