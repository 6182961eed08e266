// Runs the built stencil-tune as a user would. STENCIL_TUNE_PROGRAM is its path.
#include "db/database.hpp"
#include "tests/tuner/commands/program_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <string>

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
  expect_error("--dims 512 --stencil heat", 2, "heat2d, heat3d");
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
            "understood: reads u; writes out; after a step: out becomes u; coefficients: alpha = 0.25\n");
  const std::string wave = "'u_next = 2*u - u_prev + v*laplacian(u)'";
  EXPECT_EQ(run(explain + wave).err.find("u_prev is read"), std::string::npos) << "it becomes what u was";
  EXPECT_NE(run(explain + wave).err.find("u_next becomes u, u becomes u_prev"), std::string::npos);
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
  expect_error("--dims 64 --steps 99999999999", 2, "--steps 99999999999: at most 2147483647");
  expect_error("--dims 512,512", 2, "--dims 512,512 names 512 twice; one grid is written 512x512x512");
  expect_error("--dims 64 --type f32,f64,f32", 2, "names f32 twice");
  expect_error("--dims 64,8192 --arch sm_90", 1, "4.4 TB");  // before anything is tuned
}

TEST_F(CommandLineTest, NamesOfOtherProgramsAreTranslated) {
  expect_error("--dims 64 --type float", 2, "here it is f32");
  expect_error("--dims 64 --type double", 2, "here it is f64");
  expect_error("--dims 64 --boundary dirichlet", 2, "here it is hold");
  expect_error("--dims 64 --boundary x=wrap", 2, "here it is periodic");
  expect_error("--dims 64 --expr 'gamma(u)'", 2, "functions are min, max");
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
  EXPECT_TRUE(json["legal_candidates"].is_number_unsigned()) << json;
  EXPECT_EQ(json["first"].back()["code"], "direct.bx64.by4");
  EXPECT_EQ(json["first"].back()["why"], "asked for");
  const ProgramRun named = run("--dims 64 --device-model h200 --dry-run --candidates direct.bx64.by4,pmpp-tiled");
  EXPECT_NE(named.out.find("of which 2 were asked for"), std::string::npos) << named.out << named.err;
  expect_error("--dims 64 --device-model h200 --dry-run --candidates pmpp-tilde", 2, "is no kernel family");
  expect_error("--dims 2 --device-model h200 --dry-run", 1, "nothing to update");
}

TEST_F(CommandLineTest, ARaceIsOfFewAndInPlaceOfABudget) {
  const std::string race = "--dims 64 --device-model h200 --dry-run --race ";
  const ProgramRun dry = run(race + "2s");
  EXPECT_EQ(dry.status, 0) << dry.err;
  EXPECT_NE(dry.out.find("time: 2 s"), std::string::npos) << dry.out;
  EXPECT_NE(dry.out.find("won elsewhere"), std::string::npos) << dry.out;
  EXPECT_EQ(dry.out.find("pmpp-tiled"), std::string::npos) << dry.out;
  for (const char* other : {"budget 5s", "effort quick", "objective energy"}) {
    expect_error(race + "2s --" + other, 2, "--race and --" + std::string(other, std::strchr(other, ' ')));
  }
  expect_error(race + "now", 2, "is no time to spend");
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

TEST_F(CommandLineTest, WhatManyGpusReachIsMarkedAsPredicted) {
  const ProgramRun result = run("--dims 1024 --steps 100 --gpus 8 --device-model h200");
  ASSERT_EQ(result.status, 0) << result.err;
  const std::size_t row = result.out.find("2x2x2");
  ASSERT_NE(row, std::string::npos) << result.out;
  const std::string figures = result.out.substr(row, result.out.find('\n', row) - row);
  EXPECT_EQ(std::count(figures.begin(), figures.end(), '~'), 4) << figures;
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

TEST_F(CommandLineTest, TheVersionIsPrinted) {
  EXPECT_EQ(run("--version").out.rfind("stencil-tune ", 0), 0u);
  EXPECT_EQ(run("version").out, run("--version").out);
  expect_error("--version extra", 2, "too many words");
}

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

}  // namespace
}  // namespace stencil_tune
