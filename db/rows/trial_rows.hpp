// Rows of the table `trials`. Used by the stores inside their transactions.
#pragma once

#include "db/database.hpp"
#include "db/file/statement.hpp"
#include "db/records.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// The problem as it is stored: a pitch of 0 becomes that of dense rows, boundaries beyond the rank become hold.
ProblemKey normalised(ProblemKey problem);

/// Over everything but the id.
std::int64_t checksum_of(const TrialRecord& trial);

/// "id, stencil_key, ..., checksum", each with `table` and a dot before it.
std::string trial_columns(std::string_view table);

/// Reads trial_columns from the row. Nothing, and a note in the database's damaged rows, when its checksum is wrong, or
/// it is right and validate.hpp rejects the trial: this program did not write it.
std::optional<TrialRecord> read_trial(Database& database, Statement& row);

/// Inserts into the open transaction and returns the id. `trial` must be normalised and valid.
std::int64_t insert_trial_row(Database& database, const TrialRecord& trial);

/// "stencil_key = ? AND stage = ? ...": the columns that tell problems apart.
std::string problem_condition(std::string_view table);
void bind_problem(Statement& statement, const ProblemKey& problem);

/// Trials `condition` selects, in order of id. `bind` binds its parameters.
template <typename Bind>
std::vector<TrialRecord> select_trials(Database& database, std::string_view condition, Bind&& bind) {
  Statement rows(database.handle(),
                 "SELECT " + trial_columns("trials") + " FROM trials WHERE " + std::string(condition) + " ORDER BY id",
                 "read trials");
  bind(rows);
  std::vector<TrialRecord> trials;
  while (rows.step()) {
    if (auto trial = read_trial(database, rows)) trials.push_back(std::move(*trial));
  }
  return trials;
}

}  // namespace stencil_tune
