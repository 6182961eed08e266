#include "db/file/sqlite_error.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <string>
#include <system_error>

namespace stencil_tune {
namespace {

std::string file_of(sqlite3* connection) {
  const char* path = connection ? sqlite3_db_filename(connection, "main") : nullptr;
  return path && *path ? fmt::format("database {}", path) : "database";
}

/// " (No space left on device)", or nothing where the system reported no error.
std::string system_reason(sqlite3* connection) {
  const int error = connection ? sqlite3_system_errno(connection) : 0;
  return error == 0 ? "" : fmt::format(" ({})", std::generic_category().message(error));
}

}  // namespace

void throw_sqlite_error(sqlite3* connection, int code, std::string_view doing) {
  const std::string file = file_of(connection);
  const std::string detail = connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  if (code == SQLITE_READONLY_DBMOVED) {
    // Another process found it damaged and moved it while this one had it open: opening it again finds the new one.
    throw Error(ErrorCode::database_corrupt,
                fmt::format("{}: cannot {}: another process moved it aside meanwhile; try again", file, doing));
  }
  switch (code & 0xff) {  // the low byte is the primary code, the rest refines it
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ErrorCode::database_locked,
                  fmt::format("{}: cannot {}: another process keeps it locked; wait for it to finish, end it, or name "
                              "another database with --db",
                              file, doing));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      throw Error(ErrorCode::database_corrupt, fmt::format("{}: cannot {}: it is damaged: {}", file, doing, detail));
    case SQLITE_FULL:
      throw Error(ErrorCode::database_io,
                  fmt::format("{}: cannot {}: the disk is full; what was stored before is safe; free some space or "
                              "name a database on another disk with --db",
                              file, doing));
    case SQLITE_READONLY:
      throw Error(ErrorCode::database_io,
                  fmt::format("{}: cannot {}: it is read-only; make the file and its folder writable or name another "
                              "database with --db",
                              file, doing));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw Error(ErrorCode::database_io,
                  fmt::format("{}: cannot {}: {}{}; check that the file and its folder can be written", file, doing,
                              detail, system_reason(connection)));
    default:
      throw Error(ErrorCode::internal, fmt::format("{}: cannot {}: {}", file, doing, detail));
  }
}

}  // namespace stencil_tune
