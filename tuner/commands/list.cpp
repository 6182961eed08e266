// stencil-tune list
#include "db/stored_code.hpp"
#include "db/winner_store.hpp"
#include "tuner/commands/command.hpp"
#include "tuner/commands/database_option.hpp"
#include "tuner/session/report.hpp"
#include "tuner/session/say.hpp"
#include "tuner/session/text_table.hpp"

#include <fmt/format.h>

namespace stencil_tune {
namespace {

const std::vector<TableColumn> kColumns{{"id"},      {"stencil", false},  {"type", false}, {"dims", false},
                                        {"steps"},   {"boundary", false}, {"GPU", false},  {"GStencil/s"},
                                        {"of copy"}, {"code", false}};

std::vector<std::string> winner_cells(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  const char* mark = trial.predicted ? "~" : "";
  const ProblemKey& problem = trial.problem;
  return {std::to_string(trial.id),
          problem.stage > 0             ? fmt::format("{}, stage {}", problem.stencil_name, problem.stage)
          : problem.stage == kWholeStep ? problem.stencil_name + ", whole steps"
                                        : problem.stencil_name,
          std::string(name(problem.type)),
          to_string(problem.extents),
          std::to_string(problem.steps),
          to_string(problem.boundaries, problem.extents.rank),
          trial.platform.gpu,
          fmt::format("{}{:.1f}", mark, trial.gstencils),
          fmt::format("{}{:.1f} %", mark, 100 * trial.share),
          trial.code + (is_stale(trial) ? "  (stale: tune again)" : "")};
}

/// Takes those that cannot run out, and says so.
void leave_out_what_cannot_run(std::vector<WinnerRecord>& winners) {
  std::erase_if(winners, [](const WinnerRecord& winner) {
    const auto objection = objection_to(winner.trial);
    if (objection) say(stderr, fmt::format("winner {} is left out, it cannot run: {}\n", winner.trial.id, *objection));
    return objection.has_value();
  });
}

nlohmann::ordered_json winner_json(const WinnerRecord& winner) {
  const TrialRecord& trial = winner.trial;
  nlohmann::ordered_json json{{"id", trial.id},
                              {"stencil", trial.problem.stencil_name},
                              {"stencil_key", trial.problem.stencil_key},
                              {"stage", trial.problem.stage},
                              {"type", name(trial.problem.type)},
                              {"dims", to_string(trial.problem.extents)},
                              {"pitch", trial.problem.pitch},
                              {"boundary", to_string(trial.problem.boundaries, trial.problem.extents.rank)},
                              {"steps", trial.problem.steps},
                              {"gpu", trial.platform.gpu},
                              {"architecture", trial.platform.architecture},
                              {"driver", trial.platform.driver},
                              {"stale", is_stale(trial)},
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
  if (auto database = read_database(*values)) winners = WinnerStore(*database).list(query);
  leave_out_what_cannot_run(winners);
  if (values->count("json") > 0) {
    auto json = nlohmann::ordered_json::array();
    for (const WinnerRecord& winner : winners) json.push_back(winner_json(winner));
    fmt::print("{}", json_text(json));
    return 0;
  }
  if (winners.empty()) {
    const bool narrowed = query.gpu || query.type;
    fmt::print("{}\n", narrowed ? "no such winner; `stencil-tune list` alone shows all"
                                : "nothing tuned yet; start with: stencil-tune --dims 512");
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const WinnerRecord& winner : winners) rows.push_back(winner_cells(winner));
  fmt::print("{}", text_table(kColumns, rows));
  return 0;
}

}  // namespace stencil_tune
