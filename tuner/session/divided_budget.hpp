// A budget that sessions which follow each other share.
#pragma once

#include "tuner/measure/clock.hpp"
#include "tuner/session/assembly.hpp"

#include <algorithm>
#include <cmath>

namespace stencil_tune {

/// Divides a budget among sessions that follow each other. One that needs longer than its share takes of the grace, and
/// of what comes after it, so that the whole ends in time; what one leaves is for those after it.
class DividedBudget {
 public:
  explicit DividedBudget(const TuningSettings& settings) : settings_(settings), start_s_(clock_.seconds()) {}

  /// The settings of the next session, which begins now. `share`: of the whole budget; all shares together are 1.
  TuningSettings next(double share) {
    const double share_of_rest = std::min(1.0, share / rest_);
    rest_ -= share;
    TuningSettings part = settings_;
    SessionOptions& session = part.session;
    if (session.max_trials > 0) session.max_trials = std::max(1, static_cast<int>(session.max_trials * share));
    if (!std::isfinite(session.budget_s)) return part;
    if (session.race_against) {  // its time begins when the device is ready
      session.most_s = session.budget_s *= share;
      return part;
    }
    const double elapsed_s = clock_.seconds() - start_s_;
    const double rest_s = std::max(0.0, session.budget_s - elapsed_s);
    session.budget_s = share_of_rest * rest_s;
    session.most_s = std::max(0.0, latest_end_s(settings_.session) - elapsed_s - (rest_s - session.budget_s));
    return part;
  }

 private:
  const TuningSettings& settings_;
  SteadyClock clock_;
  double start_s_;
  double rest_ = 1;  // share of the budget
};

}  // namespace stencil_tune
