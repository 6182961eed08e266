// Migrations, of which there is one so far: the schema of a new file.
#include "db/file/file_header.hpp"
#include "db/file/schema.hpp"
#include "db/trial_store.hpp"
#include "tests/db/fault_vfs.hpp"
#include "tests/db/testing.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <set>

namespace stencil_tune {
namespace {

int statements_left = 0;  // until the child dies

int die_at_none_left(unsigned, void*, void*, void*) {
  if (statements_left-- == 0) _exit(kCrashStatus);
  return 0;
}

int trace_statements(sqlite3* connection, char**, const void*) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_STMT, die_at_none_left, nullptr);
}

/// Ends this process when a connection opened from now on begins the statement with number `at`.
void die_at_statement(int at) {
  statements_left = at;
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(trace_statements));
}

/// Opens the database in a child after `arm`, and returns how the child ended.
int open_armed(const std::filesystem::path& path, const std::function<void()>& arm) {
  return in_child([&] {
    arm();
    Database::open(path);
    return 0;
  });
}

class MigrationTest : public ::testing::Test {
 protected:
  /// 0 where there is nothing yet.
  int version() const { return std::filesystem::exists(path_) ? inspect_file(path_).version : 0; }

  /// Whatever stopped it, the next one has a whole database.
  void expect_usable() {
    Database database = Database::open(path_);
    EXPECT_EQ(version(), kSchemaVersion);
    EXPECT_EQ(schema_text(database.handle()), expected_schema_text(kSchemaVersion));
    TrialStore(database).insert(a_trial("a", 1));
    EXPECT_EQ(TrialStore(database).find({}).size(), 1U);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";
};

TEST_F(MigrationTest, DyingAtAnyStatementLeavesOneVersionOrTheOther) {
  std::set<int> versions;
  int at = 0;
  for (int status = kCrashStatus; status == kCrashStatus && at < 1000; ++at) {
    for (const std::string& file : files_of(folder_.path())) std::filesystem::remove(folder_ / file);
    status = open_armed(path_, [&] { die_at_statement(at); });
    versions.insert(version());
    expect_usable();
  }
  EXPECT_GT(at, 5);
  EXPECT_EQ(versions, (std::set<int>{0, kSchemaVersion}));
}

TEST_F(MigrationTest, DyingInAnyWriteLeavesOneVersionOrTheOther) {
  int at = 0;
  for (int status = kCrashStatus; status == kCrashStatus && at < 1000; ++at) {
    for (const std::string& file : files_of(folder_.path())) std::filesystem::remove(folder_ / file);
    status = open_armed(path_, [&] { install_faults(Fault::torn_crash, at); });
    expect_usable();
  }
  EXPECT_GT(at, 5);
}

TEST_F(MigrationTest, AFullDiskIsSaid) {
  const int status = in_child([&] {
    install_faults(Fault::disk_full, 2);
    return error_of([&] { Database::open(path_); }).code() == ErrorCode::database_io ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  expect_usable();
}

}  // namespace
}  // namespace stencil_tune
