// SQLite's result codes in this project's words.
#pragma once

#include <string_view>

struct sqlite3;

namespace stencil_tune {

/// Throws the Error that fits SQLite's result `code`: database_locked, database_corrupt, database_io or internal.
/// `doing` completes "cannot ...", e.g. "store a trial".
[[noreturn]] void throw_sqlite_error(sqlite3* connection, int code, std::string_view doing);

}  // namespace stencil_tune
