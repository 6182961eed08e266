#include "db/location.hpp"

#include "tests/db/testing.hpp"

#include <cstdlib>

namespace stencil_tune {
namespace {

/// Sets or, with null, unsets a variable, and puts it back.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* old = std::getenv(name);
    had_ = old != nullptr;
    if (had_) old_ = old;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { had_ ? setenv(name_.c_str(), old_.c_str(), 1) : unsetenv(name_.c_str()); }

 private:
  std::string name_;
  std::string old_;
  bool had_ = false;
};

TEST(Location, OptionThenVariableThenDataFolderThenHome) {
  const Variable home("HOME", "/home/someone");
  const Variable data("XDG_DATA_HOME", "/data");
  const Variable named("STENCIL_TUNE_DB", "/named/x.db");
  EXPECT_EQ(locate_database("mine.db").path, "mine.db");
  EXPECT_FALSE(locate_database("mine.db").by_default);
  EXPECT_EQ(locate_database("").path, "/named/x.db");
  EXPECT_FALSE(locate_database("").by_default);
  const Variable empty("STENCIL_TUNE_DB", "");
  EXPECT_EQ(locate_database("").path, "/data/stencil-tune/stencil-tune.db");
  EXPECT_TRUE(locate_database("").by_default);
  const Variable relative("XDG_DATA_HOME", "data");
  EXPECT_EQ(locate_database("").path, "/home/someone/.local/share/stencil-tune/stencil-tune.db");
  const Variable none("XDG_DATA_HOME", nullptr);
  EXPECT_EQ(locate_database("").path, "/home/someone/.local/share/stencil-tune/stencil-tune.db");
}

TEST(Location, NothingSetIsAnError) {
  const Variable home("HOME", nullptr);
  const Variable data("XDG_DATA_HOME", nullptr);
  const Variable named("STENCIL_TUNE_DB", nullptr);
  EXPECT_EQ(error_of([] { locate_database(""); }).code(), ErrorCode::invalid_argument);
}

TEST(Location, DefaultFoldersAreMade) {
  const TemporaryFolder folder;
  const Variable data("XDG_DATA_HOME", (folder / "a/b").c_str());
  const Variable named("STENCIL_TUNE_DB", nullptr);
  const Database database = open_database("", {});
  EXPECT_EQ(database.path(), folder / "a/b/stencil-tune/stencil-tune.db");
  EXPECT_TRUE(database.report().created);
}

TEST(Location, ReadingTheDefaultMakesNothing) {
  const TemporaryFolder folder;
  const Variable data("XDG_DATA_HOME", (folder / "a").c_str());
  const Variable named("STENCIL_TUNE_DB", nullptr);
  EXPECT_EQ(error_of([] { open_database("", {.access = Access::read}); }).code(), ErrorCode::database_io);
  EXPECT_TRUE(files_of(folder.path()).empty());
}

TEST(Location, MissingFolderOfANamedDatabaseIsAnError) {
  const TemporaryFolder folder;
  const auto path = folder / "missing/x.db";
  const Error error = error_of([&] { open_database(path.string(), {}); });
  EXPECT_EQ(error.code(), ErrorCode::database_io);
  EXPECT_NE(std::string(error.what()).find("missing"), std::string::npos);
  EXPECT_TRUE(files_of(folder.path()).empty());
}

}  // namespace
}  // namespace stencil_tune
