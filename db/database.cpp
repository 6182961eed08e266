#include "db/database.hpp"

#include "db/file/file_header.hpp"
#include "db/file/lock_wait.hpp"
#include "db/file/move_aside.hpp"
#include "db/file/schema.hpp"
#include "db/file/sqlite_error.hpp"
#include "db/file/statement.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace stencil_tune {
namespace {

constexpr std::string_view kOpening = "open it";

/// Absolute and without links, so that SQLite, its journal and move_aside mean the same file.
std::filesystem::path resolve(const std::filesystem::path& path, const OpenOptions& options) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (path.empty() || error || !absolute.has_filename()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' does not name a database file", path.string()));
  }
  const auto folder = absolute.parent_path();
  if (options.create_folder && options.access == Access::write) {
    std::filesystem::create_directories(folder, error);
    if (error) {
      throw Error(ErrorCode::database_io, fmt::format("database {}: its folder cannot be made: {}; name another "
                                                      "database with --db",
                                                      absolute.string(), error.message()));
    }
  }
  if (options.access == Access::write && !std::filesystem::is_directory(folder, error)) {
    throw Error(ErrorCode::database_io,
                fmt::format("database {}: there is no folder {}; make it or name another database with --db",
                            absolute.string(), folder.string()));
  }
  const auto resolved = std::filesystem::weakly_canonical(absolute, error);
  return error ? absolute : resolved;
}

[[noreturn]] void throw_foreign(const std::filesystem::path& path, const std::string& found) {
  throw Error(ErrorCode::database_foreign,
              fmt::format("database {}: the file is {}; nothing was changed; name another file with --db",
                          path.string(), found));
}

[[noreturn]] void throw_newer(const std::filesystem::path& path, std::int64_t version) {
  throw Error(ErrorCode::database_newer,
              fmt::format("database {}: it has schema version {}, this program knows versions up to {}; nothing was "
                          "changed; use a newer stencil-tune or name another database with --db",
                          path.string(), version, kSchemaVersion));
}

[[noreturn]] void throw_corrupt(const std::filesystem::path& path, const std::string& damage) {
  throw Error(ErrorCode::database_corrupt, fmt::format("database {}: it is damaged: {}", path.string(), damage));
}

/// Lets through what SQLite may open.
FileKind admit(const std::filesystem::path& path, Access access) {
  const FileHeader header = inspect_file(path);
  switch (header.kind) {
    case FileKind::missing:
    case FileKind::empty:
      if (access == Access::write) break;
      throw Error(ErrorCode::database_io, fmt::format("there is no database {} yet; tuning makes it", path.string()));
    case FileKind::ours:
      break;
    case FileKind::newer:
      throw_newer(path, header.version);
    case FileKind::damaged:
      throw_corrupt(path, header.detail);
    case FileKind::foreign:
      throw_foreign(path, header.detail);
  }
  return header.kind;
}

std::string first_integrity_problem(sqlite3* connection) {
  Statement check(connection, "PRAGMA integrity_check(1)", "check it");
  const std::string answer = check.step() ? check.text() : "no answer from its integrity check";
  return answer == "ok" ? "" : answer;
}

/// Fails now, rather than after a minute of tuning, where the file or the journal beside it cannot be written.
void probe_writing(sqlite3* connection) {
  constexpr std::string_view kDoing = "write to it";
  const Transaction rolled_back(connection, kDoing);
  execute(connection, fmt::format("PRAGMA user_version = {}", kSchemaVersion), kDoing);
}

}  // namespace

std::string OpenReport::message() const {
  if (moved_aside.empty()) return "";
  return fmt::format("the database was damaged ({}); it was moved to {} and a new one was started", damage,
                     moved_aside.string());
}

Database::Database(std::filesystem::path path) : path_(std::move(path)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

void Database::Close::operator()(sqlite3* connection) const noexcept { sqlite3_close_v2(connection); }

Database Database::open(const std::filesystem::path& path, const OpenOptions& options) {
  const auto resolved = resolve(path, options);
  try {
    return connect(resolved, options);
  } catch (const Error& error) {
    if (options.access != Access::write || error.code() == ErrorCode::database_locked) throw;
  }
  // Under the lock the file is judged again, whatever was wrong: another process may have been moving a damaged one
  // away and putting a new one there.
  const FolderLock lock(resolved.parent_path());
  OpenReport report;
  try {
    return connect(resolved, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::database_corrupt) throw;
    report.damage = error.what();
  }
  report.moved_aside = move_aside(resolved);
  Database database = connect(resolved, options);
  report.created = database.report_.created;
  database.report_ = std::move(report);
  return database;
}

Database Database::connect(const std::filesystem::path& path, const OpenOptions& options) {
  const FileKind kind = admit(path, options.access);
  Database database(path);
  database.report_.created = kind == FileKind::missing || kind == FileKind::empty;
  // Also for reading: the first to open a database after a crash has to roll its journal back. SQLite itself falls
  // back to read-only where it has no permission.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (options.access == Access::write ? SQLITE_OPEN_CREATE : 0);
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  database.connection_.reset(raw);
  if (code != SQLITE_OK) throw_sqlite_error(raw, code, fmt::format("open {}", path.string()));  // raw knows no name
  database.configure(options);
  database.verify(options);
  return database;
}

void Database::configure(const OpenOptions& options) {
  sqlite3* const connection = handle();
  lock_wait_ = std::make_unique<LockWait>(path_, options.busy_timeout, options.while_locked);
  lock_wait_->install(connection);
  // The file may come from anywhere: nothing in it may run.
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  execute(connection, "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON", kOpening);
  // Never WAL: before SQLite 3.51.3 it can lose commits when writers and checkpoints meet, and it breaks on network
  // homes. TRUNCATE spares creating and deleting the journal at each commit.
  if (options.access == Access::write) execute(connection, "PRAGMA journal_mode = TRUNCATE", kOpening);
  execute(connection, "PRAGMA synchronous = FULL", kOpening);
}

void Database::verify(const OpenOptions& options) {
  sqlite3* const connection = handle();
  const bool writing = options.access == Access::write;
  // From here on SQLite's locks hold, so that what the header said is asked again.
  if (query_integer(connection, "PRAGMA page_count", kOpening) > 0) {
    if (query_integer(connection, "PRAGMA application_id", kOpening) != kApplicationId) {
      throw_foreign(path_, "an SQLite database of another program");
    }
    const auto version = query_integer(connection, "PRAGMA user_version", kOpening);
    if (version > kSchemaVersion) throw_newer(path_, version);
    if (schema_text(connection) != expected_schema_text(static_cast<int>(version))) {
      throw_corrupt(path_, fmt::format("its tables are not those of schema version {}", version));
    }
    if (const auto problem = writing ? first_integrity_problem(connection) : ""; !problem.empty()) {
      throw_corrupt(path_, problem);
    }
  }
  if (query_integer(connection, "PRAGMA user_version", kOpening) < kSchemaVersion) {
    if (!writing) copy_into_memory();
    migrate(handle());
  }
  if (writing) {
    probe_writing(handle());
  } else {
    execute(handle(), "PRAGMA query_only = ON", kOpening);
  }
}

void Database::copy_into_memory() {
  sqlite3* raw = nullptr;
  int code = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<sqlite3, Close> memory(raw);
  if (code == SQLITE_OK) {
    sqlite3_backup* const backup = sqlite3_backup_init(raw, "main", handle(), "main");
    sqlite3_backup_step(backup, -1);
    code = sqlite3_backup_finish(backup);
  }
  if (code != SQLITE_OK) throw_sqlite_error(handle(), code, "copy it");
  connection_ = std::move(memory);
}

}  // namespace stencil_tune
