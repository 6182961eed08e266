// Resident kernels against plain repeated sweeps, in every cell.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/families/families.hpp"
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "tests/kernels/expect_right.hpp"
#include "tests/kernels/fused/resident_cases.hpp"

#include <gtest/gtest.h>

#include <string>

namespace stencil_tune {
namespace {

class ResidentBoundaries : public testing::TestWithParam<Boundary> {};

TEST_P(ResidentBoundaries, AreExactAtEveryStep) { expect_right(resident_cases(on_all_sides(GetParam())), 2); }

INSTANTIATE_TEST_SUITE_P(Each, ResidentBoundaries,
                         testing::Values(Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic,
                                         Boundary::reflect),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(ResidentKernels, ServeADifferentBoundaryOnEachAxis) {
  using enum Boundary;
  expect_right(resident_cases({clamp, zero, periodic}), 2);
  expect_right(resident_cases({periodic, reflect, hold}), 2);
}

TEST(ResidentKernels, ExchangeHalosAfterAnyNumberOfSteps) { expect_right(resident_exchange_cases(), 2); }

TEST(ResidentKernels, ServeStencilsThatReachFurtherToOneSide) { expect_right(lopsided_resident_cases(), 2); }

std::string violated(const Stencil& stencil, const Extents& extents, std::string_view code) {
  const Problem problem = make_problem(stencil, ElementType::f32, on_all_sides(Boundary::hold), extents, 0, 100);
  const auto broken = first_violation({problem, parse_code(code)}, limits_of_architecture("sm_90"));
  return broken ? std::string(broken->constraint) : "";
}

TEST(ResidentConstraints, SayWhatTheyServe) {
  const Stencil star = make_builtin(Shape::star, 3, 1);
  const Extents cube{3, {64, 64, 64}};
  EXPECT_EQ(violated(star, cube, "resident.bx512.rz4.tx16.ty16.tz8.ex2.t64"), "");
  EXPECT_EQ(violated(star, cube, "resident.bx512.rz4.tx16.ty16.tz7.ex2.t64"), "resident_blocks") << "160 of 132";
  EXPECT_EQ(violated(star, cube, "resident.bx512.rz4.tx64.ty64.tz8.ex2.t64"), "shared_memory");
  EXPECT_EQ(violated(star, cube, "resident.bx512.rz4.tx16.ty16.tz8.ex2.t128"), "resident_steps");
  EXPECT_EQ(violated(star, cube, "resident.bx512.rz4.tx16.ty16.tz8.ex8.t4"), "resident_exchanges");
  EXPECT_EQ(violated(star, cube, "resident.bx128.by4.rz4.tx16.ty16.tz8.ex2.t64"), "resident_threads");
  EXPECT_EQ(violated(make_builtin(Shape::star, 2, 1), {2, {64, 64, 1}}, "resident.bx128.tx16.ty16.tz8.ex2.t64"),
            "resident_tile");
  EXPECT_EQ(violated(load_definition("corpus/hotspot2d.toml"), {2, {64, 64, 1}}, "resident.bx128.tx64.ty16.tz1.ex2.t4"),
            "");
  EXPECT_EQ(
      violated(load_definition("corpus/gray_scott2d.toml"), {2, {64, 64, 1}}, "resident.bx128.tx64.ty16.tz1.ex2.t4"),
      "resident_fields")
      << "two fields";
}

TEST(ResidentConstraints, LeaveGridsThatDoNotFitToOthers) {
  for (const std::int64_t n : {64, 512}) {
    const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32,
                                         on_all_sides(Boundary::hold), {3, {n, n, n}}, 0, 100);
    const Limits limits = limits_of_architecture("sm_90");
    EXPECT_EQ(default_candidate(resident_family(), problem, limits).has_value(), n == 64);
    std::mt19937_64 random(1);
    EXPECT_EQ(Space(problem, limits).sample(resident_family(), random).has_value(), n == 64);
  }
}

}  // namespace
}  // namespace stencil_tune
