#include "db/check.hpp"

#include "db/file/schema.hpp"
#include "db/trial_store.hpp"
#include "stencil_tune/stencil.hpp"
#include "tests/db/testing.hpp"

#include <fmt/format.h>

namespace stencil_tune {
namespace {

class CheckTest : public ::testing::Test {
 protected:
  CheckTest() {
    Database database = Database::open(path_);
    TrialStore store(database);
    store.insert(a_trial("a", 100));
    store.insert(a_failure("b", Outcome::timeout));
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";
};

TEST_F(CheckTest, WholeDatabaseIsOkAndCounted) {
  const CheckResult result = check_database(path_);
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.path, path_);
  EXPECT_EQ(result.schema_version, kSchemaVersion);
  EXPECT_EQ(result.trials, 2);
  EXPECT_EQ(result.winners, 1);
  EXPECT_EQ(result.stale, 0);
  EXPECT_EQ(result.bytes, static_cast<std::int64_t>(std::filesystem::file_size(path_)));
}

TEST_F(CheckTest, CountsStaleWinners) {
  Database database = Database::open(path_);
  TrialRecord old = a_trial("old", 100);
  old.problem.type = ElementType::f64;
  old.platform.template_signature = kOldSignature;
  TrialStore(database).insert(old);
  EXPECT_EQ(check_database(path_).stale, 1);
}

TEST_F(CheckTest, NamesWinnersAndCodesThatCannotRunWithoutCallingThemDamage) {
  Database database = Database::open(path_);
  TrialRecord retired = a_failure("retired", Outcome::timeout);
  retired.code = "direct.bx32.nonsense";
  TrialStore(database).insert(retired);
  TrialStore(database).insert(retired);
  TrialRecord illegal = a_trial("direct.bx32.by1024", 100);
  illegal.problem.stencil_key = stencil_key(find_builtin(illegal.problem.stencil_name));
  const auto id = TrialStore(database).insert(illegal).id;

  const CheckResult result = check_database(path_);
  EXPECT_TRUE(result.ok());
  ASSERT_EQ(result.cannot_run.size(), 2U);
  EXPECT_TRUE(result.cannot_run[0].starts_with("2 trials cannot run: direct.bx32.nonsense: ")) << result.cannot_run[0];
  EXPECT_TRUE(result.cannot_run[1].starts_with(fmt::format("winner {} cannot run: direct.bx32.by1024: ", id)))
      << result.cannot_run[1];
}

TEST_F(CheckTest, NamesRowsWhoseChecksumIsWrong) {
  run_sql(path_, "UPDATE trials SET code = 'x' WHERE id = 2; UPDATE winners SET naive_rate = 5");
  const CheckResult result = check_database(path_);
  ASSERT_EQ(result.problems.size(), 2U);
  EXPECT_NE(result.problems[0].find("row 2 of trials"), std::string::npos);
  EXPECT_NE(result.problems[1].find("row 1 of winners"), std::string::npos);
  EXPECT_EQ(result.trials, 2);
}

TEST_F(CheckTest, DamagedFileIsAResultAndStays) {
  const std::string bytes = read_file(path_).substr(0, 6000);
  write_file(path_, bytes);
  EXPECT_FALSE(check_database(path_).ok());
  EXPECT_EQ(read_file(path_), bytes);
}

TEST_F(CheckTest, DamagedIndexIsFound) {
  // Overwrites the key of an index entry: the tables are whole, the index no longer agrees with them.
  std::string bytes = read_file(path_);
  const std::string key = a_problem().stencil_key;
  std::size_t found = 0;
  for (std::size_t at = bytes.find(key); at != std::string::npos; at = bytes.find(key, at + 1)) {
    std::string damaged = bytes;
    damaged[at] = 'X';
    write_file(path_, damaged);
    if (!check_database(path_).ok()) ++found;
  }
  EXPECT_EQ(found, 6U);  // two trials and their two index entries, a winner and its index entry
}

TEST_F(CheckTest, ForeignAndMissingAreErrors) {
  write_file(folder_ / "x.txt", "hello");
  EXPECT_EQ(error_of([&] { check_database(folder_ / "x.txt"); }).code(), ErrorCode::database_foreign);
  EXPECT_EQ(error_of([&] { check_database(folder_ / "none.db"); }).code(), ErrorCode::database_io);
}

}  // namespace
}  // namespace stencil_tune
