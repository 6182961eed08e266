#include "tuner/session/run_plan.hpp"

#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace stencil_tune {
namespace {

/// What became of kernels that do such a thing.
template <class Does>
std::string fate_of(std::span<const TrialRecord> trials, std::string_view what, const Does& does) {
  bool tried = false;
  for (const TrialRecord& trial : trials) {
    if (!does(trial)) continue;
    if (trial.outcome == Outcome::ok) return fmt::format("no kernel that {} was faster", what);
    tried = true;
  }
  return tried ? fmt::format("every kernel that {} failed", what) : fmt::format("no kernel that {} was tried", what);
}

bool fuses_steps(const TrialRecord& trial) { return sweeps_per_launch(parse_code(trial.code)) > 1; }

/// Why a run goes step by step.
std::string why_single_steps(const Problem& run, const Limits& limits, std::span<const TrialRecord> trials) {
  std::string reasons;
  for (const Family* family : families()) {
    if (!family->fuses_steps || !family->serves(run)) continue;
    const auto reason = why_none_is_legal(*family, run, limits);
    if (!reason) return fate_of(trials, "fuses steps", fuses_steps);
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", reason->constraint, reason->message);
  }
  return "no kernel that fuses steps is legal here: " + reasons;
}

}  // namespace

std::string plan_text(const RunPlan& plan) {
  std::string text = fmt::format("{}x{}", plan.fused, plan.launches);
  if (plan.remainder) text += fmt::format("+{}x1", plan.remainder->steps);
  if (plan.singles > 0) text += fmt::format("+1x{}", plan.singles);
  return text;
}

double run_rate(const RunPlan& plan, const PlanRates& rates) {
  double steps = 0, time = 0;
  for (const auto& [count, rate] : {std::pair{plan.fused * plan.launches, rates.fused},
                                    {plan.remainder ? plan.remainder->steps : 0, rates.remainder},
                                    {plan.singles, rates.single}}) {
    if (count == 0) continue;
    if (rate <= 0) return 0;
    steps += count;
    time += count / rate;
  }
  return steps / time;
}

void rate_whole_run(TrialRecord& fused, const RunPlan& plan, const PlanRates& rates) {
  const double rate = run_rate(plan, rates);
  if (plan.fused == 1 || rate <= 0) return;
  fused.plan = plan_text(plan);
  fused.share *= rate / fused.rate;
  fused.rate = rate;
  if (fused.sustained_rate <= 0) return;
  fused.sustained_rate = run_rate(plan, {fused.sustained_rate, rates.remainder, rates.single});
  fused.nanojoules = fused.watts / fused.sustained_rate;
}

std::string plan_note(const Problem& run, const Limits& limits, const TrialRecord& winner,
                      std::span<const TrialRecord> trials) {
  const RunPlan plan = plan_run(run, parse_code(winner.code), limits);
  if (plan.fused == 1) {
    return fmt::format("{0} steps: {0} launches; {1}", run.steps, why_single_steps(run, limits, trials));
  }
  std::string text =
      fmt::format("{} steps: {} of {} fused steps", run.steps, counted(plan.launches, "launch"), plan.fused);
  if (plan.remainder) text += fmt::format(" and 1 of {}", plan.remainder->steps);
  if (plan.singles > 0) text += fmt::format(" and {}", counted(plan.singles, "single step"));
  if (!plan.remainder && plan.singles == 0) return text;
  return text + (winner.plan.empty() ? ", which are not counted" : ", all counted");
}

std::string passes_note(const Problem& run, int passes, std::span<const TrialRecord> trials) {
  return fmt::format("{}: {} launches, {} a step; {}", counted(run.steps, "step"), std::int64_t{run.steps} * passes,
                     passes, fate_of(trials, "makes whole steps", [](const TrialRecord&) { return true; }));
}

std::string gain_note(const Problem& problem, const Limits& limits, const DeviceModel& device,
                      const TrialRecord& winner) {
  constexpr int kSteps = 100;
  if (problem.steps > 1 || !advances_one_field(problem)) return {};
  Problem run = problem;
  run.steps = kSteps;
  std::optional<Tuning> fused;
  for (const Family* family : families()) {
    if (family->fuses_steps && !fused) fused = default_candidate(*family, run, limits);
  }
  if (!fused) return {};
  const PerformanceModel model(run, limits, device);
  const double gain = model.predict(*fused).gstencils / model.predict(parse_code(winner.code)).gstencils;
  constexpr double kWorthSaying = 1.05;  // the model is no more exact than that
  if (!(gain >= kWorthSaying)) return fmt::format("`--steps {}` would gain nothing by the model", kSteps);
  return fmt::format("`--steps {}` would gain ~{:.1f} x by the model: kernels that fuse steps, such as {} in a launch",
                     kSteps, gain, fused->steps);
}

}  // namespace stencil_tune
