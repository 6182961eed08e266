#include "db/database.hpp"

#include "db/file/schema.hpp"
#include "db/file/statement.hpp"
#include "db/trial_store.hpp"
#include "tests/db/testing.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kNobody = 65534;

/// Runs `body` in a child that file permissions bind, also where the tests run as root.
int unprivileged(const std::function<int()>& body) {
  return in_child([&] {
    if (geteuid() == 0 && setuid(kNobody) != 0) return 77;
    return body();
  });
}

int code_of_open(const std::filesystem::path& path, Access access = Access::write) {
  try {
    Database::open(path, {.access = access});
  } catch (const Error& error) {
    return static_cast<int>(error.code());
  }
  return 98;
}

TEST(Database, NewFileIsOursAndSaysSo) {
  const TemporaryFolder folder;
  {
    const Database database = Database::open(folder / "t.db");
    EXPECT_TRUE(database.report().created);
    EXPECT_EQ(database.report().message(), "");
  }
  const std::string bytes = read_file(folder / "t.db");
  EXPECT_EQ(bytes.substr(68, 4), "\x53\x54\xEC\x11");
  EXPECT_EQ(bytes.substr(60, 4), std::string("\0\0\0\x01", 4));
  EXPECT_FALSE(Database::open(folder / "t.db").report().created);
}

TEST(Database, EmptyFileBecomesADatabase) {
  const TemporaryFolder folder;
  write_file(folder / "t.db", "");
  EXPECT_TRUE(Database::open(folder / "t.db").report().created);
}

std::string journal_mode(const Database& database) {
  Statement mode(database.handle(), "PRAGMA journal_mode", "ask");
  return mode.step() ? mode.text() : "";
}

TEST(Database, KeepsARollbackJournalAndSyncsFully) {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "t.db");
  EXPECT_EQ(journal_mode(database), "truncate");
  EXPECT_EQ(query_integer(database.handle(), "PRAGMA synchronous", "ask"), 2);
  TrialStore(database).insert(a_trial("a", 1));
  EXPECT_EQ(files_of(folder.path()), (std::vector<std::string>{"t.db", "t.db-journal"}));
  EXPECT_EQ(std::filesystem::file_size(folder / "t.db-journal"), 0U);
}

TEST(Database, LeavesWalWhenAnotherToolSwitchedToIt) {
  const TemporaryFolder folder;
  { Database::open(folder / "t.db"); }
  run_sql(folder / "t.db", "PRAGMA journal_mode = WAL");
  EXPECT_EQ(journal_mode(Database::open(folder / "t.db")), "truncate");
}

TEST(Database, ForeignFilesAreRefusedAndLeftAlone) {
  const TemporaryFolder folder;
  run_sql(folder / "other.db", "CREATE TABLE bookmarks (url TEXT); PRAGMA application_id = 7");
  write_file(folder / "text.db", "dear diary\n" + std::string(5000, 'x'));
  write_file(folder / "short.db", "hi");
  write_file(folder / "zeros.db", std::string(8192, '\0'));
  write_file(folder / "byte.db", "x");
  for (const char* name : {"other.db", "text.db", "short.db", "zeros.db", "byte.db"}) {
    const std::string before = read_file(folder / name);
    const auto files = files_of(folder.path());
    for (const Access access : {Access::read, Access::write}) {
      EXPECT_EQ(code_of_open(folder / name, access), static_cast<int>(ErrorCode::database_foreign)) << name;
    }
    EXPECT_EQ(read_file(folder / name), before) << name;
    EXPECT_EQ(files_of(folder.path()), files) << name;
  }
}

TEST(Database, ForeignDatabaseWithAHotJournalIsNotRolledBack) {
  const TemporaryFolder folder;
  run_sql(folder / "other.db", "CREATE TABLE bookmarks (url TEXT)");
  const std::string database = read_file(folder / "other.db");
  const std::string journal("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\1 and more", 20);
  write_file(folder / "other.db-journal", journal);
  EXPECT_EQ(code_of_open(folder / "other.db"), static_cast<int>(ErrorCode::database_foreign));
  EXPECT_EQ(read_file(folder / "other.db"), database);
  EXPECT_EQ(read_file(folder / "other.db-journal"), journal);
}

TEST(Database, NewerIsRefusedAndLeftAlone) {
  const TemporaryFolder folder;
  { Database::open(folder / "t.db"); }
  run_sql(folder / "t.db",
          "CREATE TABLE plans (id INTEGER); PRAGMA user_version = " + std::to_string(kSchemaVersion + 1));
  const std::string before = read_file(folder / "t.db");
  for (const Access access : {Access::read, Access::write}) {
    EXPECT_EQ(code_of_open(folder / "t.db", access), static_cast<int>(ErrorCode::database_newer));
  }
  EXPECT_EQ(read_file(folder / "t.db"), before);
}

TEST(Database, HalfMadeFileOfACrashIsFinished) {
  const TemporaryFolder folder;
  run_sql(folder / "t.db", "PRAGMA application_id = " + std::to_string(kApplicationId) + "; VACUUM");
  Database database = Database::open(folder / "t.db");
  EXPECT_TRUE(database.report().moved_aside.empty());
  TrialStore(database).insert(a_trial("a", 1));
}

TEST(Database, FolderDeviceAndOddNamesAreRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(code_of_open(folder.path()), static_cast<int>(ErrorCode::database_io));
  EXPECT_EQ(code_of_open("/dev/null"), static_cast<int>(ErrorCode::database_io));
  EXPECT_EQ(code_of_open(""), static_cast<int>(ErrorCode::invalid_argument));
  EXPECT_EQ(code_of_open(folder / "t.db/"), static_cast<int>(ErrorCode::invalid_argument));
}

TEST(Database, APipeInThePlaceOfItsJournalIsRefusedAndNotWaitedFor) {
  for (const char* ending : {"-journal", "-wal"}) {
    const TemporaryFolder folder;
    Database::open(folder / "t.db");
    const auto pipe = folder / (std::string("t.db") + ending);
    std::filesystem::remove(pipe);  // SQLite may leave an empty journal
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const Access access : {Access::read, Access::write}) {
      EXPECT_EQ(code_of_open(folder / "t.db", access), static_cast<int>(ErrorCode::database_io)) << ending;
    }
  }
}

TEST(Database, NamesThatSqliteWouldInterpretAreFiles) {
  const TemporaryFolder folder;
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  { Database::open(":memory:"); }
  { Database::open("file:x?mode=memory"); }
  std::filesystem::current_path(here);
  EXPECT_TRUE(std::filesystem::exists(folder / ":memory:"));
  EXPECT_TRUE(std::filesystem::exists(folder / "file:x?mode=memory"));
}

TEST(Database, LinkMeansItsTarget) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  { Database::open(folder / "real/t.db"); }
  std::filesystem::create_symlink(folder / "real/t.db", folder / "link.db");
  EXPECT_EQ(Database::open(folder / "link.db").path(), folder / "real/t.db");
}

TEST(Database, ReadingNeedsAFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(code_of_open(folder / "t.db", Access::read), static_cast<int>(ErrorCode::database_io));
  EXPECT_TRUE(files_of(folder.path()).empty());
}

TEST(Database, OpenedForReadingRefusesWrites) {
  const TemporaryFolder folder;
  { Database::open(folder / "t.db"); }
  Database database = Database::open(folder / "t.db", {.access = Access::read});
  EXPECT_EQ(error_of([&] { TrialStore(database).insert(a_trial("a", 1)); }).code(), ErrorCode::database_io);
}

TEST(Database, ReadOnlyFileIsReadAndNotWritten) {
  const TemporaryFolder folder;
  {
    Database database = Database::open(folder / "t.db");
    TrialStore(database).insert(a_trial("a", 1));
  }
  chmod(folder.path().c_str(), 0755);
  chmod((folder / "t.db").c_str(), 0444);
  const int status = unprivileged([&] {
    if (code_of_open(folder / "t.db") != static_cast<int>(ErrorCode::database_io)) return 1;
    Database database = Database::open(folder / "t.db", {.access = Access::read});
    return TrialStore(database).find({}).size() == 1 ? 0 : 2;
  });
  if (status == 77) GTEST_SKIP() << "root that cannot drop its rights";
  EXPECT_EQ(status, 0);
}

TEST(Database, ReadOnlyFolderIsSaidWhenOpeningForWriting) {
  const TemporaryFolder folder;
  { Database::open(folder / "t.db"); }
  std::filesystem::remove(folder / "t.db-journal");
  chmod((folder / "t.db").c_str(), 0666);
  chmod(folder.path().c_str(), 0555);
  const int status = unprivileged([&] {
    if (code_of_open(folder / "t.db") != static_cast<int>(ErrorCode::database_io)) return 1;
    return code_of_open(folder / "new.db") == static_cast<int>(ErrorCode::database_io) ? 0 : 2;
  });
  chmod(folder.path().c_str(), 0755);
  if (status == 77) GTEST_SKIP() << "root that cannot drop its rights";
  EXPECT_EQ(status, 0);
}

TEST(Database, UnreadableFileIsAnIoError) {
  const TemporaryFolder folder;
  { Database::open(folder / "t.db"); }
  chmod(folder.path().c_str(), 0755);
  chmod((folder / "t.db").c_str(), 0000);
  const int status =
      unprivileged([&] { return code_of_open(folder / "t.db") == static_cast<int>(ErrorCode::database_io) ? 0 : 1; });
  if (status == 77) GTEST_SKIP() << "root that cannot drop its rights";
  EXPECT_EQ(status, 0);
}

/// A process that keeps the database locked for as long as it is told to.
class LockingProcess {
 public:
  explicit LockingProcess(const std::filesystem::path& path) {
    int locked[2];
    int release[2];
    if (pipe(locked) != 0 || pipe(release) != 0) throw std::runtime_error("no pipes");
    child_ = start_child([&] {
      sqlite3* other = nullptr;
      sqlite3_open(path.c_str(), &other);
      sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr);
      char byte = 0;
      if (write(locked[1], &byte, 1) != 1 || read(release[0], &byte, 1) != 1) return 1;
      sqlite3_close(other);
      return 0;
    });
    char byte = 0;
    if (read(locked[0], &byte, 1) != 1) throw std::runtime_error("the child did not lock");
    release_ = release[1];
    for (const int end : {locked[0], locked[1], release[0]}) close(end);
  }

  /// The lock is gone when this returns.
  int release() const {
    const char byte = 0;
    if (write(release_, &byte, 1) != 1) return -1;
    close(release_);
    return wait_for_child(child_);
  }

 private:
  int child_ = 0;
  int release_ = -1;
};

TEST(Database, LockedByAnotherProcessIsSaidAndNothingIsLost) {
  const TemporaryFolder folder;
  Database database = Database::open(folder / "t.db", {.busy_timeout = 50ms});
  TrialStore store(database);
  store.insert(a_trial("a", 1));
  const LockingProcess other(folder / "t.db");
  const Error error = error_of([&] { store.insert(a_trial("b", 2)); });
  const Error opening = error_of([&] { Database::open(folder / "t.db", {.busy_timeout = 50ms}); });
  EXPECT_EQ(other.release(), 0);

  EXPECT_EQ(error.code(), ErrorCode::database_locked);
  EXPECT_NE(std::string(error.what()).find("another process"), std::string::npos);
  EXPECT_EQ(opening.code(), ErrorCode::database_locked);
  store.insert(a_trial("b", 2));
  EXPECT_EQ(store.find({}).size(), 2U);
}

TEST(Database, WaitsForALockTellsAndGoesOn) {
  const TemporaryFolder folder;
  std::optional<LockingProcess> other;
  std::vector<int> told;
  OpenOptions options{.busy_timeout = 10min};
  options.while_locked = [&](const std::filesystem::path& path, int seconds) {
    EXPECT_EQ(path, folder / "t.db");
    told.push_back(seconds);
    return told.size() < 2 || other->release() == 0;
  };
  Database database = Database::open(folder / "t.db", options);
  other.emplace(folder / "t.db");
  TrialStore(database).insert(a_trial("a", 1));
  EXPECT_EQ(TrialStore(database).find({}).size(), 1U);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_LT(told[0], told[1]);
}

TEST(Database, WaitingForALockEndsWhereItIsToldTo) {
  const TemporaryFolder folder;
  Database database =
      Database::open(folder / "t.db", {.busy_timeout = 10min, .while_locked = [](auto&, int) { return false; }});
  const LockingProcess other(folder / "t.db");
  EXPECT_EQ(error_of([&] { TrialStore(database).insert(a_trial("a", 1)); }).code(), ErrorCode::database_locked);
  EXPECT_EQ(other.release(), 0);
}

TEST(Database, OpeningAgainKeepsTheLocksOfThisProcess) {
  const TemporaryFolder folder;
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  // Forked before anything is opened: SQLite keeps books of a process's locks, which a later child would inherit.
  const int child = start_child([&] {
    char byte = 0;
    if (read(go[0], &byte, 1) != 1) return 1;
    try {
      Database::open(folder / "t.db", {.busy_timeout = 10ms});
    } catch (const Error& error) {
      return error.code() == ErrorCode::database_locked ? 0 : 2;
    }
    return 3;
  });
  Database database = Database::open(folder / "t.db");
  const Transaction transaction(database.handle(), "hold the lock");
  // Closing a second descriptor of a file drops all locks of the process on it, by the rules of POSIX.
  { Database::open(folder / "t.db", {.access = Access::read}); }
  EXPECT_EQ(write(go[1], "", 1), 1);
  EXPECT_EQ(wait_for_child(child), 0);
  for (const int end : go) close(end);
}

}  // namespace
}  // namespace stencil_tune
