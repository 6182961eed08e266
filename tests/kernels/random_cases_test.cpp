#include "tests/kernels/random_cases.hpp"
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace stencil_tune {
namespace {

constexpr std::uint64_t kSeeds = 200;  // some forms are seldom drawn

const std::vector<RandomCase>& cases() {
  static const std::vector<RandomCase> all = [] {
    std::vector<RandomCase> drawn;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) drawn.push_back(random_case(seed));
    return drawn;
  }();
  return all;
}

TEST(RandomCases, AreTheSameForTheSameSeed) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const RandomCase& first = cases()[seed - 1];
    const RandomCase again = random_case(seed);
    EXPECT_EQ(describe(again), describe(first));
    EXPECT_EQ(canonical_text(again.planned.stencil), canonical_text(first.planned.stencil));
  }
  EXPECT_NE(describe(cases()[0]), describe(cases()[1]));
}

TEST(RandomCases, AreLegalWithSomethingToUpdateOnEveryGrid) {
  for (const RandomCase& each : cases()) {
    const Limits limits = limits_of_architecture(each.architecture);
    EXPECT_TRUE(is_legal({each.planned, each.host_case.tuning}, limits)) << describe(each);
    ASSERT_FALSE(each.host_case.problems.empty()) << describe(each);
    for (const Problem& grid : each.host_case.problems) {
      EXPECT_TRUE(is_legal({grid, each.host_case.tuning}, limits)) << describe(each);
      EXPECT_GT(updated_box(grid).cells(), 0) << describe(each);
    }
  }
}

TEST(RandomCases, LeaveOutNoFamilyTypeBoundaryOrRank) {
  std::set<const Family*> families;
  std::set<Planes> planes;
  std::set<Cover> covers;
  std::set<ElementType> types;
  std::set<Boundary> boundaries;
  std::set<int> ranks;
  std::set<bool> linear, wide;
  for (const RandomCase& each : cases()) {
    families.insert(each.host_case.tuning.family);
    planes.insert(each.host_case.tuning.planes);
    covers.insert(each.host_case.tuning.cover);
    types.insert(each.planned.type);
    ranks.insert(each.planned.extents.rank);
    linear.insert(each.planned.facts.linear);
    wide.insert(Candidate(each.planned, each.host_case.tuning).shape().wide_index);
    for (int axis = 0; axis < each.planned.extents.rank; ++axis) {
      boundaries.insert(each.planned.boundaries[static_cast<std::size_t>(axis)]);
    }
  }
  EXPECT_EQ(families.size(), stencil_tune::families().size());
  EXPECT_EQ(planes.size(), 4U);
  EXPECT_EQ(covers.size(), 2U);
  EXPECT_EQ(types.size(), 4U);
  EXPECT_EQ(boundaries.size(), 5U);
  EXPECT_EQ(ranks.size(), 3U);
  EXPECT_EQ(linear.size(), 2U);
  EXPECT_EQ(wide.size(), 2U);
}

}  // namespace
}  // namespace stencil_tune
