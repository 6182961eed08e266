#include "tests/tuner/session/session_fakes.hpp"

#include "stencil_tune/error.hpp"
#include "tuner/session/predict.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

class PredictTest : public ::testing::Test {
 protected:
  PredictedDevice device(HostChecker checker) {
    return {problem, limits, find_device_model("h200"), std::move(checker)};
  }

  static std::vector<CodedKernel> finalists() {
    std::vector<CodedKernel> result;
    for (const char* candidate : {"direct.bx32.by8", "streaming.bx32.by4.rx4.v4.cz4.regs"}) {
      CompiledKernel kernel;
      kernel.resources.registers = 40;
      result.emplace_back(candidate, kernel);
    }
    return result;
  }

  Problem problem = testing::star(1, 512);
  Limits limits = limits_of_architecture("sm_90");
};

TEST_F(PredictTest, TheDeviceSessionIsTheModels) {
  const DeviceSession session = device({}).start();
  EXPECT_EQ(session.device.name, "NVIDIA H200");
  EXPECT_GT(session.ceiling_gbs, 0);
  EXPECT_FALSE(session.fits_in_l2);
}

TEST_F(PredictTest, APredictionHasNoSamples) {
  const auto candidates = finalists();
  const DeviceResult result = device({}).run(candidates[0].first, candidates[0].second, {});
  EXPECT_EQ(result.outcome, Outcome::ok);
  EXPECT_EQ(result.timing.samples, 0);
}

TEST_F(PredictTest, RealRegistersCount) {
  auto model = device({});
  const std::string candidate = "direct.bx32.by8";
  CompiledKernel lean, fat;
  lean.resources.registers = 32;
  fat.resources.registers = 255;
  fat.resources.spill_bytes = 400;
  EXPECT_LT(model.run(candidate, lean, {}).timing.median_ms, model.run(candidate, fat, {}).timing.median_ms);
}

TEST_F(PredictTest, AKernelThatFitsNoSmExceedsTheLimits) {
  CompiledKernel kernel;
  kernel.resources.registers = 255;
  EXPECT_EQ(device({}).run("direct.bx1024.by1", kernel, {}).outcome, Outcome::exceeds_limits);
}

TEST_F(PredictTest, FinalistsRunOnASmallGridAndWrongOnesAreOut) {
  auto model = device([](const Problem& small, std::span<const Tuning> tunings) {
    EXPECT_LT(small.extents.cells(), 100000);
    std::vector<HostVerdict> verdicts;
    for (const Tuning& tuning : tunings) {
      verdicts.push_back({tuning, tuning.family->name != "direct", "cell (1, 1, 1)", 10});
    }
    return verdicts;
  });
  const auto results = model.race(finalists(), {.rounds = 1});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].outcome, Outcome::wrong_result);
  EXPECT_EQ(results[0].message, "cell (1, 1, 1)");
  EXPECT_EQ(results[1].outcome, Outcome::ok);
  EXPECT_NE(model.check_note().find("2 of 2 finalists ran on the CPU"), std::string::npos) << model.check_note();
  EXPECT_NE(model.check_note().find("1 of them wrong"), std::string::npos) << model.check_note();
}

TEST_F(PredictTest, SaysWhetherTheWinnerWasAmongThoseThatRan) {
  auto model = device([](const Problem&, std::span<const Tuning> tunings) -> std::vector<HostVerdict> {
    return {{tunings[0], true, "", 0}};
  });
  EXPECT_EQ(model.check_note("direct.bx32").rfind("the fastest was not checked: ", 0), 0u)
      << model.check_note("direct.bx32");
  model.race(finalists(), {.rounds = 1});
  const std::string ran = finalists()[0].first;
  EXPECT_EQ(model.check_note(ran),
            "2 of 2 finalists ran on the CPU, on a small grid: all right, the fastest among them");
  EXPECT_EQ(model.check_note("direct.bx1024"),
            "2 of 2 finalists ran on the CPU, on a small grid: all right; the fastest was not among them");
}

TEST_F(PredictTest, WithoutARaceItClaimsNoCheck) {
  const auto model = device([](const Problem&, std::span<const Tuning>) { return std::vector<HostVerdict>{}; });
  EXPECT_EQ(model.check_note().rfind("not checked", 0), 0u) << model.check_note();
}

TEST_F(PredictTest, WithoutAHostCompilerItSaysNotChecked) {
  auto model = device([](const Problem&, std::span<const Tuning>) -> std::vector<HostVerdict> {
    throw Error(ErrorCode::missing_library, "no g++ here");
  });
  EXPECT_EQ(model.race(finalists(), {.rounds = 1})[0].outcome, Outcome::ok);
  EXPECT_NE(model.check_note().find("not checked: no g++ here"), std::string::npos);
}

TEST_F(PredictTest, ACheckThatRunsOutOfTimeKeepsWhatItFound) {
  int calls = 0;
  auto model = device([&](const Problem&, std::span<const Tuning> tunings) -> std::vector<HostVerdict> {
    if (++calls > 1) throw Error(ErrorCode::timeout, "not done in time");
    return {{tunings[0], false, "cell (1, 1, 1)", 10}};
  });
  const auto results = model.race(finalists(), {.rounds = 1});
  EXPECT_EQ(results[0].outcome, Outcome::wrong_result);
  EXPECT_EQ(results[1].outcome, Outcome::ok);
  EXPECT_NE(model.check_note().find("1 of 2 finalists"), std::string::npos) << model.check_note();
  EXPECT_NE(model.check_note().find("not done in time"), std::string::npos) << model.check_note();
}

TEST_F(PredictTest, TheSmallGridHasRowsThatVectorsFitAndSomethingToUpdate) {
  for (const int order : {1, 4, 8}) {
    const Problem small = small_problem(testing::star(order, 512, ElementType::f16), Tuning{});
    EXPECT_EQ(small.pitch % 8, 0);
    EXPECT_NE(small.extents.n[0], small.pitch);
    EXPECT_GT(updated_box(small).cells(), 0);
  }
}

TEST_F(PredictTest, TheSmallGridIsNeverLargerThanTheProblems) {
  const Problem small = small_problem(testing::star(1, 10), Tuning{});
  EXPECT_EQ(small.extents, (Extents{3, {10, 10, 10}}));
}

TEST(SmallProblem, HoldsATileOfFusedSteps) {
  Problem run = testing::star(1, 512);
  run.steps = 100;
  const Limits limits = limits_of_architecture("sm_90");
  for (const char* text :
       {"temporal.bx32.by12.rx2.ry4.v2.pf8.t4.ch2.u4", "temporal.bx32.by8.rx2.ry4.sums.pf2.t3.ch16"}) {
    const Tuning tuning = parse_code(text);
    const Problem small = small_problem(run, tuning);
    EXPECT_TRUE(is_legal({small, tuning}, limits)) << text;
    EXPECT_LT(small.extents.cells(), 500000) << text;
  }
}

}  // namespace
}  // namespace stencil_tune
