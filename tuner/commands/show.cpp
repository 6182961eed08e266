// stencil-tune show ID | --dims 512
#include "db/fields.hpp"
#include "db/stored_code.hpp"
#include "db/trial_store.hpp"
#include "db/winner_choice.hpp"
#include "db/winner_store.hpp"
#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/database_option.hpp"
#include "tuner/commands/problem_options.hpp"
#include "tuner/commands/winner_lookup.hpp"
#include "tuner/session/report.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>

namespace stencil_tune {
namespace {

constexpr std::size_t kTrialsShown = 15;

WinnerRecord with_printable_texts(WinnerRecord winner) {
  visit_trial(winner.trial, [](std::string_view, auto& value) {
    if constexpr (std::is_same_v<decltype(value), std::string&>) value = printable(value);
  });
  return winner;
}

WinnerRecord winner_by_id(Database* database, const std::string& text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (database != nullptr && error == std::errc{} && end == text.data() + text.size()) {
    for (const WinnerRecord& winner : WinnerStore(*database).list()) {
      if (winner.trial.id == id) return winner;
    }
  }
  throw Error(
      ErrorCode::unknown_name,
      fmt::format("no winner '{}': give an id of `stencil-tune list`, or --dims and what else was tuned", text));
}

void print_parameters(const Tuning& tuning) {
  fmt::print("\nparameters:\n  {:<20} {}\n", "family", tuning.family->name);
  for (const Parameter& parameter : tuning.family->parameters) {
    if (!parameter.used_by(tuning)) continue;
    const auto value = static_cast<std::size_t>(parameter.get(tuning));
    if (value < parameter.words.size()) {
      fmt::print("  {:<20} {:<10} {}\n", parameter.name, parameter.words[value], parameter.word_meanings[value]);
    } else {
      fmt::print("  {:<20} {:<10} {}\n", parameter.name, value, parameter.meaning);
    }
  }
}

void print_evidence(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  const char* mark = trial.predicted ? "~" : "";
  fmt::print("evidence:\n  {}{:.1f} GStencil/s, {}{:.1f} % of the copy ceiling of {:.0f} GB/s\n", mark, trial.gstencils,
             mark, 100 * trial.share, trial.ceiling_gbs);
  if (trial.predicted) {
    fmt::print("  predicted by the performance model: never measured\n");
  } else {
    fmt::print("  median {:.4f} ms, 95 % within {:.4f}..{:.4f} ms, {} samples{}\n", trial.timing.median_ms,
               trial.timing.low_ms, trial.timing.high_ms, trial.timing.samples,
               trial.raced ? ", raced against the other finalists" : "");
  }
  if (winner.naive_gstencils > 0) {
    fmt::print("  {}{:.2f} x the naive kernel ({}{:.1f} GStencil/s)\n", mark, trial.gstencils / winner.naive_gstencils,
               mark, winner.naive_gstencils);
  }
  fmt::print("  {} registers, {} B spilled, {} B shared memory, occupancy {:.0f} %\n", trial.registers,
             trial.spill_bytes, trial.shared_bytes, 100 * trial.occupancy);
  fmt::print("  best of {} trials; {}, driver {}, NVRTC {}, {}\n", winner.trials_seen, trial.platform.gpu,
             trial.platform.driver.empty() ? "none" : trial.platform.driver, trial.platform.nvrtc, trial.created_at);
  if (trial.session == kPretunedSession) fmt::print("  it ships with stencil-tune and was not tuned here\n");
  if (is_stale(trial)) {
    fmt::print("  stale, its template has changed since: tune again before you trust its rate\n");
  }
}

void print_trials(const std::vector<TrialRecord>& trials) {
  std::map<Outcome, int> outcomes;
  for (const TrialRecord& trial : trials) ++outcomes[trial.outcome];
  fmt::print("\ntrials: {}", trials.size());
  for (const auto& [outcome, count] : outcomes) fmt::print(", {} {}", count, name(outcome));
  fmt::print("\n");
  const auto ranking = ranked_codes(trials);
  for (std::size_t i = 0; i < ranking.size() && i < kTrialsShown; ++i) {
    fmt::print("  {:>8.1f}  {}\n", ranking[i].gstencils, printable(ranking[i].code));
  }
  if (ranking.size() > kTrialsShown) fmt::print("  ... {} more (--json shows all)\n", ranking.size() - kTrialsShown);
  std::map<std::string, int> failures;
  for (const TrialRecord& trial : trials) {
    if (trial.outcome == Outcome::ok) {
      if (!is_sharp(trial)) ++failures["cannot be verified: " + printable(trial.sharpness_note)];
      continue;
    }
    const std::string first_line = trial.message.substr(0, trial.message.find('\n'));
    ++failures[fmt::format("{}: {}", name(trial.outcome), printable(first_line))];
  }
  for (const auto& [failure, count] : failures) fmt::print("  failed {} x  {}\n", count, failure);
}

void print_json(const WinnerRecord& winner, const std::vector<TrialRecord>& trials) {
  const TrialRecord& trial = winner.trial;
  auto json = trial_json(trial);
  json["stencil"] = trial.problem.stencil_name;
  json["stage"] = trial.problem.stage;
  json["dims"] = to_string(trial.problem.extents);
  json["gpu"] = trial.platform.gpu;
  json["naive_gstencils"] = winner.naive_gstencils;
  json["trials"] = nlohmann::ordered_json::array();
  for (const TrialRecord& each : trials) json["trials"].push_back(trial_json(each));
  fmt::print("{}", json_text(json));
}

void print_winner(const WinnerRecord& winner, const std::vector<TrialRecord>& trials) {
  const TrialRecord& trial = winner.trial;
  const ProblemKey& problem = trial.problem;
  const std::string stage = problem.stage > 0             ? fmt::format(", stage {}", problem.stage)
                            : problem.stage == kWholeStep ? ", whole steps"
                                                          : "";
  const std::string steps = problem.steps > 1 ? fmt::format(", {} steps", problem.steps) : "";
  fmt::print("{}{}, {}, {}, boundary {}{} on {}\nwinner: {}\n", problem.stencil_name, stage, name(problem.type),
             to_string(problem.extents), to_string(problem.boundaries, problem.extents.rank), steps, trial.platform.gpu,
             trial.code);
  print_evidence(winner);
  if (const auto objection = objection_to(trial)) {
    fmt::print("\nit cannot run any more, tune again: {}\n", *objection);
  } else {
    print_parameters(parse_code(trial.code));
  }
  if (!trials.empty()) print_trials(trials);
}

}  // namespace

int run_show(const Arguments& arguments) {
  CommandLine line("stencil-tune show ID | --dims N [options]",
                   "One winner in depth: its parameters, its evidence and the trials it was best of.\n",
                   "  stencil-tune show 17                     17: an id of `stencil-tune list`\n"
                   "  stencil-tune show --dims 512 --order 2   by what was tuned\n");
  line.positional("id", 1);
  add_problem_options(line);
  line.group("which").add_options()("gpu", po::value<std::string>()->value_name("NAME"), "of this GPU model");
  add_database_option(line);
  line.group("output").add_options()("json", "as JSON, with every trial");
  const auto values = line.parse(arguments);
  if (!values) return 0;

  const bool by_id = values->count("id") > 0;
  std::optional<std::string> gpu;
  if (values->count("gpu") > 0) gpu = (*values)["gpu"].as<std::string>();
  auto database = read_database(*values);
  Database* const read = database ? &*database : nullptr;
  const WinnerRecord winner = by_id ? winner_by_id(read, (*values)["id"].as<std::vector<std::string>>().front())
                                    : winner_of_problem(read, problem_from(*values), gpu);
  TrialQuery query;
  query.problem = winner.trial.problem;
  query.gpu = winner.trial.platform.gpu;
  const auto trials = database ? TrialStore(*database).find(query) : std::vector<TrialRecord>();
  if (values->count("json") > 0) {
    print_json(winner, trials);
  } else {
    print_winner(with_printable_texts(winner), trials);
  }
  return 0;
}

}  // namespace stencil_tune
