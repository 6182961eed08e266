// Winners as text, to be kept under version control and carried between machines.
//
//   {
//     "format": "stencil-tune winners", "version": 1,
//     "winners": [{"naive_rate": ..., "trials_seen": ..., "trial": {every column of a trial}}, ...]
//   }
//
// Each trial carries the signature of the template it was made with, and the hash of its machine code.
#pragma once

#include "db/database.hpp"
#include "db/merge.hpp"
#include "db/winner_store.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// The text for these winners; parse_winners reads it back without loss (ids aside).
std::string format_winners(std::span<const WinnerRecord> winners);

/// What a text may hold: some 20,000 winners. JSON takes 20 times its size in memory when it is malign.
inline constexpr std::size_t kLongestWinners = std::size_t{32} << 20;

/// The text of a regular file; reads no more than kLongestWinners. Throws Error: file_io; invalid_argument when
/// there is more.
std::string read_winners_file(const std::filesystem::path& path);

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
