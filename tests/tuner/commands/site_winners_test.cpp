// The verbs that read winners see the site's database beneath the user's own, as the library does.
#include "tests/tuner/commands/program_run.hpp"

#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "stencil_tune/stencil.hpp"
#include "tests/db/testing.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace stencil_tune {
namespace {

class SiteWinnersTest : public CommandLineTest {
 protected:
  SiteWinnersTest() {
    ::setenv("STENCIL_TUNE_SITE_DB", site.c_str(), 1);
    Database::open(database);
  }
  ~SiteWinnersTest() override { ::unsetenv("STENCIL_TUNE_SITE_DB"); }

  static void insert(const std::string& path, const std::string& code, std::int64_t n,
                     const std::string& gpu = "NVIDIA H200") {
    TrialRecord trial = a_trial(code, 400);
    trial.problem.stencil_key = stencil_key(find_builtin("star3d1r"));
    trial.problem.extents.n = {n, n, n};
    trial.problem.pitch = n;
    trial.platform.gpu = gpu;
    Database opened = Database::open(path);
    TrialStore(opened).insert(trial);
    WinnerStore(opened).settle(trial.problem, trial.platform.gpu, Objective::burst);
  }

  nlohmann::json listed() const { return nlohmann::json::parse(run("list --json").out); }

  std::string site = (folder.path() / "site.db").string();
};

TEST_F(SiteWinnersTest, AreListedWhereTheUserHasNone) {
  insert(site, "direct.bx64.by4", 320);
  insert(site, "direct.bx64.by2", 640);
  const auto alone = listed();
  ASSERT_EQ(alone.size(), 2u);
  EXPECT_EQ(alone[0]["origin"], "site");
  insert(database, "direct.bx32.by8", 320);
  const auto both = listed();
  ASSERT_EQ(both.size(), 2u) << both;
  EXPECT_EQ(both[0]["origin"], "yours");
  EXPECT_EQ(both[0]["code"], "direct.bx32.by8");
  EXPECT_EQ(both[1]["origin"], "site");
}

TEST_F(SiteWinnersTest, AreShownAndExportedByTheirIds) {
  insert(site, "direct.bx64.by4", 320);
  const std::string id = listed()[0]["id"];
  EXPECT_EQ(id.substr(0, 4), "site");
  const ProgramRun shown = run("show " + id);
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("origin: of the site's database"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("direct.bx64.by4"), std::string::npos) << shown.out;
  const ProgramRun exported = run("export " + id);
  EXPECT_NE(exported.out.find("; of the site's database\n"), std::string::npos) << exported.out.substr(0, 500);
  expect_error("db remove " + id, 2, "give ids");
}

TEST_F(SiteWinnersTest, ServeAProblemThatWasTunedThereAlone) {
  insert(site, "direct.bx64.by4", 320);
  EXPECT_NE(run("show --dims 320").out.find("direct.bx64.by4"), std::string::npos);
  insert(database, "direct.bx32.by8", 320);
  EXPECT_NE(run("show --dims 320").out.find("direct.bx32.by8"), std::string::npos);
}

TEST_F(SiteWinnersTest, ADatabaseThatIsNotThereIsAnErrorAndNoneIsMade) {
  expect_error("list", 1, "site.db");
  EXPECT_FALSE(std::filesystem::exists(site));
}

TEST_F(SiteWinnersTest, BundlesHaveAFileForEachGpuModel) {
  insert(site, "direct.bx64.by4", 320);
  insert(database, "direct.bx64.by4", 320);
  insert(database, "direct.bx64.by2", 320, "NVIDIA A100-SXM4-80GB");
  const auto bundles = folder.path() / "bundles";
  ASSERT_EQ(run("db export " + bundles.string() + " --by-gpu").status, 0);
  EXPECT_NE(read(bundles / "NVIDIA-H200.json").find("direct.bx64.by4"), std::string::npos);
  EXPECT_EQ(read(bundles / "NVIDIA-H200.json").find("A100"), std::string::npos);
  EXPECT_NE(read(bundles / "NVIDIA-A100-SXM4-80GB.json").find("direct.bx64.by2"), std::string::npos);
  const std::string other = (folder.path() / "other.db").string();
  EXPECT_EQ(run("db import " + (bundles / "NVIDIA-H200.json").string() + " --db " + other).status, 0);
  EXPECT_EQ(WinnerStore(*std::make_unique<Database>(Database::open(other))).list().size(), 1u);
  expect_error("db export --by-gpu", 2, "which folder");
  expect_error("db check --by-gpu", 2, "--by-gpu");
}

}  // namespace
}  // namespace stencil_tune
