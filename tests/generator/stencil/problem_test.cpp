#include "generator/stencil/problem.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
constexpr Boundaries kZero{Boundary::zero, Boundary::zero, Boundary::zero};

TEST(Problem, DenseRowsUnlessAPitchIsGiven) {
  const Stencil star = make_builtin(Shape::star, 2, 1);
  EXPECT_EQ(make_problem(star, ElementType::f32, kHold, {2, {10, 6, 1}}).pitch, 10);
  const Problem padded = make_problem(star, ElementType::f64, kHold, {2, {10, 6, 1}}, 16);
  EXPECT_EQ(padded.allocated_cells(), 96);
  EXPECT_EQ(padded.field_bytes(), 768u);
}

TEST(Problem, HoldKeepsTheLayersWithinReach) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 2), ElementType::f32, kHold, {3, {10, 11, 12}});
  EXPECT_EQ(updated_box(problem), (Box{{2, 2, 2}, {8, 9, 10}}));
  EXPECT_EQ(updated_box(problem).cells(), 6 * 7 * 8);
}

TEST(Problem, OtherBoundariesUpdateEveryCellAxisByAxis) {
  const Boundaries mixed{Boundary::periodic, Boundary::hold, Boundary::clamp};
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, mixed, {3, {10, 11, 12}});
  EXPECT_EQ(updated_box(problem), (Box{{0, 1, 0}, {10, 10, 12}}));
}

TEST(Problem, AGridInsideItsHaloHasNothingToUpdate) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 4), ElementType::f32, kHold, {3, {3, 50, 50}});
  EXPECT_EQ(updated_box(problem).cells(), 0);
}

TEST(Problem, MinimalTrafficReadsAllCellsAndWritesUpdatedOnes) {
  const Stencil star = make_builtin(Shape::star, 2, 1);
  EXPECT_EQ(minimal_traffic_bytes(make_problem(star, ElementType::f32, kHold, {2, {10, 10, 1}})), 4.0 * (100 + 64));
  EXPECT_EQ(minimal_traffic_bytes(make_problem(star, ElementType::f64, kZero, {2, {10, 10, 1}}, 32)), 8.0 * 200);
}

TEST(Problem, RejectsWhatDoesNotFit) {
  const Stencil star = make_builtin(Shape::star, 2, 1);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {3, {8, 8, 8}}), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 0, 1}}), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 8, 1}}, 7), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 8, 1}}, 0, 0), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 8, 1}}, 0, 1, 1), Error);
  EXPECT_THROW(make_problem(star, ElementType::f32, kHold, {2, {8, 8, 1}}, std::int64_t{1} << 60), Error);
}

}  // namespace
}  // namespace stencil_tune
