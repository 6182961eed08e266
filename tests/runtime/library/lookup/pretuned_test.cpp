#include "runtime/library/lookup/pretuned.hpp"

#include "db/exchange.hpp"
#include "db/stored_code.hpp"
#include "generator/kernel_source/signature.hpp"
#include "runtime/library/lookup/lookup.hpp"
#include "stencil_tune/definition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace stencil_tune {
namespace {

WinnerRecord winner(const std::string& key, std::int64_t n, const char* gpu = "NVIDIA H200") {
  WinnerRecord record;
  record.trial.problem.stencil_key = key;
  record.trial.problem.stencil_name = "star3d1r";
  record.trial.problem.boundaries = {Boundary::hold, Boundary::hold, Boundary::hold};
  record.trial.problem.extents = {.rank = 3, .n = {n, n, n}};
  record.trial.problem.pitch = n;
  record.trial.code = "direct.bx32.by8";
  record.trial.platform = {.gpu = gpu,
                           .architecture = "sm_90",
                           .driver = "13.0",
                           .nvrtc = "13.0",
                           .template_signature = template_signature(parse_code(record.trial.code))};
  record.trial.timing = {.median_ms = 1, .low_ms = 0.9, .high_ms = 1.1, .samples = 9};
  record.trial.rate = 100;
  record.trial.ceiling_gbs = 4000;
  record.trial.share = 0.5;
  record.trial.registers = 32;
  record.trial.occupancy = 1;
  record.trial.session = "s";
  record.trial.created_at = "2026-11-21T12:00:00Z";
  return record;
}

const std::string kKey(32, 'a');
const std::string kOtherKey(32, 'b');

class PretunedTest : public testing::Test {
 protected:
  std::string text_ = format_winners(std::vector{winner(kKey, 512), winner(kOtherKey, 512), winner(kKey, 256)});
  std::vector<TemplateFile> files_{{"pretuned/test.json", text_}};
};

TEST_F(PretunedTest, OffersTheStencilsOwnAndMarksThem) {
  const auto winners = with_pretuned({}, {.stencil_key = kKey}, files_);
  ASSERT_EQ(winners.size(), 2U);
  for (const WinnerRecord& each : winners) EXPECT_EQ(each.trial.session, kPretunedSession);
}

TEST_F(PretunedTest, WhatWasTunedHereReplacesThem) {
  const auto winners = with_pretuned({winner(kKey, 512), winner(kKey, 256, "another")}, {.stencil_key = kKey}, files_);
  ASSERT_EQ(winners.size(), 3U);
  EXPECT_EQ(winners[0].trial.session, "s");
  EXPECT_EQ(winners[2].trial.problem.extents.n[0], 256) << "tuned on another GPU, not on this one";
}

TEST_F(PretunedTest, APredictionReplacesNothing) {
  WinnerRecord prediction = winner(kKey, 512);
  prediction.trial.predicted = true;
  EXPECT_EQ(with_pretuned({prediction}, {.stencil_key = kKey}, files_).size(), 3U);
}

TEST_F(PretunedTest, AllOfThemAreNumberedAndShipped) {
  const auto all = shipped_winners(files_);
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].trial.id, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(origin_of(all[i].trial), "shipped");
  }
  EXPECT_EQ(origin_of(winner(kKey, 512).trial), "yours");
}

TEST_F(PretunedTest, IsFoundByItsProblemAndGpu) {
  const auto found = shipped_for(winner(kKey, 256).trial.problem, "NVIDIA H200", files_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->trial.problem.extents.n[0], 256);
  EXPECT_FALSE(shipped_for(winner(kKey, 256).trial.problem, "another", files_));
  EXPECT_FALSE(shipped_for(winner(kKey, 128).trial.problem, "NVIDIA H200", files_));
}

TEST_F(PretunedTest, OfSeveralForAProblemTheOneByTimeIsFound) {
  const auto by = [](Objective objective) {
    WinnerRecord run = winner(kKey, 512);
    run.trial.problem.steps = 100;
    run.trial.objective = objective;
    return run;
  };
  const std::string text =
      format_winners(std::vector{by(Objective::energy), by(Objective::time), by(Objective::burst)});
  const std::vector<TemplateFile> files{{"pretuned/test.json", text}};
  const auto found = shipped_for(by(Objective::time).trial.problem, "NVIDIA H200", files);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->trial.objective, Objective::time);
}

TEST_F(PretunedTest, OffIsOff) {
  setenv("STENCIL_TUNE_PRETUNED", "off", 1);
  EXPECT_TRUE(with_pretuned({}, {.stencil_key = kKey}, files_).empty());
  EXPECT_FALSE(shipped_for(winner(kKey, 256).trial.problem, "NVIDIA H200", files_));
  unsetenv("STENCIL_TUNE_PRETUNED");
}

WinnerRecord stale(WinnerRecord record) {
  record.trial.platform.template_signature = "0123456789abcdef";
  return record;
}

WinnerRecord unreadable(WinnerRecord record) {
  record.trial.code = "direct.bx32.nonsense";
  return record;
}

TEST_F(PretunedTest, WhatWentStaleOrCannotBeReadReplacesNoFreshOne) {
  EXPECT_EQ(with_pretuned({stale(winner(kKey, 512))}, {.stencil_key = kKey}, files_).size(), 3U);
  EXPECT_EQ(with_pretuned({unreadable(winner(kKey, 512))}, {.stencil_key = kKey}, files_).size(), 3U);
  const std::string text = format_winners(std::vector{stale(winner(kKey, 512))});
  const std::vector<TemplateFile> files{{"pretuned/test.json", text}};
  EXPECT_EQ(with_pretuned({stale(winner(kKey, 512))}, {.stencil_key = kKey}, files).size(), 1U)
      << "both stale: the one tuned here";
}

TEST_F(PretunedTest, StaleOnesAreUsedAndCalledStale) {
  const Problem problem =
      make_problem(find_builtin("star3d1r"), ElementType::f32, {}, {.rank = 3, .n = {512, 512, 512}});
  const std::string key = stencil_key(problem.stencil);
  const LookupTarget target{.gpu = "NVIDIA H200", .architecture = "sm_90", .driver = "13.0", .limits = {}};
  const auto chosen_from = [&](const WinnerRecord& shipped) {
    const std::string text = format_winners(std::vector{shipped, unreadable(winner(key, 256))});
    const std::vector<TemplateFile> files{{"pretuned/test.json", text}};
    return choose(problem, target, with_pretuned({}, {.stencil_key = key}, files)).evidence;
  };
  EXPECT_EQ(chosen_from(stale(winner(key, 512))).match, Match::stale);
  EXPECT_NE(chosen_from(stale(winner(key, 512))).sentence().find("ships with"), std::string::npos);
  EXPECT_EQ(chosen_from(winner(key, 512)).match, Match::exact);
  EXPECT_NE(chosen_from(winner(key, 512)).sentence().find("passed over direct.bx32.nonsense"), std::string::npos)
      << "one that cannot be read keeps no other from serving";
}

/// How many winners that ship may be stale: tune such again (`bench/bench pretune`), or sign winners whose code a
/// change did not move (bench/README.md). Now: none.
constexpr int kMostStale = 0;

TEST(Pretuned, NoMoreWinnersAreStaleThanIsRecorded) {
  std::string stale;
  int count = 0;
  for (const WinnerRecord& each : with_pretuned({})) {
    if (!is_stale(each.trial)) continue;
    ++count;
    stale += "\n  " + each.trial.code + " of " + each.trial.problem.stencil_name;
  }
  std::printf("%d winners that ship are stale%s\n", count, stale.c_str());
  EXPECT_LE(count, kMostStale) << "stale:" << stale;
}

TEST(Pretuned, WhatShipsHasRacedAfterChecksThatWereSharp) {
  for (const WinnerRecord& each : with_pretuned({})) {
    EXPECT_TRUE(each.trial.raced) << each.trial.code << " of " << each.trial.problem.stencil_name;
    EXPECT_GE(each.trial.sharpness, kSharp) << each.trial.code << " of " << each.trial.problem.stencil_name;
  }
}

TEST(Pretuned, WhatShipsCanRun) {
  for (const WinnerRecord& each : with_pretuned({})) {
    const auto objection = objection_to(each.trial);
    EXPECT_FALSE(objection) << *objection;
  }
}

TEST(Pretuned, AHeatEquationGoesAsFastAsTheStarThatShips) {
  const Stencil heat = parse_stencil("u + alpha*laplacian(u); alpha = 0.1");
  const LookupTarget target{
      .gpu = "NVIDIA H200", .architecture = "sm_90", .driver = "13.0", .limits = limits_of_architecture("sm_90")};
  const auto found = [&](const Stencil& stencil) {
    const Problem run = make_problem(stencil, ElementType::f32, {}, {.rank = 3, .n = {512, 512, 512}}, 0, 100);
    return choose(run, target, with_pretuned({}, {.form = stencil_form(stencil, 0)})).evidence;
  };
  const Evidence star = found(find_builtin("star3d1r"));
  EXPECT_EQ(found(heat).match, Match::same_form);
  EXPECT_EQ(found(heat).code, star.code);
  EXPECT_EQ(star.match, Match::exact);
}

TEST(Pretuned, WhatShipsCanBeReadAndIsForAGpu) {
  for (const TemplateFile& file : pretuned_files()) {
    for (const WinnerRecord& each : parse_winners(file.text)) {
      EXPECT_FALSE(each.trial.predicted) << file.name;
      EXPECT_FALSE(each.trial.platform.gpu.empty()) << file.name;
      const ProblemKey& problem = each.trial.problem;
      const auto names = builtin_names();
      if (std::find(names.begin(), names.end(), problem.stencil_name) == names.end()) continue;
      EXPECT_EQ(problem.stencil_key, stencil_key(find_builtin(problem.stencil_name)))
          << file.name << ": no lookup will ever find the winner of " << problem.stencil_name;
    }
  }
}

}  // namespace
}  // namespace stencil_tune
