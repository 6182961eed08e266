#include "tuner/session/run_plan.hpp"

#include "tests/tuner/session/session_fakes.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TrialRecord trial(const std::string& candidate, double gstencils) {
  TrialRecord record;
  record.code = candidate;
  record.gstencils = gstencils;
  return record;
}

const TrialRecord kFused = trial("temporal.bx32.by4.rx2.ry4.v2.pf3.t3", 900);
const TrialRecord kSingle = trial("direct.bx32.by8", 450);

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(RunPlan, CountsWhatIsLeftInTheRate) {
  EXPECT_EQ(plan_note(99, kFused, kSingle), "99 steps: 33 launches of 3 fused steps, 900.0 GStencil/s");
  EXPECT_EQ(plan_note(4, kFused, kSingle),
            "4 steps: 1 launch of 3 fused steps and 1 single step, 720.0 GStencil/s with them counted");
  EXPECT_TRUE(contains(plan_note(4, kFused, std::nullopt), "1 single step (single steps were not timed)"));
  EXPECT_EQ(plan_note(5, kFused, kSingle), "5 steps: 1 launch of 3 fused steps, 900.0 GStencil/s, and 1 of 2");
}

TEST(RunPlan, SaysThatNothingWasWorthFusing) {
  EXPECT_TRUE(contains(plan_note(100, kSingle, kSingle), "100 launches"));
}

TEST(RunPlan, TellsTheGainOfFusingOnlyWhereStepsCanBeFused) {
  const Limits limits = limits_of_architecture("sm_90");
  const Problem star = testing::star(1, 512);
  const std::string gain = gain_note(star, limits, find_device_model("h200"), kSingle);
  EXPECT_TRUE(contains(gain, "--steps 100") && contains(gain, "by the model")) << gain;
  Problem run = star;
  run.steps = 100;
  EXPECT_EQ(gain_note(run, limits, find_device_model("h200"), kSingle), "");
  EXPECT_EQ(gain_note(testing::star(1, 8), limits, find_device_model("h200"), kSingle), "") << "no tile fits";
}

}  // namespace
}  // namespace stencil_tune
