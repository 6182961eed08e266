#include "db/winner_store.hpp"

#include "db/file/statement.hpp"
#include "db/rows/trial_rows.hpp"
#include "db/rows/winner_rows.hpp"

#include <fmt/format.h>

namespace stencil_tune {

std::optional<WinnerRecord> WinnerStore::find(const ProblemKey& problem, std::string_view gpu,
                                              Objective objective) const {
  return find_winner_row(database_, problem, gpu, objective, TrialsSeen::counted);
}

std::vector<WinnerRecord> WinnerStore::list(const WinnerQuery& query) const {
  std::string condition = "TRUE";
  const auto add = [&](bool set, std::string_view more) {
    if (set) condition += fmt::format(" AND {}", more);
  };
  add(query.kind.has_value(), "trials.kind = ?");
  add(query.stencil_key.has_value(), "winners.stencil_key = ?");
  add(query.form.has_value(), "trials.form = ?");
  add(query.stage.has_value(), "winners.stage = ?");
  add(query.type.has_value(), "winners.type = ?");
  add(query.boundaries.has_value(), "winners.boundary_x = ? AND winners.boundary_y = ? AND winners.boundary_z = ?");
  add(query.steps.has_value(), "winners.steps = ?");
  add(query.gpu.has_value(), "winners.gpu = ?");
  add(query.architecture.has_value(), "trials.architecture = ?");
  add(query.predicted.has_value(), "trials.predicted = ?");
  condition +=
      " ORDER BY trials.stencil_name, winners.type, winners.nx, winners.ny, winners.nz, winners.sizes, winners.gpu, "
      "winners.rowid";
  const auto bind = [&](Statement& rows) {
    if (query.kind) rows.bind(name(*query.kind));
    if (query.stencil_key) rows.bind(*query.stencil_key);
    if (query.form) rows.bind(*query.form);
    if (query.stage) rows.bind(*query.stage);
    if (query.type) rows.bind(name(*query.type));
    if (query.boundaries) {
      for (const Boundary boundary : *query.boundaries) rows.bind(name(boundary));
    }
    if (query.steps) rows.bind(*query.steps);
    if (query.gpu) rows.bind(*query.gpu);
    if (query.architecture) rows.bind(*query.architecture);
    if (query.predicted) rows.bind(*query.predicted);
  };
  return select_winners(database_, condition, bind, query.count_trials ? TrialsSeen::counted : TrialsSeen::as_stored);
}

std::optional<WinnerRecord> WinnerStore::settle(const ProblemKey& problem, std::string_view gpu, Objective objective,
                                                double naive_rate, const std::set<std::string>& excluded) {
  Transaction transaction(database_.handle(), "settle the winners");
  for (const Objective each : kObjectives) {
    const WinnerNotes notes{each == objective ? naive_rate : 0, 0};
    choose_winner_row(database_, problem, gpu, each, notes, excluded);
  }
  auto winner = find_winner_row(database_, problem, gpu, objective, TrialsSeen::counted);
  transaction.commit();
  return winner;
}

std::optional<RemovedWinner> WinnerStore::remove(std::int64_t trial_id) {
  constexpr std::string_view kRemoving = "remove a winner";
  Transaction transaction(database_.handle(), kRemoving);
  auto winners = select_winners(database_, "winners.trial_id = ?", [&](Statement& rows) { rows.bind(trial_id); });
  if (winners.empty()) return std::nullopt;
  RemovedWinner removed{std::move(winners.front()), 0};
  const TrialRecord& trial = removed.winner.trial;
  const auto remove_from = [&](std::string_view table) {
    const std::string rows = fmt::format("{} AND gpu = ?", problem_condition(table));
    Statement statement(database_.handle(), fmt::format("DELETE FROM {} WHERE {}", table, rows), kRemoving);
    bind_problem(statement, trial.problem);
    statement.bind(trial.platform.gpu).step();
    return query_integer(database_.handle(), "SELECT changes()", kRemoving);
  };
  remove_from("winners");
  removed.trials = remove_from("trials");
  transaction.commit();
  return removed;
}

}  // namespace stencil_tune
