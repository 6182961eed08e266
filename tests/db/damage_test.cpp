// Damaged files: every one is either refused untouched, moved aside as it was, or gives only rows that are right.
#include "db/database.hpp"

#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "tests/db/testing.hpp"

#include <algorithm>
#include <random>

namespace stencil_tune {
namespace {

constexpr int kTrials = 40;

std::string filled_database(const std::filesystem::path& path) {
  Database database = Database::open(path);
  TrialStore store(database);
  for (int i = 0; i < kTrials; ++i) store.insert(a_trial("code" + std::to_string(i), 100 + i));
  return read_file(path);
}

/// The one file beside `name` and its journal that is a moved database; empty when there is none.
std::filesystem::path moved_database(const std::filesystem::path& folder) {
  for (const auto& name : files_of(folder)) {
    if (name.starts_with("t.db.corrupt-")) return folder / name;
  }
  return {};
}

/// What opening and reading the damaged bytes must never do is checked here; returns what it did.
std::string open_damaged(const std::string& bytes) {
  const TemporaryFolder folder;
  write_file(folder / "t.db", bytes);
  try {
    Database database = Database::open(folder / "t.db");
    if (!database.report().moved_aside.empty()) {
      EXPECT_EQ(database.report().moved_aside, moved_database(folder.path()));
      EXPECT_EQ(read_file(database.report().moved_aside), bytes);
      EXPECT_TRUE(TrialStore(database).find({}).empty());
      TrialStore(database).insert(a_trial("again", 1));
      return "moved";
    }
    const auto trials = TrialStore(database).find({});
    for (const TrialRecord& trial : trials) {
      const double rate = trial.rate;
      expect_same(trial, a_trial("code" + std::to_string(static_cast<int>(rate) - 100), rate));
    }
    const auto damaged = database.damaged_rows().size();
    EXPECT_EQ(trials.size() + damaged, static_cast<std::size_t>(kTrials));
    return damaged == 0 ? "unharmed" : "skipped";
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::database_foreign || error.code() == ErrorCode::database_newer)
        << error.what();
    EXPECT_EQ(read_file(folder / "t.db"), bytes);
    EXPECT_EQ(files_of(folder.path()), std::vector<std::string>{"t.db"});
    return "refused";
  }
}

class DamageTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string good_ = filled_database(folder_ / "t.db");
};

TEST_F(DamageTest, UndamagedCopyIsUnharmed) { EXPECT_EQ(open_damaged(good_), "unharmed"); }

TEST_F(DamageTest, TruncatedAtAnyLength) {
  std::vector<std::size_t> lengths{1, 16, 50, 71, 72, 99, 100, 511, 512, 513, 4095, 4096, 4097, 8192};
  for (std::size_t length = 1000; length < good_.size(); length += 1777) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    const std::string what = open_damaged(good_.substr(0, length));
    EXPECT_EQ(what, length < 72 ? "refused" : "moved") << length;
  }
  // SQLite reads the missing byte as 0: at least the row it belongs to goes.
  const std::string what = open_damaged(good_.substr(0, good_.size() - 1));
  EXPECT_TRUE(what == "skipped" || what == "moved") << what;
}

TEST_F(DamageTest, AnyByteOfTheHeaderChanged) {
  for (std::size_t at = 0; at < 100; ++at) {
    for (const char change : {'\x01', '\xff'}) {
      std::string bytes = good_;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      const std::string what = open_damaged(bytes);
      if (at < 16) {
        EXPECT_EQ(what, "moved") << at;
      } else if (at >= 68 && at < 72) {
        EXPECT_EQ(what, "refused") << at;
      }
    }
  }
}

TEST_F(DamageTest, BytesChangedAnywhere) {
  std::mt19937 random(7);
  std::set<std::string> seen;
  for (std::size_t at = 100; at < good_.size(); at += 97) {
    std::string bytes = good_;
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 + random() % 255));
    seen.insert(open_damaged(bytes));
  }
  // The test is worth something only if it met each kind.
  EXPECT_TRUE(seen.contains("moved"));
  EXPECT_TRUE(seen.contains("skipped"));
}

TEST_F(DamageTest, RunsOfGarbageAnywhere) {
  std::mt19937 random(8);
  for (int i = 0; i < 60; ++i) {
    std::string bytes = good_;
    const std::size_t length = 1 + random() % 3000;
    const std::size_t at = random() % (bytes.size() - std::min(length, bytes.size() - 1));
    for (std::size_t k = at; k < at + length; ++k) bytes[k] = static_cast<char>(random());
    open_damaged(bytes);
  }
}

TEST_F(DamageTest, IsSaidWithWhereTheOldOneLies) {
  write_file(folder_ / "t.db", good_.substr(0, 6000));
  const Database database = Database::open(folder_ / "t.db");
  EXPECT_TRUE(database.report().created);
  EXPECT_NE(database.report().message().find(database.report().moved_aside.string()), std::string::npos);
  EXPECT_FALSE(database.report().damage.empty());
}

TEST_F(DamageTest, SecondOneInTheSameSecondGetsAnotherName) {
  for (int i = 0; i < 3; ++i) {
    write_file(folder_ / "t.db", good_.substr(0, 6000));
    Database::open(folder_ / "t.db");
  }
  const auto files = files_of(folder_.path());
  EXPECT_EQ(std::count_if(files.begin(), files.end(), [](auto& name) { return name.starts_with("t.db.corrupt-"); }), 3);
}

TEST_F(DamageTest, JournalGoesWithItsDatabase) {
  // With such a header SQLite never sees the file, so that the journal is as the crash left it.
  const std::string bytes = "garbage" + good_.substr(7);
  write_file(folder_ / "t.db", bytes);
  write_file(folder_ / "t.db-journal", "what a crash left");
  const Database database = Database::open(folder_ / "t.db");
  const auto aside = database.report().moved_aside;
  EXPECT_EQ(read_file(aside), bytes);
  EXPECT_EQ(read_file(aside.string() + "-journal"), "what a crash left");
}

TEST_F(DamageTest, StaysWhereItIsWhenOpenedForReading) {
  const std::string bytes = good_.substr(0, 6000);
  write_file(folder_ / "t.db", bytes);
  const Error error = error_of([&] {
    Database database = Database::open(folder_ / "t.db", {.access = Access::read});
    TrialStore(database).find({});
  });
  EXPECT_EQ(error.code(), ErrorCode::database_corrupt);
  EXPECT_EQ(read_file(folder_ / "t.db"), bytes);
  EXPECT_TRUE(moved_database(folder_.path()).empty());
}

TEST_F(DamageTest, ForeignTablesUnderOurIdAreMovedAside) {
  run_sql(folder_ / "t.db", "ALTER TABLE trials RENAME COLUMN code TO kode");
  EXPECT_FALSE(Database::open(folder_ / "t.db").report().moved_aside.empty());
}

TEST_F(DamageTest, TriggersAreNotAcceptedAsOurSchema) {
  run_sql(folder_ / "t.db", "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM winners; END");
  EXPECT_FALSE(Database::open(folder_ / "t.db").report().moved_aside.empty());
}

TEST_F(DamageTest, ProcessesRecoveringAtOnceLoseNothing) {
  write_file(folder_ / "t.db", good_.substr(0, 6000));
  std::vector<int> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(start_child([&, i] {
      Database database = Database::open(folder_ / "t.db");
      TrialStore(database).insert(a_trial("child" + std::to_string(i), 100 + i));
      return 0;
    }));
  }
  for (const int child : children) EXPECT_EQ(wait_for_child(child), 0);
  Database database = Database::open(folder_ / "t.db");
  EXPECT_EQ(TrialStore(database).find({}).size(), 4U);
  const auto files = files_of(folder_.path());
  EXPECT_EQ(std::count_if(files.begin(), files.end(), [](auto& name) { return name.starts_with("t.db.corrupt-"); }), 1);
}

}  // namespace
}  // namespace stencil_tune
