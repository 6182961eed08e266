// How long a strategy may look around before it proposes something.
#pragma once

#include "tuner/measure/clock.hpp"

#include <functional>
#include <limits>
#include <utility>

namespace stencil_tune {

/// The first proposal takes so long at the most, and each later one a tenth of it.
class Thinking {
 public:
  /// As long as it takes.
  Thinking() = default;

  /// The clock must outlive it. `tell` hears once of what takes longer than a second.
  Thinking(const Clock& clock, double most_s, std::function<void()> tell = {})
      : clock_(&clock), most_s_(most_s), tell_(std::move(tell)) {}

  void begin() {
    share_ = begun_ ? kLaterShare : 1;
    begun_ = true;
    if (clock_ != nullptr) begun_s_ = clock_->seconds();
  }

  /// Whether so much of the time is over.
  bool is_over(double part = 1) {
    if (clock_ == nullptr) return false;
    const double s = clock_->seconds() - begun_s_;
    if (s >= kLongS && tell_) std::exchange(tell_, {})();
    return s >= part * share_ * most_s_;
  }

 private:
  static constexpr double kLaterShare = 0.1;
  static constexpr double kLongS = 1;

  const Clock* clock_ = nullptr;
  double most_s_ = std::numeric_limits<double>::infinity();
  std::function<void()> tell_;
  bool begun_ = false;
  double share_ = 1;
  double begun_s_ = 0;
};

}  // namespace stencil_tune
