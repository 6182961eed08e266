// Layers of winners: the user's over the site's over those that ship.
#include "db/trial_store.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/library/lookup/pretuned.hpp"
#include "runtime/library/lookup/site_winners.hpp"
#include "tests/db/testing.hpp"
#include "tests/runtime/expect_error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace stencil_tune {
namespace {

namespace fs = std::filesystem;

class SiteDatabase : public testing::Test {
 protected:
  SiteDatabase() { setenv("STENCIL_TUNE_PRETUNED", "off", 1); }
  ~SiteDatabase() override { unsetenv("STENCIL_TUNE_PRETUNED"); }

  /// A database with a winner of so many GStencil/s.
  fs::path database(const std::string& name, double gstencils) const {
    const fs::path path = folder_ / name;
    Database made = Database::open(path);
    TrialRecord trial = a_trial("winner", gstencils);
    trial.problem.stencil_key = stencil_key(problem_.stencil);
    trial.problem.form = stencil_form(problem_.stencil, problem_.stage);
    trial.problem.extents = problem_.extents;
    trial.problem.pitch = problem_.pitch;
    TrialStore(made).insert(trial);
    return path;
  }

  std::vector<double> rates(const LibraryOptions& options) const {
    std::vector<double> rates;
    for (const WinnerRecord& winner : open_parts(options).winners(problem_, "sm_90")) {
      rates.push_back(winner.trial.rate);
    }
    return rates;
  }

  TemporaryFolder folder_;
  Problem problem_ = make_problem(find_builtin("star3d1r"), ElementType::f32, {}, {3, {512, 512, 512}});
};

TEST_F(SiteDatabase, TheUsersOwnWinnerComesBeforeTheSites) {
  const fs::path own = database("own", 100), site = database("site", 200);
  EXPECT_EQ(rates({.database = own}), std::vector<double>{100});
  EXPECT_EQ(rates({.database = own, .site_database = site}), std::vector<double>{100});
  const fs::path empty = folder_ / "empty";
  Database::open(empty);
  EXPECT_EQ(rates({.database = empty, .site_database = site}), std::vector<double>{200});
}

TEST_F(SiteDatabase, IsNamedByTheEnvironmentToo) {
  const fs::path empty = folder_ / "empty", site = database("site", 200);
  Database::open(empty);
  setenv("STENCIL_TUNE_SITE_DB", site.c_str(), 1);
  EXPECT_EQ(rates({.database = empty}), std::vector<double>{200});
  unsetenv("STENCIL_TUNE_SITE_DB");
  EXPECT_EQ(rates({.database = empty}), std::vector<double>());
}

TEST_F(SiteDatabase, WinnersSayWhoseTheyAre) {
  const fs::path own = database("own", 100), site = database("site", 200);
  const auto origins = [&](const fs::path& user) {
    std::vector<std::string_view> all;
    Database read = Database::open(user, {.access = Access::read});
    for (const WinnerRecord& winner : winners_of_all_layers(&read, {})) all.push_back(origin_of(winner.trial));
    return all;
  };
  setenv("STENCIL_TUNE_SITE_DB", site.c_str(), 1);
  EXPECT_EQ(origins(own), std::vector<std::string_view>{"yours"});
  const fs::path empty = folder_ / "empty";
  Database::open(empty);
  EXPECT_EQ(origins(empty), std::vector<std::string_view>{"site"});
  unsetenv("STENCIL_TUNE_SITE_DB");
  EXPECT_EQ(origins(empty), std::vector<std::string_view>());
}

TEST_F(SiteDatabase, HasWinnersOfUsersKernelsToo) {
  const fs::path own = folder_ / "own", site = folder_ / "site";
  const auto tuned = [](const fs::path& path, const std::string& sizes) {
    Database made = Database::open(path);
    TrialRecord trial = a_trial("winner", 100);
    trial.code = "tile=16";
    trial.problem.kind = SubjectKind::kernel;
    trial.problem.stencil_name = "matmul";
    trial.problem.sizes = sizes;
    TrialStore(made).insert(trial);
  };
  tuned(own, "n=512");
  tuned(site, "n=512");
  tuned(site, "n=4096");
  const LibraryParts parts = open_parts({.database = own, .site_database = site});
  std::vector<std::string> found;
  for (const WinnerRecord& winner : parts.kernel_winners("matmul")) {
    found.push_back(winner.trial.problem.sizes + " " + std::string(origin_of(winner.trial)));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"n=512 yours", "n=4096 site"}));
}

TEST_F(SiteDatabase, IsReadWhereNobodyMayWriteAndMustBeThere) {
  const fs::path own = database("own", 100);
  fs::create_directory(folder_ / "shared");
  const fs::path site = database("shared/site", 200);
  fs::permissions(site, fs::perms::owner_read);
  fs::permissions(folder_ / "shared", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(rates({.database = own, .site_database = site}), std::vector<double>{100});
  fs::permissions(folder_ / "shared", fs::perms::owner_all);
  EXPECT_ERROR(rates({.database = own, .site_database = folder_ / "none"}), ErrorCode::database_io, "none");
}

}  // namespace
}  // namespace stencil_tune
