// `db prune`: takes rows out that nothing can use.
#pragma once

#include "db/database.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace stencil_tune {

struct PruneResult {
  int damaged = 0;                      ///< trials whose checksum is wrong
  std::map<std::string, int> unusable;  ///< trials whose code does not parse, "CODE: reason", and how many
  int winners = 0;                      ///< winners that were damaged, or whose trials went
  std::filesystem::path copy;           ///< the whole database as it was; empty when there was nothing to take out

  bool nothing() const noexcept { return damaged == 0 && unusable.empty() && winners == 0; }
};

/// Removes what `db check` calls damaged rows and trials that cannot run, all or nothing, and chooses the winners of
/// their problems anew. First a copy of the database is put beside it: a newer version may know those codes.
/// Throws Error as Database::open does.
PruneResult prune_database(Database& database);

}  // namespace stencil_tune
