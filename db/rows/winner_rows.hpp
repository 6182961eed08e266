// Rows of the table `winners`. Used by the stores inside their transactions.
#pragma once

#include "db/database.hpp"
#include "db/file/statement.hpp"
#include "db/records.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// Counting a problem's trials takes time that grows with them: each insertion can do without.
enum class TrialsSeen { counted, as_stored };

std::optional<WinnerRecord> find_winner_row(Database& database, const ProblemKey& problem, std::string_view gpu,
                                            Objective objective, TrialsSeen seen);

/// What is known of a winner beyond its trials.
struct WinnerNotes {
  double naive_rate = 0;  ///< 0: unknown
  int trials_seen = 0;    ///< where it was imported from; 0: count the trials here
};

/// Chooses the winner of the problem by that objective anew among its trials and writes it into the open transaction.
/// Notes of 0 keep what is stored already, as long as the winner stays in the same session. Candidates whose codes are
/// among `excluded` cannot win.
std::optional<TrialRecord> choose_winner_row(Database& database, const ProblemKey& problem, std::string_view gpu,
                                             Objective objective, const WinnerNotes& notes,
                                             const std::set<std::string>& excluded = {});

/// Writes what was chosen, with such notes. `previous`: the row as it was read.
void replace_winner_row(Database& database, const ProblemKey& problem, std::string_view gpu, Objective objective,
                        const std::optional<WinnerRecord>& previous, const std::optional<TrialRecord>& best,
                        const WinnerNotes& notes);

/// Chooses anew where the trial, just inserted, can make a difference. True when it became a winner.
bool update_winner_rows(Database& database, const TrialRecord& trial, double naive_rate);

/// "trials.gpu = winners.gpu AND trials.nx = winners.nx ...": rows of the table of the winner's problem and GPU model.
std::string of_the_winner(std::string_view table);

/// SELECT ... FROM winners, up to and without WHERE; read by read_winner.
std::string winner_selection(TrialsSeen seen);
std::optional<WinnerRecord> read_winner(Database& database, Statement& row);

/// Winners that `condition` selects, with their trials. A damaged winner or trial is skipped and noted.
template <typename Bind>
std::vector<WinnerRecord> select_winners(Database& database, std::string_view condition, Bind&& bind,
                                         TrialsSeen seen = TrialsSeen::counted) {
  Statement rows(database.handle(), winner_selection(seen) + " WHERE " + std::string(condition), "read winners");
  bind(rows);
  std::vector<WinnerRecord> winners;
  while (rows.step()) {
    if (auto winner = read_winner(database, rows)) winners.push_back(std::move(*winner));
  }
  return winners;
}

}  // namespace stencil_tune
