#include "tests/tuner/session/session_fakes.hpp"

#include "generator/definition/definition.hpp"
#include "generator/kernel_source/signature.hpp"

#include "tuner/session/final_table.hpp"
#include "tuner/session/json_progress.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/several.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <vector>

namespace stencil_tune {
namespace {

TrialRecord trial(const std::string& candidate, double gstencils) {
  TrialRecord record;
  record.code = candidate;
  record.rate = gstencils;
  record.share = gstencils / 530;
  record.registers = 40;
  record.shared_bytes = 2048;
  record.occupancy = 0.75;
  record.timing = {0.28, 0.27, 0.29, 50};
  return record;
}

class ReportTest : public ::testing::Test {
 protected:
  Report report(bool predicted) {
    Report r;
    r.problem = &problem;
    r.platform = {"NVIDIA H200", "sm_90", predicted ? "" : "13.0", "13.0", "t"};
    r.device.ceiling_gbs = 4240;
    r.predicted = predicted;
    r.rows = {{"winner", trial("streaming.bx32.by4.regs", 475), ""},
              {"naive", trial("direct.bx32.by8", 250), ""},
              {"pmpp-tiled", std::nullopt, "threads_per_block: too many"}};
    r.notes = {"a note"};
    return r;
  }

  Problem problem = testing::star(1, 512);
};

TEST_F(ReportTest, TheTableHoldsWhatAPersonAsks) {
  const std::string text = format_report(report(false));
  for (const char* part :
       {"7 points, order 1, f32, 512x512x512, boundary hold", "NVIDIA H200", "driver 13.0", "475.0", "1.90 x", "40",
        "2.0 KB", "75 %", "streaming.bx32.by4.regs", "n/a: threads_per_block: too many", "a note"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find('~'), std::string::npos);
  EXPECT_EQ(text.find("PREDICTED"), std::string::npos);
}

TEST_F(ReportTest, SaysWhatTheWinnersCheckCouldNotShow) {
  Report r = report(false);
  EXPECT_EQ(format_report(r).find("check"), std::string::npos);
  r.rows[0].trial->sharpness = 1;
  r.rows[0].trial->sharpness_note = "512 of the grid's 4096 cells may hold anything";
  EXPECT_NE(format_report(r).find("of the winner's check: 512 of the grid's 4096 cells may hold anything\n"),
            std::string::npos)
      << format_report(r);
  EXPECT_EQ(report_json(r).dump().find("sharpness") != std::string::npos, true);
}

TEST_F(ReportTest, SeveralFieldsHaveAnEffectiveBandwidth) {
  EXPECT_EQ(format_report(report(false)).find("effective"), std::string::npos) << "of one field the share says it";
  EXPECT_FALSE(report_json(report(false))["kernels"][0].contains("effective_gbs"));
  problem = make_problem(parse_stencil("u_next = k * laplacian(u) + u", 3), ElementType::f32, {}, {3, {64, 64, 64}});
  Report r = report(false);
  r.rows[0].trial->ceiling_gbs = 4000;
  r.rows[0].trial->share = 2.5;
  EXPECT_NE(format_report(r).find("effective bandwidth 10000 GB/s"), std::string::npos) << format_report(r);
  EXPECT_EQ(report_json(r)["kernels"][0]["effective_gbs"], 10000);
  r.predicted = true;
  EXPECT_NE(format_report(r).find("effective bandwidth ~10000 GB/s"), std::string::npos);
}

TEST_F(ReportTest, RunsSayHowManySteps) {
  EXPECT_EQ(format_report(report(false)).find("steps"), std::string::npos);
  problem.steps = 100;
  EXPECT_NE(format_report(report(false)).find("512x512x512, boundary hold, 100 steps\n"), std::string::npos);
}

TEST_F(ReportTest, RatesUnderLoadStandBesideThoseOfBursts) {
  problem.steps = 100;
  Report r = report(false);
  EXPECT_EQ(format_report(r).find("sustained"), std::string::npos);
  EXPECT_FALSE(report_json(r)["kernels"][0].contains("sustained_gstencils"));
  r.rows[0].trial->sustained_rate = 431.5;
  r.rows[0].trial->watts = 689;
  r.rows[0].trial->nanojoules = 689 / 431.5;
  r.rows[0].trial->raced = true;
  r.rows[0].trial->objective = Objective::time;
  const std::string text = format_report(r);
  for (const char* part :
       {"GStencil/s: burst  sustained    W  nJ/update  % of copy", "475.0      431.5  689        1.6"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const auto winner = report_json(r)["kernels"][0];
  EXPECT_EQ(winner["gstencils"], 475);
  EXPECT_EQ(winner["sustained_gstencils"], 431.5);
  EXPECT_EQ(winner["watts"], 689);
  EXPECT_EQ(winner["objective"], "time");
  EXPECT_EQ(report_json(r)["kernels"][1].contains("watts"), false);
}

TEST_F(ReportTest, WithoutNvmlThereAreNoWatts) {
  Report r = report(false);
  r.rows[0].trial->sustained_rate = 431.5;
  EXPECT_NE(format_report(r).find("475.0      431.5                     89.6"), std::string::npos) << format_report(r);
  EXPECT_FALSE(report_json(r)["kernels"][0].contains("watts"));
  EXPECT_EQ(load_text(*r.rows[0].trial), "431.5 GStencil/s under continuous load");
}

TEST_F(ReportTest, RatesOfRunsSayWhetherTheyAreBursts) {
  TrialRecord record = trial("direct.bx32.by8", 475);
  EXPECT_EQ(rates_text(record), "475.0 GStencil/s");
  record.problem.steps = 100;
  EXPECT_EQ(rates_text(record), "475.0 GStencil/s in a burst");
  record.sustained_rate = 431.5;
  EXPECT_EQ(rates_text(record), "475.0 GStencil/s in a burst, 431.5 sustained");
}

TEST_F(ReportTest, StencilsOfSeveralStagesSayWhich) {
  StencilBuilder builder("two_stages", 1);
  const int u = builder.field("u"), v = builder.field("v"), w = builder.field("w");
  builder.update(v, builder.read(u, {1, 0, 0}));
  builder.begin_stage();
  builder.update(w, builder.read(v, {1, 0, 0}));
  problem = make_problem(std::move(builder).build(), ElementType::f32, {}, {1, {512, 1, 1}}, 0, 1, 1);
  EXPECT_EQ(describe(problem).rfind("two_stages, stage 1 of 0 to 1: 1 point, ", 0), 0u) << describe(problem);
}

TEST_F(ReportTest, ACompilersLogDoesNotBreakTheTable) {
  Report r = report(false);
  r.rows[2].reason = "compile_failed: line 3\n  and what the compiler says of it";
  EXPECT_NE(format_report(r).find("n/a: compile_failed: line 3\n"), std::string::npos) << format_report(r);
  EXPECT_EQ(format_report(r).find("what the compiler says"), std::string::npos);
}

TEST_F(ReportTest, EveryPredictedFigureIsMarked) {
  const std::string text = format_report(report(true));
  EXPECT_NE(text.find("PREDICTED"), std::string::npos);
  for (const char* part : {"~475.0", "~250.0", "~89.6", "~1.90 x"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(ReportTest, AMeasuredWinnerIsNotContradictedByAPrediction) {
  Report r = report(true);
  r.rows[0].name = "best predicted";
  r.known = WinnerRecord{.trial = trial("direct.bx64.by4", 487.4)};
  r.known->trial.session = "pretuned";
  r.known->trial.platform.gpu = "NVIDIA H200";
  r.known->trial.created_at = "2026-11-23T14:29:49.817Z";
  const std::string text = format_report(r);
  EXPECT_NE(
      text.find("The winner is shipped with stencil-tune, measured on NVIDIA H200, 2026-11-23 "
                "(stale: its template has changed since):\n  487.4 GStencil/s, 92.0 % of copy, direct.bx64.by4\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("best is"), std::string::npos) << text;
  EXPECT_NE(text.find("~1.90 x"), std::string::npos) << text;
  EXPECT_NE(text.find("copy ceiling ~4240 GB/s = ~"), std::string::npos) << text;
  EXPECT_EQ(report_json(r)["known_winner"]["origin"], "shipped");
  r.known->trial.session = "mine";
  r.known->trial.platform.template_signature = template_signature(parse_code(r.known->trial.code));
  EXPECT_EQ(format_report(r).find("stale"), std::string::npos);
  EXPECT_NE(format_report(r).find("The winner is yours, measured on"), std::string::npos);
}

TEST_F(ReportTest, AMeasuredRunSaysWhatShipped) {
  Report r = report(false);
  r.known = WinnerRecord{.trial = trial("direct.bx64.by4", 487.4)};
  r.known->trial.session = "pretuned";
  EXPECT_NE(format_report(r).find("known before: shipped with stencil-tune, measured on"), std::string::npos);
  EXPECT_NE(format_report(r).find("winner is"), std::string::npos);
}

TEST_F(ReportTest, ManyReportsAreOneTable) {
  std::vector<Report> reports{report(true), report(true)};
  reports[0].rows[0].trial->predicted = true;
  reports[1].known = WinnerRecord{.trial = trial("direct.bx64.by4", 487.4), .naive_rate = 243.7};
  reports[1].known->trial.session = "pretuned";
  EXPECT_EQ(format_reports(reports),
            "star3d1r, boundary hold, predicted for NVIDIA H200 (sm_90)\n"
            "\"~\" marks what the performance model says; the rest was measured\n\n"
            "  dims         type  steps  GStencil/s  % of copy  x naive  origin     code\n"
            "  512x512x512  f32       1      ~475.0      ~89.6    ~1.90  predicted  streaming.bx32.by4.regs\n"
            "  512x512x512  f32       1       487.4       92.0     2.00  shipped    direct.bx64.by4\n");
  reports[0].rows.clear();
  EXPECT_NE(format_reports(reports).find("no winner yet"), std::string::npos);
}

TEST_F(ReportTest, JsonSaysTheSame) {
  const auto json = report_json(report(true));
  EXPECT_EQ(json["predicted"], true);
  EXPECT_EQ(json["dims"], "512x512x512");
  EXPECT_EQ(json["kernels"][0]["kernel"], "winner");
  EXPECT_DOUBLE_EQ(json["kernels"][1]["winner_speed_up"], 1.9);
  EXPECT_EQ(json["kernels"][2]["not_available"], "threads_per_block: too many");
}

TEST_F(ReportTest, NoTextSpeaksToTheTerminal) {
  Report hostile = report(true);
  hostile.platform.gpu = "NVIDIA\x1b[2J";
  hostile.notes.push_back("passed over \xe2\x80\xae");
  hostile.rows.front().trial->code = "direct.\n\x9b";
  const auto is_plain = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  };
  EXPECT_TRUE(is_plain(format_report(hostile))) << format_report(hostile);
  EXPECT_TRUE(is_plain(json_text(report_json(hostile)))) << json_text(report_json(hostile));
}

TEST_F(ReportTest, TheCeilingInGStencilsIsThatOfTheMinimalTraffic) {
  // 512^3 cells read and 510^3 written, 4 bytes each.
  const double bytes = 4.0 * (512.0 * 512 * 512 + 510.0 * 510 * 510);
  EXPECT_NEAR(ceiling_gstencils(problem, 4240), 4240e9 / bytes * 510 * 510 * 510 / 1e9, 0.01);
}

TEST(JsonProgress, SaysANewBestAtOnceAndOtherwiseFiveTimesASecond) {
  std::FILE* const file = std::tmpfile();
  JsonProgress json(file, true);
  Progress progress;
  progress.phase = Progress::Phase::searching;
  progress.budget_s = std::numeric_limits<double>::infinity();
  const TrialRecord first = trial("direct.bx32.by8", 265);
  json.started({}, progress);
  json.finished_trial(first, progress);  // nothing yet
  progress.elapsed_s = 0.05;
  json.idle(progress);
  progress.best = first;
  json.finished_trial(first, progress);
  json.finished_trial(first, progress);
  progress.elapsed_s = 0.3;
  json.idle(progress);
  json.waiting("for \"another\" tuner");

  std::rewind(file);
  std::vector<nlohmann::json> lines;
  std::array<char, 1024> line{};
  while (std::fgets(line.data(), line.size(), file) != nullptr) lines.push_back(nlohmann::json::parse(line.data()));
  std::fclose(file);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0]["event"], "started");
  EXPECT_EQ(lines[0]["predicted"], true);
  EXPECT_TRUE(lines[1]["best"].is_null());
  EXPECT_TRUE(lines[1]["budget_s"].is_null());
  EXPECT_EQ(lines[2]["best"]["code"], "direct.bx32.by8");
  EXPECT_EQ(lines[3]["elapsed_s"], 0.3);
  EXPECT_EQ(lines[3]["phase"], "searching");
  EXPECT_EQ(lines[4]["what"], "for \"another\" tuner");
}

TEST(ProgressLine, ShowsTimeCountsAndTheBest) {
  Progress progress;
  progress.phase = Progress::Phase::searching;
  progress.elapsed_s = 30;
  progress.budget_s = 60;
  progress.trials = 212;
  progress.failed = 3;
  progress.best = trial("direct.bx32.by8", 265);
  const std::string line = progress_line(progress, false, 200);
  for (const char* part : {"##########----------", "30 s left", "212 tried, 3 failed",
                           "265.0 GStencil/s (50 % of copy)", "direct.bx32.by8"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << "\n" << line;
  }
}

TEST(ProgressLine, MarksPredictedFigures) {
  Progress progress;
  progress.best = trial("direct.bx32.by8", 265);
  EXPECT_NE(progress_line(progress, true, 200).find("~265.0 GStencil/s (~50 % of copy)"), std::string::npos);
}

TEST(ProgressLine, FitsTheTerminal) {
  Progress progress;
  progress.best = trial("direct.bx32.by8", 265);
  progress.phase = Progress::Phase::searching;
  progress.budget_s = 60;
  for (int columns = 40; columns < 120; ++columns) {
    const std::string line = progress_line(progress, false, columns);
    EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
    for (const char* whole : {" tried", " left"}) EXPECT_NE(line.find(whole), std::string::npos) << line;
    EXPECT_EQ(line.find("best ") != std::string::npos, line.find("265.0 GStencil/s") != std::string::npos) << line;
    EXPECT_EQ(line.find("direct") != std::string::npos, line.ends_with("direct.bx32.by8")) << line;
  }
  EXPECT_NE(progress_line(progress, false, 60).find("265.0 GStencil/s"), std::string::npos);
}

TEST(ProgressLine, KnowsBudgetsWithoutEnd) {
  Progress progress;
  progress.elapsed_s = 12;
  progress.budget_s = std::numeric_limits<double>::infinity();
  EXPECT_NE(progress_line(progress, false, 200).find("12 s"), std::string::npos);
  EXPECT_EQ(progress_line(progress, false, 200).find("left"), std::string::npos);
}

}  // namespace
}  // namespace stencil_tune
