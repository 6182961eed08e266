#include "tests/kernels/random/random_cases.hpp"
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace stencil_tune {
namespace {

constexpr std::uint64_t kSeeds = 200;  // some forms are seldom drawn

void expect_legal_with_something_to_update_on_every_grid(const RandomCase& drawn) {
  const Limits limits = limits_of_architecture(drawn.architecture);
  EXPECT_TRUE(is_legal({drawn.planned, drawn.host_case.tuning}, limits)) << describe(drawn);
  EXPECT_FALSE(drawn.host_case.problems.empty()) << describe(drawn);
  for (const Problem& grid : drawn.host_case.problems) {
    EXPECT_TRUE(is_legal({grid, drawn.host_case.tuning}, limits)) << describe(drawn);
    EXPECT_GT(updated_box(grid).cells(), 0) << describe(drawn);
  }
}

TEST(RandomCases, AreTheSameForTheSameSeed) {
  std::set<std::string> drawn;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const RandomCase first = random_case(seed);
    const RandomCase again = random_case(seed);
    EXPECT_EQ(describe(again), describe(first));
    EXPECT_EQ(canonical_text(again.planned.stencil), canonical_text(first.planned.stencil));
    drawn.insert(describe(first));
  }
  EXPECT_EQ(drawn.size(), 3U);
}

TEST(RandomCases, AreLegalAndLeaveOutNoFamilyTypeBoundaryOrRank) {
  std::set<const Family*> families;
  std::set<Planes> planes;
  std::set<Cover> covers;
  std::set<ElementType> types;
  std::set<Boundary> boundaries;
  std::set<int> ranks;
  std::set<bool> linear, wide;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const RandomCase each = random_case(seed);
    expect_legal_with_something_to_update_on_every_grid(each);
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
