// A row's checksum covers all its columns: a migration that adds columns writes it anew.
#pragma once

#include <cstddef>

struct sqlite3;

namespace stencil_tune {

/// How many columns the checksum of a trial covers: all but id and checksum. 0 where there is no such table yet.
std::size_t count_checksummed_columns(sqlite3* connection);

/// Gives every trial and winner whose checksum over the first `columns_before` columns is right the checksum over all
/// columns. Damaged rows keep theirs, and so stay damaged. In the open transaction.
void carry_checksums(sqlite3* connection, std::size_t columns_before);

}  // namespace stencil_tune
