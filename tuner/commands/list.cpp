// stencil-tune list
#include "db/winner_choice.hpp"
#include "db/winner_store.hpp"
#include "generator/source.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/database_option.hpp"
#include "tuner/report.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace stencil_tune {
namespace {

constexpr const char* kColumns = "{:>5}  {:<12} {:<4} {:<16} {:>5}  {:<10} {:<16} {:>8} {:>7}  {}";

std::string winner_line(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  const char* mark = trial.predicted ? "~" : "";
  std::string line = fmt::format(
      kColumns, trial.id, trial.problem.stencil_name, name(trial.problem.type), to_string(trial.problem.extents),
      trial.problem.steps, to_string(trial.problem.boundaries, trial.problem.extents.rank), trial.platform.gpu,
      fmt::format("{}{:.1f}", mark, trial.gstencils), fmt::format("{}{:.1f} %", mark, 100 * trial.share), trial.code);
  if (is_stale(trial, template_signature())) line += "  (older templates: tune again)";
  return line;
}

nlohmann::ordered_json winner_json(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  nlohmann::ordered_json json{{"id", trial.id},
                              {"stencil", trial.problem.stencil_name},
                              {"stencil_key", trial.problem.stencil_key},
                              {"type", name(trial.problem.type)},
                              {"dims", to_string(trial.problem.extents)},
                              {"pitch", trial.problem.pitch},
                              {"boundary", to_string(trial.problem.boundaries, trial.problem.extents.rank)},
                              {"steps", trial.problem.steps},
                              {"gpu", trial.platform.gpu},
                              {"architecture", trial.platform.architecture},
                              {"driver", trial.platform.driver},
                              {"stale", is_stale(trial, template_signature())},
                              {"naive_gstencils", winner.naive_gstencils},
                              {"trials_seen", winner.trials_seen}};
  json.update(trial_json(trial));
  return json;
}

}  // namespace

int run_list(const Arguments& arguments) {
  CommandLine line("stencil-tune list [options]", "Winners found so far, a line each; \"~\" marks predictions.\n",
                   "  stencil-tune list\n  stencil-tune list --gpu \"NVIDIA H200\" --json\n");
  line.group("which").add_options()("gpu", po::value<std::string>()->value_name("NAME"), "of this GPU model only")(
      "type", po::value<std::string>()->value_name("f32|f64|f16|bf16"), "of this element type only");
  add_database_option(line);
  line.group("output").add_options()("json", "as JSON");
  const auto values = line.parse(arguments);
  if (!values) return 0;

  WinnerQuery query;
  if (values->count("gpu") > 0) query.gpu = (*values)["gpu"].as<std::string>();
  if (values->count("type") > 0) query.type = parse_element_type((*values)["type"].as<std::string>());
  std::vector<WinnerRecord> winners;
  if (database_exists(*values)) {
    Database database = open_database_for(*values, Access::read);
    winners = WinnerStore(database).list(query);
  }
  if (values->count("json") > 0) {
    auto json = nlohmann::ordered_json::array();
    for (const WinnerRecord& winner : winners) json.push_back(winner_json(winner));
    fmt::print("{}\n", json.dump(2));
    return 0;
  }
  if (winners.empty()) {
    fmt::print("nothing tuned yet; start with: stencil-tune --dims 512\n");
    return 0;
  }
  fmt::print("{}\n", fmt::format(kColumns, "id", "stencil", "type", "dims", "steps", "boundary", "GPU", "GSt/s",
                                 "of copy", "code"));
  for (const WinnerRecord& winner : winners) fmt::print("{}\n", winner_line(winner));
  return 0;
}

}  // namespace stencil_tune
