#include "db/prune.hpp"

#include "db/file/move_aside.hpp"
#include "db/file/statement.hpp"
#include "db/rows/trial_rows.hpp"
#include "db/rows/winner_rows.hpp"
#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::string_view kPruning = "take unusable rows out";

/// Ids of rows to be removed.
struct Unusable {
  std::set<std::int64_t> trials;
  std::set<std::int64_t> winners;
};

/// Counts what is unusable into `result` too.
Unusable find_unusable(Database& database, PruneResult& result) {
  Unusable unusable;
  for (const TrialRecord& trial : select_trials(database, "TRUE", [](Statement&) {})) {
    if (is_readable(trial)) continue;
    ++result.unusable[*objection_to(trial)];
    unusable.trials.insert(trial.id);
  }
  select_winners(
      database, "TRUE", [](Statement&) {}, TrialsSeen::as_stored);
  for (const auto& [table, row] : database.damaged_rows()) {
    (table == "trials" ? unusable.trials : unusable.winners).insert(row);
  }
  result.damaged = static_cast<int>(unusable.trials.size());
  for (const auto& [objection, count] : result.unusable) result.damaged -= count;
  Statement winners(database.handle(), "SELECT rowid, trial_id FROM winners", kPruning);
  while (winners.step()) {
    const std::int64_t row = winners.integer();
    if (unusable.trials.contains(winners.integer())) unusable.winners.insert(row);
  }
  result.winners = static_cast<int>(unusable.winners.size());
  return unusable;
}

void remove(Database& database, std::string_view table, const std::set<std::int64_t>& rows) {
  for (const std::int64_t row : rows) {
    Statement(database.handle(), fmt::format("DELETE FROM {} WHERE rowid = ?", table), kPruning).bind(row).step();
  }
}

/// Chooses a winner for every problem that has trials and, by their objective, none yet.
void choose_missing_winners(Database& database) {
  const auto trials = select_trials(
      database,
      fmt::format("outcome = 'ok' AND NOT EXISTS (SELECT 1 FROM winners WHERE objective = trials.objective AND {})",
                  of_the_winner("trials")),
      [](Statement&) {});
  for (const TrialRecord& trial : trials) {
    if (!may_win(trial)) continue;
    const auto winner =
        find_winner_row(database, trial.problem, trial.platform.gpu, trial.objective, TrialsSeen::as_stored);
    if (!winner) choose_winner_row(database, trial.problem, trial.platform.gpu, trial.objective, {});
  }
}

/// SQLite's own way to copy a database in use.
std::filesystem::path copy_beside(Database& database) {
  auto copy = unused_name_beside(database.path(), "unpruned");
  Statement(database.handle(), "VACUUM INTO ?", "copy it before rows are taken out").bind(copy.string()).step();
  return copy;
}

}  // namespace

PruneResult prune_database(Database& database) {
  PruneResult found;
  find_unusable(database, found);
  if (found.nothing()) return found;
  PruneResult result;
  result.copy = copy_beside(database);
  Transaction transaction(database.handle(), kPruning);
  const Unusable unusable = find_unusable(database, result);  // another process may have stored more meanwhile
  remove(database, "winners", unusable.winners);
  remove(database, "trials", unusable.trials);
  choose_missing_winners(database);
  transaction.commit();
  return result;
}

}  // namespace stencil_tune
