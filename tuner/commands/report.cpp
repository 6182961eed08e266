// stencil-tune report --dims 512 -o report.html
#include "tuner/report/report_page.hpp"

#include "db/trial_store.hpp"
#include "generator/printable.hpp"
#include "runtime/files/output_file.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/database_option.hpp"
#include "tuner/commands/gpu_option.hpp"
#include "tuner/commands/problem_options.hpp"
#include "tuner/commands/understood.hpp"
#include "tuner/commands/winner_lookup.hpp"
#include "tuner/report/suite_page.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>

namespace stencil_tune {
namespace {

/// To standard output where no path is named, and then nothing more is to be said.
bool write_page(const std::string& path, const std::string& page) {
  if (path.empty()) {
    fmt::print("{}", page);
    return false;
  }
  write_output_file(path, page);
  return true;
}

int report_bench(const po::variables_map& values, const std::string& path) {
  if (const auto option = given_problem_option(values)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--bench and --{} exclude each other: a record has its own problems", *option));
  }
  const auto name = values["bench"].as<std::string>();
  std::ifstream file(name);
  if (!file) throw Error(ErrorCode::file_io, fmt::format("cannot read {}", name));
  const auto record = nlohmann::ordered_json::parse(file, nullptr, false);
  if (record.is_discarded()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is no JSON: give what `bench --json` printed", name));
  }
  if (write_page(path, suite_page(record))) {
    fmt::print("{} written: {}\n", printable(path), counted(record["cases"].size(), "problem"));
  }
  return 0;
}

}  // namespace

int run_report(const Arguments& arguments) {
  CommandLine line("stencil-tune report --dims N | --bench RECORD.json [options] -o FILE.html",
                   "One page about a winner: how it was found, what limits it, its source. It opens in any browser, "
                   "without a network.\n",
                   "  stencil-tune report --dims 512 -o report.html\n"
                   "  stencil-tune report --bench record.json -o suite.html    of what `bench --json` printed\n");
  add_problem_options(line);
  add_gpu_option(line.group("which").add_options(), "the winner on this GPU model: h200, or its full name");
  line.group("several at once")
      .add_options()("bench", po::value<std::string>()->value_name("RECORD.json"),
                     "a page of what `bench --json` printed, in place of one winner");
  line.group("output").add_options()("output,o", po::value<std::string>()->value_name("FILE.html"),
                                     "where to (default: standard output)");
  add_database_option(line);
  const auto values = line.parse(arguments);
  if (!values) return 0;

  const std::string path = values->count("output") > 0 ? (*values)["output"].as<std::string>() : "";
  if (values->count("bench") > 0) return report_bench(*values, path);
  const Problem problem = problem_from(*values);
  say_what_was_understood(*values, problem.stencil);
  const auto gpu = requested_gpu(*values);
  auto database = read_database(*values);
  const WinnerRecord winner = winner_of_problem(database ? &*database : nullptr, problem, gpu);
  TrialQuery query;
  query.problem = winner.trial.problem;
  query.gpu = winner.trial.platform.gpu;
  query.predicted = winner.trial.predicted;  // what was predicted says nothing of what was measured
  const auto trials = database ? TrialStore(*database).find(query) : std::vector<TrialRecord>();
  const std::string page = report_page(collect_report(problem, winner, trials));
  if (!write_page(path, page)) return 0;
  fmt::print("{} written: {}, {}\n", printable(path), counted(trials.size(), "trial"), winner.trial.code);
  return 0;
}

}  // namespace stencil_tune
