// Winners that ship: listed, shown, exported, reported, and taken out of a database that they were imported into.
#include "db/database.hpp"
#include "tests/tuner/commands/program_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <string>

namespace stencil_tune {
namespace {

/// The winners that ship, in a database.
class ShippedTest : public CommandLineTest {
 protected:
  void SetUp() override { ASSERT_EQ(run("db import " STENCIL_TUNE_SHIPPED_WINNERS).status, 0); }

  nlohmann::json listed(const std::string& options) const {
    return nlohmann::json::parse(run("list --json " + options).out);
  }
};

TEST_F(ShippedTest, ListIsNarrowedByStencilTypeAndGpu) {
  const std::size_t all = listed("").size();
  const auto stars = listed("--stencil star3d1r");
  EXPECT_GT(stars.size(), 0u);
  EXPECT_LT(stars.size(), all);
  for (const auto& winner : stars) EXPECT_EQ(winner["stencil"], "star3d1r");
  for (const auto& winner : listed("--stencil star3d1r --type f64")) EXPECT_EQ(winner["type"], "f64");
  for (const char* gpu : {"h200", "H200", "'NVIDIA H200'", "'nvidia h200'"}) {
    EXPECT_EQ(listed(std::string("--gpu ") + gpu).size(), all) << gpu;
  }
  EXPECT_EQ(listed("--gpu a100").size(), 0u);
  EXPECT_NE(
      run("list --gpu a100").out.find("some on NVIDIA H200; to predict: stencil-tune --dims 512 --device-model a100"),
      std::string::npos);
  EXPECT_NE(run("list --stencil star3d1").out.find("no such winner; did you mean 'star3d1r'?"), std::string::npos);
  EXPECT_EQ(run("list --gpu '\x1b[2J\xed\xa0\x80'").out.find("no winner on \\x1b[2J\\xed\\xa0\\x80"), 0U);
}

TEST_F(ShippedTest, ListSpeaksCsv) {
  const std::string csv = run("list --csv --stencil star3d1r").out;
  EXPECT_EQ(csv.rfind("id,origin,stencil,stage,type,dims,pitch,boundary,", 0), 0u) << csv;
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')),
            1 + listed("--stencil star3d1r").size());
  EXPECT_EQ(run("list --csv --gpu a100").out.substr(0, 3), "id,");
  EXPECT_NE(run("list --shipped --csv --stencil star3d1r").out.find("\ns"), std::string::npos);
  expect_error("list --csv --json", 2, "exclude");
}

TEST_F(CommandLineTest, WithoutAGpuTheWinnerOfTheModelThatIsPredictedIsMeant) {
  const auto devices = nlohmann::json::parse(run("devices --json").out)["devices"];
  if (!devices.empty()) GTEST_SKIP() << "a GPU is here: its own winner is meant";
  const std::string run_of_steps = "--dims 512 --steps 100";
  ASSERT_NE(run("show --gpu h100 " + run_of_steps).out.find("NVIDIA H100"), std::string::npos) << "both have winners";
  for (const char* verb : {"show", "show --json"}) {
    const ProgramRun said = run(std::string(verb) + " " + run_of_steps);
    EXPECT_NE(said.out.find("NVIDIA H200"), std::string::npos) << verb << said.out << said.err;
    EXPECT_EQ(said.out.find("NVIDIA H100"), std::string::npos) << verb << said.out;
  }
}

TEST_F(ShippedTest, WinnersOfZonesAreNamedByTheirZone) {
  const std::string listed = run("list --shipped --stencil acoustic3d_o2_cpml").out;
  for (const char* zone : {"zone inside", "zone x ", "zone xy ", "zone yz "}) {
    EXPECT_NE(listed.find(std::string("acoustic3d_o2_cpml, ") + zone), std::string::npos) << zone << "\n" << listed;
  }
}

TEST_F(ShippedTest, AnIdIsEnoughToExport) {
  std::map<std::string, std::string> ids;
  for (const auto& winner : nlohmann::json::parse(run("list --shipped --json").out)) {
    const std::string code = winner["code"];
    if (code.rfind("resident.", 0) != 0) ids[winner["stencil"]] = winner["id"];  // those are not exported
  }
  EXPECT_GT(ids.size(), 30u);
  for (const auto& [stencil, id] : ids) {
    const ProgramRun exported = run("export " + id);
    EXPECT_EQ(exported.status, 0) << exported.err;
    EXPECT_NE(exported.out.find(stencil + "'"), std::string::npos) << stencil;  // or its step back
  }
}

TEST_F(ShippedTest, AWinnerIsRemovedByItsId) {
  const std::size_t before = listed("").size();
  const auto id = listed("--stencil star3d1r")[0]["id"].get<int>();
  const ProgramRun removed = run("db remove " + std::to_string(id));
  EXPECT_EQ(removed.status, 0) << removed.err;
  EXPECT_EQ(removed.out.rfind("removed " + std::to_string(id) + ": star3d1r, ", 0), 0u) << removed.out;
  EXPECT_NE(removed.out.find("all 1 trial of this problem"), std::string::npos) << removed.out;
  EXPECT_EQ(listed("").size(), before - 1);
  expect_error("db remove " + std::to_string(id), 1, "no winner");
  expect_error("db remove all", 2, "ids of `stencil-tune list`");
  expect_error("db remove", 2, "which winner");
  EXPECT_EQ(run("db check").status, 0);
}

TEST_F(ShippedTest, WhatIsNotThereIsAFailureAndNoWrongUse) {
  expect_error("show 999999", 1, "no winner");
  for (const char* verb : {"show", "report", "export"}) {
    expect_error(std::string(verb) + " --rank 1 --dims 333 --expr 'u[x-1]*u*u[x+2]'", 1, "no winner");
    expect_error(std::string(verb) + " --dims 333x77x5 --db " + (folder.path() / "no.db").string(), 1, "no database");
  }
}

TEST_F(ShippedTest, WhereNoFormHasWonExportWritesWhatIsPredictedAndSaysSo) {
  const std::filesystem::path file = folder.path() / "product.cu";
  const ProgramRun exported = run("export --dims 333x77 --expr 'u[x-1]*u*u[y+2]*u[y-1]' -o " + file.string());
  EXPECT_EQ(exported.status, 0) << exported.err;
  EXPECT_NE(exported.out.find("never measured for this problem: predicted for 333x77 on"), std::string::npos)
      << exported.out;
}

TEST_F(CommandLineTest, ADatabaseOfTheEnvironmentThatTuningHasNotMadeYetIsEmpty) {
  EXPECT_EQ(run("list").status, 0);
  for (const char* verb : {"show", "export", "report"}) {
    const ProgramRun answered = run(std::string(verb) + " --dims 512");
    EXPECT_EQ(answered.status, 0) << verb << answered.err;
    expect_error(std::string(verb) + " --dims 512 --db " + database, 1, "there is no database");
  }
  EXPECT_FALSE(std::filesystem::exists(database));
}

TEST_F(CommandLineTest, WinnersThatShipAreListedAndShown) {
  const auto shipped = nlohmann::json::parse(run("list --shipped --json").out);
  ASSERT_GT(shipped.size(), 50u);
  EXPECT_EQ(shipped[0]["id"], "s1");
  for (const auto& winner : shipped) EXPECT_EQ(winner["origin"], "shipped");
  const ProgramRun shown = run("show s1");
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find(shipped[0]["code"].get<std::string>()), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("origin: shipped"), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find('~'), std::string::npos) << "measured: " << shown.out;
  const auto half = nlohmann::json::parse(run("list --shipped --type f64 --json").out);
  EXPECT_LT(half.size(), shipped.size());
  for (const auto& winner : half) EXPECT_EQ(winner["type"], "f64");
  expect_error("show s100000", 1, "no winner 's100000'");
}

TEST_F(CommandLineTest, WinnersAreExportedByTheIdThatListGivesThem) {
  std::string builtin, defined, others;
  const auto shipped = nlohmann::json::parse(run("list --shipped --json").out);
  for (const auto& winner : shipped) {
    const std::string stencil = winner["stencil"];
    (stencil == "box2d1r" ? builtin : stencil == "acoustic3d_o2" ? defined : others) = winner["id"];
  }
  const ProgramRun exported = run("export " + builtin + " --name blur");
  EXPECT_EQ(exported.status, 0) << exported.err;
  EXPECT_NE(exported.out.find("// blur: stencil 'box2d1r'"), std::string::npos) << exported.out.substr(0, 500);
  EXPECT_NE(exported.out.find("shipped with stencil-tune"), std::string::npos);
  expect_error("export " + defined + " --stencil star3d1r", 2, "computes something else than star3d1r");
  const ProgramRun wave = run("export " + defined);
  EXPECT_EQ(wave.status, 0) << wave.err;
  EXPECT_NE(wave.out.find("cudaError_t acoustic3d_o2("), std::string::npos) << wave.out.substr(0, 500);
  expect_error("export " + builtin + " --dims 512", 2, "not both");
  expect_error("export " + builtin + " --code direct.bx32", 2, "which has its own");
  expect_error("export s100000", 1, "no winner 's100000'");
  EXPECT_NE(run("report " + builtin).out.find("<html"), std::string::npos);
  const std::string file = "--stencil corpus/acoustic3d_o2.toml";
  const std::string of_file =
      std::regex_replace(run("report " + defined + " " + file).out, std::regex(file), "--stencil acoustic3d_o2");
  EXPECT_EQ(run("report " + defined).out, of_file) << "but for the definition, which is named as it was given";
  expect_error("report " + builtin + " --dims 512", 2, "not both");
  expect_error("report s100000", 1, "no winner 's100000'");
}

TEST_F(CommandLineTest, AnExportOfWhatNobodyTunedIsTheKernelOfTheLibrary) {
  const ProgramRun sweep = run("export --dims 511 --gpu h200");
  EXPECT_EQ(sweep.status, 0) << sweep.err;
  const std::string head = sweep.out.substr(0, 800);
  EXPECT_NE(head.find("\n// never measured for this problem: tuned for 509x487x601 on NVIDIA H200, "),
            std::string::npos)
      << head;
  EXPECT_NE(head.find(" GStencil/s there (match: nearest size)\n"), std::string::npos) << head;
  EXPECT_NE(sweep.out.find(" for 511x511x511 cells\n"), std::string::npos);
  const auto file = folder.path() / "heat.cu";
  const ProgramRun steps = run("export --dims 511 --steps 90 --gpu h200 -o " + file.string());
  EXPECT_NE(steps.out.find("written: launcher heat_advance\n"), std::string::npos) << steps.out << steps.err;
  EXPECT_NE(read(file).find("cudaError_t heat_advance("), std::string::npos);
  expect_error("export --dims 64 --stencil advection2d_rk3 --type f16 --gpu h200", 2, "name a stage, 0 to 2");
  expect_error("export --dims 511 --gpu 'a GPU to come'", 1, "no winner for this problem on 'a GPU to come'");
}

TEST_F(CommandLineTest, AnEmptyListNamesTheWinnersThatShip) {
  { Database made = Database::open(database); }
  EXPECT_NE(run("list").out.find("winners ship: stencil-tune list --shipped"), std::string::npos);
  EXPECT_NE(run("list --gpu 'NVIDIA H200'").out.find("winners like these ship"), std::string::npos);
  EXPECT_EQ(run("list --gpu 'another'").out.find("ship"), std::string::npos);
}

TEST_F(CommandLineTest, AnExportSaysWhereItsWinnerComesFrom) {
  { Database made = Database::open(database); }
  const std::string source = run("export --dims 512").out;
  EXPECT_NE(source.find("(driver 13.0); shipped with stencil-tune\n"), std::string::npos) << source.substr(0, 400);
  EXPECT_NE(source.find("weighs in[x-1];"), std::string::npos);
}

}  // namespace
}  // namespace stencil_tune
