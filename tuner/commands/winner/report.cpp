// stencil-tune report --dims 512 -o report.html
#include "tuner/report/report_page.hpp"

#include "db/trial_store.hpp"
#include "generator/input_file.hpp"
#include "generator/printable.hpp"
#include "runtime/files/output_file.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/options/problem_options.hpp"
#include "tuner/commands/options/understood.hpp"
#include "tuner/commands/options/winner_options.hpp"
#include "tuner/commands/user_kernel/kernel_verbs.hpp"
#include "tuner/commands/winner/winner_by_id.hpp"
#include "tuner/commands/winner/winner_lookup.hpp"
#include "tuner/report/suite_page.hpp"
#include "tuner/terminal/counted.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include <optional>
#include <string_view>

namespace stencil_tune {
namespace {

constexpr std::size_t kLongestBenchRecord = std::size_t{32} << 20;  // bytes of what `bench --json` writes

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
  if (values.count("id") > 0) {
    throw Error(ErrorCode::invalid_argument, "--bench and an id exclude each other: a record has its own problems");
  }
  const auto name = values["bench"].as<std::string>();
  const auto record = nlohmann::ordered_json::parse(read_input_file(name, kLongestBenchRecord), nullptr, false);
  if (record.is_discarded()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is no JSON: give what `bench --json` printed", name));
  }
  if (write_page(path, suite_page(record))) {
    fmt::print("{} written: {}\n", printable(path), counted(record["cases"].size(), "problem"));
  }
  return 0;
}

/// The winner that the page is about, and its problem.
struct Subject {
  Problem problem;
  WinnerRecord winner;
};

Subject subject_of(const po::variables_map& values, const std::string& id, Database* database) {
  if (id.empty()) {
    const Problem problem = problem_from(values);
    say_what_was_understood(values, problem.stencil);
    return {problem, winner_of_problem(database, problem, requested_gpu(values), requested_objective(values))};
  }
  reject_more_than_id(values, "report", true);
  const WinnerRecord winner = winner_by_id(database, id);
  return {problem_of_winner(winner.trial.problem, id, values), winner};
}

/// A word for a shell.
std::string quoted(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-=,:";
  const bool is_plain = text.find_first_not_of(kPlain) == std::string::npos;
  return is_plain ? text : "'" + boost::replace_all_copy(text, "'", "'\\''") + "'";
}

/// "--stencil mine.toml" or "--expr '...'", and what is made of it, as it was given; empty where it was not.
std::string definition_given(const po::variables_map& values) {
  std::string text;
  for (const char* option : {"stencil", "expr", "layer", "shared"}) {
    if (values.count(option) == 0) continue;
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", option, quoted(values[option].as<std::string>()));
  }
  if (!text.empty() && values["batch"].as<bool>()) text += " --batch";
  return text;
}

}  // namespace

int run_report(const Arguments& arguments) {
  if (begins_with_kernel(arguments)) return report_user_kernel(arguments);
  CommandLine line("stencil-tune report ID | --dims N | --bench RECORD.json [options] -o FILE.html",
                   "One page about a winner: how it was found, what limits it, its source. It opens in any browser, "
                   "without a network.\n",
                   "  stencil-tune report --dims 512 -o report.html\n"
                   "  stencil-tune report 17 -o report.html                    17: an id of `stencil-tune list`\n"
                   "  stencil-tune report --bench record.json -o suite.html    of what `bench --json` printed\n");
  line.positional("id", 1);
  add_problem_options(line);
  add_winner_options(line.group("which").add_options());
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
  const std::string id = values->count("id") > 0 ? (*values)["id"].as<std::vector<std::string>>().front() : "";
  auto database = needs_database(id) ? read_database(*values) : std::nullopt;
  const auto [problem, winner] = subject_of(*values, id, database ? &*database : nullptr);
  TrialQuery query;
  query.problem = winner.trial.problem;
  query.gpu = winner.trial.platform.gpu;
  query.predicted = winner.trial.predicted;  // what was predicted says nothing of what was measured
  if (winner.trial.session == kSiteSession) database = open_site_database();
  const auto trials = database ? TrialStore(*database).find(query) : std::vector<TrialRecord>();
  const std::string page = report_page(collect_report(problem, winner, trials, definition_given(*values)));
  if (!write_page(path, page)) return 0;
  fmt::print("{} written: {}, {}\n", printable(path), counted(trials.size(), "trial"), winner.trial.code);
  return 0;
}

}  // namespace stencil_tune
