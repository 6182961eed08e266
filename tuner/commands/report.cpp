// stencil-tune report --dims 512 -o report.html
#include "tuner/report/report_page.hpp"

#include "db/trial_store.hpp"
#include "runtime/files/output_file.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/database_option.hpp"
#include "tuner/commands/problem_options.hpp"
#include "tuner/commands/understood.hpp"
#include "tuner/commands/winner_lookup.hpp"

#include <fmt/format.h>

#include <optional>

namespace stencil_tune {

int run_report(const Arguments& arguments) {
  CommandLine line("stencil-tune report --dims N [options] -o FILE.html",
                   "One page about a winner: how it was found, what limits it, its source. It opens in any browser, "
                   "without a network.\n",
                   "  stencil-tune report --dims 512 -o report.html\n");
  add_problem_options(line);
  line.group("which").add_options()("gpu", po::value<std::string>()->value_name("NAME"),
                                    "the winner on this GPU model");
  line.group("output").add_options()("output,o", po::value<std::string>()->value_name("FILE.html"),
                                     "where to (default: standard output)");
  add_database_option(line);
  const auto values = line.parse(arguments);
  if (!values) return 0;

  const Problem problem = problem_from(*values);
  say_what_was_understood(*values, problem.stencil);
  std::optional<std::string> gpu;
  if (values->count("gpu") > 0) gpu = (*values)["gpu"].as<std::string>();
  auto database = read_database(*values);
  const WinnerRecord winner = winner_of_problem(database ? &*database : nullptr, problem, gpu);
  TrialQuery query;
  query.problem = winner.trial.problem;
  query.gpu = winner.trial.platform.gpu;
  query.predicted = winner.trial.predicted;  // what was predicted says nothing of what was measured
  const auto trials = database ? TrialStore(*database).find(query) : std::vector<TrialRecord>();
  const std::string page = report_page(collect_report(problem, winner, trials));
  if (values->count("output") == 0) {
    fmt::print("{}", page);
    return 0;
  }
  const std::string path = (*values)["output"].as<std::string>();
  write_output_file(path, page);
  fmt::print("{} written: {} trials, {}\n", path, trials.size(), winner.trial.code);
  return 0;
}

}  // namespace stencil_tune
