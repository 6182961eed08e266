// Tuning without a GPU, from the command line.
#include "db/database.hpp"
#include "db/trial_store.hpp"
#include "tests/tuner/commands/program_run.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace stencil_tune {
namespace {

// Needs NVRTC; the prediction itself is the same code everywhere.
class PredictionTest : public CommandLineTest {
 protected:
  ProgramRun predict(const std::string& more) {
    const ProgramRun result = run("--device-model h200 --max-trials 8 --budget 120s " +
                                  (more.find("--dims") == std::string::npos ? "--dims 64 " + more : more));
    if (result.status != 0 && result.err.find("NVRTC") != std::string::npos) missing_ = result.err;
    return result;
  }

  /// A step of two stages on a square of so many cells; of kernels that make it whole the candidate alone.
  ProgramRun predict_two_stages(const std::string& cells) {
    const std::string definition = (folder.path() / "two.toml").string();
    std::ofstream(definition)
        << "name = \"two\"\nrank = 2\nfields = [\"u\", \"v\", \"u_next\"]\n"
           "[[stage]]\nv = \"0.3 * (u[x-1] + u[x+1] + u)\"\n"
           "[[stage]]\nu_next = \"0.3 * (v[y-1] + v[y+1]) + 0.1 * u\"\n[rotate]\nu_next = \"u\"\n";
    return predict("--stencil " + definition + " --dims " + cells + "x" + cells +
                   " --steps 100 --json --candidates system.bx32.by1.rx2.v2.tmarows.pf6.t4.ch32.fillplain.u2");
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
  const std::string source = run("export --dims 64").out;
  EXPECT_NE(source.find(": never measured\n"), std::string::npos) << source.substr(0, 600);

  const auto again = nlohmann::json::parse(predict("--json").out);
  EXPECT_EQ(again["predicted"], true);
  EXPECT_NE(again["notes"].dump().find("8 more known"), std::string::npos) << again["notes"];
}

TEST_F(PredictionTest, WhatStandsBelowIsTrueOfAWinnerThatIsMadeStageByStage) {
  const ProgramRun run = predict_two_stages("64");  // one block makes all of so small a grid, slowly
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  ASSERT_EQ(run.status, 0) << run.err;
  const auto report = nlohmann::json::parse(run.out);
  ASSERT_NE(report["kernels"][0]["code"].get<std::string>().find(" + "), std::string::npos) << report["kernels"];
  EXPECT_EQ(report["notes"][0], "100 steps: 200 launches, 2 a step; no kernel that makes whole steps was faster");
  for (const std::string note : report["notes"]) {
    const bool says_of_others = note.starts_with("fused: ") || note.starts_with("stage ");
    EXPECT_TRUE(says_of_others || note.find("finalists") == std::string::npos) << note;
    EXPECT_EQ(note.find("fused steps"), std::string::npos) << note;
  }
}

TEST_F(PredictionTest, StagesAreNotTunedWhereCopiesOfWhatTheyMoveWouldBeSlower) {
  const ProgramRun run = predict_two_stages("8192");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err.find("tuning stage"), std::string::npos) << run.err;
  const auto kernels = nlohmann::json::parse(run.out)["kernels"];
  ASSERT_EQ(kernels.size(), 3u) << kernels;
  EXPECT_EQ(kernels[0]["code"], kernels[1]["code"]);
  EXPECT_EQ(kernels[2]["kernel"], "stage by stage");
  EXPECT_NE(kernels[2].dump().find("at the copy's rate it would reach"), std::string::npos) << kernels[2];
}

TEST_F(PredictionTest, CandidatesThatWereNamedAreInTheTableWhateverTheirRank) {
  const std::string fast = "direct.bx32.by8", slow = "direct.bx32.by1", other = "direct.bx16.by2";
  const auto report = predict("--json --candidates " + slow + "," + fast + "," + other + ",pmpp-tiled");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  ASSERT_EQ(report.status, 0) << report.err;
  const auto kernels = nlohmann::json::parse(report.out)["kernels"];
  std::vector<std::string> shown;
  for (const auto& kernel : kernels) {
    if (kernel["kernel"].get<std::string>().rfind("candidate ", 0) == 0) shown.push_back(kernel["code"]);
  }
  EXPECT_EQ(shown, (std::vector<std::string>{slow, fast, other, "tiled.bx8.by8.bz8.cin"})) << kernels;
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

TEST_F(PredictionTest, ARaceOfASystemIsOfWholeSteps) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const std::string file = (folder.path() / "two.toml").string();
  std::ofstream(file) << "name = \"two\"\nrank = 2\nfields = [\"e\", \"h\", \"h_next\", \"e_next\"]\n"
                         "[[stage]]\nh_next = \"h + 0.1*(e[x+1] - e)\"\n"
                         "[[stage]]\ne_next = \"e + 0.1*(h_next - h_next[x-1])\"\n"
                         "[rotate]\nh_next = \"h\"\ne_next = \"e\"\n";
  const ProgramRun raced =
      run("--stencil " + file + " --dims 512 --device-model h200 --race 20s --max-trials 2 --json");
  const auto kernels = nlohmann::json::parse(raced.out, nullptr, false)["kernels"];
  ASSERT_EQ(kernels.size(), 3u) << raced.out << raced.err;
  EXPECT_EQ(kernels[1]["kernel"], "fused");
  EXPECT_EQ(kernels[0]["code"], kernels[1]["code"]);
  EXPECT_EQ(kernels[2]["not_available"], "not tuned: a race is of whole steps");
}

TEST_F(PredictionTest, ARunWhoseStepsAreNotFusedSaysWhy) {
  predict("");
  if (!missing_.empty()) GTEST_SKIP() << missing_;
  const auto untried = run("--dims 64 --arch sm_90 --steps 100 --max-trials 1 --candidates direct.bx32.by8");
  EXPECT_NE(untried.out.find("100 launches; no kernel that fuses steps was tried"), std::string::npos)
      << untried.out << untried.err;
  const auto report = run("--dims 128 --arch sm_75 --steps 2 --max-trials 1 --candidates direct.bx32.by8");
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
