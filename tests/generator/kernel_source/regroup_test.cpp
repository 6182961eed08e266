#include "generator/kernel_source/regroup.hpp"

#include "generator/stencil/rewriting/linear.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace stencil_tune {
namespace {

struct Outcome {
  StencilBuilder builder;
  NodeId root;       ///< as it was
  NodeId regrouped;  ///< as it became

  int before() const { return operations_in_tile(builder.stencil(), {root}); }
  int after() const { return operations_in_tile(builder.stencil(), {regrouped}); }
};

Outcome regrouped(const Stencil& stencil) {
  Outcome outcome{StencilBuilder(stencil), stencil.stages[0].updates[0].expression, -1};
  outcome.regrouped = regroup(outcome.builder, outcome.root, analyse(stencil, 0).linear_taps);
  return outcome;
}

/// (in[x-1] - in[x+1]) * c + in[x-2] * d - ...: as the operations come.
Stencil antisymmetric() {
  using enum Operation;
  StencilBuilder b("antisymmetric", 2);
  const int in = b.field("in");
  const NodeId c = b.coefficient_value(b.coefficient("c", 0.5));
  NodeId sum = -1;
  for (const int y : {-1, 0, 1}) {
    const NodeId left = b.apply(multiply, c, b.read(in, {-1, y, 0}));
    const NodeId right = b.apply(multiply, c, b.read(in, {1, y, 0}));
    sum = sum < 0 ? left : b.apply(add, sum, left);
    sum = b.apply(subtract, sum, right);
  }
  b.update(b.field("out"), sum);
  return std::move(b).build();
}

/// -c * (a column) - d * (another), cell by cell.
Stencil negative() {
  using enum Operation;
  StencilBuilder b("negative", 2);
  const int in = b.field("in");
  NodeId sum = -1;
  for (const int x : {-1, 1}) {
    const NodeId weight = b.coefficient_value(b.coefficient(x < 0 ? "c" : "d", 0.5));
    for (const int y : {-1, 0, 1}) {
      const NodeId term = b.apply(multiply, weight, b.read(in, {x, y, 0}));
      sum = sum < 0 ? b.apply(negate, term) : b.apply(subtract, sum, term);
    }
  }
  b.update(b.field("out"), sum);
  return std::move(b).build();
}

TEST(OperationsInTile, CountTranslationsOnce) {
  using enum Operation;
  StencilBuilder b("s", 3);
  const int in = b.field("in");
  const auto column = [&](int x) { return b.apply(add, b.read(in, {x, -1, 0}), b.read(in, {x, 1, 0})); };
  const NodeId two = b.apply(add, column(-1), column(1));
  EXPECT_EQ(operations_in_tile(b.stencil(), {two}), 2) << "one column serves both";
  const NodeId other = b.apply(add, column(0), b.apply(add, b.read(in, {1, -1, 0}), b.read(in, {1, 2, 0})));
  EXPECT_EQ(operations_in_tile(b.stencil(), {other}), 3) << "columns of different height";
  const NodeId planes = b.apply(add, b.read(in, {0, 0, -1}), b.apply(absolute, b.read(in, {0, 0, 1})));
  EXPECT_EQ(operations_in_tile(b.stencil(), {planes}), 2);
}

TEST(OperationsInTile, CountNothingThatIsTheSameForEveryCell) {
  using enum Operation;
  StencilBuilder b("s", 1);
  const NodeId c = b.coefficient_value(b.coefficient("c", 2));
  const NodeId weight = b.apply(multiply, c, c);
  EXPECT_EQ(operations_in_tile(b.stencil(), {b.apply(multiply, weight, b.read(b.field("in"), {0, 0, 0}))}), 1);
}

TEST(Regroup, HalvesABoxWithAWeightADistance) {
  const Outcome box = regrouped(make_builtin(Shape::box, 3, 1, Sharing::symmetric));
  EXPECT_EQ(box.before(), 30);
  EXPECT_EQ(box.after(), 16) << "1 along z, 3 along y, 5 along x, 4 weights, 3 sums of them";
}

TEST(Regroup, TakesDifferencesOfEqualWeights) {
  const Outcome outcome = regrouped(antisymmetric());
  EXPECT_EQ(outcome.after(), 4) << "a column of three cells, a difference of two, a weight";
  EXPECT_LT(outcome.after(), outcome.before());
  EXPECT_LT(regrouped(negative()).after(), regrouped(negative()).before());
}

TEST(Regroup, KeepsEveryTapAndItsWeight) {
  std::vector<Stencil> stencils{antisymmetric(), negative()};
  for (const Shape shape : {Shape::star, Shape::box}) {
    for (int rank = 1; rank <= 3; ++rank) {
      for (int order = 1; order <= 3; ++order) {
        stencils.push_back(make_builtin(shape, rank, order, Sharing::symmetric));
      }
    }
  }
  int changed = 0;
  for (const Stencil& stencil : stencils) {
    Outcome outcome = regrouped(stencil);
    const auto taps = analyse(stencil, 0).linear_taps;
    const auto kept = distribute_weights(outcome.builder, outcome.regrouped);
    ASSERT_EQ(kept.size(), taps.size()) << stencil.name;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      EXPECT_EQ(kept[i].tap, taps[i].tap) << stencil.name;
      EXPECT_EQ(kept[i].weight, taps[i].weight) << stencil.name;
      EXPECT_EQ(kept[i].negative, taps[i].negative) << stencil.name;
    }
    changed += outcome.regrouped != outcome.root ? 1 : 0;
  }
  EXPECT_GE(changed, 6);
}

TEST(Regroup, LeavesAloneWhatHasNothingToShare) {
  const Outcome distinct = regrouped(make_builtin(Shape::box, 2, 2, Sharing::distinct));
  EXPECT_EQ(distinct.regrouped, distinct.root);
  const Outcome star = regrouped(make_builtin(Shape::star, 2, 2, Sharing::symmetric));
  EXPECT_LE(star.after(), star.before());
}

TEST(Regroup, LeavesDifferencesAsTheyWereWritten) {
  const Outcome heat = regrouped(find_builtin("heat3d"));
  EXPECT_EQ(heat.regrouped, heat.root) << "u + alpha * (neighbours - 6 u) leaves a constant u exactly as it is";
}

}  // namespace
}  // namespace stencil_tune
