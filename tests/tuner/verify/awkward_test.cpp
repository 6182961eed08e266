#include "tuner/verify/awkward.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace stencil_tune {
namespace {

Problem star(int rank, Boundary boundary) {
  Extents extents{rank, {512, rank > 1 ? 512 : 1, rank > 2 ? 512 : 1}};
  return make_problem(make_builtin(Shape::star, rank, 2), ElementType::f32, {boundary, boundary, boundary}, extents);
}

bool has(const std::vector<Extents>& all, const std::array<std::int64_t, 3>& n) {
  return std::any_of(all.begin(), all.end(), [&](const Extents& e) { return e.n == n; });
}

TEST(AwkwardExtents, StandOneOffTheTileOnEachSide) {
  const auto all = awkward_extents(star(3, Boundary::periodic), {32, 8, 16});
  EXPECT_TRUE(has(all, {33, 9, 17}));
  EXPECT_TRUE(has(all, {31, 7, 15}));
  EXPECT_TRUE(has(all, {37, 23, 19}));
  EXPECT_TRUE(has(all, {1, 1, 1}));
}

TEST(AwkwardExtents, LeaveSomethingToUpdateUnderHold) {
  const Problem problem = star(3, Boundary::hold);
  for (const Extents& extents : awkward_extents(problem, {32, 8, 1})) {
    const Problem small = make_problem(problem.stencil, problem.type, problem.boundaries, extents);
    EXPECT_GT(updated_box(small).cells(), 0) << to_string(extents);
  }
}

TEST(AwkwardExtents, StaySmallForHugeTilesAndKeepTheRank) {
  for (const int rank : {1, 2, 3}) {
    for (const Extents& extents : awkward_extents(star(rank, Boundary::zero), {4096, 512, 512})) {
      EXPECT_EQ(extents.rank, rank);
      EXPECT_LE(extents.cells(), kMostAwkwardCells) << to_string(extents);
    }
  }
}

}  // namespace
}  // namespace stencil_tune
