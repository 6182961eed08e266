// `stencil-tune replay` as a user runs it.
#include "tests/tuner/commands/program_run.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace stencil_tune {
namespace {

class ReplayCommandTest : public CommandLineTest {
 protected:
  ReplayCommandTest() {
    std::ofstream file(space);
    file << "x,y,time_ms,compile_ms,benchmark_ms\n";
    for (int x = 0; x < 12; ++x) {
      for (int y = 0; y < 12; ++y) file << x << ',' << y << ',' << 1 + x * x + (y - 5) * (y - 5) << ",100,10\n";
    }
  }

  std::string space = folder / "hill.csv";
};

TEST_F(ReplayCommandTest, PrintsALineASpaceAndTheMeanLast) {
  const ProgramRun result = run("replay " + space + " " + space + " --strategy local,random --repeats 4");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 4) << result.out;
  EXPECT_EQ(result.out.find("space "), 0U) << result.out;
  EXPECT_NE(result.out.find("\nhill "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\nmean "), std::string::npos) << result.out;
}

TEST_F(ReplayCommandTest, SaysTheSameAgainAndOtherwiseWithAnotherSeed) {
  const std::string command = "replay " + space + " --repeats 4 --strategy ";
  EXPECT_EQ(run(command + "genetic").out, run(command + "genetic").out);
  EXPECT_NE(run(command + "genetic").out, run(command + "genetic --seed 9").out);
}

TEST_F(ReplayCommandTest, AllStrategiesAsJsonWithCurves) {
  const ProgramRun result = run("replay " + space + " --strategy all --repeats 2 --json");
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << result.out << result.err;
  EXPECT_EQ(json["repeats"], 2);
  ASSERT_EQ(json["strategies"].size(), 9U);
  EXPECT_EQ(json["strategies"][0]["name"], "portfolio") << "the default comes first";
  EXPECT_EQ(json["strategies"][0]["spaces"][0]["curve"].size(), 50U);
  EXPECT_GT(json["strategies"][0]["score"].get<double>(), 0.3);
}

TEST_F(ReplayCommandTest, SaysHowNearTheBestRunsCome) {
  const ProgramRun result = run("replay " + space + " --strategy local --repeats 3 --after 10,144");
  EXPECT_NE(result.out.find("100.0 % (3)"), std::string::npos) << result.out << result.err;
  const auto json = nlohmann::json::parse(
      run("replay " + space + " --strategy local --repeats 3 --after 10,144 --json").out, nullptr, false);
  EXPECT_EQ(json["strategies"][0]["spaces"][0]["after"][1]["within"], 3) << json;
}

TEST_F(ReplayCommandTest, OnlySpacesOfSomeNames) {
  const std::string two = "replay " + space + " " + space + " --repeats 1 --strategy random --only ";
  EXPECT_NE(run(two + "hi").out.find("hill"), std::string::npos);
  expect_error(two + "valley,dale", 2, "valley or dale");
}

TEST_F(ReplayCommandTest, WhatCannotBeDoneIsSaid) {
  expect_error("replay " + space + " --strategy stencil", 2, "recorded trials of a stencil");
  expect_error("replay " + space + " --after 0", 2, "--after");
  expect_error("replay", 2, "which files");
  expect_error("replay " + space + " --strategy genetik", 2, "'genetic'");
  expect_error("replay " + space + " --repeats 0", 2, "--repeats");
  expect_error("replay " + (folder / "none.csv").string(), 1, "none.csv");
  expect_error("replay " STENCIL_TUNE_PROGRAM, 2, "no recorded space");
}

}  // namespace
}  // namespace stencil_tune
