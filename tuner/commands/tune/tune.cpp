// stencil-tune [tune] --dims 512
#include "db/location.hpp"
#include "generator/printable.hpp"
#include "runtime/files/scratch_folder.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/options/problem_options.hpp"
#include "tuner/commands/options/session_options.hpp"
#include "tuner/commands/options/target.hpp"
#include "tuner/commands/options/understood.hpp"
#include "tuner/commands/program/interrupt.hpp"
#include "tuner/commands/tune/dry_run.hpp"
#include "tuner/commands/tune/many_gpus.hpp"
#include "tuner/commands/tune/tuning_notes.hpp"
#include "tuner/commands/winner/winner_lookup.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/say.hpp"
#include "tuner/session/several.hpp"
#include "tuner/session/step_tuning.hpp"
#include "tuner/workers/compile_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr const char* kExamples =
    "  stencil-tune --dims 512                                3D star of order 1 in f32 on 512x512x512\n"
    "  stencil-tune --dims 512 --order 4 --type f64           a wider one in double precision\n"
    "  stencil-tune --dims 16384x16384 --shape box            a 2D 3x3 box\n"
    "  stencil-tune --dims 512 --boundary x=periodic,y=hold,z=zero --budget 5m\n"
    "  stencil-tune --dims 256,512 --type f32,f64 --steps 1,100  each combination, one table at the end\n"
    "  stencil-tune --dims 512 --device-model a100            predict for a GPU that is not here\n";

CommandLine tune_command_line() {
  CommandLine line(
      "stencil-tune [tune] --dims N [options]",
      "Generates, compiles, verifies and times kernels for a stencil, and remembers the fastest.\n"
      "The same command again goes on where the last one stopped. Ctrl-C keeps everything found so far.\n"
      "Without a GPU it predicts, and says so. --dims, --type and --steps take several values, as in "
      "--type f32,f64: each combination is tuned for as long as the budget says, with one table at the end.\n",
      kExamples);
  add_problem_options(line);
  add_tuning_options(line);
  add_race_option(line);
  add_devices_option(line);
  add_prediction_options(line);
  add_many_gpus_options(line);
  add_database_option(line);
  auto& output = line.group("output");
  output.add_options()("json", "the final table as JSON on standard output")(
      "dry-run", "only say what would be tried: how many, which first, how long");
  add_progress_option(output.add_options());
  add_quiet_option(output.add_options());
  return line;
}

/// What was measured of the problem before, by others where it is tuned here.
std::optional<WinnerRecord> known_winner(const Problem& problem, const Target& target, Database& database) {
  return target.predicted() ? measured_winner(database, problem, target.gpu())
                            : measured_elsewhere(problem, target.gpu());
}

Report report_of_one(const Problem& problem, const Target& target, const TuningSettings& settings, Database& database,
                     SessionObserver& progress) {
  const TuningOutcome outcome = tune_stencil(problem, target, settings, database, progress);
  Report report = make_report(problem, outcome.platform, outcome.result, target.predicted(),
                              known_winner(problem, target, database));
  report.found = outcome.result.winner || outcome.result.best;
  report.notes = tuning_notes(problem, outcome, target, settings, database, report);
  return report;
}

/// Notes of the kernels that make whole steps; of the stages how they were searched.
Report report_of_steps(const Problem& step, const Target& target, const TuningSettings& settings, Database& database,
                       SessionObserver& progress) {
  const StepTuning tuning = tune_step(step, target, settings, database, progress);
  if (!tuning.fused && tuning.stages.empty())
    throw Error(ErrorCode::launch_failed, "interrupted before anything was tuned");
  const TuningOutcome& main = tuning.fused ? *tuning.fused : tuning.stages.front();
  Report report =
      make_report(step, main.platform, main.result, target.predicted(), known_winner(step, target, database));
  report.rows = step_rows(step, winners_of(tuning));
  ReportRow& first = report.rows.front();
  report.found = first.name == kWinnerRow || main.result.best;
  if (first.name == kWinnerRow && report.predicted && report.known) first.name = kBestPredictedRow;
  if (tuning.fused) report.notes = tuning_notes(step, main, target, settings, database, report);
  for (std::size_t stage = 0; stage < tuning.stages.size(); ++stage) {
    const TuningOutcome& outcome = tuning.stages[stage];
    report.notes.push_back(fmt::format("stage {}: {}", stage, search_note(outcome.result)));
    if (!outcome.check_note.empty()) report.notes.push_back(fmt::format("stage {}: {}", stage, outcome.check_note));
  }
  if (!tuning.fused) report.notes.push_back(tuning.no_fused);
  return report;
}

void say_what_is_different_here(const Target& target) {
  if (const char* named = std::getenv("TMPDIR"); named != nullptr && temporary_root() != named) {
    say(stderr,
        fmt::format("TMPDIR is {}, which is no folder: temporary files go to {}\n", named, temporary_root().string()));
  }
  if (!target.note.empty()) say(stderr, fmt::format("{}: predicting for {} instead\n", target.note, target.gpu()));
}

/// `problems`: so many on each GPU model.
void print_reports(const std::vector<Report>& reports, bool as_json, std::size_t problems) {
  if (as_json && reports.size() == 1 && problems == 1) {
    fmt::print("{}", json_text(report_json(reports.front())));
  } else if (as_json) {
    auto json = nlohmann::ordered_json::array();
    for (const Report& report : reports) json.push_back(report_json(report));
    fmt::print("{}", json_text(json));
  } else if (problems == 1) {
    for (const Report& report : reports) fmt::print("\n{}", format_report(report, terminal_of(stdout)));
  } else {
    // Those of a GPU model lie side by side.
    for (auto first = reports.begin(); first != reports.end();) {
      const auto last = std::find_if(first, reports.end(),
                                     [&](const Report& report) { return report.platform.gpu != first->platform.gpu; });
      fmt::print("\n{}\n", format_reports({first, last}, terminal_of(stdout)));
      first = last;
    }
    fmt::print("{}\n", "`stencil-tune show --dims ...` says more of each");
  }
}

/// Looks into the database where there is one, and makes none.
int print_dry_run(const po::variables_map& values, const std::vector<Problem>& problems, const Target& target,
                  const TuningSettings& settings) {
  std::optional<Database> database;
  if (std::filesystem::exists(locate_database(values["db"].as<std::string>()).path)) database = read_database(values);
  const bool as_json = values.count("json") > 0;
  auto json = nlohmann::ordered_json::array();
  for (const Problem& problem : problems) {
    const DryRun run = dry_run(problem, target, settings, database ? &*database : nullptr);
    json.push_back(dry_run_json(run, problem, target, settings));
    if (!as_json) fmt::print("{}", dry_run_text(run, problem, target, settings, terminal_of(stdout)));
  }
  if (as_json) fmt::print("{}", json_text(problems.size() == 1 ? json.front() : json));
  return 0;
}

/// What became of all problems on one target.
struct Tuned {
  std::vector<Report> reports;
  std::size_t succeeded = 0;
};

/// One problem after the other, until Ctrl-C. `side_by_side`: with other targets.
Tuned tune_all(const po::variables_map& values, const std::vector<Problem>& problems, const Target& target,
               const TuningSettings& settings, Database& database, bool side_by_side) {
  const std::string gpu = side_by_side ? target.gpu() : "";
  const std::string by = gpu.empty() ? "" : gpu + ": ";
  Tuned tuned;
  for (const Problem& problem : problems) {
    if (InterruptGuard::requested() && !tuned.reports.empty()) break;
    if (problems.size() > 1 && !is_quiet(values)) {
      say(stderr, printable_lines(fmt::format("{}{} of {}: {}\n", by, tuned.reports.size() + 1, problems.size(),
                                              describe(problem))));
    }
    const auto progress = make_progress(values, target.predicted(), gpu);
    tuned.reports.push_back(problem.stage == kWholeStep || has_zones(problem)
                                ? report_of_steps(problem, target, settings, database, *progress)
                                : report_of_one(problem, target, settings, database, *progress));
    if (tuned.reports.back().found) ++tuned.succeeded;
  }
  return tuned;
}

/// A session for each target at the same time, each with a connection of its own to the database. They share the
/// machine's cores. Throws what the first that failed threw, when all have come to their end.
Tuned tune_side_by_side(const po::variables_map& values, const std::vector<Problem>& problems,
                        const std::vector<Target>& targets, TuningSettings settings) {
  const int shares = static_cast<int>(targets.size());
  settings.jobs = std::max(1, (settings.jobs > 0 ? settings.jobs : usable_cores()) / shares);
  std::vector<Database> databases;
  for (std::size_t i = 0; i < targets.size(); ++i) databases.push_back(open_database_for(values, Access::write));
  std::vector<std::future<Tuned>> sessions;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    sessions.push_back(std::async(
        std::launch::async, [&, i] { return tune_all(values, problems, targets[i], settings, databases[i], true); }));
  }
  for (const auto& session : sessions) session.wait();
  Tuned all;
  for (auto& session : sessions) {
    Tuned one = session.get();
    all.succeeded += one.succeeded;
    std::move(one.reports.begin(), one.reports.end(), std::back_inserter(all.reports));
  }
  return all;
}

void require_all_tunable(const std::vector<Problem>& problems, const Target& target, const TuningSettings& settings) {
  for (const Problem& problem : problems) {
    (void)asked_candidates(settings, problem, target.limits);  // throws where the textbook has none
    require_tunable(problem, target.limits);
    require_fits(problem,
                 target.device ? target.device->memory_bytes : static_cast<std::size_t>(target.model.memory_gb * 1e9),
                 target.gpu());
  }
}

}  // namespace

int run_tune(const Arguments& arguments) {
  CommandLine line = tune_command_line();
  const auto values = line.parse(arguments);
  if (!values) return 0;

  const std::vector<Problem> problems = problems_from(*values);
  const bool quiet = is_quiet(*values);
  if (!quiet) say_what_was_understood(*values, problems.front().stencil);
  const std::vector<Target> targets = choose_targets(*values);
  const Target& target = targets.front();
  if (values->count("gpus") > 0) return predict_many_gpus(*values, problems, target);
  const TuningSettings settings = tuning_settings(*values, target.predicted());
  for (const Target& each : targets) require_all_tunable(problems, each, settings);
  if (values->count("dry-run") > 0) return print_dry_run(*values, problems, target, settings);
  Database database = open_database_for(*values, Access::write);
  if (!quiet) say_what_is_different_here(target);

  const InterruptGuard interrupts;
  const auto [reports, succeeded] = targets.size() == 1 ? tune_all(*values, problems, target, settings, database, false)
                                                        : tune_side_by_side(*values, problems, targets, settings);
  const std::size_t asked = problems.size() * targets.size();
  print_reports(reports, values->count("json") > 0, problems.size());
  if (reports.size() < asked) {
    say(stderr, fmt::format("interrupted after {} of {} problems; the same command goes on\n", reports.size(), asked));
  }
  const int status = InterruptGuard::exit_status(0);
  if (status == 0 && succeeded < reports.size()) {
    throw Error(ErrorCode::launch_failed,
                asked == 1 ? "no candidate succeeded; the table says what became of the textbook's kernels"
                           : fmt::format("{} of {} problems have no candidate that succeeded",
                                         reports.size() - succeeded, reports.size()));
  }
  return status;
}

}  // namespace stencil_tune
