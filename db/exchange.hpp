// Winners as text, to be kept under version control and carried between machines.
//
//   {
//     "format": "stencil-tune winners", "version": 2,
//     "winners": [{"naive_gstencils": ..., "trials_seen": ..., "trial": {every column of a trial}}, ...]
//   }
//
// Each trial carries the signature of the templates it was made with. Version 1, whose trials lack the columns since
// schema 2, is read too: they get what TrialRecord says of older trials.
#pragma once

#include "db/database.hpp"
#include "db/merge.hpp"
#include "db/winner_store.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// The text for these winners; parse_winners reads it back without loss (ids aside).
std::string format_winners(std::span<const WinnerRecord> winners);

/// Reads and checks the whole text. Throws Error(invalid_argument) saying what is wrong where:
/// not this format or a newer version, fields missing, unknown or of the wrong type, values that validate.hpp rejects,
/// a trial that is not ok. A code that does not parse here is no error: it stands for a candidate that cannot run.
std::vector<WinnerRecord> parse_winners(std::string_view text);

struct ImportResult {
  MergeResult merged;
  std::vector<WinnerRecord> stale;      ///< imported, to be timed again before they are trusted (stored_code.hpp)
  std::vector<std::string> cannot_run;  ///< not imported, "CODE: reason"
};

/// All that can run, or nothing. Throws as parse_winners and Database::open do.
ImportResult import_winners(Database& database, std::string_view text);

}  // namespace stencil_tune
