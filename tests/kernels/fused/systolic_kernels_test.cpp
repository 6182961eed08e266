// Systolic kernels against plain repeated sweeps, in every cell.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/families/families.hpp"
#include "generator/definition/definition.hpp"
#include "tests/kernels/expect_right.hpp"
#include "tests/kernels/fused/systolic_cases.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace stencil_tune {
namespace {

using enum Boundary;

class SystolicBoundaries : public testing::TestWithParam<std::tuple<Boundary, Boundary>> {};

TEST_P(SystolicBoundaries, AreExactAtEveryFusedStep) {
  expect_right(systolic_cases(std::get<0>(GetParam()), std::get<1>(GetParam())), 3);
}

INSTANTIATE_TEST_SUITE_P(Each, SystolicBoundaries,
                         testing::Values(std::tuple{hold, hold}, std::tuple{zero, zero}, std::tuple{periodic, periodic},
                                         std::tuple{clamp, hold}, std::tuple{reflect, zero},
                                         std::tuple{hold, periodic}),
                         [](const auto& tested) {
                           return std::string(name(std::get<0>(tested.param))) + "Then" +
                                  std::string(name(std::get<1>(tested.param)));
                         });

TEST(SystolicKernels, PassRowsFromWarpToWarp) { expect_right(systolic_pipeline_cases(), 3); }

TEST(SystolicKernels, ServeStencilsThatReachFurtherToOneSide) { expect_right(lopsided_systolic_cases(), 3); }

std::string violated(const Stencil& stencil, ElementType type, Boundary walk, std::string_view code, int steps = 100) {
  const Problem problem = make_problem(stencil, type, {hold, walk, walk}, {2, {4096, 4096, 1}}, 0, steps);
  const auto broken = first_violation({problem, parse_code(code)}, limits_of_architecture("sm_90"));
  return broken ? std::string(broken->constraint) : "";
}

TEST(SystolicConstraints, SayWhatTheyServe) {
  using enum ElementType;
  const Stencil star = make_builtin(Shape::star, 2, 1);
  EXPECT_EQ(violated(star, f64, hold, "systolic.rx13.pf2.t32.tg8.rb2.sh132"), "");
  EXPECT_EQ(violated(star, f64, clamp, "systolic.rx13.pf2.t32.tg8.rb2.sh132"), "systolic_walk");
  EXPECT_EQ(violated(star, f64, hold, "systolic.rx13.cells.pf2.t32.tg8.rb2.sh132"), "systolic_walk");
  EXPECT_EQ(violated(load_definition("corpus/gradient2d.toml"), f64, hold, "systolic.rx13.pf2.t32.tg8.rb2.sh132"),
            "systolic_walk")
      << "it is not linear";
  EXPECT_EQ(violated(star, f16, hold, "systolic.rx13.pf2.t32.tg8.rb2.sh132"), "systolic_types");
  EXPECT_EQ(violated(star, f64, hold, "systolic.rx13.pf2.t30.tg8.rb2.sh132"), "systolic_levels");
  EXPECT_EQ(violated(star, f64, hold, "systolic.rx7.pf1.t80.tg16.rb1.sh132"), "systolic_registers");
  EXPECT_EQ(violated(star, f64, hold, "systolic.rx7.pf1.t128.tg16.sh132", 200), "systolic_tile_not_empty");
  EXPECT_EQ(violated(star, f64, hold, "systolic.rx13.pf2.t32.tg8.rb2.sh132", 16), "systolic_steps");
  EXPECT_EQ(violated(star, f64, hold, "systolic.rx17.pf2.t24.tg8.rb2.sh132"), "shared_memory");
  EXPECT_EQ(violated(star, f64, hold, "systolic.rx13.pf1.t32.tg8.rb3.split.sh132"), "");
  EXPECT_EQ(violated(load_definition("corpus/hotspot2d.toml"), f64, hold, "systolic.rx13.pf2.t32.tg8.rb2.sh132"),
            "systolic_fields");
}

std::string violated_on(std::int64_t columns, std::int64_t pitch, Boundary x, std::string_view code,
                        std::string_view architecture = "sm_90") {
  const Problem problem = make_problem(make_builtin(Shape::star, 2, 1), ElementType::f64, {x, hold, hold},
                                       {2, {columns, 4096, 1}}, pitch, 100);
  const auto broken = first_violation({problem, parse_code(code)}, limits_of_architecture(architecture));
  return broken ? std::string(broken->constraint) : "";
}

TEST(SystolicConstraints, RowsOfWholeWordsMoveAsLines) {
  constexpr std::string_view kLines = "systolic.rx13.pf1.t32.tg8.rb3.sh132";
  constexpr std::string_view kWords = "systolic.rx13.pf1.t32.tg8.rb3.words.sh132";
  EXPECT_EQ(violated_on(4096, 0, hold, kLines), "");
  EXPECT_EQ(violated_on(4097, 0, hold, kLines), "systolic_lines");
  EXPECT_EQ(violated_on(4096, 4097, hold, kLines), "systolic_lines");
  EXPECT_EQ(violated_on(4096, 0, periodic, kLines), "systolic_lines");
  EXPECT_EQ(violated_on(4096, 0, hold, kLines, "sm_80"), "systolic_lines");
  EXPECT_EQ(violated_on(4097, 4097, periodic, kWords), "");
  EXPECT_EQ(violated_on(4096, 0, hold, "systolic.rx7.pf1.t8.tg4.rb3.split.words.sh132", "sm_80"), "systolic_barrier");
}

TEST(SystolicShape, LinesTakeFieldsThatStartOnWords) {
  const Problem problem =
      make_problem(make_builtin(Shape::star, 2, 1), ElementType::f64, {hold, hold, hold}, {2, {4096, 4096, 1}}, 0, 100);
  EXPECT_EQ(required_alignment({problem, parse_code("systolic.rx13.pf1.t32.tg8.rb3.sh132")}), 16U);
  EXPECT_EQ(required_alignment({problem, parse_code("systolic.rx13.pf1.t32.tg8.rb3.words.sh132")}), 8U);
}

std::string constants_of(const Stencil& stencil, Boundary x, const char* code) {
  const Problem problem = make_problem(stencil, ElementType::f64, {x, hold, hold}, {2, {4096, 4096, 1}}, 0, 100);
  return systolic_family().constants({problem, parse_code(code)});
}

TEST(SystolicShape, RowsAtTheGridsSidesCostAWordMoreForEachThatIsChosen) {
  const Stencil star = make_builtin(Shape::star, 2, 1);
  const char* code = "systolic.rx13.pf1.t32.tg8.rb3.words.sh132";
  const auto costs = [](int inside, int at_side) {
    return "kRowCost = " + std::to_string(inside) + ", kSideRowCost = " + std::to_string(at_side);
  };
  // 5 points of 13 cells; two cells of two words are held, of the row that is complete and of the next one.
  EXPECT_NE(constants_of(star, hold, code).find(costs(65, 65 + 2 * 2 * 2)), std::string::npos);
  EXPECT_NE(constants_of(star, clamp, code).find(costs(65, 65 + 2 * 2)), std::string::npos);
}

TEST(SystolicShape, FactorsThatUniformRegistersDoNotKeepAreCounted) {
  const auto share = [](const Stencil& stencil, const char* code) {
    const Problem problem = make_problem(stencil, ElementType::f64, {hold, hold, hold}, {2, {4096, 4096, 1}}, 0, 100);
    return Candidate(problem, parse_code(code)).shape().factors_in_registers;
  };
  const Stencil box = make_builtin(Shape::box, 2, 3);  // 49 coefficients of two words, 44 of which are kept
  EXPECT_NEAR(share(box, "systolic.rx15.pf1.t8.tg8.rb1.sh132"), 1 - 44.0 / 98, 1e-12);
  EXPECT_EQ(share(box, "systolic.rx15.pf1.t8.tg8.rb1.step.sh132"), 0);
  EXPECT_EQ(share(make_builtin(Shape::star, 2, 3), "systolic.rx15.pf1.t8.tg8.rb3.sh132"), 0);
}

}  // namespace
}  // namespace stencil_tune
