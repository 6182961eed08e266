#include "tuner/commands/bench/side_by_side.hpp"

#include "db/stored_code.hpp"
#include "db/winner_store.hpp"
#include "generator/candidates/textbook/textbook.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/winner/winner_lookup.hpp"
#include "tuner/session/run_plan.hpp"
#include "tuner/session/step_tuning.hpp"
#include "tuner/session/trials/trial_record.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/suites/verified_race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kRounds = 7;
constexpr int kUnderLoad = 2;               // in a run: the winner, and the kernel of one sweep where there is one
constexpr std::size_t kNaiveFinalists = 3;  // block shapes that enter the race
constexpr std::chrono::milliseconds kPollInterval{200};

using Compiled = std::map<std::string, CompileResult>;

Compiled compile_all(const Subject& subject, const WorkerOptions& options, const std::vector<Tuning>& tunings) {
  const auto workers = start_compile_workers(subject, options);
  std::set<std::string> submitted;
  for (const Tuning& tuning : tunings) {
    if (submitted.insert(code(tuning)).second) workers->submit(code(tuning));
  }
  Compiled compiled;
  while (workers->pending() > 0) {
    if (auto result = workers->poll(kPollInterval)) compiled[result->code] = std::move(*result);
  }
  return compiled;
}

std::optional<TrialRecord> known_winner(const Problem& problem, const Target& target, Objective objective,
                                        Database& database) {
  const auto known =
      WinnerStore(database).find(problem_key(problem), target.gpu(), race_objective(objective, problem.steps, false));
  if (!known || known->trial.predicted || is_stale(known->trial) || objection_to(known->trial, problem)) return {};
  return known->trial;
}

TrialRecord tuned_winner(const Problem& problem, const Target& target, const TuningSettings& settings,
                         Database& database, SessionObserver& observer) {
  const TuningOutcome outcome = tune_stencil(problem, target, settings, database, observer);
  if (!outcome.result.winner)
    throw Error(ErrorCode::launch_failed, "no candidate succeeded: there is no winner to bench");
  return *outcome.result.winner;
}

/// What single steps of a run are made with: tuned before or shipped, else tuned now. Nothing where that finds none.
std::optional<Choice> one_sweep_of(const Problem& run, const Target& target, const TuningSettings& settings,
                                   Database& database, SessionObserver& observer) {
  const auto known = [&] { return kernel_of_one_sweep(database, run, platform_of(target), target.limits); };
  if (auto choice = known()) return choice;
  Problem one_step = run;
  one_step.steps = 1;
  tune_stencil(one_step, target, settings, database, observer);
  return known();
}

constexpr const char* kRemainder = "remainder";  // races beside a run's winner; has no row
constexpr const char* kOneSweep = "one sweep";

class SideBySide {
 public:
  SideBySide(const Problem& problem, const Target& target, std::uint64_t seed)
      : problem_(problem), subject_(problem), context_{subject_, platform_of(target), 0, false, ""} {
    options_.device = target.device->uuid;
    options_.architecture = target.architecture;
    options_.seed = seed;
  }

  /// one_sweep: what single steps of a run are made with, where it is a run of one stage; of several stages
  /// single_steps is their rate.
  Report run(const Tuning& winner, const std::optional<Choice>& one_sweep, const Limits& limits, double single_steps) {
    single_steps_ = single_steps;
    const auto baselines = textbook_baselines(problem_, limits);
    const auto blocks = naive_candidates(problem_, limits);
    std::vector<Tuning> all{winner};
    if (one_sweep) all.push_back(one_sweep->tuning);
    plan_ = plan_run(problem_, winner, limits);
    if (plan_.remainder) all.push_back(parse_code(plan_.remainder->code));
    all.insert(all.end(), blocks.begin(), blocks.end());
    for (const Baseline& baseline : baselines) {
      if (baseline.tuning) all.push_back(*baseline.tuning);
    }
    compiled_ = compile_all(subject_, options_, all);

    device_ = start_device_worker(subject_, options_);
    report_ = {&problem_, device_->start(), context_.platform, false, {}, {}, false};
    context_.ceiling_gbs = report_.device.ceiling_gbs;

    add("winner", winner);
    if (problem_.steps > 1 && problem_.stage != kWholeStep) add_one_sweep(one_sweep);
    if (plan_.remainder) add(kRemainder, parse_code(plan_.remainder->code));
    for (const Tuning& tuning : best_blocks(blocks)) add("naive", tuning);
    for (const Baseline& baseline : baselines) {
      if (baseline.name == "naive") continue;  // among the blocks
      if (baseline.tuning) {
        add(std::string(baseline.name), *baseline.tuning);
      } else {
        report_.rows.push_back({std::string(baseline.name), std::nullopt, baseline.reason});
      }
    }
    race();
    return std::move(report_);
  }

 private:
  // The fastest block shapes by a first, short timing.
  std::vector<Tuning> best_blocks(const std::vector<Tuning>& blocks) {
    std::multimap<double, Tuning> by_time;
    MeasurePlan plan;
    for (const Tuning& tuning : blocks) {
      const CompileResult& compiled = compiled_.at(code(tuning));
      if (compiled.outcome != Outcome::ok) continue;
      const DeviceResult result = device_->run(code(tuning), compiled.kernel, plan);
      if (result.outcome != Outcome::ok) continue;
      by_time.emplace(result.timing.median_ms, tuning);
      plan.best_ms = by_time.begin()->first;
    }
    std::vector<Tuning> best;
    for (const auto& [time, tuning] : by_time) {
      if (best.size() < kNaiveFinalists) best.push_back(tuning);
    }
    return best;
  }

  void add(const std::string& name, const Tuning& tuning) {
    const CompileResult& compiled = compiled_.at(code(tuning));
    if (compiled.outcome == Outcome::ok) {
      contestants_.push_back({name, code(tuning), compiled.kernel});
    } else {
      report_.rows.push_back({name, std::nullopt, compiled.message});
    }
  }

  void add_one_sweep(const std::optional<Choice>& one_sweep) {
    if (one_sweep) {
      add(kOneSweep, one_sweep->tuning);
      report_.notes.push_back(fmt::format("{}: {}", kOneSweep, one_sweep->evidence.sentence()));
    } else {
      report_.rows.push_back({kOneSweep, std::nullopt, "no kernel of one sweep succeeded"});
    }
  }

  void race() {
    const VerifiedRace race = race_right_ones(*device_, std::move(contestants_),
                                              {.rounds = kRounds, .under_load = problem_.steps > 1 ? kUnderLoad : 0});
    report_.rows.insert(report_.rows.end(), race.wrong.begin(), race.wrong.end());
    std::vector<ReportRow> rows;
    for (std::size_t i = 0; i < race.results.size(); ++i) {
      const auto& [contestant, result] = std::tie(race.right[i], race.results[i]);
      ReportRow row{contestant.name, std::nullopt, result.message};
      if (result.raced && result.outcome == Outcome::ok) {
        row.trial = device_trial(context_, contestant.code, contestant.kernel, result);
      }
      const bool same_name = !rows.empty() && rows.back().name == row.name;
      if (!same_name) {
        rows.push_back(std::move(row));
      } else if (row.trial && (!rows.back().trial || row.trial->rate > rows.back().trial->rate)) {
        rows.back() = std::move(row);  // the best of several block shapes stands
      }
    }
    count_whole_run(rows);
    report_.rows.insert(report_.rows.begin(), rows.begin(), rows.end());
  }

  /// The winner's rate is that of all steps, with what its fused steps leave over.
  void count_whole_run(std::vector<ReportRow>& rows) const {
    const auto rate = [&](const std::string& name) {
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const ReportRow& r) { return r.name == name; });
      return row != rows.end() && row->trial ? row->trial->rate : 0;
    };
    const PlanRates rates{rate("winner"), rate(kRemainder), std::max(single_steps_, rate(kOneSweep))};
    for (ReportRow& row : rows) {
      if (row.name == "winner" && row.trial) rate_whole_run(*row.trial, plan_, rates);
    }
    std::erase_if(rows, [](const ReportRow& row) { return row.name == kRemainder; });
  }

  const Problem& problem_;
  StencilSubject subject_;
  TrialContext context_;
  WorkerOptions options_;
  RunPlan plan_;
  double single_steps_ = 0;  // GStencil/s; 0: not known
  Compiled compiled_;
  std::unique_ptr<DeviceWorker> device_;
  std::vector<Contestant> contestants_;
  Report report_;
};

Report run_one(const Problem& problem, const Target& target, const TuningSettings& settings, Database& database,
               SessionObserver& observer, double single_steps = 0) {
  const auto known = known_winner(problem, target, settings.session.objective, database);
  const TrialRecord winner = known ? *known : tuned_winner(problem, target, settings, database, observer);
  std::optional<Choice> one_sweep;
  if (problem.steps > 1 && problem.stage != kWholeStep) {
    one_sweep = one_sweep_of(problem, target, settings, database, observer);
  }
  Report report =
      SideBySide(problem, target, settings.seed).run(parse_code(winner.code), one_sweep, target.limits, single_steps);
  report.winner_known = known.has_value();
  if (known) report.notes.push_back(fmt::format("the winner is that of an earlier run, {}", known->created_at));
  return report;
}

std::optional<TrialRecord> winner_row(const Report& report) {
  const auto row = std::find_if(report.rows.begin(), report.rows.end(),
                                [](const ReportRow& r) { return r.name == "winner" && r.trial; });
  return row == report.rows.end() ? std::nullopt : row->trial;
}

/// The winners of the stages and that of whole steps, each timed beside its own baselines.
Report run_steps(const Problem& step, const Target& target, const TuningSettings& settings, Database& database,
                 SessionObserver& observer) {
  const std::vector<Problem> stages = single_stages(step);
  const auto obstacle = obstacle_to_whole_steps(step, target);
  const bool stages_known = std::all_of(stages.begin(), stages.end(), [&](const Problem& stage) {
    return known_winner(stage, target, settings.session.objective, database).has_value();
  });
  const bool known = stages_known && (obstacle || known_winner(step, target, settings.session.objective, database));
  StepWinners winners{{}, {}, {}, std::nullopt, obstacle.value_or("")};
  if (!known) {
    TuningSettings of_all = settings;
    of_all.every_stage = true;
    winners = winners_of(tune_step(step, target, of_all, database, observer));
  }
  Report report;
  winners.stages.clear();
  for (const Problem& stage : stages) {
    report = run_one(stage, target, settings, database, observer);
    winners.stages.push_back(winner_row(report));
  }
  winners.passes.clear();
  for (const StageRange& range : shared_passes(step)) {
    const Problem pass = pass_problem(step, range);
    if (!known_winner(pass, target, settings.session.objective, database)) continue;
    report = run_one(pass, target, settings, database, observer);
    winners.passes.push_back({range, winner_row(report)});
  }
  if (!obstacle && (known || winners.fused)) {
    const auto single = in_several_passes(step, winners);
    report = run_one(step, target, settings, database, observer, single ? single->rate : 0);
    winners.fused = winner_row(report);
  }
  report.problem = &step;
  report.rows = step_rows(step, winners);
  report.winner_known = known;
  return report;
}

}  // namespace

Report run_side_by_side(const Problem& problem, const Target& target, const TuningSettings& settings,
                        Database& database, SessionObserver& observer) {
  return problem.stage == kWholeStep ? run_steps(problem, target, settings, database, observer)
                                     : run_one(problem, target, settings, database, observer);
}

}  // namespace stencil_tune
