// Sessions on a real GPU whose candidates fuse steps: each is compared with the reference after as many.
#include "generator/cut/zones.hpp"
#include "runtime/model/device_model.hpp"
#include "stencil_tune/definition.hpp"
#include "tests/gpu/gpu_test.hpp"
#include "tests/runtime/temporary_folder.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/zone_tuning.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace stencil_tune {
namespace {

class FusedSteps : public GpuTest<> {
 protected:
  void SetUp() override {
    GpuTest<>::SetUp();
    if (IsSkipped()) return;
    target_ = {.device = device_,
               .model = model_of(device_),
               .architecture = device_.architecture,
               .limits = device_.limits,
               .note = ""};
    target_.limits.least_fused_steps = 2;
    settings_.session.budget_s = 120;
    settings_.session.max_trials = 3;
  }

  static Problem run_of(const char* name) {
    Stencil stencil = find_stencil(name);
    if (stencil.layers) stencil.layers = parse_layer_widths("8", 3);
    return make_problem(stencil, ElementType::f32, {}, {3, {96, 72, 64}}, 0, 8, kWholeStep);
  }

  Target target_;
  TuningSettings settings_;
  TemporaryFolder folder_;
  Database database_ = Database::open(folder_.path() / "trials.db");
  SilentProgress observer_;
};

class FusedStepsOf : public FusedSteps, public ::testing::WithParamInterface<const char*> {};

TEST_P(FusedStepsOf, AreTunedAndRight) {
  const auto outcome = tune_stencil(run_of(GetParam()), target_, settings_, database_, observer_);
  ASSERT_TRUE(outcome.result.winner);
  EXPECT_GT(outcome.result.winner->rate, 0);
  EXPECT_EQ(outcome.result.failures.count(Outcome::wrong_result), 0u);
}

INSTANTIATE_TEST_SUITE_P(Corpus, FusedStepsOf, ::testing::Values("heat3d", "acoustic3d_o4", "yee3d"),
                         [](const auto& stencil) { return std::string(stencil.param); });

/// The inside and a face. The other faces are like it; edges and corners have more fields, and take NVRTC longer.
TEST_F(FusedSteps, OfAZoneAreTunedAndRight) {
  settings_.session.budget_s = 20;
  settings_.session.finalists = 2;
  const std::vector<Problem> problems = zone_problems(zones(run_of("acoustic3d_o2_cpml"), 2));
  for (const Problem& zone : std::span(problems).first(2)) {
    const auto outcome = tune_stencil(zone, target_, settings_, database_, observer_);
    ASSERT_TRUE(outcome.result.winner) << zone.extents.n[0] << " x " << zone.extents.n[1] << " x " << zone.extents.n[2];
    EXPECT_EQ(outcome.result.failures.count(Outcome::wrong_result), 0u);
  }
}

}  // namespace
}  // namespace stencil_tune
