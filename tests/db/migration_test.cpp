// Databases of older schemas and what becomes of them. That of schema 1 was made by the last program that wrote it;
// frozen/schema-1.json holds its winners as that program exported them; trial 1 and the winner of type f16 were damaged
// after that. Those of schemas 2 and 3 were made by the migrations up to there, with rows as tests/db/testing.hpp has
// them: a sweep, a run that raced by each objective, a prediction, and a first trial with a wrong checksum.
#include "db/check.hpp"
#include "db/exchange.hpp"
#include "db/file/file_header.hpp"
#include "db/file/schema.hpp"
#include "db/merge.hpp"
#include "db/rows/fields.hpp"
#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "tests/db/fault_vfs.hpp"
#include "tests/db/testing.hpp"

#include <sqlite3.h>
#include <unistd.h>

namespace stencil_tune {
namespace {

constexpr const char* kFrozen = "tests/db/frozen/schema-1.db";
constexpr const char* kFrozenWinners = "tests/db/frozen/schema-1.json";
constexpr std::size_t kFrozenTrials = 36;
const std::set<DamagedRow> kDamagedTrial{{"trials", 1}};

/// Every value of the columns of that schema, row by row, read without the library.
std::string content_of(const std::filesystem::path& path, int version) {
  std::string columns = "id";
  const TrialRecord any;
  const auto add = [&](std::string_view column, const auto&) { columns += ", " + std::string(column); };
  if (version == 1) {
    visit_trial_of_version_1(any, add);
  } else {
    visit_trial_of_version_2(any, add);
  }
  std::string content;
  for (const std::string& select : {"SELECT " + columns + " FROM trials ORDER BY id",
                                    std::string("SELECT trial_id, naive_gstencils, trials_seen, nx, ny, nz, type, gpu "
                                                "FROM winners ORDER BY trial_id")}) {
    sqlite3* connection = nullptr;
    sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READONLY, nullptr);
    const auto append = [](void* to, int count, char** values, char**) {
      for (int i = 0; i < count; ++i) *static_cast<std::string*>(to) += std::string(values[i]) + "|";
      return 0;
    };
    sqlite3_exec(connection, select.c_str(), append, &content, nullptr);
    sqlite3_close(connection);
  }
  return content;
}

/// A copy of the frozen database that may be written.
class MigrationTest : public ::testing::Test {
 protected:
  MigrationTest() { thaw(); }

  void thaw() { write_file(path_, read_file(kFrozen)); }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";
  std::string before_ = content_of(kFrozen, 1);
};

TEST_F(MigrationTest, KeepsEveryTrialAndNamesTheDamagedOne) {
  Database database = Database::open(path_);
  EXPECT_EQ(database.report().message(), "");
  EXPECT_EQ(TrialStore(database).find({}).size(), kFrozenTrials - 1);
  EXPECT_EQ(database.damaged_rows(), kDamagedTrial);
  EXPECT_EQ(inspect_file(path_).version, kSchemaVersion);
  EXPECT_EQ(content_of(path_, 1), before_);
  EXPECT_NE(before_.find("compiler's words"), std::string::npos);
}

TEST_F(MigrationTest, SaysOfOlderTrialsWhatIsKnown) {
  Database database = Database::open(path_);
  for (const TrialRecord& trial : TrialStore(database).find({})) {
    EXPECT_EQ(trial.sharpness, -1);
    EXPECT_EQ(trial.objective, "burst");
    EXPECT_EQ(trial.plan, "");
    EXPECT_EQ(trial.problem.kind, SubjectKind::stencil);
    EXPECT_EQ(trial.problem.unit, "GStencil/s");
  }
}

TEST_F(MigrationTest, KeepsEveryWinner) {
  Database database = Database::open(path_);
  auto expected = parse_winners(read_file(kFrozenWinners));
  ASSERT_EQ(std::erase_if(expected, [](auto& winner) { return winner.trial.problem.type == ElementType::f16; }), 1U);
  const auto winners = WinnerStore(database).list();
  ASSERT_EQ(winners.size(), expected.size());
  for (std::size_t i = 0; i < winners.size(); ++i) {
    expect_same(winners[i].trial, expected[i].trial);
    EXPECT_EQ(winners[i].naive_gstencils, expected[i].naive_gstencils);
    EXPECT_EQ(winners[i].trials_seen, expected[i].trials_seen);
  }
  EXPECT_EQ(database.damaged_rows(), (std::set<DamagedRow>{{"winners", 6}}));
}

TEST_F(MigrationTest, ReadingLeavesTheFileAsItIs) {
  const std::string bytes = read_file(path_);
  Database target = Database::open(folder_ / "target.db");
  EXPECT_EQ(merge_database(target, path_).added, static_cast<int>(kFrozenTrials) - 1);
  const CheckResult check = check_database(path_);
  EXPECT_EQ(check.schema_version, 1);
  EXPECT_EQ(check.problems.size(), 2U);
  Database read = Database::open(path_, {.access = Access::read});
  EXPECT_EQ(WinnerStore(read).list().size(), 5U);
  EXPECT_EQ(error_of([&] { TrialStore(read).insert(a_trial("a", 1)); }).code(), ErrorCode::database_io);
  EXPECT_EQ(read_file(path_), bytes);
  EXPECT_EQ(files_of(folder_.path()), (std::vector<std::string>{"t.db", "target.db", "target.db-journal"}));
}

TEST_F(MigrationTest, ANewDatabaseHasTheSameSchemaAsAMigratedOne) {
  const Database migrated = Database::open(path_);
  const Database fresh = Database::open(folder_ / "fresh.db");
  EXPECT_EQ(schema_text(migrated.handle()), schema_text(fresh.handle()));
}

/// Of the schemas between the first and today's.
class LaterMigrations : public ::testing::TestWithParam<int> {
 protected:
  LaterMigrations() { thaw(); }

  void thaw() { write_file(path_, read_file(frozen_)); }

  void expect_today() {
    Database database = Database::open(path_);
    EXPECT_EQ(inspect_file(path_).version, kSchemaVersion);
    EXPECT_EQ(content_of(path_, GetParam()), before_);
    EXPECT_EQ(TrialStore(database).find({}).size(), kTrials - 1);
    EXPECT_EQ(database.damaged_rows(), kDamagedTrial);
  }

  static constexpr std::size_t kTrials = 8;
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";
  std::string frozen_ = "tests/db/frozen/schema-" + std::to_string(GetParam()) + ".db";
  std::string before_ = content_of(frozen_, GetParam());
};

TEST_P(LaterMigrations, KeepEveryValueAndNameTheDamagedRow) {
  EXPECT_NE(before_.find("12x8+4x1|energy|850"), std::string::npos);
  expect_today();
  Database database = Database::open(path_);
  for (const TrialRecord& trial : TrialStore(database).find({})) {
    EXPECT_EQ(trial.problem.kind, SubjectKind::stencil);
    EXPECT_EQ(trial.problem.sizes, "");
    EXPECT_EQ(trial.problem.unit, "GStencil/s");
  }
  const Database fresh = Database::open(folder_ / "fresh.db");
  EXPECT_EQ(schema_text(database.handle()), schema_text(fresh.handle()));
}

TEST_P(LaterMigrations, KeepEveryWinnerUnderItsObjective) {
  Database database = Database::open(path_);
  const WinnerStore winners(database);
  EXPECT_EQ(winners.list().size(), GetParam() == 2 ? 3U : 5U);
  EXPECT_EQ(winners.find(a_problem(), kGpu, Objective::burst)->trial.code, a_code("sweep"));
  ProblemKey run = a_problem();
  run.steps = 100;
  for (const Objective objective : kObjectives) {
    const auto winner = winners.find(run, kGpu, objective);
    ASSERT_EQ(winner.has_value(), GetParam() > 2 || objective == Objective::time) << name(objective);
    if (!winner) continue;
    EXPECT_EQ(winner->trial.code, a_code("by " + std::string(name(objective))));
  }
  EXPECT_EQ(database.damaged_rows(), std::set<DamagedRow>{});
}

TEST_P(LaterMigrations, ReadingLeavesTheFileAsItIs) {
  const std::string bytes = read_file(path_);
  EXPECT_EQ(check_database(path_).schema_version, GetParam());
  Database read = Database::open(path_, {.access = Access::read});
  EXPECT_EQ(TrialStore(read).find({}).size(), kTrials - 1);
  EXPECT_EQ(read_file(path_), bytes);
}

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

/// Whatever stopped it, the database is of one version or the other, with all of its content.
void expect_whole(const std::filesystem::path& path, const std::string& content, int at) {
  {
    Database database = Database::open(path, {.access = Access::read});  // also rolls back what was left
    EXPECT_EQ(TrialStore(database).find({}).size(), kFrozenTrials - 1) << at;
    EXPECT_EQ(database.damaged_rows(), kDamagedTrial) << at;
  }
  const int version = inspect_file(path).version;
  EXPECT_TRUE(version == 1 || version == kSchemaVersion) << at;
  EXPECT_EQ(content_of(path, 1), content) << at;
  Database::open(path);
  EXPECT_EQ(inspect_file(path).version, kSchemaVersion) << at;
  EXPECT_EQ(check_database(path).problems.size(), 2U) << at;
}

TEST_F(MigrationTest, DyingAtAnyStatementLeavesOneVersionOrTheOther) {
  int status = kCrashStatus;
  std::set<int> versions;
  int at = 0;
  for (; status == kCrashStatus && at < 1000; ++at) {
    thaw();
    status = open_armed(path_, [&] { die_at_statement(at); });
    versions.insert(inspect_file(path_).version);
    expect_whole(path_, before_, at);
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(at, 50) << "one statement a row at least";
  EXPECT_EQ(versions, (std::set<int>{1, kSchemaVersion}));
}

TEST_F(MigrationTest, DyingInAnyWriteLeavesOneVersionOrTheOther) {
  int status = kCrashStatus;
  int at = 0;
  for (; status == kCrashStatus && at < 1000; ++at) {
    thaw();
    status = open_armed(path_, [&] { install_faults(Fault::torn_crash, at); });
    expect_whole(path_, before_, at);
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(at, 20);
}

TEST_P(LaterMigrations, DyingAtAnyStatementLeavesOneVersionOrTheOther) {
  int status = kCrashStatus;
  int at = 0;
  for (; status == kCrashStatus && at < 1000; ++at) {
    thaw();
    status = open_armed(path_, [&] { die_at_statement(at); });
    EXPECT_EQ(content_of(path_, GetParam()), before_) << at;
    expect_today();
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(at, 10) << "one statement a row at least";
}

INSTANTIATE_TEST_SUITE_P(FromSchema, LaterMigrations, ::testing::Values(2, 3), ::testing::PrintToStringParamName());

TEST_F(MigrationTest, AFullDiskIsSaidAndLeavesVersion1) {
  const int status = in_child([&] {
    install_faults(Fault::disk_full, 5);
    return error_of([&] { Database::open(path_); }).code() == ErrorCode::database_io ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(inspect_file(path_).version, 1);
  expect_whole(path_, before_, 0);
}

}  // namespace
}  // namespace stencil_tune
