#include "tuner/report/report_page.hpp"

#include "generator/candidates/tuning.hpp"
#include "generator/kernel_source/signature.hpp"
#include "tests/runtime/temporary_folder.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace stencil_tune {
namespace {

using testing::HasSubstr;
using testing::Not;

Problem problem() { return make_problem(find_builtin("star3d1r"), ElementType::f32, {}, {3, {128, 128, 128}}); }

TrialRecord trial(const std::string& code, double gstencils) {
  TrialRecord record;
  record.problem = problem_key(problem());
  record.code = code;
  record.platform = {.gpu = "NVIDIA H200",
                     .architecture = "sm_90",
                     .driver = "13.0",
                     .nvrtc = "13.0",
                     .template_signature = template_signature(parse_code(code))};
  record.rate = gstencils;
  record.ceiling_gbs = 4226;
  record.created_at = "2026-11-23T12:00:00Z";
  return record;
}

TrialRecord failed(std::string message) {
  TrialRecord record = trial("direct.bx64.by8", 0);
  record.outcome = Outcome::wrong_result;
  record.message = std::move(message);
  return record;
}

ReportData report(const std::vector<TrialRecord>& trials) {
  WinnerRecord winner{.trial = trials[1], .naive_rate = 200, .trials_seen = 4};
  return collect_report(problem(), winner, trials);
}

const std::vector<TrialRecord> kTrials{trial("direct.bx32.by8", 201.5), trial("direct.bx64.by4", 312.25),
                                       failed("cell 7"), failed("cell 7\nand more"), trial("direct.bx64.by2", 250)};

TEST(ReportData, HoldsTheFiguresOfTheDatabase) {
  const ReportData data = report(kTrials);
  EXPECT_EQ(data.trials, 5);
  ASSERT_EQ(data.rates.size(), 3U);
  EXPECT_EQ(data.rates[2].number, 5) << "its place among all trials";
  EXPECT_EQ(data.rates[1].rate, 312.25);
  ASSERT_EQ(data.failures.size(), 1U);
  EXPECT_EQ(data.failures[0].trials, 2);
  ASSERT_EQ(data.parameters.size(), 2U) << "block_x and block_y: the others had one value";
  EXPECT_EQ(data.parameters[0].winners, "64");
  ASSERT_EQ(data.parameters[0].values.size(), 2U);
  EXPECT_EQ(data.parameters[0].values[1].rate, 312.25);
  EXPECT_EQ(data.parameters[0].values[1].trials, 2);
  ASSERT_EQ(data.baselines.size(), 1U);
  EXPECT_EQ(data.baselines[0].rate, 201.5);
  EXPECT_EQ(data.bytes, 8);
}

TEST(ReportPage, TheBestSoFarStandsOverTheTimeOfTheSearch) {
  std::vector<TrialRecord> trials = kTrials;
  EXPECT_THAT(report_page(report(trials)), HasSubstr(">trial<")) << "all have one time";
  trials[1].created_at = "2026-11-23T12:00:02.500Z";
  for (std::size_t i : {2, 3, 4}) trials[i].session = "the next day";
  trials[2].created_at = trials[3].created_at = "2026-11-24T12:00:00Z";
  trials[4].created_at = "2026-11-24T12:00:04Z";
  const ReportData data = report(trials);
  EXPECT_EQ(data.rates[0].seconds, 0);
  EXPECT_EQ(data.rates[1].seconds, 2.5);
  EXPECT_EQ(data.rates[2].seconds, 6.5) << "without the night";
  EXPECT_THAT(report_page(data), HasSubstr(">seconds of the search<"));
  trials[1].predicted = true;
  EXPECT_THAT(report_page(report(trials)), HasSubstr("3 of them compiled and predicted"));
  EXPECT_THAT(report_page(report(trials)), HasSubstr("<p>Predicted for NVIDIA H200, NVRTC 13.0:"));
}

TEST(ReportPage, SaysWhatWasFoundAndHow) {
  const std::string page = report_page(report(kTrials));
  for (const char* said :
       {"312.2 GStencil/s", "<code>direct.bx64.by4</code>", "5 trials in the database, 3 of them right",
        "wrong_result: cell 7", "32:&#160;201.5, 64*:&#160;312.2", "naive", "plain copies at 4226 GB/s",
        "--stencil star3d1r --dims 128x128x128", "__global__"}) {
    EXPECT_THAT(page, HasSubstr(said));
  }
}

TEST(ReportPage, RepeatsTheDefinitionAsItWasGiven) {
  const WinnerRecord winner{.trial = kTrials[1], .naive_rate = 0, .trials_seen = 4};
  const ReportData data = collect_report(problem(), winner, {}, "--stencil my/star.toml");
  EXPECT_THAT(data.commands, HasSubstr("stencil-tune export --stencil my/star.toml --dims 128x128x128 "));
}

TEST(ReportPage, NeedsNothingElse) {
  const std::string page = report_page(report(kTrials));
  for (const char* needed : {"<script", "<link", "<img", "src=", "href=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(needed)));
  }
}

TEST(ReportPage, APredictionIsMarked) {
  std::vector<TrialRecord> trials = kTrials;
  for (TrialRecord& each : trials) each.predicted = true;
  const std::string page = report_page(report(trials));
  EXPECT_THAT(page, HasSubstr("~312.2 GStencil/s"));
  EXPECT_THAT(page, HasSubstr("never measured"));
}

TEST(ReportPage, AWinnerWithoutTrialsSaysSo) {
  const WinnerRecord winner{.trial = kTrials[1], .naive_rate = 0, .trials_seen = 4};
  const std::string page = report_page(collect_report(problem(), winner, {}));
  EXPECT_THAT(page, HasSubstr("Its trials are not in this database"));
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
}

/// What Python's XML parser says of the page; empty where it takes it.
std::string complaints(const std::string& page) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "page.html") << page;
  const std::string command = "cd " + folder.path().string() +
                              " && python3 -c 'import xml.etree.ElementTree as tree; tree.parse(\"page.html\")' 2> log";
  if (std::system(command.c_str()) == 0) return {};
  std::ifstream log(folder.path() / "log");
  return {std::istreambuf_iterator<char>(log), {}};
}

TEST(ReportPage, HostileTextStaysText) {
  const std::string hostile = "</title></pre><script>alert(1)</script>\" ' & \x01 \xff <!-- ]]>";
  std::vector<TrialRecord> trials = kTrials;
  for (TrialRecord& each : trials) {
    each.problem.stencil_name = each.platform.gpu = each.platform.driver = each.platform.nvrtc = hostile;
    each.throttle = each.created_at = each.plan = hostile;
    if (each.outcome != Outcome::ok) each.message = hostile;
  }
  trials.push_back(trial("direct.bx32.by8", 1));
  trials.back().code = hostile;
  for (const ReportData& data : {report(trials), report(kTrials)}) {
    const std::string page = report_page(data);
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("<!--")));
    if (std::system("python3 --version > /dev/null 2>&1") == 0) {
      EXPECT_EQ(complaints(page), "");
    }
  }
}

}  // namespace
}  // namespace stencil_tune
