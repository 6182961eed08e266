#include "tuner/session/trials/warm_starts.hpp"

#include "generator/definition/definition.hpp"
#include "tests/tuner/session/session_fakes.hpp"
#include "tuner/subject/stencil_subject.hpp"

#include <gtest/gtest.h>

#include <span>

namespace stencil_tune {
namespace {

class WarmStarts : public ::testing::Test {
 protected:
  void add(const std::string& candidate, std::int64_t n, int steps = 1, const std::string& gpu = "NVIDIA H200",
           ElementType type = ElementType::f32, int order = 1) {
    Problem problem = testing::star(order, n, type);
    problem.steps = steps;
    WinnerRecord winner;
    winner.trial.problem = problem_key(problem);
    winner.trial.platform.gpu = gpu;
    winner.trial.code = candidate;
    winners_.push_back(winner);
  }

  std::vector<std::string> warm_starts_for(std::int64_t n, int steps = 1,
                                           const std::optional<Tuning>& untuned = std::nullopt) const {
    Problem problem = testing::star(1, n);
    problem.steps = steps;
    std::vector<std::string> codes;
    for (const Tuning& tuning :
         warm_starts(problem, limits_of_architecture("sm_90"), "NVIDIA H200", winners_, model_, untuned)) {
      codes.push_back(code(tuning));
    }
    return codes;
  }

  /// The more threads in x, the better.
  struct Model : CostModel {
    double cost(const Tuning& tuning) const override { return 1.0 / tuning.block_x; }
  };

  std::vector<WinnerRecord> winners_;
  Model model_;
};

TEST_F(WarmStarts, AreTheNearestFirstEachOnce) {
  add("direct.bx32.by4", 2048);
  add("direct.bx64.by4", 448);
  add("direct.bx64.by4", 384);
  add("direct.bx128.by2", 64, 1, "NVIDIA A100");
  EXPECT_EQ(warm_starts_for(512), (std::vector<std::string>{"direct.bx64.by4", "direct.bx32.by4", "direct.bx128.by2"}));
}

TEST_F(WarmStarts, BeginWithWhatTheLibraryRunsUntuned) {
  add("direct.bx64.by4", 512);
  add("direct.bx32.by4", 256);
  EXPECT_EQ(warm_starts_for(512, 1, parse_code("direct.bx128.by2")).front(), "direct.bx128.by2");
  EXPECT_EQ(warm_starts_for(512, 1, parse_code("direct.bx32.by4")),
            (std::vector<std::string>{"direct.bx32.by4", "direct.bx64.by4"}))
      << "each once";
}

TEST_F(WarmStarts, OfRunsComeFirstForARunAndAreLeftOutWhereOneSweepIsMade) {
  add("direct.bx32.by4", 512);
  add("temporal.bx32.by4.rx2.ry4.v2.pf3.t4", 256, 100);
  EXPECT_EQ(warm_starts_for(512, 100),
            (std::vector<std::string>{"temporal.bx32.by4.rx2.ry4.v2.pf3.t4", "direct.bx32.by4"}));
  EXPECT_EQ(warm_starts_for(512), std::vector<std::string>{"direct.bx32.by4"});
}

TEST_F(WarmStarts, LeaveOutWhatIsOfOtherTypesIllegalPredictedOrNoCode) {
  add("direct.bx32.by4", 512, 1, "NVIDIA H200", ElementType::f64);
  add("streaming.bx32.by4.rx4.v4.cz4.regs", 512);
  add("of.another.version", 512);
  add("direct.bx64.by4", 512);
  winners_.back().trial.predicted = true;
  EXPECT_EQ(warm_starts_for(509), std::vector<std::string>{}) << "rows of 509 cells do not start on whole vectors";
}

TEST_F(WarmStarts, OfOtherStencilsFollowAndTheModelChoosesAmongThem) {
  for (int bx = 1; bx <= 20; ++bx) {
    add("direct.bx" + std::to_string(32 * bx) + ".by1", 512, 1, "NVIDIA H200", ElementType::f32, 2);
  }
  add("direct.bx64.by1", 512, 1, "NVIDIA H200", ElementType::f64, 2);
  add("direct.bx32.by4", 256);
  const auto codes = warm_starts_for(512);
  ASSERT_EQ(codes.size(), 1 + kMostWarmStartsOfOthers);
  EXPECT_EQ(codes[0], "direct.bx32.by4");
  EXPECT_EQ(codes[1], "direct.bx640.by1");
  EXPECT_EQ(codes[8], "direct.bx416.by1");
}

TEST_F(WarmStarts, AreAFew) {
  for (int bx = 1; bx <= 20; ++bx) add("direct.bx" + std::to_string(32 * bx) + ".by1", 512 + bx);
  EXPECT_EQ(warm_starts_for(512).size(), kMostWarmStarts);
}

TEST_F(WarmStarts, OfSystemsServeRowsOfAnyLength) {
  const auto wave_on = [](std::int64_t nx) {
    return make_problem(load_definition("corpus/acoustic3d_o2.toml"), ElementType::f32,
                        {Boundary::hold, Boundary::hold, Boundary::hold}, {3, {nx, 512, 512}}, 512, 100, kWholeStep);
  };
  WinnerRecord winner;
  winner.trial.problem = problem_key(wave_on(512));
  winner.trial.platform.gpu = "NVIDIA H200";
  winner.trial.code = "system.bx32.by12.rx2.ry4.v2.sectors.tmarows.pf1.t4.ch4.u4.mb1";
  const auto codes_on = [&](std::int64_t nx) {
    std::vector<std::string> codes;
    for (const Tuning& tuning :
         warm_starts(wave_on(nx), limits_of_architecture("sm_90"), "NVIDIA H200", std::span(&winner, 1), model_)) {
      codes.push_back(code(tuning));
    }
    return codes;
  };
  EXPECT_EQ(codes_on(512), std::vector<std::string>{winner.trial.code});
  EXPECT_EQ(codes_on(509), std::vector<std::string>{"system.bx32.by12.rx2.ry4.v2.sectors.tmabeyond.pf1.t4.ch4.u4.mb1"});
}

TEST_F(WarmStarts, OfFusedStepsServeEveryBoundaryAndRowsThatTmaCannotBring) {
  const auto codes_on = [&](std::int64_t nx, Boundary boundary, const std::string& of_hold, bool is_system) {
    const Boundaries boundaries{boundary, boundary, boundary};
    const Stencil wave = load_definition("corpus/acoustic3d_o2.toml"), star = make_builtin(Shape::star, 3, 1);
    const auto problem_on = [&](std::int64_t cells, const Boundaries& all) {
      return make_problem(is_system ? wave : star, ElementType::f32, all, {3, {cells, 512, 512}}, 512, 100, kWholeStep);
    };
    WinnerRecord winner;
    winner.trial.problem = problem_key(problem_on(512, {}));
    winner.trial.platform.gpu = "NVIDIA H200";
    winner.trial.code = of_hold;
    std::vector<std::string> codes;
    for (const Tuning& tuning : warm_starts(problem_on(nx, boundaries), limits_of_architecture("sm_90"), "NVIDIA H200",
                                            std::span(&winner, 1), model_)) {
      codes.push_back(code(tuning));
    }
    return codes;
  };
  const std::string by_tma = "system.bx32.by14.rx2.ry3.v2.sectors.tmarows.pf1.t5.ch3.fillplain.u5";
  EXPECT_EQ(codes_on(512, Boundary::clamp, by_tma, true), std::vector<std::string>{by_tma});
  const std::string by_lanes = "system.bx32.by14.rx2.ry3.v2.sectors.pf1.t5.ch3.fillplain.u5";
  EXPECT_EQ(codes_on(512, Boundary::periodic, by_tma, true), (std::vector<std::string>{by_tma, by_lanes}))
      << "either may be the faster there";
  EXPECT_EQ(codes_on(510, Boundary::periodic, by_tma, true), std::vector<std::string>{by_lanes});
  EXPECT_EQ(codes_on(510, Boundary::clamp, "temporal.bx32.by12.rx3.ry4.tmarows.pf3.t4.ch5.u2.mb1", false),
            std::vector<std::string>{"temporal.bx32.by12.rx3.ry4.pf3.t4.ch5.u2.mb1"});
}

TEST(WarmStartsOfWholeSteps, BeginWithAFormThatCompilesFast) {
  const Stencil yee = load_definition("corpus/yee3d.toml");
  const Problem step = make_problem(yee, ElementType::f32, {}, {3, {256, 256, 256}}, 0, 100, kWholeStep);
  WinnerRecord winner;
  winner.trial.problem = problem_key(step);
  winner.trial.platform.gpu = "NVIDIA H200";
  winner.trial.code = "system.bx32.by8.ry4.sectors.pf2.t4.ch5.fillplain.u2";
  struct Model : CostModel {
    double cost(const Tuning&) const override { return 1; }
  };
  std::vector<std::string> found;
  for (const Tuning& tuning :
       warm_starts(step, limits_of_architecture("sm_90"), "NVIDIA H200", std::vector{winner}, Model())) {
    found.push_back(code(tuning));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"system.bx32.by8.ry4.sectors.pf2.t1.ch5.fillplain",
                                             "system.bx32.by8.ry4.sectors.pf2.t4.ch5.fillplain.u2"}));
}

}  // namespace
}  // namespace stencil_tune
