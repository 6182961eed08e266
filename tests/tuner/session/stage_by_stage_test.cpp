#include "tuner/session/stage_by_stage.hpp"

#include "generator/definition/definition.hpp"
#include "tuner/session/final_table.hpp"
#include "tuner/session/step_tuning.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TrialRecord stage_trial(const char* code, double median_ms, int registers) {
  TrialRecord trial;
  trial.code = code;
  trial.timing = {median_ms, 0.9 * median_ms, 1.1 * median_ms, 20};
  trial.registers = registers;
  trial.ceiling_gbs = 1000;
  trial.raced = true;
  return trial;
}

Problem two_stages() {
  return make_problem(
      parse_definition("name = \"s\"\nrank = 1\nfields = [\"a\", \"b\", \"a_next\"]\n[[stage]]\nb = \"a[x-1]\"\n"
                       "[[stage]]\na_next = \"b[x+2] + a\"\n[rotate]\na_next = \"a\"\n",
                       "s.toml"),
      ElementType::f32, {Boundary::hold, Boundary::hold, Boundary::hold}, {1, {1000004, 1, 1}}, 0, 1, kWholeStep);
}

TEST(StageByStage, TimesAddUpAndTheRateCountsTheStepsCells) {
  const Problem step = two_stages();
  const std::vector<TrialRecord> stages{stage_trial("direct.bx32.by4", 0.25, 20),
                                        stage_trial("direct.bx64.by1", 0.75, 40)};
  const TrialRecord whole = stage_by_stage(step, stages);
  EXPECT_EQ(whole.code, "direct.bx32.by4 + direct.bx64.by1");
  EXPECT_DOUBLE_EQ(whole.timing.median_ms, 1);
  EXPECT_DOUBLE_EQ(whole.rate, static_cast<double>(updated_box(step).cells()) / 1e6);
  EXPECT_EQ(whole.registers, 40);
  EXPECT_EQ(whole.problem.stage, kWholeStep);
  EXPECT_NEAR(whole.share, minimal_traffic_bytes(step) / 1e-3 / 1e9 / 1000, 1e-12);
  EXPECT_NEAR(effective_gbs(whole), 4 * (1000004 + 1000001) / 1e6, 1e-9) << "of a step, which b does not outlive";
}

TEST(StageByStage, CountsItsPassesAndTakesTheLowestClocks) {
  std::vector<TrialRecord> stages{stage_trial("direct.bx32.by4", 1, 20), stage_trial("direct.bx64.by1", 1, 20)};
  stages[0].sm_clock_mhz = 1980;
  stages[1].sm_clock_mhz = 1700;
  stages[1].throttle = "power";
  const TrialRecord whole = stage_by_stage(two_stages(), stages);
  EXPECT_EQ(passes_of(stages[0]), 1);
  EXPECT_EQ(passes_of(whole), 2);
  EXPECT_EQ(whole.sm_clock_mhz, 1700);
  EXPECT_EQ(whole.throttle, "power");
}

TEST(StageByStage, IsAsSharpAsItsBluntestStageAndAnUnknownOneHidesNone) {
  const auto sharpness = [](double first, double second) {
    std::vector<TrialRecord> stages{stage_trial("direct.bx32.by4", 1, 20), stage_trial("direct.bx64.by1", 1, 20)};
    stages[0].sharpness = first;
    stages[1].sharpness = second;
    return stage_by_stage(two_stages(), stages).sharpness;
  };
  EXPECT_EQ(sharpness(1, 0.97), 0.97);
  EXPECT_EQ(sharpness(-1, 0.97), -1) << "not known";
  EXPECT_EQ(sharpness(-1, 0.5), 0.5);
  EXPECT_EQ(sharpness(0.5, -1), 0.5);
  EXPECT_EQ(sharpness(-1, -1), -1);
}

TEST(StageByStage, CannotBeFasterThanCopiesOfWhatItsPassesMove) {
  const Problem step = two_stages();
  double bytes = 0;
  for (const Problem& stage : single_stages(step)) bytes += minimal_traffic_bytes(stage);
  const double cells = static_cast<double>(updated_box(step).cells());
  EXPECT_NEAR(rate_of_copies_in_passes(step, {}, 1000), 1000 * cells / bytes, 1e-9);
  EXPECT_GT(bytes, minimal_traffic_bytes(step)) << "b is written and read again";
}

TEST(StageByStage, SaysWhyStagesWereNotTuned) {
  StepWinners winners;
  winners.fused = stage_trial("system.bx32.t2", 1, 20);
  winners.fused->rate = 100;
  winners.no_stages = "not tuned: as slow as can be";
  const auto rows = step_rows(two_stages(), winners);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].trial->code, winners.fused->code);
  EXPECT_EQ(rows[2].name, "stage by stage");
  EXPECT_FALSE(rows[2].trial);
  EXPECT_EQ(rows[2].reason, winners.no_stages);
}

}  // namespace
}  // namespace stencil_tune
