// The trials that a session knows, its own and earlier ones: the one that speaks for each code.
#pragma once

#include "db/records.hpp"
#include "tuner/session/run_plan.hpp"
#include "tuner/session/session.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {

class SeenTrials {
 public:
  /// `subject` must outlive this.
  explicit SeenTrials(const Subject& subject) : subject_(subject) {}

  /// In place of what spoke for its code before.
  void add(const TrialRecord& trial) { by_code_[trial.code] = trial; }

  bool contains(const std::string& code) const { return by_code_.contains(code); }

  /// Median of a known trial, ms.
  double median_ms(const std::string& code) const { return by_code_.at(code).timing.median_ms; }

  /// The rate of the kernel alone; 0: not known.
  double rate_of(const std::string& code) const;

  /// The rate of the fastest kernel of one step; 0: not known.
  double single_steps_rate() const;

  /// What the rate of the whole run follows from, for a trial of the plan's fused steps.
  PlanRates rates_beside(const RunPlan& plan, const TrialRecord& fused) const;

  /// The rate of the naive kernel among the baselines; 0: not known.
  double naive_rate(std::span<const NamedCandidate> baselines) const;

  /// A row for each, with the trial or why there is none.
  std::vector<BaselineResult> baseline_results(std::span<const NamedCandidate> baselines) const;

 private:
  const Subject& subject_;
  std::map<std::string, TrialRecord> by_code_;
};

}  // namespace stencil_tune
