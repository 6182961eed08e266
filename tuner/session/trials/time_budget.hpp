// How a session divides its time: the search, the kernels of a run's remainders, the race in bursts and under load.
#pragma once

#include "tuner/measure/clock.hpp"

namespace stencil_tune {

/// Seconds that one step of a session may take: what it usually may, but no longer than the budget, and 5 s at the
/// least. A session ends within its budget and one of these; one that has found nothing yet takes a second one, for the
/// search that goes on beyond the budget.
double deadline_within(double budget_s, double usual_s);

/// The same of a compiler, but 30 s at the least: kernels that fuse steps take that long, and what is still being
/// compiled when a session ends is not waited for.
double compile_deadline_s(double budget_s, double usual_s);

/// How long making a device ready may take where what is right is the user's own code, which may hang: as long as the
/// budget, and 30 s at the least, but no longer than usual.
double reference_deadline_s(double budget_s, double usual_s);

class TimeBudget {
 public:
  /// A session begins now. `is_run`: several steps, whose rates need kernels for what fused steps leave over.
  /// `under_load`: its finalists race under load too.
  TimeBudget(const Clock& clock, double budget_s, bool is_run, bool under_load = false)
      : clock_(clock), budget_s_(budget_s), is_run_(is_run), under_load_(under_load), start_s_(clock.seconds()) {}

  double elapsed_s() const { return clock_.seconds() - start_s_; }
  double whole_s() const { return budget_s_ + late_s_; }
  bool is_spent() const { return elapsed_s() >= whole_s(); }

  /// What is left for a race under load that begins now, beside the one in bursts.
  double load_race_s() const { return whole_s() - elapsed_s() - burst_race_s(); }

  /// The device can be used from now on. A search has half of its time from here at the least: where making ready took
  /// longer, the whole session ends as much later.
  void device_is_ready();

  /// How much later than the budget the session ends for that reason.
  double late_s() const { return late_s_; }

  bool search_is_over() const { return elapsed_s() >= search_s(); }

  /// A search that has found nothing right when it is over goes on a while.
  bool may_go_beyond() const;

  /// A search that is over waits for the first kernels that fuse steps: so long that with the GPU's deadline the
  /// session still ends a compiler's deadline after its budget at the latest.
  bool may_wait_for_compilers() const;

 private:
  double search_s() const;
  double burst_race_s() const;

  const Clock& clock_;
  double budget_s_;
  bool is_run_;
  bool under_load_;
  double start_s_;
  double late_s_ = 0;
};

}  // namespace stencil_tune
