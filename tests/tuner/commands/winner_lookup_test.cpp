#include "tuner/commands/winner/winner_lookup.hpp"

#include "db/trial_store.hpp"
#include "generator/kernel_source/signature.hpp"
#include "tests/runtime/temporary_folder.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

/// A run of 100 steps of a stencil that no winner ships for.
class OneSweep : public ::testing::Test {
 protected:
  void insert_winner(int steps, const char* code) {
    TrialRecord trial;
    Problem of_so_many_steps = problem;
    of_so_many_steps.steps = steps;
    trial.problem = problem_key(of_so_many_steps);
    trial.platform = platform;
    trial.code = code;
    trial.platform.template_signature = template_signature(parse_code(code));
    trial.outcome = Outcome::ok;
    trial.timing = {.median_ms = 1, .low_ms = 1, .high_ms = 1, .samples = 10};
    trial.rate = 100;
    trial.raced = true;
    trial.session = "session";
    trial.created_at = "2026-11-21T00:00:00Z";
    TrialStore(database).insert(trial);
  }

  std::string found() {
    const auto choice = kernel_of_one_sweep(database, problem, platform, limits_of_architecture("sm_90"));
    return choice ? code(choice->tuning) : "none";
  }

  TemporaryFolder folder;
  Database database = Database::open(folder.path() / "trials.db");
  Problem problem = make_problem(make_builtin(Shape::box, 3, 2), ElementType::f64, {}, {3, {96, 96, 96}}, 0, 100);
  PlatformKey platform{"Fake GPU", "sm_90", "13.0", "13.0", ""};
};

TEST_F(OneSweep, IsTheWinnerThatWasTunedForIt) {
  insert_winner(1, "direct.bx64.by4");
  insert_winner(100, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2");
  EXPECT_EQ(found(), "direct.bx64.by4");
}

TEST_F(OneSweep, IsNoKernelOfFusedStepsAndNoGuess) {
  EXPECT_EQ(found(), "none");
  insert_winner(100, "temporal.bx32.by4.rx2.ry4.v2.pf3.t2");
  EXPECT_EQ(found(), "none");
}

TEST_F(OneSweep, MayComeFromWhatShips) {
  problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {512, 512, 512}}, 0, 100);
  platform.gpu = "NVIDIA H200";
  EXPECT_NE(found(), "none");
}

}  // namespace
}  // namespace stencil_tune
