#include "db/rows/winner_rows.hpp"

#include "db/rows/checksum.hpp"
#include "db/rows/fields.hpp"
#include "db/rows/trial_rows.hpp"
#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

std::int64_t checksum_of(const TrialRecord& trial, const WinnerNotes& notes) {
  Checksum checksum;
  checksum.add(checksum_of(trial));
  checksum.add(notes.naive_rate);
  checksum.add(notes.trials_seen);
  return checksum.value();
}

std::string key_condition() { return problem_condition("winners") + " AND winners.gpu = ? AND winners.objective = ?"; }

void bind_key(Statement& rows, const ProblemKey& problem, std::string_view gpu, Objective objective) {
  bind_problem(rows, problem);
  rows.bind(gpu).bind(name(objective));
}

void delete_winner_row(Database& database, const ProblemKey& problem, std::string_view gpu, Objective objective) {
  Statement remove(database.handle(), "DELETE FROM winners WHERE " + key_condition(), "replace a winner");
  bind_key(remove, problem, gpu, objective);
  remove.step();
}

void insert_winner_row(Database& database, const TrialRecord& trial, const WinnerNotes& notes) {
  std::string columns;
  std::string parameters;
  visit_problem_identity(trial.problem, [&](std::string_view column, const auto&) {
    columns += fmt::format("{}, ", column);
    parameters += "?, ";
  });
  Statement insert(database.handle(),
                   fmt::format("INSERT INTO winners ({}gpu, objective, trial_id, naive_rate, trials_seen, "
                               "checksum) VALUES ({}?, ?, ?, ?, ?, ?)",
                               columns, parameters),
                   "store a winner");
  bind_problem(insert, trial.problem);
  insert.bind(trial.platform.gpu)
      .bind(name(trial.objective))
      .bind(trial.id)
      .bind(notes.naive_rate)
      .bind(notes.trials_seen);
  insert.bind(checksum_of(trial, notes));
  insert.step();
}

/// New notes, and where they say nothing what is known of the previous winner and still holds.
WinnerNotes merged(WinnerNotes notes, const std::optional<WinnerRecord>& previous, const TrialRecord& best) {
  if (!previous) return notes;
  const bool same_trial = previous->trial.id == best.id;
  if (same_trial && notes.trials_seen == 0) notes.trials_seen = previous->trials_seen;
  const bool same_session = same_trial || (!best.session.empty() && previous->trial.session == best.session);
  if (same_session && notes.naive_rate == 0) notes.naive_rate = previous->naive_rate;
  return notes;
}

/// Whether choosing anew could give another winner now that `trial` is there, of a race by the same objective.
bool can_win(const TrialRecord& trial, const std::optional<WinnerRecord>& winner) {
  if (trial.outcome != Outcome::ok || !may_win(trial)) return false;
  if (!winner) return true;
  const TrialRecord& best = winner->trial;
  if (trial.predicted != best.predicted) return best.predicted;
  if (!are_comparable(trial, best)) return true;
  return trial.code == best.code || !is_readable(best) || is_stale(best) || is_better(trial, best, best.objective);
}

/// Whether the winner, by whatever objective, is none any more.
bool takes_out(const TrialRecord& trial, const std::optional<WinnerRecord>& winner) {
  if (!winner) return false;
  if (trial.outcome == Outcome::wrong_result) return winner->trial.code == trial.code;
  return winner->trial.predicted && outdoes_predictions(trial);
}

}  // namespace

std::string of_the_winner(std::string_view table) {
  std::string condition = fmt::format("{}.gpu = winners.gpu", table);
  const ProblemKey any;
  visit_problem_identity(any, [&](std::string_view column, const auto&) {
    condition += fmt::format(" AND {0}.{1} = winners.{1}", table, column);
  });
  return condition;
}

std::string winner_selection(TrialsSeen seen) {
  return fmt::format(
      "SELECT winners.rowid, winners.naive_rate, winners.trials_seen, winners.checksum, {}, trials.id IS NOT "
      "NULL, "
      "{} FROM winners LEFT JOIN trials ON trials.id = winners.trial_id AND trials.objective = winners.objective AND "
      "{}",
      seen == TrialsSeen::counted
          ? "(SELECT count(*) FROM trials AS seen WHERE seen.predicted = trials.predicted AND " +
                of_the_winner("seen") + ")"
          : "0",
      trial_columns("trials"), of_the_winner("trials"));
}

std::optional<WinnerRecord> read_winner(Database& database, Statement& row) {
  const std::int64_t id = row.integer();
  WinnerNotes notes;
  notes.naive_rate = row.real();
  notes.trials_seen = static_cast<int>(row.integer());
  const std::int64_t checksum = row.integer();
  const auto counted = static_cast<int>(row.integer());
  const bool has_trial = row.integer() != 0;
  const auto trial = has_trial ? read_trial(database, row) : std::nullopt;
  if (!trial || checksum_of(*trial, notes) != checksum) {
    database.add_damaged_row("winners", id);
    return std::nullopt;
  }
  return WinnerRecord{*trial, notes.naive_rate, std::max(counted, notes.trials_seen)};
}

std::optional<WinnerRecord> find_winner_row(Database& database, const ProblemKey& problem, std::string_view gpu,
                                            Objective objective, TrialsSeen seen) {
  auto winners = select_winners(
      database, key_condition(), [&](Statement& rows) { bind_key(rows, problem, gpu, objective); }, seen);
  if (winners.empty()) return std::nullopt;
  return std::move(winners.front());
}

std::optional<TrialRecord> choose_winner_row(Database& database, const ProblemKey& problem, std::string_view gpu,
                                             Objective objective, const WinnerNotes& notes,
                                             const std::set<std::string>& excluded) {
  const auto previous = find_winner_row(database, problem, gpu, objective, TrialsSeen::as_stored);
  auto trials = select_trials(
      database, problem_condition("trials") + " AND trials.gpu = ? AND trials.outcome IN ('ok', 'wrong_result')",
      [&](Statement& rows) {
        bind_problem(rows, problem);
        rows.bind(gpu);
      });
  std::erase_if(trials, [&](const TrialRecord& trial) { return excluded.contains(trial.code); });
  auto best = choose_winner(trials, objective);
  replace_winner_row(database, problem, gpu, objective, previous, best, notes);
  return best;
}

void replace_winner_row(Database& database, const ProblemKey& problem, std::string_view gpu, Objective objective,
                        const std::optional<WinnerRecord>& previous, const std::optional<TrialRecord>& best,
                        const WinnerNotes& notes) {
  delete_winner_row(database, problem, gpu, objective);
  if (best) insert_winner_row(database, *best, merged(notes, previous, *best));
}

bool update_winner_rows(Database& database, const TrialRecord& trial, double naive_rate) {
  const std::string& gpu = trial.platform.gpu;
  bool won = false;
  for (const Objective objective : kObjectives) {
    const auto winner = find_winner_row(database, trial.problem, gpu, objective, TrialsSeen::as_stored);
    if (!takes_out(trial, winner) && !(trial.objective == objective && can_win(trial, winner))) continue;
    const auto best = choose_winner_row(database, trial.problem, gpu, objective, {naive_rate, 0});
    won = won || (best && best->id == trial.id);
  }
  return won;
}

}  // namespace stencil_tune
