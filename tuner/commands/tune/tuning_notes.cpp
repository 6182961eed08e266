#include "tuner/commands/tune/tuning_notes.hpp"

#include "db/trial_store.hpp"
#include "runtime/model/calibration.hpp"
#include "runtime/model/model_agreement.hpp"
#include "tuner/session/run_plan.hpp"
#include "tuner/session/stage_by_stage.hpp"
#include "tuner/subject/stencil_subject.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace stencil_tune {
namespace {

/// Who won the race under load, and over whom; empty where there was none.
std::string load_note(const SessionResult& result, const SessionOptions& options) {
  const auto under_load = std::count_if(result.finalists.begin(), result.finalists.end(),
                                        [](const TrialRecord& trial) { return trial.sustained_rate > 0; });
  if (under_load == 0 || !result.winner) return {};
  std::string note = fmt::format("{} raced under continuous load", counted(under_load, "kernel"));
  const auto& fastest = *std::max_element(result.finalists.begin(), result.finalists.end(),
                                          [](const TrialRecord& a, const TrialRecord& b) { return a.rate < b.rate; });
  if (fastest.code != result.winner->code) {
    note += fmt::format("; the fastest in a burst was {}: {}", fastest.code, rates_text(fastest));
  }
  if (std::any_of(result.finalists.begin(), result.finalists.end(),
                  [](const auto& trial) { return trial.watts > 0; })) {
    return note;
  }
  note += "; the GPU's power is not known, as NVML is not there or tells none";
  return options.objective == Objective::energy ? note + ": ranked by the rate under load" : note;
}

/// How busy the GPUs were, and how they shared the trials.
std::string work_note(const SessionResult& result) {
  const std::size_t gpus = std::max<std::size_t>(1, result.trials_of_devices.size());
  const double busy = 100 * result.device_seconds / (result.seconds * static_cast<double>(gpus));
  if (gpus == 1) return fmt::format("the GPU was at work {:.0f} % of the time", busy);
  return fmt::format("{} GPUs shared the trials, {}; they were at work {:.0f} % of the time, the race on one included",
                     gpus, fmt::join(result.trials_of_devices, " and "), busy);
}

std::string agreement_note(const Problem& problem, const Target& target, std::span<const TrialRecord> trials) {
  const PerformanceModel model(problem, target.limits, target.model);
  const Agreement agreement = model_agreement(model, trials);
  return fmt::format("the performance model ranks these {} with a correlation of {:.2f} (Spearman)",
                     counted(agreement.trials, "trial"), agreement.spearman);
}

/// How a run of several steps goes, or what it would gain.
std::string run_note(const Problem& problem, const Target& target, const Report& report,
                     std::span<const TrialRecord> trials) {
  const ReportRow* const leader = leading_row(report);
  if (leader == nullptr) return {};
  if (const int passes = passes_of(*leader->trial); passes > 1) return passes_note(problem, passes, trials);
  if (problem.stage == kWholeStep && problem.steps == 1) return {};
  if (problem.steps == 1) return gain_note(problem, target.limits, target.model, *leader->trial);
  return plan_note(problem, target.limits, *leader->trial, trials);
}

}  // namespace

std::string search_note(const SessionResult& result) {
  const int failed = std::accumulate(result.failures.begin(), result.failures.end(), 0,
                                     [](int sum, const auto& entry) { return sum + entry.second; });
  std::string note =
      fmt::format("{} in {:.0f} s ({})", counted(result.trials, "trial"), result.seconds, name(result.stopped));
  if (result.known > 0) note += fmt::format(", {} more known from earlier runs", result.known);
  if (failed > 0) {
    note += fmt::format(", {} failed:", failed);
    for (const auto& [outcome, count] : result.failures) note += fmt::format(" {} {}", count, name(outcome));
  }
  return note;
}

std::string getting_ready_note(const SessionResult& result) {
  constexpr double kWorthSaying = 0.25;  // share of the session
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, double seconds) {
    if (seconds > kWorthSaying * result.seconds) parts.push_back(fmt::format("{} took {:.1f} s", what, seconds));
  };
  add("choosing the first candidates", result.choosing_seconds);
  add("making the device ready, with what checks compare with,", result.ready_seconds);
  if (!result.was_ready && parts.size() > 0) parts.back() += " and was not done";
  if (result.trials == 0 && result.unfinished > 0) {
    parts.push_back(fmt::format("{} still being compiled at the end", counted(result.unfinished, "candidate")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<std::string> tuning_notes(const Problem& problem, const TuningOutcome& outcome, const Target& target,
                                      const TuningSettings& settings, Database& database, const Report& report) {
  const SessionResult& result = outcome.result;
  const auto trials = TrialStore(database).known(problem_key(problem), outcome.platform.gpu, target.predicting_model());
  std::vector<std::string> lines;
  if (std::string run = run_note(problem, target, report, trials); !run.empty()) {
    lines.push_back(std::move(run));
  }
  if (const std::size_t stages = problem.stencil.stages.size(); stages > 1 && problem.stage != kWholeStep) {
    lines.push_back(fmt::format("this is stage {} of 0 to {} alone; without --stage whole steps are tuned",
                                problem.stage, stages - 1));
  }
  if (auto obstacle = obstacle_to_fusing(problem, target)) lines.push_back(std::move(*obstacle));
  if (auto note = note_of_checks(problem, target)) lines.push_back(std::move(*note));
  // What follows is of this session, whose winner a step in several passes may outdo.
  const auto add = [&](const std::string& line) {
    if (!line.empty()) lines.push_back((problem.stage == kWholeStep ? "fused: " : "") + line);
  };
  add(search_note(result));
  add(getting_ready_note(result));
  add(load_note(result, settings.session));
  if (!result.winner && result.best && !target.predicted()) {
    add(
        fmt::format("the fastest so far is {} ({:.1f} GStencil/s, timed alone): it wins no earlier than in "
                    "a race, which the same command goes on to",
                    result.best->code, result.best->rate));
  }
  for (const std::string& candidate : result.passed_over) add("passed over " + candidate);
  if (target.predicted()) {
    add(outcome.check_note);
    lines.push_back(fmt::format("model of {}: {}; {}. Run the same command on a machine with this GPU to measure",
                                target.gpu(), target.model.source,
                                describe_calibration(target.model, calibration_of(target.model))));
  } else {
    add(work_note(result));
    add(agreement_note(problem, target, trials));
  }
  lines.push_back(fmt::format("stored in {}", database.path().string()));
  return lines;
}

}  // namespace stencil_tune
