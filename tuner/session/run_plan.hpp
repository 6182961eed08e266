// A run of several steps in the report and in what is stored: its launches, its rate, and what fused steps would gain.
#pragma once

#include "db/records.hpp"
#include "generator/candidates/run_plan.hpp"
#include "runtime/model/model.hpp"

#include <span>
#include <string>

namespace stencil_tune {

/// As the database keeps it, steps x launches: "12x8+4x1".
std::string plan_text(const RunPlan& plan);

/// Rates of the kernels of a plan, GStencil/s; 0: not known.
struct PlanRates {
  double fused = 0;
  double remainder = 0;
  double single = 0;
};

/// GStencil/s of all steps of the plan together; 0 where a rate that counts is not known.
double run_rate(const RunPlan& plan, const PlanRates& rates);

/// From the rates of a trial's fused steps, in bursts and under load, to those of the whole run. The steps that are
/// left over go at their rate in bursts. Left alone where there are none, or where a rate is not known.
void rate_whole_run(TrialRecord& fused, const RunPlan& plan, const PlanRates& rates);

/// "100 steps: 33 launches of 3 fused steps and 1 single step, all counted": whether the winner's rate is the run's. A
/// run of single steps says why: no kernel that fuses steps is legal, or what became of those among the `trials`.
std::string plan_note(const Problem& run, const Limits& limits, const TrialRecord& winner,
                      std::span<const TrialRecord> trials);

/// "100 steps: 300 launches, 3 a step; no kernel that makes whole steps was faster": of steps that the winner makes in
/// so many passes. `trials`: of kernels that make whole steps.
std::string passes_note(const Problem& run, int passes, std::span<const TrialRecord> trials);

/// What `--steps 100` would gain over a winner of one sweep, by the model: said of a problem of one step whose steps
/// can be fused, else empty.
std::string gain_note(const Problem& problem, const Limits& limits, const DeviceModel& device,
                      const TrialRecord& winner);

}  // namespace stencil_tune
