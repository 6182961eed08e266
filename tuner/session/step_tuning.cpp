#include "tuner/session/step_tuning.hpp"

#include "generator/candidates/space.hpp"
#include "generator/stencil/stage_problems.hpp"
#include "tuner/session/divided_budget.hpp"
#include "tuner/session/stage_by_stage.hpp"
#include "tuner/session/trials/trial_record.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace stencil_tune {
namespace {

constexpr double kZonesShare = 0.85;  // share of the budget for a grid's zones
constexpr double kFusedShare = 0.75;  // share of the budget for kernels that make whole steps
constexpr double kPassesShare = 0.3;  // share of the rest for all passes that stages may share, where there are such

bool has_candidates(const Problem& problem, const Limits& limits) {
  for (const Family* family : families()) {
    if (default_candidate(*family, problem, limits)) return true;
  }
  std::mt19937_64 random(1);
  return Space(problem, limits).sample(random).has_value();
}

std::vector<StageRange> passes_with_candidates(const Problem& step, const Limits& limits) {
  std::vector<StageRange> passes = shared_passes(step);
  std::erase_if(passes, [&](const StageRange& range) { return !has_candidates(pass_problem(step, range), limits); });
  return passes;
}

/// Kernels of stages were up to 6.2 % faster than the copy, on grids that do not fit in L2 (winners that ship, H200).
constexpr double kFasterThanCopies = 1.1;

bool fits_in_l2(const Problem& step, const Target& target) {
  const double l2_bytes = target.device ? static_cast<double>(target.device->l2_bytes) : target.model.l2_mb * (1 << 20);
  return minimal_traffic_bytes(step) < 2 * l2_bytes;
}

bool has_winner(const std::optional<TrialRecord>& trial) { return trial && trial->rate > 0; }

/// GStencil/s; 0 where there is none.
double rate(const std::optional<TrialRecord>& trial) { return trial ? trial->rate : 0; }

std::optional<TrialRecord> winner_of_pass(const StepWinners& winners, const StageRange& range) {
  if (range.count == 1) return winners.stages[static_cast<std::size_t>(range.first)];
  for (const PassWinner& pass : winners.passes) {
    if (pass.range.first == range.first && pass.range.count == range.count) return pass.trial;
  }
  return std::nullopt;
}

/// The step of all stages one after the other; nothing where one has no winner.
std::optional<TrialRecord> by_stages(const Problem& step, const StepWinners& winners) {
  std::vector<TrialRecord> trials;
  for (const auto& stage : winners.stages) {
    if (has_winner(stage)) trials.push_back(*stage);
  }
  if (trials.size() != step.stencil.stages.size()) return std::nullopt;
  return stage_by_stage(step, trials);
}

/// In the passes that take least time together, some of which stages share; nothing where none is shared.
std::optional<TrialRecord> by_passes(const Problem& step, const StepWinners& winners) {
  const std::size_t stages = step.stencil.stages.size();
  if (winners.stages.size() != stages) return std::nullopt;
  const auto time = [&](const StageRange& range) {
    const auto trial = winner_of_pass(winners, range);
    return has_winner(trial) ? std::optional(trial->timing.median_ms) : std::nullopt;
  };
  std::vector<TrialRecord> trials;
  for (const StageRange& range : best_passes(static_cast<int>(stages), time)) {
    trials.push_back(*winner_of_pass(winners, range));
  }
  if (trials.empty() || trials.size() == stages) return std::nullopt;
  return stage_by_stage(step, trials);
}

}  // namespace

std::optional<std::string> obstacle_to_whole_steps(const Problem& step, const Target& target) {
  if (!step.step.obstacle.empty()) return "its stages cannot be fused: " + step.step.obstacle;
  if (auto obstacle = obstacle_to_fusing(step, target)) return obstacle;
  if (has_candidates(step, target.limits)) return std::nullopt;
  return "no kernel makes all stages in one pass: they need too many registers, or more of the grid than there is";
}

std::vector<Problem> single_stages(const Problem& step) {
  std::vector<Problem> stages = stage_problems(step);
  for (Problem& stage : stages) stage.steps = 1;
  return stages;
}

std::optional<TrialRecord> in_several_passes(const Problem& step, const StepWinners& winners) {
  auto stages = by_stages(step, winners);
  auto passes = by_passes(step, winners);
  return rate(passes) > rate(stages) ? passes : stages;
}

double rate_of_copies_in_passes(const Problem& step, std::span<const StageRange> passes, double ceiling_gbs) {
  const std::vector<Problem> stages = single_stages(step);
  const auto milliseconds = [&](const Problem& pass) { return minimal_traffic_bytes(pass) / ceiling_gbs / 1e6; };
  const PassTime time = [&](const StageRange& range) -> std::optional<double> {
    if (range.count == 1) return milliseconds(stages[static_cast<std::size_t>(range.first)]);
    const bool is_known = std::any_of(passes.begin(), passes.end(), [&](const StageRange& pass) {
      return pass.first == range.first && pass.count == range.count;
    });
    return is_known ? std::optional(milliseconds(pass_problem(step, range))) : std::nullopt;
  };
  Timing whole;
  for (const StageRange& range : best_passes(static_cast<int>(stages.size()), time)) whole.median_ms += *time(range);
  return kernel_rate(StencilSubject(step), whole);
}

StepTuning tune_step(const Problem& step, const Target& target, const TuningSettings& settings, Database& database,
                     SessionObserver& observer) {
  DividedBudget budget(settings);
  StepTuning tuning;
  const std::vector<Problem> stages = single_stages(step);
  const std::vector<StageRange> passes = passes_with_candidates(step, target.limits);
  const bool is_race = settings.session.race_against.has_value();
  double left = 1;  // share of the budget
  if (has_zones(step) && settings.candidates.empty()) {
    tuning.zoned = tune_in_zones(step, target, budget.next(kZonesShare), database, observer);
    tuning.no_fused = "the grid has layers: it is made in zones, whose times add up; small ones' are estimated";
    left -= kZonesShare;
  } else if (auto obstacle = obstacle_to_whole_steps(step, target)) {
    tuning.no_fused = std::move(*obstacle);
  } else {
    observer.waiting("tuning whole steps");
    const SessionOptions whole = DividedBudget(budget).next(1).session;
    TuningSettings of_steps = budget.next(is_race ? 1 : kFusedShare);
    of_steps.session.most_s = of_steps.session.budget_s;  // the grace is for what comes after: each stage has to begin
    const double of_copies = rate_of_copies_in_passes(step, passes, 1);  // for each GB/s of the copy
    const auto beats_passes = [&](const TrialRecord& trial) {
      return trial.rate > kFasterThanCopies * of_copies * trial.ceiling_gbs;
    };
    const bool may_leave_stages = !is_race && !settings.every_stage && !fits_in_l2(step, target);
    if (may_leave_stages) of_steps.session.longer = {beats_passes, whole.budget_s, latest_end_s(whole)};
    tuning.fused = tune_stencil(step, target, of_steps, database, observer);
    left -= kFusedShare;
    const auto& winner = tuning.fused->result.winner;
    if (is_race && winner) {
      tuning.no_stages = "not tuned: a race is of whole steps";
      return tuning;
    }
    if (may_leave_stages && winner && beats_passes(*winner)) {
      tuning.no_stages = fmt::format("not tuned: at the copy's rate it would reach {:.1f} {}",
                                     of_copies * winner->ceiling_gbs, winner->problem.unit);
      return tuning;
    }
  }
  // What was asked for are kernels of the whole step.
  const auto tune_part = [&](const Problem& part, double share) {
    TuningSettings of_part = budget.next(share);
    of_part.candidates.clear();
    return tune_stencil(part, target, of_part, database, observer);
  };
  const double for_passes = passes.empty() ? 0 : kPassesShare * left;
  for (const StageRange& range : passes) {
    if (*settings.stop) return tuning;
    observer.waiting(fmt::format("tuning {} of 0 to {} in one pass", to_string(range), stages.size() - 1));
    const double share = for_passes / static_cast<double>(passes.size());
    tuning.passes.push_back({range, tune_part(pass_problem(step, range), share).result.winner});
  }
  left -= for_passes;
  for (const Problem& stage : stages) {
    if (*settings.stop) return tuning;
    observer.waiting(fmt::format("tuning stage {} of 0 to {}", stage.stage, stages.size() - 1));
    tuning.stages.push_back(tune_part(stage, left / static_cast<double>(stages.size())));
  }
  return tuning;
}

StepWinners winners_of(const StepTuning& tuning) {
  StepWinners winners{tuning.zoned, {}, tuning.passes, std::nullopt, tuning.no_fused, tuning.no_stages};
  for (const TuningOutcome& stage : tuning.stages) winners.stages.push_back(stage.result.winner);
  if (!tuning.fused) return winners;
  winners.fused = tuning.fused->result.winner;
  if (!winners.fused) winners.no_fused = "no candidate succeeded";
  return winners;
}

namespace {

ReportRow zones_row(const Problem& step, const ZonedSteps& zoned) {
  return {"zones, " + said(zoned.steps), in_zones(step, zoned), "not every zone has a winner"};
}

}  // namespace

std::vector<ReportRow> step_rows(const Problem& step, const StepWinners& winners) {
  const auto several = in_several_passes(step, winners);
  const auto zoned = in_zones(step, winners.zoned);
  std::optional<TrialRecord> best = several;
  for (const auto& trial : {winners.fused, zoned}) {
    if (has_winner(trial) && rate(trial) > rate(best)) best = trial;
  }
  std::vector<ReportRow> rows;
  if (best) rows.push_back({kWinnerRow, best, ""});
  for (const ZonedSteps& each : winners.zoned) rows.push_back(zones_row(step, each));
  rows.push_back({"fused", winners.fused, winners.no_fused});
  if (const auto passes = by_passes(step, winners)) rows.push_back({"in passes", passes, ""});
  rows.push_back({"stage by stage", by_stages(step, winners),
                  winners.no_stages.empty() ? "not every stage has a winner" : winners.no_stages});
  for (std::size_t stage = 0; stage < winners.stages.size(); ++stage) {
    rows.push_back({fmt::format("stage {}", stage), winners.stages[stage], "no candidate succeeded"});
  }
  for (const PassWinner& pass : winners.passes) {
    rows.push_back({to_string(pass.range), pass.trial, "no candidate succeeded"});
  }
  return rows;
}

}  // namespace stencil_tune
