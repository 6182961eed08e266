#include "tuner/session/seen_trials.hpp"

#include "generator/candidates/family.hpp"
#include "tuner/session/trial_record.hpp"

#include <algorithm>

namespace stencil_tune {

double SeenTrials::rate_of(const Tuning& tuning) const {
  const auto found = by_code_.find(code(tuning));
  return found == by_code_.end() ? 0 : kernel_rate(problem_, found->second.timing);
}

double SeenTrials::naive_rate(std::span<const Baseline> baselines) const {
  const auto naive = std::find_if(baselines.begin(), baselines.end(),
                                  [](const Baseline& baseline) { return baseline.name == "naive" && baseline.tuning; });
  return naive == baselines.end() ? 0 : rate_of(*naive->tuning);
}

PlanRates SeenTrials::rates_beside(const RunPlan& plan, const TrialRecord& fused) const {
  PlanRates rates{.fused = fused.gstencils,
                  .remainder = plan.remainder ? rate_of(*plan.remainder) : 0,
                  .single = single_steps_gstencils_};
  for (const auto& [candidate, trial] : by_code_) {
    if (sweeps_per_launch(parse_code(candidate)) == 1) rates.single = std::max(rates.single, trial.gstencils);
  }
  return rates;
}

std::vector<BaselineResult> SeenTrials::baseline_results(std::span<const Baseline> baselines) const {
  std::vector<BaselineResult> rows;
  for (const Baseline& baseline : baselines) {
    BaselineResult row{std::string(baseline.name), std::nullopt, baseline.reason};
    if (baseline.tuning) {
      const auto found = by_code_.find(code(*baseline.tuning));
      if (found == by_code_.end()) {
        row.reason = "not tried yet";
      } else if (found->second.outcome == Outcome::ok) {
        row.trial = found->second;
      } else {
        row.reason = std::string(name(found->second.outcome)) + ": " + found->second.message;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stencil_tune
