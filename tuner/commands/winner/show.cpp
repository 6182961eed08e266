// stencil-tune show ID | --dims 512
#include "db/rows/fields.hpp"
#include "db/stored_code.hpp"
#include "db/trial_store.hpp"
#include "db/winner_choice.hpp"
#include "db/winner_store.hpp"
#include "generator/candidates/family.hpp"
#include "generator/printable.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/options/problem_options.hpp"
#include "tuner/commands/options/understood.hpp"
#include "tuner/commands/options/winner_options.hpp"
#include "tuner/commands/winner/no_winner.hpp"
#include "tuner/commands/winner/winner_by_id.hpp"
#include "tuner/commands/winner/winner_lookup.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/print_fitted.hpp"

#include <fmt/format.h>

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

void print_parameters(const Tuning& tuning) {
  print_fitted("\nparameters:\n  {:<20} {}\n", "family", tuning.family->name);
  for (const Parameter& parameter : tuning.family->parameters) {
    if (!parameter.used_by(tuning)) continue;
    const auto value = static_cast<std::size_t>(parameter.get(tuning));
    if (value < parameter.words.size()) {
      print_fitted("  {:<20} {:<10} {}\n", parameter.name, parameter.words[value], parameter.word_meanings[value]);
    } else {
      print_fitted("  {:<20} {:<10} {}\n", parameter.name, value, parameter.meaning);
    }
  }
}

void print_origin(const TrialRecord& trial) {
  if (trial.session == kPretunedSession) {
    print_fitted("  origin: shipped, it comes with stencil-tune and was not tuned here\n");
    return;
  }
  print_fitted("  origin: {}\n", origin_text(trial));
  const auto shipped = shipped_for(trial.problem, trial.platform.gpu);
  if (!shipped) return;
  print_fitted(
      "  a measured winner of this problem on this GPU ships with stencil-tune: {:.1f} GStencil/s, {}, "
      "see `stencil-tune show {}`\n",
      shipped->trial.rate, shipped->trial.code, winner_id(shipped->trial));
}

void print_evidence(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  const char* mark = trial.predicted ? "~" : "";
  print_fitted("evidence:\n  {1}{4}, {0}{2:.1f} % of the copy ceiling of {0}{3:.0f} GB/s\n", mark,
               fmt::format("{}{:.1f} {}", mark, trial.rate, trial.problem.unit), 100 * trial.share, trial.ceiling_gbs,
               trial.predicted || trial.problem.steps == 1 ? "" : " in a burst");
  if (trial.problem.kind == SubjectKind::stencil) {
    print_fitted("  effective bandwidth {}{:.0f} GB/s: fields that a step changes count twice, known ones once\n", mark,
                 effective_gbs(trial));
  }
  if (const std::string load = load_text(trial); !load.empty()) print_fitted("  {}\n", load);
  if (trial.predicted) {
    print_fitted("  predicted by the performance model: never measured\n");
  } else {
    print_fitted("  median {:.4f} ms, 95 % within {:.4f}..{:.4f} ms, {} samples{}\n", trial.timing.median_ms,
                 trial.timing.low_ms, trial.timing.high_ms, trial.timing.samples,
                 trial.raced ? fmt::format(", raced against the other finalists by {}", name(trial.objective)) : "");
  }
  if (trial.sm_clock_mhz > 0) {
    print_fitted("  SM clock in the race {} MHz at the least{}\n", trial.sm_clock_mhz,
                 trial.throttle.empty() ? "" : ", slowed down by: " + trial.throttle);
  }
  if (winner.naive_rate > 0) {
    print_fitted("  {}{:.2f} x the naive kernel ({}{:.1f} {})\n", mark, trial.rate / winner.naive_rate, mark,
                 winner.naive_rate, trial.problem.unit);
  }
  print_fitted("  {} registers, {} B spilled, {} B shared memory, occupancy {:.0f} %\n", trial.registers,
               trial.spill_bytes, trial.shared_bytes, 100 * trial.occupancy);
  const auto& [driver, model] = std::tie(trial.platform.driver, trial.platform.model);
  const std::string by = trial.predicted ? model : fmt::format("driver {}", driver.empty() ? "none" : driver);
  print_fitted("  best of {}; {}, {}, NVRTC {}, {}\n", counted(winner.trials_seen, "trial"), trial.platform.gpu, by,
               trial.platform.nvrtc, trial.created_at);
  print_origin(trial);
  if (is_stale(trial)) {
    print_fitted("  stale, its template has changed since: tune again before you trust its rate\n");
  }
}

void print_trials(const std::vector<TrialRecord>& trials) {
  std::map<Outcome, int> outcomes;
  for (const TrialRecord& trial : trials) ++outcomes[trial.outcome];
  std::string counts = fmt::format("\ntrials: {}", trials.size());
  for (const auto& [outcome, count] : outcomes) counts += fmt::format(", {} {}", count, name(outcome));
  print_fitted("{}\n", counts);
  const auto ranking = ranked_codes(trials);
  for (std::size_t i = 0; i < ranking.size() && i < kTrialsShown; ++i) {
    const std::string rate = fmt::format("{}{:.1f}", ranking[i].predicted ? "~" : "", ranking[i].rate);
    const std::string load = load_text(ranking[i]);
    print_fitted("  {:>8}  {}{}\n", rate, printable(ranking[i].code), load.empty() ? "" : "  (" + load + ")");
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
  for (const auto& [failure, count] : failures) print_fitted("  failed {} x  {}\n", count, failure);
}

WinnerRecord winner_of_options(Database* database, const po::variables_map& values) {
  const auto gpu = requested_gpu(values);
  const Objective objective = requested_objective(values);
  const Problem problem = problem_from(values);
  say_what_was_understood(values, problem.stencil);
  return winner_of_problem(database, problem, gpu, objective);
}

void print_json(const WinnerRecord& winner, const std::vector<TrialRecord>& trials) {
  const TrialRecord& trial = winner.trial;
  auto json = trial_json(trial);
  json["stencil"] = trial.problem.stencil_name;
  json["stage"] = trial.problem.stage;
  json["stencil_key"] = trial.problem.stencil_key;
  json["origin"] = origin_of(trial);
  json["kind"] = name(trial.problem.kind);
  json["dims"] = to_string(trial.problem.extents);
  json["sizes"] = trial.problem.sizes;
  json["unit"] = trial.problem.unit;
  json["pitch"] = trial.problem.pitch;
  json["gpu"] = trial.platform.gpu;
  if (trial.problem.kind == SubjectKind::stencil) json["naive_gstencils"] = winner.naive_rate;
  json["trials"] = nlohmann::ordered_json::array();
  for (const TrialRecord& each : trials) json["trials"].push_back(trial_json(each));
  fmt::print("{}", json_text(json));
}

void print_winner(const WinnerRecord& winner, const std::vector<TrialRecord>& trials) {
  const TrialRecord& trial = winner.trial;
  const ProblemKey& problem = trial.problem;
  if (problem.kind == SubjectKind::kernel) {
    print_fitted("{}, a kernel of your own, {} on {}\nkey: {}\nwinner: {}\n", problem.stencil_name, problem.sizes,
                 trial.platform.gpu, problem.stencil_key, trial.code);
    print_evidence(winner);
    if (!trials.empty()) print_trials(trials);
    return;
  }
  const std::string stage = problem.stage > 0             ? fmt::format(", stage {}", problem.stage)
                            : problem.stage == kWholeStep ? ", whole steps"
                                                          : "";
  const std::string steps = problem.steps > 1 ? fmt::format(", {} steps", problem.steps) : "";
  const std::string pitch = problem.pitch != problem.extents.n[0] ? fmt::format(", pitch {}", problem.pitch) : "";
  print_fitted("{}{}, {}, {}{}, boundary {}{} on {}\nstencil key: {}\nwinner: {}\n", problem.stencil_name, stage,
               name(problem.type), to_string(problem.extents), pitch,
               to_string(problem.boundaries, problem.extents.rank), steps, trial.platform.gpu, problem.stencil_key,
               trial.code);
  print_evidence(winner);
  if (const auto objection = objection_to(trial)) {
    print_fitted("\nit cannot run any more, tune again: {}\n", *objection);
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
                   "  stencil-tune show s17                    of `stencil-tune list --shipped`\n"
                   "  stencil-tune show --dims 512 --order 2   by what was tuned\n");
  line.positional("id", 1);
  add_problem_options(line);
  add_winner_options(line.group("which").add_options());
  add_database_option(line);
  line.group("output").add_options()("json", "as JSON, with every trial");
  const auto values = line.parse(arguments);
  if (!values) return 0;

  const bool by_id = values->count("id") > 0;
  if (by_id) reject_more_than_id(*values, "show", false);
  const std::string id = by_id ? (*values)["id"].as<std::vector<std::string>>().front() : "";
  auto database = needs_database(id) ? read_database(*values) : std::nullopt;
  Database* const read = database ? &*database : nullptr;
  const WinnerRecord winner = by_id ? winner_by_id(read, id) : winner_of_options(read, *values);
  TrialQuery query;
  query.problem = winner.trial.problem;
  query.gpu = winner.trial.platform.gpu;
  if (winner.trial.session == kSiteSession) database = open_site_database();
  const auto trials = database ? TrialStore(*database).find(query) : std::vector<TrialRecord>();
  if (values->count("json") > 0) {
    print_json(winner, trials);
  } else {
    print_winner(with_printable_texts(winner), trials);
  }
  return 0;
}

}  // namespace stencil_tune
