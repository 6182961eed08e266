// `db check`: the whole truth about a database file, changing nothing.
#pragma once

#include "db/database.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace stencil_tune {

struct CheckResult {
  std::filesystem::path path;
  int schema_version = 0;
  std::int64_t bytes = 0;
  int trials = 0;  ///< rows, damaged ones too
  int winners = 0;
  int stale = 0;  ///< winners whose template has changed since
  /// Rows that are whole and passed over (stored_code.hpp): winners that cannot run, trials whose code does not parse.
  std::vector<std::string> cannot_run;
  std::vector<std::string> problems;  ///< damage, one sentence each; empty when all is well

  bool ok() const noexcept { return problems.empty(); }
};

/// Pages and indices (SQLite's integrity check), the schema, each row's checksum, each winner's trial.
/// A damaged file is a result, not an error, and stays where it is.
/// Throws Error: database_foreign, database_newer, database_locked, database_io.
CheckResult check_database(const std::filesystem::path& path);

}  // namespace stencil_tune
