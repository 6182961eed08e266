#include "tuner/session/trials/seen_trials.hpp"

#include "tuner/session/trials/trial_record.hpp"

#include <algorithm>

namespace stencil_tune {

double SeenTrials::rate_of(const std::string& code) const {
  const auto found = by_code_.find(code);
  return found == by_code_.end() ? 0 : kernel_rate(subject_, found->second.timing);
}

double SeenTrials::naive_rate(std::span<const NamedCandidate> baselines) const {
  const auto naive = std::find_if(baselines.begin(), baselines.end(), [](const NamedCandidate& baseline) {
    return baseline.name == "naive" && baseline.code;
  });
  return naive == baselines.end() ? 0 : rate_of(*naive->code);
}

double SeenTrials::single_steps_rate() const {
  double rate = 0;
  for (const auto& [candidate, trial] : by_code_) {
    if (subject_.sweeps(candidate) == 1) rate = std::max(rate, trial.rate);
  }
  return rate;
}

PlanRates SeenTrials::rates_beside(const RunPlan& plan, const TrialRecord& fused) const {
  return {.fused = fused.rate,
          .remainder = plan.remainder ? rate_of(plan.remainder->code) : 0,
          .single = single_steps_rate()};
}

std::vector<BaselineResult> SeenTrials::baseline_results(std::span<const NamedCandidate> baselines) const {
  std::vector<BaselineResult> rows;
  for (const NamedCandidate& baseline : baselines) {
    BaselineResult row{baseline.name, std::nullopt, baseline.reason};
    if (baseline.code) {
      const auto found = by_code_.find(*baseline.code);
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
