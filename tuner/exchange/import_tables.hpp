// Trials of other tuners' files into the database.
#pragma once

#include "db/database.hpp"
#include "db/merge.hpp"
#include "tuner/exchange/trial_table.hpp"

#include <optional>
#include <span>

namespace stencil_tune {

/// Adds the rows that are trials of this version's kernels (stencil_tables.hpp) and are not here yet, in one
/// transaction. A row is here already when its candidate has a trial that failed as well, or took the same time.
MergeResult import_tables(Database& database, std::span<const TrialTable> tables,
                          const std::optional<TrialRecord>& like);

}  // namespace stencil_tune
