// Taking in trials from elsewhere: another database file, or a text made by exchange.hpp.
#pragma once

#include "db/database.hpp"
#include "db/records.hpp"

#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace stencil_tune {

struct MergeResult {
  int added = 0;            ///< trials
  int duplicates = 0;       ///< trials that were here already
  int damaged = 0;          ///< rows of the other database with a wrong checksum: left out
  int winners_changed = 0;  ///< problems whose winner is another now
  /// Trials of the other database that are whole but of no use here: "REASON", and how many; left out too. Their code
  /// does not parse (stored_code.hpp), or validate.hpp rejects them.
  std::map<std::string, int> refused{};
};

/// Adds all usable trials of the database at `other` that are not here yet and chooses the winners anew; all or
/// nothing. `other` is not changed. Throws Error: as Database::open does for `other`; invalid_argument when both are
/// the same file.
MergeResult merge_database(Database& database, const std::filesystem::path& other);

/// The same for winners that carry their trials; their ids are ignored. All must be valid (validate.hpp).
MergeResult merge_winners(Database& database, std::span<const WinnerRecord> winners);

/// The same for trials.
MergeResult merge_trials(Database& database, std::span<const TrialRecord> trials);

}  // namespace stencil_tune
