// The database file: opened only when it is ours, recovered when it is damaged, one connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

struct sqlite3;

namespace stencil_tune {

enum class Access {
  read,   ///< the file must exist and is not changed: a damaged one stays where it is, an older one is read as a copy
  write,  ///< makes the file if there is none; checks the whole of it and moves a damaged one aside
};

class LockWait;

struct OpenOptions {
  Access access = Access::write;
  bool create_folder = false;                      ///< make missing folders of the path (when writing)
  std::chrono::milliseconds busy_timeout{10'000};  ///< how long to wait for another process's lock
  /// Called about once a second while it waits, with the path and the whole seconds so far; false ends the wait. Must
  /// not throw.
  std::function<bool(const std::filesystem::path&, int)> while_locked{};
};

/// What opening did that its caller should tell the user.
struct OpenReport {
  bool created = false;
  std::filesystem::path moved_aside;  ///< where a damaged database now lies; empty when there was none
  std::string damage;                 ///< what was wrong with it

  /// One sentence for the user; empty when there is nothing to say.
  std::string message() const;
};

/// A row whose checksum does not match its content.
using DamagedRow = std::pair<std::string, std::int64_t>;  ///< table, row id

/// One open database. Use it from one thread at a time and not across fork(); threads and processes open their own.
class Database {
 public:
  /// Throws Error:
  ///   database_foreign  the file is not ours; it is left byte-identical
  ///   database_newer    a newer program made it; it is left byte-identical
  ///   database_corrupt  it is damaged and was opened for reading; opened for writing it is moved aside instead
  ///   database_locked   another process kept it locked for the whole busy_timeout, or while_locked ended the wait
  ///   database_io       missing, a missing folder, no permission, read-only, disk full
  static Database open(const std::filesystem::path& path, const OpenOptions& options = {});

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  const std::filesystem::path& path() const noexcept { return path_; }
  const OpenReport& report() const noexcept { return report_; }
  sqlite3* handle() const noexcept { return connection_.get(); }

  /// Rows that queries met and skipped so far.
  const std::set<DamagedRow>& damaged_rows() const noexcept { return damaged_rows_; }
  void add_damaged_row(std::string table, std::int64_t id) { damaged_rows_.emplace(std::move(table), id); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const noexcept;
  };

  explicit Database(std::filesystem::path path);

  /// Opens without recovering. Throws Error(database_corrupt) when a check fails.
  static Database connect(const std::filesystem::path& path, const OpenOptions& options);
  void configure(const OpenOptions& options);
  void verify(const OpenOptions& options);
  void copy_into_memory();

  std::filesystem::path path_;
  std::unique_ptr<LockWait> lock_wait_;  // SQLite has its address; it outlives the connection
  std::unique_ptr<sqlite3, Close> connection_;
  OpenReport report_;
  std::set<DamagedRow> damaged_rows_;
};

}  // namespace stencil_tune
