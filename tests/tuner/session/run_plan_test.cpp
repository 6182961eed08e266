#include "tuner/session/run_plan.hpp"

#include "generator/definition/definition.hpp"
#include "tests/tuner/session/session_fakes.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TrialRecord trial(const std::string& candidate, double gstencils) {
  TrialRecord record;
  record.code = candidate;
  record.rate = gstencils;
  return record;
}

const TrialRecord kFused = trial("temporal.bx32.by4.rx2.ry4.v2.pf3.t3", 900);
const TrialRecord kSingle = trial("direct.bx32.by8", 450);

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

const Limits kLimits = limits_of_architecture("sm_90");

Problem run_of(int steps) {
  Problem run = testing::star(1, 512);
  run.steps = steps;
  return run;
}

RunPlan plan_of(int steps, const TrialRecord& winner) {
  return plan_run(run_of(steps), parse_code(winner.code), kLimits);
}

TEST(RunPlan, AllStepsAreMadeOnce) {
  for (int steps = 3; steps < 20; ++steps) {
    const RunPlan plan = plan_of(steps, kFused);
    EXPECT_EQ(plan.fused * plan.launches + (plan.remainder ? plan.remainder->steps : 0) + plan.singles, steps);
  }
}

TEST(RunPlan, FewerGroupsShareTheStepsThatAreLeft) {
  Problem run = make_problem(find_builtin("star2d1r"), ElementType::f64, {}, {2, {16384, 16384, 1}}, 0, 100);
  const RunPlan plan = plan_run(run, parse_code("systolic.rx13.pf1.t32.tg8.rb3.split.sh132"), kLimits);
  EXPECT_EQ(plan_text(plan), "32x3+4x1");
  ASSERT_TRUE(plan.remainder);
  EXPECT_EQ(plan.remainder->code, "systolic.bx32.by1.rx13.pf1.t4.tg4.rb3.split.sh132");
  run.steps = 15;  // 3 left, of two groups of six
  EXPECT_EQ(plan_text(plan_run(run, parse_code("temporal.bx32.by1.rx6.pf8.t12.tg2"), kLimits)), "12x1+3x1");
}

TEST(RunPlan, SingleWholeStepsHaveACandidateOfTheirOwn) {
  const Problem run = make_problem(load_definition("corpus/yee3d.toml"), ElementType::f32, {}, {3, {256, 256, 256}}, 0,
                                   100, kWholeStep);
  const RunPlan plan = plan_run(run, parse_code("system.bx32.by8.ry4.sectors.pf2.t3.ch5.fillplain"), kLimits);
  EXPECT_EQ(plan_text(plan), "3x33+1x1");
  EXPECT_EQ(plan.single, "system.bx32.by8.ry4.sectors.pf2.t1.ch5.fillplain");
  EXPECT_EQ(plan_of(4, kFused).single, "") << "the kernels of one sweep make them";
}

TEST(RunPlan, IsWrittenAsStepsTimesLaunches) {
  EXPECT_EQ(plan_text(plan_of(99, kFused)), "3x33");
  EXPECT_EQ(plan_text(plan_of(4, kFused)), "3x1+1x1");
  EXPECT_EQ(plan_text(plan_of(5, kFused)), "3x1+2x1");
  EXPECT_EQ(plan_text(plan_of(100, kSingle)), "1x100");
}

TEST(RunPlan, TheRateCountsAllSteps) {
  EXPECT_DOUBLE_EQ(run_rate(plan_of(99, kFused), {900, 0, 0}), 900);
  EXPECT_DOUBLE_EQ(run_rate(plan_of(4, kFused), {900, 0, 450}), 4 / (3 / 900.0 + 1 / 450.0));
  EXPECT_DOUBLE_EQ(run_rate(plan_of(5, kFused), {900, 600, 1}), 5 / (3 / 900.0 + 2 / 600.0));
  EXPECT_EQ(run_rate(plan_of(4, kFused), {900, 0, 0}), 0) << "single steps were not timed";
  EXPECT_EQ(run_rate(plan_of(5, kFused), {900, 0, 450}), 0) << "the remainder was not timed";
}

TEST(RunPlan, TheNoteSaysWhetherWhatIsLeftIsCounted) {
  TrialRecord counted = kFused;
  counted.plan = "3x1+1x1";
  EXPECT_EQ(plan_note(run_of(99), kLimits, kFused, {}), "99 steps: 33 launches of 3 fused steps");
  EXPECT_EQ(plan_note(run_of(4), kLimits, counted, {}),
            "4 steps: 1 launch of 3 fused steps and 1 single step, all counted");
  EXPECT_EQ(plan_note(run_of(5), kLimits, kFused, {}),
            "5 steps: 1 launch of 3 fused steps and 1 of 2, which are not counted");
}

TEST(RunPlan, SingleStepsSayWhatBecameOfKernelsThatFuse) {
  const auto note = [](std::vector<TrialRecord> trials) { return plan_note(run_of(100), kLimits, kSingle, trials); };
  TrialRecord failed = kFused;
  failed.outcome = Outcome::compile_failed;
  EXPECT_EQ(note({kSingle, failed, kFused}), "100 steps: 100 launches; no kernel that fuses steps was faster");
  EXPECT_EQ(note({kSingle, failed}), "100 steps: 100 launches; every kernel that fuses steps failed");
  EXPECT_EQ(note({kSingle}), "100 steps: 100 launches; no kernel that fuses steps was tried");
}

TEST(RunPlan, StepsInSeveralPassesSayWhatBecameOfKernelsThatMakeThemWhole) {
  const auto note = [](int steps, std::vector<TrialRecord> trials) { return passes_note(run_of(steps), 3, trials); };
  TrialRecord failed = kFused;
  failed.outcome = Outcome::compile_failed;
  EXPECT_EQ(note(100, {failed, kFused}),
            "100 steps: 300 launches, 3 a step; no kernel that makes whole steps was faster");
  EXPECT_EQ(note(1, {failed}), "1 step: 3 launches, 3 a step; every kernel that makes whole steps failed");
  EXPECT_EQ(note(1, {}), "1 step: 3 launches, 3 a step; no kernel that makes whole steps was tried");
}

TEST(RunPlan, SingleStepsSayWhereFusingIsIllegal) {
  Problem wide = testing::star(16, 512);
  wide.steps = 10;
  EXPECT_EQ(plan_note(wide, kLimits, kSingle, {}),
            "10 steps: 10 launches; no kernel that fuses steps is legal here: temporal_reach: a thread holds 2 cells "
            "along x; the stencil reaches 16, so that 16 are needed");
  EXPECT_TRUE(contains(plan_note(run_of(100), limits_of_architecture("sm_75"), kSingle, {}), "temporal_architecture"));
  const Problem moderate =
      make_problem(make_builtin(Shape::star, 3, 3), ElementType::f32, {}, {3, {512, 512, 512}}, 0, 4);
  EXPECT_TRUE(contains(plan_note(moderate, kLimits, kSingle, {}), "was tried")) << "legal, though no default is";
}

TEST(RunPlan, TellsTheGainOfFusingOnlyWhereStepsCanBeFused) {
  const Limits limits = limits_of_architecture("sm_90");
  const Problem star = testing::star(1, 512);
  const std::string gain = gain_note(star, limits, find_device_model("h200"), kSingle);
  EXPECT_TRUE(contains(gain, "--steps 100") && contains(gain, "by the model") && contains(gain, "~")) << gain;
  Problem run = star;
  run.steps = 100;
  EXPECT_EQ(gain_note(run, limits, find_device_model("h200"), kSingle), "");
  EXPECT_EQ(gain_note(testing::star(1, 8, ElementType::f32, 1), limits, find_device_model("h200"), kSingle), "")
      << "no tile fits";
}

}  // namespace
}  // namespace stencil_tune
