#include "tuner/commands/step_tuning.hpp"

#include "generator/candidates/space.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/interrupt.hpp"
#include "tuner/commands/problem_options.hpp"
#include "tuner/session/stage_by_stage.hpp"

#include <fmt/format.h>

#include <random>
#include <utility>

namespace stencil_tune {
namespace {

constexpr double kStagesShare = 0.4;  // of the budget, for all stages together

/// Single steps of each stage.
std::vector<Problem> single_stages(const Problem& step) {
  std::vector<Problem> stages = stage_problems(step);
  for (Problem& stage : stages) stage.steps = 1;
  return stages;
}

TuningSettings with_share(TuningSettings settings, double share) {
  settings.session.budget_s *= share;
  if (settings.session.max_trials > 0) {
    settings.session.max_trials = std::max(1, static_cast<int>(settings.session.max_trials * share));
  }
  return settings;
}

bool has_candidates(const Problem& problem, const Limits& limits) {
  for (const Family* family : families()) {
    if (default_candidate(*family, problem, limits)) return true;
  }
  std::mt19937_64 random(1);
  return Space(problem, limits).sample(random).has_value();
}

bool has_winner(const std::optional<TrialRecord>& trial) { return trial && trial->gstencils > 0; }

}  // namespace

std::optional<std::string> obstacle_to_whole_steps(const Problem& step, const Target& target) {
  if (!step.step.obstacle.empty()) return "its stages cannot be fused: " + step.step.obstacle;
  if (auto obstacle = obstacle_to_fusing(step, target)) return obstacle;
  if (has_candidates(step, target.limits)) return std::nullopt;
  return "no kernel makes all stages in one pass: they need too many registers, or more of the grid than there is";
}

void require_tunable_stages(const Problem& step, const Limits& limits) {
  for (const Problem& stage : single_stages(step)) require_tunable(stage, limits);
}

std::optional<TrialRecord> by_stages(const Problem& step, const StepWinners& winners) {
  std::vector<TrialRecord> trials;
  for (const auto& stage : winners.stages) {
    if (has_winner(stage)) trials.push_back(*stage);
  }
  if (trials.size() != step.stencil.stages.size()) return std::nullopt;
  return stage_by_stage(step, trials);
}

StepTuning tune_step(const Problem& step, const Target& target, const TuningSettings& settings, Database& database,
                     SessionObserver& observer) {
  const InterruptGuard interrupts;
  StepTuning tuning;
  const auto obstacle = obstacle_to_whole_steps(step, target);
  const std::vector<Problem> stages = single_stages(step);
  const double each = (obstacle ? 1 : kStagesShare) / static_cast<double>(stages.size());
  TuningSettings of_stages = with_share(settings, each);
  of_stages.candidates.clear();  // those that were asked for are the step's
  for (const Problem& stage : stages) {
    if (InterruptGuard::requested()) return tuning;
    observer.waiting(fmt::format("tuning stage {} of 0 to {}", stage.stage, stages.size() - 1));
    tuning.stages.push_back(run_tuning(stage, target, of_stages, database, observer));
  }
  if (obstacle || InterruptGuard::requested()) {
    tuning.no_fused = obstacle.value_or("interrupted");
    return tuning;
  }
  observer.waiting("tuning whole steps");
  const auto single = by_stages(step, winners_of(tuning));
  TuningSettings of_steps = with_share(settings, 1 - kStagesShare);
  of_steps.session.single_steps_gstencils = single ? single->gstencils : 0;
  tuning.fused = run_tuning(step, target, of_steps, database, observer);
  return tuning;
}

StepWinners winners_of(const StepTuning& tuning) {
  StepWinners winners{{}, std::nullopt, tuning.no_fused};
  for (const TuningOutcome& stage : tuning.stages) winners.stages.push_back(stage.result.winner);
  if (!tuning.fused) return winners;
  winners.fused = tuning.fused->result.winner;
  if (!winners.fused) winners.no_fused = "no candidate succeeded";
  return winners;
}

std::vector<ReportRow> step_rows(const Problem& step, const StepWinners& winners) {
  const auto stages = by_stages(step, winners);
  const bool fused_wins = has_winner(winners.fused) && (!stages || winners.fused->gstencils > stages->gstencils);
  std::vector<ReportRow> rows;
  if (fused_wins || stages) rows.push_back({"winner", fused_wins ? winners.fused : stages, ""});
  rows.push_back({"fused", winners.fused, winners.no_fused});
  rows.push_back({"stage by stage", stages, "not every stage has a winner"});
  for (std::size_t stage = 0; stage < winners.stages.size(); ++stage) {
    rows.push_back({fmt::format("stage {}", stage), winners.stages[stage], "no candidate succeeded"});
  }
  return rows;
}

}  // namespace stencil_tune
