// How a session divides its time: the search, the kernels of a run's remainders, the race in bursts and under load.
#pragma once

#include "tuner/measure/clock.hpp"

namespace stencil_tune {

/// Seconds by which a session may end after its budget, so that the program ends within a tenth of it, or 5 s: what is
/// at work when the budget is over comes to its end.
double grace_s(double budget_s);

/// Seconds that one step of a session may take: what it usually may, but no longer than the budget, and 5 s at the
/// least.
double deadline_within(double budget_s, double usual_s);

/// The same of a compiler, but 30 s at the least: kernels that fuse steps take that long, and what is still being
/// compiled when a session ends is not waited for.
double compile_deadline_s(double budget_s, double usual_s);

class TimeBudget {
 public:
  struct Plan {
    double budget_s;
    double most_s;            ///< the session ends then at the latest
    double spent_s = 0;       ///< what of the budget was spent before the session
    bool is_run = false;      ///< several steps, whose rates need kernels for what fused steps leave over
    double least_load_s = 0;  ///< the shortest race under load takes it, where there is one
  };

  /// A session begins now.
  TimeBudget(const Clock& clock, const Plan& plan)
      : clock_(clock), plan_(plan), start_s_(clock.seconds() - plan.spent_s) {}

  /// The budget begins now, whatever was spent before.
  void begin() { start_s_ = clock_.seconds(); }

  /// From now on the session has that budget, and ends then at the latest.
  void lengthen(double budget_s, double most_s) { plan_.budget_s = budget_s, plan_.most_s = most_s; }

  double elapsed_s() const { return clock_.seconds() - start_s_; }
  double whole_s() const { return plan_.budget_s; }

  /// What is left of the budget for a race under load that begins now, beside the one in bursts; or until the session
  /// has to end.
  double load_race_s(bool until_end = false) const {
    return (until_end ? plan_.most_s : whole_s()) - elapsed_s() - burst_race_s();
  }

  bool search_is_over() const { return elapsed_s() >= search_s(); }

  /// Until then a search that has found nothing right goes on, and what a finalist still needs is awaited.
  bool race_has_to_begin() const { return elapsed_s() >= latest_race_s(); }

  /// A search that is over waits a while for the first kernels that fuse steps.
  bool may_wait_for_compilers() const;

 private:
  double search_s() const;
  double burst_race_s() const;
  double latest_race_s() const;

  const Clock& clock_;
  Plan plan_;
  double start_s_;
};

}  // namespace stencil_tune
