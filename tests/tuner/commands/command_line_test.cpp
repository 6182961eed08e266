// Runs the built stencil-tune as a user would. STENCIL_TUNE_PROGRAM is its path.
#include "tests/tuner/commands/program_run.hpp"
#include "tests/tuner/session/session_fakes.hpp"

#include "db/trial_store.hpp"
#include "db/winner_store.hpp"
#include "tests/db/testing.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

namespace stencil_tune {
namespace {

TEST_F(CommandLineTest, DimsThatAreNoGridAreRejected) {
  for (const char* dims : {"0", "-5", "512x0", "abc", "512x", "1x2x3x4", "12.5", "''", "99999999999999999999"}) {
    const ProgramRun result = run(std::string("--dims=") + dims);
    EXPECT_EQ(result.status, 2) << dims << "\n" << result.err;
    EXPECT_EQ(result.out, "") << dims;
    EXPECT_NE(result.err, "") << dims;
  }
}

TEST_F(CommandLineTest, AGridLargerThanTheDeviceSaysHowMuchIsNeededAndThere) {
  const ProgramRun result = run("--dims 8192 --arch sm_90");
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("4.4 TB"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("150.0 GB"), std::string::npos) << result.err;
}

TEST_F(CommandLineTest, AGridWithNothingToUpdateIsAnError) {
  expect_error("--dims 2 --arch sm_90", 1, "nothing to update");
  expect_error("--dims 8 --order 4 --arch sm_90", 1, "nothing to update");
}

TEST_F(CommandLineTest, AMissingGridIsAskedFor) { expect_error("tune", 2, "--dims"); }

TEST_F(CommandLineTest, UnknownNamesSuggestTheNearest) {
  expect_error("tunee --dims 512", 2, "'tune'");
  expect_error("--dims 512 --ordre 2", 2, "--order");
  expect_error("--dims 512 --type f23", 2, "f32");
  expect_error("--dims 512 --boundary perodic", 2, "periodic");
  expect_error("--dims 512 --stencil heat3dd", 2, "heat3d");
  expect_error("--dims 512 --effort stanard", 2, "standard");
  expect_error("--dims 512 --device-model h20", 2, "h200");
  expect_error("stencils shwo heat3d", 2, "show");
  expect_error("bench --suite mian", 2, "main");
  expect_error("db chek", 2, "check");
}

TEST_F(CommandLineTest, ValuesOutOfRangeAreRejected) {
  expect_error("--dims 512 --budget 0", 2, "budget");
  expect_error("--dims 512 --budget 10x", 2, "10x");
  expect_error("--dims 512 --max-trials 0", 2, "--max-trials");
  expect_error("--dims 512 --jobs 0", 2, "--jobs");
  expect_error("--dims 512 --rank 4", 2, "--rank");
  expect_error("--dims 512 --order 0", 2, "order");
  expect_error("--dims 512 --pitch 100", 2, "--pitch");
  expect_error("--dims 512 --pitch wide", 2, "padded");
  expect_error("bench --suite main --cases 0", 2, "1 to 10");
  expect_error("bench --dims 64 --cases 1", 2, "--suite");
  expect_error("--dims 512 --steps 0", 2, "steps 0");
  expect_error("--dims 512x512 --stencil heat3d", 2, "axes");
  expect_error("--dims 512 --stencil heat3d --order 2", 2, "exclude");
  expect_error("--dims 512 --arch sm_13", 2, "sm_13");
  expect_error("--dims 512 extra words", 2, "too many");
}

TEST_F(CommandLineTest, OptionsThatContradictEachOtherAreRefused) {
  expect_error("--dims 64 --device-model a100 --arch sm_90", 2, "--device-model a100 has sm_80, --arch asks for sm_90");
  expect_error("explain direct.bx32 --dims 64 --device-model a100 --arch sm_90", 2, "give one of the two");
  EXPECT_EQ(run("explain direct.bx32 --dims 64 --device-model h100 --arch sm_90a").status, 0) << "these agree";
  expect_error("--dims 64 --device 0 --arch sm_90", 2, "--device and --arch exclude");
  expect_error("--dims 64 --device 0 --device-model h200", 2, "--device and --device-model exclude");
  expect_error("--dims 64 --device all --arch sm_90", 2, "--device and --arch exclude");
  expect_error("--dims 64 --arch sm_90 --candidates direct.bx32 --effort exhaustive", 2, "--candidates and --effort");
  expect_error("export --dims 64 --code direct.bx32 --gpu 'NVIDIA H200'", 2, "--code and --gpu exclude");
  expect_error("show 4 --dims 512", 2, "show 4 --dims: give an id");
  expect_error("show 4 --gpu 'NVIDIA H200'", 2, "show 4 --gpu: give an id");
}

TEST_F(CommandLineTest, WhatWasUnderstoodOfAnExpressionIsSaid) {
  const std::string explain = "explain direct.bx32.by8 --dims 64 --arch sm_90 --expr ";
  const std::string forgotten = run(explain + "'u + alpha*laplacian(u)'").err;
  EXPECT_NE(forgotten.find("understood: reads u, alpha; writes out; coefficients: none\n"), std::string::npos)
      << forgotten;
  EXPECT_NE(forgotten.find("alpha is read as a field"), std::string::npos) << forgotten;
  EXPECT_NE(forgotten.find("--expr \"...; alpha = 0.1\""), std::string::npos) << forgotten;
  EXPECT_EQ(forgotten.find("  u is read"), std::string::npos) << forgotten;
  EXPECT_EQ(run(explain + "'u + alpha*laplacian(u); alpha = 0.25'").err,
            "understood: reads u; writes out; coefficients: alpha = 0.25\n");
  const std::string wave = "'u_next = 2*u - u_prev + v*laplacian(u)'";
  EXPECT_EQ(run(explain + wave).err.find("u_prev is read"), std::string::npos) << "it becomes what u was";
  EXPECT_EQ(run(explain + "'2*u'").err.find("is read as"), std::string::npos) << "some field there must be";
  EXPECT_EQ(run("explain direct.bx32.by8 --dims 64 --arch sm_90").err, "") << "nothing had to be understood";
}

TEST_F(CommandLineTest, AnExpressionIsNamedByItsText) {
  const std::string explained = run("explain direct.bx32.by8 --dims 64 --arch sm_90 --expr ' u  +\tu[x-1] '").out;
  EXPECT_NE(explained.find("for u + u[x-1], f32"), std::string::npos) << explained;
}

TEST_F(CommandLineTest, ListsOfProblemsAreForTuneAlone) {
  expect_error("explain direct.bx32 --dims 64 --type f32,f64 --arch sm_90", 2, "name 2 problems");
  expect_error("export --dims 64,128 --steps 1,100", 2, "name 4 problems");
  expect_error("--dims 64, --arch sm_90", 2, "");
  expect_error("--dims 64 --steps 1,two --arch sm_90", 2, "--steps 'two': give whole numbers");
  expect_error("--dims 64,8192 --arch sm_90", 1, "4.4 TB");  // before anything is tuned
}

TEST_F(CommandLineTest, NamesOfOtherProgramsAreTranslated) {
  expect_error("--dims 64 --type float", 2, "here it is f32");
  expect_error("--dims 64 --type double", 2, "here it is f64");
  expect_error("--dims 64 --boundary dirichlet", 2, "here it is hold");
  expect_error("--dims 64 --boundary x=wrap", 2, "here it is periodic");
  expect_error("--dims 64 --expr 'floor(u)'", 2, "functions are min, max");
  expect_error("--dims 64 --stencil acoustic3d_o9", 2, "did you mean 'acoustic3d_o2'");
  expect_error("--dims 64 --output x", 2, "`export` and `report` write files: -o FILE");
  EXPECT_EQ(run("--dims 64 --output x").err.find("did you mean"), std::string::npos);
}

TEST_F(CommandLineTest, AWrongValueIsAnsweredWithWhatTheOptionTakes) {
  expect_error("--dims 64 --order two", 2, "--order R: points on each side of the centre, 1 to 16");
  expect_error("--dims 64 --seed -1", 2, "--seed -1: must be 0 or more");
  expect_error("--dims 64 --seed x", 2, "from 0 on");
  expect_error("--dims 64 --stencil heat2d --rank 3", 2, "heat2d has rank 2");
}

TEST_F(CommandLineTest, BudgetsAreTimesOfUpToAYear) {
  const std::string dry = "--dims 64 --device-model h200 --dry-run --json --budget ";
  const auto seconds = [&](const std::string& budget) {
    return nlohmann::json::parse(run(dry + budget).out)["budget_s"].get<double>();
  };
  EXPECT_EQ(seconds("1h30m"), 5400);
  EXPECT_EQ(seconds("1m30s500ms"), 90.5);
  EXPECT_EQ(seconds("1.5h"), 5400);
  EXPECT_EQ(seconds("90"), 90);
  expect_error(dry + "1e99h", 2, "longer than a year");
  expect_error(dry + "1e999h", 2, "longer than a year");
  for (const char* wrong : {"1h30", "''", "m", "1h-5m", "nan", "1h0m"}) expect_error(dry + wrong, 2, "budget");
}

TEST_F(CommandLineTest, OptionsOfManyVerbsMayStandBeforeTheVerb) {
  const std::string other = (folder.path() / "other.db").string();
  EXPECT_EQ(run("--db " + other + " db path").out, other + "\n");
  EXPECT_EQ(run("--db=" + other + " db path").out, other + "\n");
  EXPECT_EQ(run("-q --db " + other + " --dims 64 --device-model h200 --dry-run").status, 0);
  expect_error("--db " + other + " lst", 2, "'list'");
}

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
  EXPECT_NE(run("list --stencil star3d1").out.find("no such winner; did you mean 'star3d1r'?"), std::string::npos);
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

TEST_F(ShippedTest, AnIdIsEnoughToExport) {
  std::map<std::string, std::string> ids;
  for (const auto& winner : nlohmann::json::parse(run("list --shipped --json").out)) {
    ids[winner["stencil"]] = winner["id"];
  }
  EXPECT_GT(ids.size(), 30u);
  for (const auto& [stencil, id] : ids) {
    const ProgramRun exported = run("export " + id);
    EXPECT_EQ(exported.status, 0) << exported.err;
    EXPECT_NE(exported.out.find("stencil '" + stencil + "'"), std::string::npos) << stencil;
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
    expect_error(std::string(verb) + " --dims 333x77x5", 1, "no winner");
    expect_error(std::string(verb) + " --dims 333x77x5 --db " + (folder.path() / "no.db").string(), 1, "no database");
  }
}

TEST_F(CommandLineTest, ADryRunSaysWhatWouldBeTriedAndDoesNothing) {
  const ProgramRun dry = run("--dims 64 --device-model h200 --dry-run --max-trials 7");
  EXPECT_EQ(dry.status, 0) << dry.err;
  for (const char* part : {"would predict for NVIDIA H200", "legal ones", "30 s at the most, 7 new trials",
                           "direct.bx32.by8", "pmpp-tiled", "the search", "~"}) {
    EXPECT_NE(dry.out.find(part), std::string::npos) << part << "\n" << dry.out;
  }
  EXPECT_FALSE(std::filesystem::exists(database));
  EXPECT_EQ(run("--dims 64 --device-model h200 --dry-run --max-trials 7").out, dry.out);
  const auto json =
      nlohmann::json::parse(run("--dims 64 --device-model h200 --dry-run --json --candidates direct.bx64.by4").out);
  EXPECT_EQ(json["known_trials"], 0);
  EXPECT_EQ(json["first"].back()["code"], "direct.bx64.by4");
  EXPECT_EQ(json["first"].back()["why"], "asked for");
  expect_error("--dims 2 --device-model h200 --dry-run", 1, "nothing to update");
}

TEST_F(CommandLineTest, ARecordOfBenchBecomesAPage) {
  const std::string page = (folder.path() / "suite.html").string();
  const ProgramRun made = run("report --bench " STENCIL_TUNE_BENCH_RECORD " -o " + page);
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.out.find("46 problems"), std::string::npos) << made.out;
  EXPECT_NE(read(page).find("NVIDIA H200"), std::string::npos);
  const std::string empty = (folder.path() / "empty.json").string();
  std::ofstream(empty) << "{\"cases\": []}";
  expect_error("report --bench " + empty, 2, "no cases");
  std::ofstream(empty) << "not JSON";
  expect_error("report --bench " + empty, 2, "no JSON");
  expect_error("report --bench " + empty + " --dims 64", 2, "exclude");
  expect_error("report 17 --bench " + empty, 2, "exclude");
  expect_error("report --bench " + empty + ".none", 1, "cannot read");
}

TEST_F(CommandLineTest, AMalformedCodeIsNamed) {
  expect_error("explain direct.bx32.qq7 --dims 512 --arch sm_90", 2, "qq7");
  expect_error("explain dirct.bx32 --dims 512 --arch sm_90", 2, "dirct");
}

TEST_F(CommandLineTest, ExplainSaysWhatForbidsACandidate) {
  const ProgramRun result = run("explain tiled.bx8.by8.bz8.cin --dims 512 --order 4 --arch sm_90");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("tile"), std::string::npos) << result.out;
}

TEST_F(CommandLineTest, ExplainSaysOnWhichGpuTheModelWasFitted) {
  const std::string explain = "explain direct.bx32.by8 --dims 512 --device-model ", scaled = "scaled to this GPU's";
  const std::string own = run(explain + "h200").out, other = run(explain + "a100").out;
  EXPECT_NE(own.find("fitted on NVIDIA H200"), std::string::npos) << own;
  EXPECT_EQ(own.find(scaled), std::string::npos) << own;
  EXPECT_NE(other.find("fitted on NVIDIA H200"), std::string::npos) << other;
  EXPECT_NE(other.find(scaled), std::string::npos) << other;
}

TEST_F(CommandLineTest, AForeignDatabaseIsRefusedAndLeftAsItIs) {
  std::ofstream(database) << "my holiday diary";
  const ProgramRun result = run("list");
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err, "");
  EXPECT_EQ(read(database), "my holiday diary");
}

TEST_F(CommandLineTest, ADatabaseInAMissingFolderIsAnError) {
  expect_error("--dims 64 --arch sm_90 --max-trials 1 --db " + (folder.path() / "no/such/place.db").string(), 1,
               "no/such");
}

TEST_F(CommandLineTest, EveryVerbExplainsItselfWithExamples) {
  for (const char* verb : {"", "tune", "list", "show", "export", "bench", "explain", "stencils", "devices", "db"}) {
    const ProgramRun result = run(std::string(verb) + " --help");
    EXPECT_EQ(result.status, 0) << verb;
    EXPECT_NE(result.out.find("examples:"), std::string::npos) << verb;
    EXPECT_NE(result.out.find("stencil-tune"), std::string::npos) << verb;
  }
}

TEST_F(CommandLineTest, HelpTakesAVerb) { EXPECT_EQ(run("help export").out, run("export --help").out); }

TEST_F(CommandLineTest, ADiskWithoutSpaceForTheOutputIsAnError) {
  const std::string command = "'" STENCIL_TUNE_PROGRAM "' stencils >/dev/full 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
}

TEST_F(CommandLineTest, AClosedOutputIsAnError) {
  const std::string command = "'" STENCIL_TUNE_PROGRAM "' stencils >&- 2>'" + (folder.path() / "err").string() + "'";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1);
  EXPECT_NE(read(folder.path() / "err").find("cannot write to standard output"), std::string::npos);
}

TEST_F(CommandLineTest, AReaderThatHasSeenEnoughHearsNoComplaint) {
  const std::string command =
      "( '" STENCIL_TUNE_PROGRAM "' stencils; echo $? >&2 ) 2>'" + (folder.path() / "err").string() + "' | true";
  // Ends before `true` does now and then: its output is in the pipe already.
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string err = read(folder.path() / "err");
  EXPECT_TRUE(err == "1\n" || err == "0\n") << err;
}

TEST_F(CommandLineTest, AnErrorWithoutAWayToSayItStillHasItsStatus) {
  for (const char* nowhere : {"2>&-", "2>/dev/full"}) {
    const std::string command = std::string("'" STENCIL_TUNE_PROGRAM "' --dims 2 --arch sm_90 ") + nowhere;
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << nowhere;
  }
}

TEST_F(CommandLineTest, ADefinitionsElementTypeIsUsedWhereNoneIsGiven) {
  const auto file = folder.path() / "half.toml";
  std::ofstream(file) << "rank = 1\nelement = \"f16\"\nfields = [\"u\", \"u_next\"]\n[update]\nu_next = \"u[x+1]\"\n";
  const std::string explain = "explain direct.bx256.by1 --dims 64 --arch sm_90 --stencil " + file.string();
  EXPECT_NE(run(explain).out.find(", f16, "), std::string::npos) << run(explain).out;
  EXPECT_NE(run(explain + " --type f64").out.find(", f64, "), std::string::npos);
}

TEST_F(CommandLineTest, ReadingADatabaseThatWasNeverMadeSaysSo) {
  for (const char* verb : {"db check", "db export", "show --dims 64", "list"}) {
    expect_error(std::string(verb) + " --db " + (folder.path() / "no/such.db").string(), 1, "tuning makes it");
  }
}

TEST_F(CommandLineTest, TheTextbooksKernelsAreKnownByName) {
  const ProgramRun explained = run("explain pmpp-tiled --dims 64 --arch sm_90");
  EXPECT_EQ(explained.out.rfind("tiled.bx8.by8.bz8.cin", 0), 0u) << explained.out << explained.err;
  EXPECT_NE(run("export --code pmpp-tiled --dims 64").out.find("Candidate tiled.bx8.by8.bz8.cin"), std::string::npos);
  expect_error("explain pmpp-coarsened --dims 64 --rank 1 --arch sm_90", 1, "streaming_needs_rank_2");
}

TEST_F(CommandLineTest, OnlyLegalCandidatesAreExported) {
  expect_error("export --dims 64 --code direct.bx3200", 1, "threads_per_block");
  expect_error("export --dims 64 --arch sm_80", 2, "--code");
}

TEST_F(CommandLineTest, TheVersionIsPrinted) { EXPECT_EQ(run("--version").out.rfind("stencil-tune ", 0), 0u); }

TEST_F(CommandLineTest, StencilsAreListedAndShown) {
  EXPECT_NE(run("stencils").out.find("heat3d"), std::string::npos);
  const ProgramRun shown = run("stencils show star2d1r");
  EXPECT_NE(shown.out.find("5"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("O"), std::string::npos) << shown.out;
}

TEST_F(CommandLineTest, TheDatabaseSaysWhereItIs) { EXPECT_EQ(run("db path").out, database + "\n"); }

TEST_F(CommandLineTest, WinnersTravelAsText) {
  { Database made = Database::open(database); }
  const std::string text = (folder.path() / "winners.json").string();
  EXPECT_EQ(run("db export " + text).status, 0);
  EXPECT_NE(read(text).find("stencil-tune winners"), std::string::npos);
  EXPECT_EQ(run("db import " + text).status, 0);
  EXPECT_EQ(run("db check").status, 0);
  std::ofstream(text) << "{\"format\": \"shopping list\"}";
  EXPECT_NE(run("db import " + text).status, 0);
  EXPECT_NE(run("db import " + (folder.path() / "none").string()).status, 0);
}

TEST_F(CommandLineTest, DevicesListsModelsWithOrWithoutAGpu) {
  const auto json = nlohmann::json::parse(run("devices --json").out);
  EXPECT_GT(json["models"].size(), 5u);
}

TEST_F(CommandLineTest, AnEmptyListSaysHowToStart) {
  { Database made = Database::open(database); }
  EXPECT_NE(run("list").out.find("stencil-tune --dims 512"), std::string::npos);
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
  EXPECT_EQ(run("report " + defined).out, run("report " + defined + " --stencil corpus/acoustic3d_o2.toml").out);
  expect_error("report " + builtin + " --dims 512", 2, "not both");
  expect_error("report s100000", 1, "no winner 's100000'");
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

/// A database with winners of the caller's own.
class OwnWinnersTest : public CommandLineTest {
 protected:
  void insert(const std::function<void(TrialRecord&)>& change) {
    TrialRecord trial = a_trial("direct.bx32.by8", 400);
    trial.problem.stencil_key = stencil_key(find_builtin("star3d1r"));
    trial.problem.extents.n = {512, 512, 512};
    trial.problem.pitch = 512;
    change(trial);
    Database opened = Database::open(database);
    TrialStore(opened).insert(trial);
    WinnerStore(opened).settle(trial.problem, trial.platform.gpu, Objective::burst);
  }
};

TEST_F(OwnWinnersTest, RowsThatDifferInPitchOrExpressionLookDifferent) {
  insert([](TrialRecord&) {});
  insert([](TrialRecord& trial) { trial.problem.pitch = 576; });
  insert([](TrialRecord& trial) { trial.problem.stencil_key = std::string(32, '7'); });
  const std::string listed = run("list").out;
  EXPECT_NE(listed.find("512x512x512, pitch 576"), std::string::npos) << listed;
  EXPECT_NE(listed.find("(key 77777777)"), std::string::npos) << listed;
  const std::string shown = run("show --dims 512 --pitch 576").out;
  EXPECT_NE(shown.find("512x512x512, pitch 576, boundary hold"), std::string::npos) << shown;
  EXPECT_NE(shown.find("stencil key: d4a0d546b73993f9e507a984a58e00fb\n"), std::string::npos) << shown;
}

TEST_F(OwnWinnersTest, APredictionIsMarkedAndNamesTheMeasuredOneThatShips) {
  insert([](TrialRecord& trial) {
    trial.predicted = true;
    trial.platform.gpu = "NVIDIA H200";
  });
  const std::string listed = run("list").out;
  EXPECT_NE(listed.find("~400.0"), std::string::npos) << listed;
  EXPECT_NE(listed.find("(a measured one ships: s"), std::string::npos) << listed;
  const auto json = nlohmann::json::parse(run("list --json").out);
  EXPECT_EQ(json[0]["origin"], "yours");
  const std::string shown = run("show " + std::to_string(json[0]["id"].get<int>())).out;
  EXPECT_NE(shown.find("origin: yours"), std::string::npos) << shown;
  EXPECT_NE(shown.find("a measured winner of this problem on this GPU ships"), std::string::npos) << shown;
  EXPECT_NE(shown.find("copy ceiling of ~"), std::string::npos) << shown;
  EXPECT_NE(run("show --dims 512").out.find("~400.0  direct.bx32.by8"), std::string::npos) << "a trial of a prediction";
}

/// A database with winners that cannot run: of star3d1r on 512^3, which a winner ships for, on 128^3. One of 64^3 can.
class CannotRunTest : public CommandLineTest {
 protected:
  CannotRunTest() {
    insert(64, "direct.bx32.by8");
    retired_ = insert(512, "direct.bx64.by4");
    insert(128, "direct.bx32.by1024");
    retire_code(database, retired_, "direct.bx32.nonsense");
  }

  std::int64_t insert(std::int64_t n, const std::string& code) {
    TrialRecord trial = a_trial(code, 400);
    trial.problem.stencil_key = stencil_key(find_builtin("star3d1r"));
    trial.problem.extents.n = {n, n, n};
    trial.problem.pitch = n;
    Database opened = Database::open(database);
    return TrialStore(opened).insert(trial).id;
  }

  /// Succeeds, and says on standard error that the retired candidate was left out.
  std::string expect_other(const std::string& arguments) const {
    const ProgramRun result = run(arguments);
    EXPECT_EQ(result.status, 0) << arguments << "\n" << result.err;
    EXPECT_NE(result.err.find("cannot run: direct.bx32.nonsense: "), std::string::npos) << result.err;
    return result.out;
  }

  std::int64_t retired_ = 0;
};

TEST_F(CannotRunTest, ListLeavesThemOutAndNamesThem) {
  const auto json = nlohmann::json::parse(expect_other("list --json"));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["dims"], "64x64x64");
  EXPECT_NE(run("list").err.find("cannot run: direct.bx32.by1024: "), std::string::npos);
}

TEST_F(CannotRunTest, ShowAndExportTakeTheNextWinnerAndSaySo) {
  EXPECT_NE(expect_other("show --dims 512").find("origin: shipped"), std::string::npos);
  EXPECT_NE(expect_other("export --dims 512").find("__global__"), std::string::npos);
  expect_error("export --dims 128", 1, "cannot run: direct.bx32.by1024: ");
}

TEST_F(CannotRunTest, ShowOfOneSaysWhy) {
  const ProgramRun shown = run("show " + std::to_string(retired_));
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("cannot run any more, tune again: direct.bx32.nonsense: "), std::string::npos) << shown.out;
}

TEST_F(CannotRunTest, DbCheckNamesThemAndCallsNothingDamaged) {
  const ProgramRun checked = run("db check");
  EXPECT_EQ(checked.status, 0) << checked.out;
  EXPECT_NE(checked.out.find("cannot run: direct.bx32.nonsense: "), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("cannot run: direct.bx32.by1024: "), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("all is well"), std::string::npos) << checked.out;
}

// Needs NVRTC; the prediction itself is the same code everywhere.
class PredictionTest : public CommandLineTest {
 protected:
  ProgramRun predict(const std::string& more) {
    const ProgramRun result = run("--dims 64 --device-model h200 --max-trials 8 --budget 120s " + more);
    if (result.status != 0 && result.err.find("NVRTC") != std::string::npos) missing_ = result.err;
    return result;
  }
  std::string missing_;
};

TEST_F(PredictionTest, IsMarkedStoredListedShownAndResumed) {
  const ProgramRun first = predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_NE(first.out.find("PREDICTED"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("~"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("winner"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("fitted on NVIDIA H200"), std::string::npos) << first.out;

  const auto listed = nlohmann::json::parse(run("list --json").out);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["predicted"], true);
  const ProgramRun shown = run("show " + std::to_string(listed[0]["id"].get<int>()));
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("never measured"), std::string::npos) << shown.out;
  EXPECT_EQ(run("show --dims 64").out, shown.out);

  const auto again = nlohmann::json::parse(predict("--json").out);
  EXPECT_EQ(again["predicted"], true);
  EXPECT_NE(again["notes"].dump().find("8 more known"), std::string::npos) << again["notes"];
}

TEST_F(PredictionTest, CandidatesThatWereNamedAreInTheTableWhateverTheirRank) {
  const std::string fast = "direct.bx32.by8", slow = "direct.bx32.by1", other = "direct.bx16.by2";
  const auto report = predict("--json --candidates " + slow + "," + fast + "," + other);
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  ASSERT_EQ(report.status, 0) << report.err;
  const auto kernels = nlohmann::json::parse(report.out)["kernels"];
  std::vector<std::string> shown;
  for (const auto& kernel : kernels) {
    if (kernel["kernel"].get<std::string>().rfind("candidate ", 0) == 0) shown.push_back(kernel["code"]);
  }
  EXPECT_EQ(shown, (std::vector{slow, fast, other})) << kernels;
  const auto bounded = run("--dims 32 --device-model h200 --max-trials 1 --candidates " + fast + "," + slow);
  EXPECT_NE(bounded.out.find("candidate 2"), std::string::npos) << bounded.out << bounded.err;
}

TEST_F(PredictionTest, TheMeasuredWinnerThatShipsStaysTheWinner) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const std::string tune = "--dims 512 --device-model h200 --max-trials 1 --budget 120s --candidates direct.bx32.by8 ";
  const ProgramRun told = run(tune);
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_NE(told.out.find("The winner is shipped with stencil-tune, measured on NVIDIA H200, 2026"), std::string::npos)
      << told.out;
  EXPECT_NE(told.out.find("best predicted"), std::string::npos) << told.out;
  EXPECT_NE(told.out.find("copy ceiling ~"), std::string::npos) << told.out;
  const auto json = nlohmann::json::parse(run(tune + "--json").out);
  const auto shown = nlohmann::json::parse(run("show --dims 512 --json").out);
  EXPECT_EQ(json["known_winner"]["origin"], "shipped");
  EXPECT_EQ(json["known_winner"]["code"], shown["code"]) << "what show and export take";
  EXPECT_EQ(json["kernels"][0]["kernel"], "best predicted");
  EXPECT_EQ(predict("--json").out.find("known_winner"), std::string::npos) << "none ships for 64 cells";
}

TEST_F(PredictionTest, SeveralProblemsEndInOneTable) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const std::string tune =
      "--dims 32,512 --type f32,f64 --device-model h200 --max-trials 1 --budget 120s --candidates direct.bx32.by8";
  const ProgramRun told = run(tune);
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_NE(told.err.find("3 of 4: star3d1r: 7 points, order 1, f32, 512x512x512"), std::string::npos) << told.err;
  EXPECT_NE(told.out.find("  32x32x32     f32       1  "), std::string::npos) << told.out;
  EXPECT_NE(told.out.find("predicted  direct.bx32.by8"), std::string::npos) << told.out;
  EXPECT_NE(told.out.find("shipped    direct."), std::string::npos) << told.out;
  const auto json = nlohmann::json::parse(run(tune + " --json").out);
  ASSERT_EQ(json.size(), 4u);
  EXPECT_EQ(json[1]["type"], "f64");
  EXPECT_EQ(json[3]["dims"], "512x512x512");
}

TEST_F(PredictionTest, ARunWhoseStepsCannotBeFusedSaysWhy) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const auto report = run("--dims 32 --arch sm_75 --steps 2 --max-trials 1 --candidates direct.bx32.by8");
  EXPECT_NE(report.out.find("no kernel that fuses steps is legal here: temporal_architecture"), std::string::npos)
      << report.out << report.err;
}

TEST_F(PredictionTest, QuietSaysNothingButTheResult) {
  const ProgramRun loud = predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  EXPECT_NE(loud.err, "");
  const ProgramRun quiet = predict("--quiet");
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_NE(quiet.out.find("winner"), std::string::npos) << quiet.out;
}

TEST_F(PredictionTest, GoesOnWhereNobodyCanSeeIt) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const std::string command = "STENCIL_TUNE_DB='" + database +
                              "' '" STENCIL_TUNE_PROGRAM
                              "' --dims 64 --device-model h200 --max-trials 2 --budget 120s ";
  const auto run_with = [&](const std::string& streams) {
    const int status = std::system((command + streams).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const auto trials = [&] {
    Database stored = Database::open(database, {.access = Access::read});
    return TrialStore(stored).find({}).size();
  };
  const std::size_t before = trials();
  EXPECT_EQ(run_with(">/dev/null 2>/dev/full"), 0);
  EXPECT_EQ(run_with("2>&1 >/dev/null | true"), 0);  // the reader's status; what counts is below
  EXPECT_EQ(run_with(">&- 2>&- <&-"), 1);
  EXPECT_EQ(trials(), before + 6);
}

TEST_F(PredictionTest, AMissingTmpdirAndAnIgnoredSigchldLoseNothing) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const std::string err = (folder.path() / "err").string();
  const std::string command = "trap '' CHLD; TMPDIR=/no/such/folder STENCIL_TUNE_DB='" + database +
                              "' '" STENCIL_TUNE_PROGRAM
                              "' --dims 64 --device-model h200 --max-trials 2 --budget 120s >'" +
                              (folder.path() / "out").string() + "' 2>'" + err + "'";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 0) << read(err);
  EXPECT_NE(read(err).find("TMPDIR is /no/such/folder"), std::string::npos) << read(err);
  EXPECT_NE(read(folder.path() / "out").find("ran on the CPU, on a small grid: all right"), std::string::npos);
}

TEST_F(PredictionTest, AStopEndsTheCompilerOfTheChecksOnTheCpu) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const auto compiler = folder.path() / "endless", started = folder.path() / "started";
  std::ofstream(compiler) << "#!/bin/sh\n(sleep 1000; true) & echo $! $$ > " << started.string() << "; wait\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv("CXX", compiler.c_str(), 1);
    if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) _exit(99);
    execl(STENCIL_TUNE_PROGRAM, "stencil-tune", "--dims", "64", "--device-model", "h200", "--budget", "1h",
          "--max-trials", "2", "--db", database.c_str(), static_cast<char*>(nullptr));
    _exit(98);
  }
  while (!read(started).ends_with("\n")) usleep(20000);
  ASSERT_EQ(kill(child, SIGTERM), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);  // far later than this test may take, if nothing heard
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
  pid_t parts[2]{};
  std::ifstream(started) >> parts[0] >> parts[1];
  for (const pid_t part : parts) {
    const auto command_of_part = "/proc/" + std::to_string(part) + "/cmdline";  // empty, or missing, once it is dead
    for (int wait = 0; !read(command_of_part).empty() && wait < 500; ++wait) usleep(20000);
    EXPECT_EQ(read(command_of_part), "");
  }
}

TEST_F(PredictionTest, AnArchitectureThatNvrtcDoesNotKnowIsRefusedAtOnce) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  expect_error("--dims 64 --arch sm_91 --budget 120s", 2, "sm_90");
}

TEST_F(PredictionTest, CtrlCKeepsWhatWasFound) {
  const auto out = (folder.path() / "out").string(), err = (folder.path() / "err").string();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!std::freopen(out.c_str(), "w", stdout) || !std::freopen(err.c_str(), "w", stderr)) _exit(99);
    execl(STENCIL_TUNE_PROGRAM, "stencil-tune", "--dims", "64", "--device-model", "h200", "--budget", "1h",
          "--max-trials", "100000", "--db", database.c_str(), static_cast<char*>(nullptr));
    _exit(98);
  }
  // However slow the machine: wait for the first result, then interrupt.
  int status = 0;
  while (read(err).find("best ") == std::string::npos) {
    if (waitpid(child, &status, WNOHANG) == child) {
      const std::string said = read(err);
      if (said.find("NVRTC") != std::string::npos) GTEST_SKIP() << said;
      FAIL() << "ended by itself: " << said;
    }
    usleep(20000);
  }
  ASSERT_EQ(kill(child, SIGINT), 0);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGINT) << read(err);
  EXPECT_NE(read(out).find("interrupted"), std::string::npos) << read(out);
  EXPECT_EQ(nlohmann::json::parse(run("list --json").out).size(), 1u);
}

}  // namespace
}  // namespace stencil_tune
