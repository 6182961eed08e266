// stencil-tune bench --dims 512 | --suite main | --suite single-sweep
#include "db/trial_store.hpp"
#include "generator/suggest.hpp"
#include "runtime/files/output_file.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/bench/side_by_side.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/commit.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/options/problem_options.hpp"
#include "tuner/commands/options/session_options.hpp"
#include "tuner/commands/options/target.hpp"
#include "tuner/commands/program/interrupt.hpp"
#include "tuner/report/suite_page.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/say.hpp"
#include "tuner/suites/suite_table.hpp"
#include "tuner/suites/suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr const char* kExamples =
    "  stencil-tune bench --dims 512\n"
    "  stencil-tune bench --suite main --json\n"
    "  stencil-tune bench --suite main -o main.html\n"
    "  stencil-tune bench --suite single-sweep --cases 1-12 --budget 20s    part of it; a later run tunes the rest\n";

CommandLine bench_command_line() {
  CommandLine line(
      "stencil-tune bench --dims N [options] | --suite NAME",
      "Times a plain copy, the naive kernel with its best block, the textbook's kernels and the winner side "
      "by side in one run; of several steps the winner of one sweep too. Tunes first where there is no winner "
      "yet. Needs a GPU.\n",
      kExamples);
  add_problem_options(line);
  line.group("several at once")
      .add_options()("suite", po::value<std::string>()->value_name("NAME"),
                     fmt::format("a named list of problems: {}", fmt::join(suite_names(), ", ")).c_str())(
          "cases", po::value<std::string>()->value_name("N|N-M|N-|N-/S"),
          "only these of the suite, counted from 1; /S: every S-th");
  add_tuning_options(line);
  add_device_option(line);
  add_database_option(line);
  auto& output = line.group("output");
  output.add_options()("json", "as JSON on standard output")(
      "output,o", po::value<std::string>()->value_name("FILE.html"), "as one page of HTML too");
  add_quiet_option(output.add_options());
  return line;
}

Suite cases_from(const po::variables_map& values) {
  if (values.count("suite") == 0) {
    if (values.count("cases") > 0) throw Error(ErrorCode::invalid_argument, "--cases chooses from a --suite: give one");
    return {{problem_from(values)}};
  }
  if (values.count("dims") > 0) {
    throw Error(ErrorCode::invalid_argument, "--suite and --dims exclude each other: a suite has its own grids");
  }
  Suite all = suite(values["suite"].as<std::string>());
  return values.count("cases") > 0 ? choose_cases(all, values["cases"].as<std::string>()) : all;
}

Target bench_target(const po::variables_map& values) {
  Target target;
  target.device = require_device(values);
  target.model = model_of(*target.device);
  target.architecture = target.device->architecture;
  target.limits = target.device->limits;
  return target;
}

/// A suite goes on after a case that no candidate could serve; one case alone says why and fails. Nothing where an
/// interruption came in between.
std::optional<Report> bench_case(const SuiteCase& item, const Target& target, const TuningSettings& settings,
                                 Database& database, SessionObserver& progress, bool alone) {
  try {
    return run_side_by_side(item.problem, target, settings, database, progress);
  } catch (const Error& error) {
    if (!alone && InterruptGuard::requested()) return {};
    if (alone || error.code() != ErrorCode::launch_failed) throw;
    Report failed;
    failed.problem = &item.problem;
    failed.notes.push_back(fmt::format("failed: {}", error.what()));
    return failed;
  }
}

}  // namespace

int run_bench(const Arguments& arguments) {
  CommandLine line = bench_command_line();
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const Suite cases = cases_from(*values);
  const TuningSettings settings = tuning_settings(*values, false);
  const Target target = bench_target(*values);
  for (const SuiteCase& item : cases) {
    require_tunable(item.problem, target.limits);
    require_fits(item.problem, target.device->memory_bytes, target.gpu());
  }
  Database database = open_database_for(*values, Access::write);

  // The tables go to people as they come, also while the JSON gathers.
  const bool as_json = values->count("json") > 0;
  std::FILE* const people = as_json ? stderr : stdout;
  nlohmann::ordered_json json{{"date", utc_now()}, {"version", STENCIL_TUNE_VERSION}, {"commit", built_from_commit()}};
  std::vector<Report> reports;
  const InterruptGuard interrupts;
  for (const SuiteCase& item : cases) {
    if (InterruptGuard::requested()) break;
    auto report = bench_case(item, target, settings, database, *make_progress(*values, false), cases.size() == 1);
    if (!report) break;
    reports.push_back(std::move(*report));
    json["cases"].push_back(report_json(reports.back()));
    if (values->count("suite") > 0) json["cases"].back()["case"] = item.number;
    if (item.against) json["cases"].back()["compared_with_case"] = *item.against;
    say(people, format_report(reports.back(), terminal_of(people)) + "\n");
  }
  const Suite done(cases.begin(), cases.begin() + static_cast<std::ptrdiff_t>(reports.size()));
  if (cases.size() > 1) say(people, suite_table(done, reports) + "\n");
  if (done.size() < cases.size()) {
    say(stderr, fmt::format("interrupted after {} of {} cases; the same command times these again and tunes the rest\n",
                            done.size(), cases.size()));
  }
  const bool tuned =
      std::any_of(reports.begin(), reports.end(), [](const Report& report) { return !report.winner_known; });
  if (tuned && std::isfinite(settings.session.budget_s)) json["budget_s"] = settings.session.budget_s;
  if (as_json) fmt::print("{}", json_text(json));
  if (values->count("output") > 0 && !reports.empty()) {
    write_output_file((*values)["output"].as<std::string>(), suite_page(json));
  }
  const bool all =
      done.size() == cases.size() &&
      std::none_of(reports.begin(), reports.end(), [](const Report& report) { return report.rows.empty(); });
  return InterruptGuard::exit_status(all ? 0 : 1);
}

}  // namespace stencil_tune
