// stencil-tune list
#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"
#include "db/winner_store.hpp"
#include "generator/cut/zones.hpp"
#include "generator/definition/corpus.hpp"
#include "generator/printable.hpp"
#include "generator/suggest.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "runtime/model/device_model.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/options/database_option.hpp"
#include "tuner/commands/options/winner_options.hpp"
#include "tuner/commands/winner/winner_lookup.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/say.hpp"
#include "tuner/terminal/counted.hpp"
#include "tuner/terminal/csv.hpp"
#include "tuner/terminal/print_fitted.hpp"
#include "tuner/terminal/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace stencil_tune {
namespace {

const std::vector<TableColumn> kColumns{{"id"},
                                        {"stencil", false},
                                        {"stage", true, Narrow::leaves},
                                        {"type", false},
                                        {"dims", false},
                                        {"pitch", true, Narrow::leaves},
                                        {"steps"},
                                        {"boundary", false, Narrow::leaves},
                                        {"GPU", false, Narrow::leaves},
                                        {"GStencil/s"},
                                        {"of copy", true, Narrow::leaves},
                                        {"sustained", true, Narrow::leaves},
                                        {"code", false, Narrow::leaves}};

/// Names that stand for several stencils among the winners.
std::set<std::string> shared_names(const std::vector<WinnerRecord>& winners) {
  std::map<std::string, std::string> key_of;
  std::set<std::string> shared;
  for (const WinnerRecord& winner : winners) {
    const ProblemKey& problem = winner.trial.problem;
    const auto [known, added] = key_of.emplace(problem.stencil_name, problem.stencil_key);
    if (!added && known->second != problem.stencil_key) shared.insert(problem.stencil_name);
  }
  return shared;
}

/// The zone of a grid with layers that the winner is for; empty where it is for the whole grid, or nobody knows.
std::string zone_of(const ProblemKey& problem) {
  const std::vector<std::string> names = equation_names();
  if (std::find(names.begin(), names.end(), problem.stencil_name) == names.end()) return "";
  const auto zone = zone_stencil(find_stencil(problem.stencil_name), problem.stencil_key);
  return zone ? zone->name : "";
}

std::string stencil_text(const ProblemKey& problem, const std::set<std::string>& shared) {
  constexpr std::size_t kKeyDigits = 8;
  std::string text = problem.stencil_name;
  const std::string zone = shared.contains(text) ? zone_of(problem) : "";
  if (!zone.empty()) {
    text += fmt::format(", zone {}", zone);
  } else if (shared.contains(text)) {
    text += fmt::format(" (key {})", problem.stencil_key.substr(0, kKeyDigits));
  }
  return text;
}

/// The stage of a stencil with several; nobody knows whether stage 0 is one of them.
std::string stage_text(const ProblemKey& problem) {
  if (problem.stage == kWholeStep) return "whole";
  return problem.stage > 0 ? std::to_string(problem.stage) : "";
}

/// Empty where rows are dense.
std::string pitch_text(const ProblemKey& problem) {
  return problem.pitch != problem.extents.n[0] ? std::to_string(problem.pitch) : "";
}

/// The candidate, and why not to trust its rate.
std::string code_text(const TrialRecord& trial) {
  std::string text = trial.code;
  if (objective_distance(trial, Objective::time) > 0 && trial.sustained_rate > 0) {
    text += fmt::format("  (by {})", name(trial.objective));
  }
  if (is_stale(trial)) text += "  (stale: tune again)";
  if (!trial.predicted) return text;
  const auto shipped = shipped_for(trial.problem, trial.platform.gpu);
  return shipped ? text + fmt::format("  (a measured one ships: {})", winner_id(shipped->trial)) : text;
}

/// GStencil/s under continuous load. Runs that never raced so say it: their rate is a burst's.
std::string sustained_text(const TrialRecord& trial) {
  if (trial.sustained_rate > 0) return fmt::format("{:.1f}", trial.sustained_rate);
  return trial.problem.steps > 1 && !trial.predicted ? "burst only" : "";
}

std::vector<std::string> winner_cells(const WinnerRecord& winner, const std::set<std::string>& shared) {
  const TrialRecord& trial = winner.trial;
  const char* mark = trial.predicted ? "~" : "";
  const ProblemKey& problem = trial.problem;
  const bool is_stencil = problem.kind == SubjectKind::stencil;
  return {winner_id(trial),
          stencil_text(problem, shared),
          stage_text(problem),
          is_stencil ? std::string(name(problem.type)) : "",
          is_stencil ? to_string(problem.extents) : problem.sizes,
          is_stencil ? pitch_text(problem) : "",
          is_stencil ? std::to_string(problem.steps) : "",
          is_stencil ? to_string(problem.boundaries, problem.extents.rank) : "",
          trial.platform.gpu,
          fmt::format("{}{:.1f}{}", mark, trial.rate, is_stencil ? "" : " " + problem.unit),
          fmt::format("{}{:.1f} %", mark, 100 * trial.share),
          sustained_text(trial),
          code_text(trial)};
}

/// Takes those that cannot run out, and says so.
void leave_out_what_cannot_run(std::vector<WinnerRecord>& winners) {
  std::erase_if(winners, [](const WinnerRecord& winner) {
    const auto objection = objection_to(winner.trial);
    if (objection)
      say(stderr, fmt::format("winner {} is left out, it cannot run: {}\n", winner_id(winner.trial), *objection));
    return objection.has_value();
  });
}

nlohmann::ordered_json winner_json(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  const std::string_view origin = origin_of(trial);
  nlohmann::ordered_json json{
      {"id", origin == "yours" ? nlohmann::ordered_json(trial.id) : nlohmann::ordered_json(winner_id(trial))},
      {"origin", origin},
      {"kind", name(trial.problem.kind)},
      {"stencil", trial.problem.stencil_name},
      {"stencil_key", trial.problem.stencil_key},
      {"stage", trial.problem.stage},
      {"type", name(trial.problem.type)},
      {"dims", to_string(trial.problem.extents)},
      {"pitch", trial.problem.pitch},
      {"boundary", to_string(trial.problem.boundaries, trial.problem.extents.rank)},
      {"steps", trial.problem.steps},
      {"sizes", trial.problem.sizes},
      {"unit", trial.problem.unit},
      {"gpu", trial.platform.gpu},
      {"architecture", trial.platform.architecture},
      {"driver", trial.predicted ? "" : trial.platform.driver},
      {"stale", is_stale(trial)},
      {"trials_seen", winner.trials_seen}};
  if (trial.problem.kind == SubjectKind::stencil) json["naive_gstencils"] = winner.naive_rate;
  json.update(trial_json(trial));
  return json;
}

const std::vector<std::string> kCsvTitles{"id",           "origin",       "stencil",   "stage",          "type",
                                          "dims",         "pitch",        "boundary",  "steps",          "gpu",
                                          "architecture", "code",         "rate",      "share_of_copy",  "predicted",
                                          "stale",        "created_at",   "objective", "sustained_rate", "watts",
                                          "nanojoules",   "sm_clock_mhz", "kind",      "sizes",          "unit"};

std::string known_or_empty(double figure) { return figure > 0 ? fmt::format("{}", figure) : ""; }

std::vector<std::string> csv_cells(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  const ProblemKey& problem = trial.problem;
  return {winner_id(trial),
          std::string(origin_of(trial)),
          problem.stencil_name,
          std::to_string(problem.stage),
          std::string(name(problem.type)),
          to_string(problem.extents),
          std::to_string(problem.pitch),
          to_string(problem.boundaries, problem.extents.rank),
          std::to_string(problem.steps),
          trial.platform.gpu,
          trial.platform.architecture,
          trial.code,
          fmt::format("{}", trial.rate),
          fmt::format("{}", trial.share),
          trial.predicted ? "true" : "false",
          is_stale(trial) ? "true" : "false",
          trial.created_at,
          std::string(name(trial.objective)),
          known_or_empty(trial.sustained_rate),
          known_or_empty(trial.watts),
          known_or_empty(trial.nanojoules),
          known_or_empty(trial.sm_clock_mhz),
          std::string(name(problem.kind)),
          problem.sizes,
          problem.unit};
}

/// What --gpu, --type and --stencil ask for.
struct Filter {
  WinnerQuery query;
  std::string stencil;  ///< by its name as the list shows it, or a definition file; empty: all

  bool narrows() const { return query.gpu || query.type || !stencil.empty(); }
};

Filter filter_from(const po::variables_map& values) {
  Filter filter;
  filter.query.gpu = requested_gpu(values);
  if (values.count("type") > 0) filter.query.type = parse_element_type(values["type"].as<std::string>());
  if (values.count("stencil") > 0) filter.stencil = values["stencil"].as<std::string>();
  return filter;
}

std::vector<WinnerRecord> of_the_stencil(std::vector<WinnerRecord> winners, const std::string& stencil) {
  if (stencil.empty()) return winners;
  const std::string key = stencil.ends_with(".toml") ? stencil_key(load_stencil(stencil)) : "";
  std::erase_if(winners, [&](const WinnerRecord& winner) {
    const ProblemKey& problem = winner.trial.problem;
    return key.empty() ? problem.stencil_name != stencil : problem.stencil_key != key;
  });
  return winners;
}

/// The user's winners (null: no database) over the site's.
std::vector<WinnerRecord> tuned_like(const Filter& filter, Database* database) {
  auto site = open_site_database();
  auto own = database != nullptr ? WinnerStore(*database).list(filter.query) : std::vector<WinnerRecord>();
  return of_the_stencil(layered(std::move(own), site_winners(site ? &*site : nullptr, filter.query)), filter.stencil);
}

std::vector<WinnerRecord> shipped_like(const Filter& filter) {
  std::vector<WinnerRecord> winners = shipped_winners();
  std::erase_if(winners, [&](const WinnerRecord& winner) {
    return (filter.query.gpu && winner.trial.platform.gpu != *filter.query.gpu) ||
           (filter.query.type && winner.trial.problem.type != *filter.query.type);
  });
  return of_the_stencil(std::move(winners), filter.stencil);
}

/// What else there is beside the winners of the database.
std::string shipped_note(const Filter& filter) {
  const std::size_t count = shipped_like(filter).size();
  if (count == 0) return "";
  return fmt::format("{}{} {}: stencil-tune list --shipped\n", counted(count, "winner"),
                     filter.narrows() ? " like these" : "", count == 1 ? "ships" : "ship");
}

/// Where a GPU has no winners: which GPUs have some, and how to get them.
std::string no_winner_on(const std::string& gpu, const std::set<std::string>& others) {
  std::string text = fmt::format("no winner on {}", gpu);
  if (!others.empty()) text += fmt::format("; there are some on {}", fmt::join(others, ", "));
  for (const DeviceModel& model : device_models()) {
    if (model.gpu == gpu) text += fmt::format("; to predict: stencil-tune --dims 512 --device-model {}", model.name);
  }
  return text + "\n";
}

/// Why the list is empty, and what to do. `all`: what it was narrowed from.
std::string empty_note(const Filter& filter, const std::vector<WinnerRecord>& all) {
  if (!filter.narrows()) return "nothing tuned yet; start with: stencil-tune --dims 512\n";
  std::set<std::string> names, gpus;
  for (const WinnerRecord& winner : all) {
    names.insert(winner.trial.problem.stencil_name);
    gpus.insert(winner.trial.platform.gpu);
  }
  if (filter.query.gpu && !gpus.contains(*filter.query.gpu)) return no_winner_on(*filter.query.gpu, gpus);
  const bool unknown = !filter.stencil.empty() && !names.contains(filter.stencil);
  return fmt::format("no such winner{}; `stencil-tune list` alone shows all\n",
                     unknown ? did_you_mean(filter.stencil, {names.begin(), names.end()}) : "");
}

}  // namespace

int run_list(const Arguments& arguments) {
  CommandLine line("stencil-tune list [options]",
                   "Winners found so far, a line each, of stencils and kernels; \"~\" marks predictions. Those of the "
                   "site's database (STENCIL_TUNE_SITE_DB) stand among them where yours say nothing better.\n",
                   "  stencil-tune list\n  stencil-tune list --shipped --stencil star3d1r\n"
                   "  stencil-tune list --gpu h200 --type f64\n  stencil-tune list --csv > winners.csv\n");
  auto& which = line.group("which");
  add_gpu_option(which.add_options(), "of this GPU model only: h200, or its full name");
  which.add_options()("stencil", po::value<std::string>()->value_name("NAME|FILE"), "of this stencil only")(
      "type", po::value<std::string>()->value_name("f32|f64|f16|bf16"), "of this element type only")(
      "shipped", "those that ship with stencil-tune, in place of yours");
  add_database_option(line);
  line.group("output").add_options()("json", "as JSON")("csv", "as comma-separated values, titles first");
  const auto values = line.parse(arguments);
  if (!values) return 0;

  if (values->count("csv") > 0 && values->count("json") > 0) {
    throw Error(ErrorCode::invalid_argument, "--csv and --json exclude each other");
  }
  const Filter filter = filter_from(*values);
  const bool shipped = values->count("shipped") > 0;
  auto database = shipped ? std::nullopt : read_database(*values);
  std::vector<WinnerRecord> winners =
      shipped ? shipped_like(filter) : tuned_like(filter, database ? &*database : nullptr);
  leave_out_what_cannot_run(winners);
  if (values->count("csv") > 0) {
    fmt::print("{}", csv_line(kCsvTitles));
    for (const WinnerRecord& winner : winners) fmt::print("{}", csv_line(csv_cells(winner)));
    return 0;
  }
  if (values->count("json") > 0) {
    auto json = nlohmann::ordered_json::array();
    for (const WinnerRecord& winner : winners) json.push_back(winner_json(winner));
    fmt::print("{}", json_text(json));
    return 0;
  }
  if (winners.empty()) {
    const auto all = shipped ? shipped_like({}) : tuned_like({}, database ? &*database : nullptr);
    print_fitted("{}", printable_lines(empty_note(filter, all)));
    if (!shipped) print_fitted("{}", shipped_note(filter));
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  const std::set<std::string> shared = shared_names(winners);
  for (const WinnerRecord& winner : winners) rows.push_back(winner_cells(winner, shared));
  const auto style = [&](std::size_t row) { return is_stale(winners[row].trial) ? Style::warning : Style::plain; };
  fmt::print("{}", text_table(kColumns, rows, {"", terminal_of(stdout), style}));
  if (!shipped) print_fitted("{}", shipped_note(filter));
  return 0;
}

}  // namespace stencil_tune
