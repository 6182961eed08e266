// stencil-tune bench --dims 512 | --suite main
#include "db/trial_store.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/database_option.hpp"
#include "tuner/commands/problem_options.hpp"
#include "tuner/commands/side_by_side.hpp"
#include "tuner/commands/suites.hpp"
#include "tuner/commit.hpp"
#include "tuner/progress.hpp"

#include <fmt/format.h>

#include <utility>

namespace stencil_tune {
namespace {

constexpr const char* kExamples =
    "  stencil-tune bench --dims 512\n"
    "  stencil-tune bench --suite main --json\n";

CommandLine bench_command_line() {
  CommandLine line(
      "stencil-tune bench --dims N [options] | --suite NAME",
      "Times a plain copy, the naive kernel with its best block, the textbook's kernels and the winner side\n"
      "by side in one run. Tunes first where there is no winner yet. Needs a GPU.\n",
      kExamples);
  add_problem_options(line);
  line.group("several at once")
      .add_options()("suite", po::value<std::string>()->value_name("NAME"), "a named list of problems: main");
  add_tuning_options(line);
  add_device_option(line);
  add_database_option(line);
  line.group("output").add_options()("json", "as JSON on standard output");
  return line;
}

std::vector<Problem> problems_from(const po::variables_map& values) {
  if (values.count("suite") == 0) return {problem_from(values)};
  if (values.count("dims") > 0) {
    throw Error(ErrorCode::invalid_argument, "--suite and --dims exclude each other: a suite has its own grids");
  }
  return suite(values["suite"].as<std::string>());
}

Target bench_target(const po::variables_map& values) {
  Target target;
  target.device = require_device(values);
  target.model = model_of(*target.device);
  target.architecture = target.device->architecture;
  target.limits = target.device->limits;
  return target;
}

}  // namespace

int run_bench(const Arguments& arguments) {
  CommandLine line = bench_command_line();
  const auto values = line.parse(arguments);
  if (!values) return 0;
  const std::vector<Problem> problems = problems_from(*values);
  const TuningSettings settings = tuning_settings(*values, false);
  const Target target = bench_target(*values);
  for (const Problem& problem : problems) {
    require_tunable(problem, target.limits);
    require_fits(problem, target.device->memory_bytes, target.gpu());
  }
  Database database = open_database_for(*values, Access::write);

  nlohmann::ordered_json json{{"date", utc_now()}, {"version", STENCIL_TUNE_VERSION}, {"commit", built_from_commit()}};
  for (const Problem& problem : problems) {
    Report report;
    {
      ConsoleProgress progress(stderr, false);
      report = run_side_by_side(problem, target, settings, database, progress);
    }
    // The tables go to people as they come, also while the JSON gathers.
    const bool as_json = values->count("json") > 0;
    if (as_json) json["cases"].push_back(report_json(report));
    fmt::print(as_json ? stderr : stdout, "{}\n", format_report(report));
  }
  if (values->count("json") > 0) fmt::print("{}\n", json.dump(2));
  return 0;
}

}  // namespace stencil_tune
