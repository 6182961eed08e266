#include "stencil_tune/error.hpp"
#include "stencil_tune/stencil.hpp"

#include <gtest/gtest.h>

#include <map>

namespace stencil_tune {
namespace {

/// The value of a read-free node with the coefficients' defaults.
double value_of(const Stencil& stencil, NodeId id) {
  if (id < 0) return 1;
  const Node& node = stencil.nodes[static_cast<std::size_t>(id)];
  switch (node.op) {
    case Operation::number:
      return node.value;
    case Operation::coefficient:
      return stencil.coefficients[static_cast<std::size_t>(node.index)].value;
    case Operation::negate:
      return -value_of(stencil, node.operands[0]);
    case Operation::add:
      return value_of(stencil, node.operands[0]) + value_of(stencil, node.operands[1]);
    case Operation::subtract:
      return value_of(stencil, node.operands[0]) - value_of(stencil, node.operands[1]);
    case Operation::multiply:
      return value_of(stencil, node.operands[0]) * value_of(stencil, node.operands[1]);
    case Operation::divide:
      return value_of(stencil, node.operands[0]) / value_of(stencil, node.operands[1]);
    default:
      ADD_FAILURE() << "unexpected " << name(node.op);
      return 0;
  }
}

std::map<Offset, double> weights_of(const Stencil& stencil) {
  std::map<Offset, double> weights;
  for (const LinearTap& tap : analyse(stencil, 0).linear_taps) {
    const bool added = weights.emplace(tap.tap.offset, (tap.negative ? -1 : 1) * value_of(stencil, tap.weight)).second;
    EXPECT_TRUE(added) << "a tap is listed twice";
  }
  return weights;
}

struct OneField {
  StencilBuilder builder{"t", 2};
  int u = builder.field("u");
  NodeId centre = builder.read(u, {0, 0, 0});
  NodeId left = builder.read(u, {-1, 0, 0});
  NodeId right = builder.read(u, {1, 0, 0});
  NodeId a = builder.coefficient_value(builder.coefficient("a", 3));
  NodeId b = builder.coefficient_value(builder.coefficient("b", 5));

  NodeId apply(Operation op, NodeId x, NodeId y = -1) { return builder.apply(op, x, y); }
  Stencil with(NodeId expression) {
    builder.update(builder.field("v"), expression);
    return std::move(builder).build();
  }
};

TEST(Facts, SevenPointStarCountsTheTextbooksOperations) {
  const StageFacts facts = analyse(make_builtin(Shape::star, 3, 1), 0);
  EXPECT_EQ(facts.operations, 13);
  EXPECT_TRUE(facts.linear);
  EXPECT_TRUE(facts.star);
  EXPECT_EQ(facts.inputs, std::vector<int>{0});
  EXPECT_EQ(facts.outputs, std::vector<int>{1});
  EXPECT_EQ(facts.radius, (std::array{1, 1, 1}));
  EXPECT_EQ(facts.reach[0][2], (Reach{-1, 1}));
  EXPECT_EQ(minimal_bytes(facts, ElementType::f32), 8u);
  EXPECT_EQ(minimal_bytes(facts, ElementType::f64), 16u);
}

TEST(Facts, SharedCoefficientsSaveMultiplications) {
  EXPECT_EQ(analyse(make_builtin(Shape::star, 3, 1, Sharing::symmetric), 0).operations, 8);
}

TEST(Facts, BoxIsNoStarButRankOneIs) {
  EXPECT_FALSE(analyse(make_builtin(Shape::box, 2, 1), 0).star);
  EXPECT_TRUE(analyse(make_builtin(Shape::box, 1, 1), 0).star);
}

TEST(Facts, TapsAreSortedByFieldThenZYX) {
  const StageFacts facts = analyse(make_builtin(Shape::star, 2, 1), 0);
  ASSERT_EQ(facts.taps.size(), 5u);
  EXPECT_EQ(facts.taps[0].offset, (Offset{0, -1, 0}));
  EXPECT_EQ(facts.taps[1].offset, (Offset{-1, 0, 0}));
  EXPECT_EQ(facts.taps[4].offset, (Offset{0, 1, 0}));
}

TEST(Facts, AsymmetricReachIsKeptPerSide) {
  OneField f;
  const Stencil stencil = f.with(f.apply(Operation::subtract, f.centre, f.builder.read(f.u, {-3, 0, 0})));
  const StageFacts facts = analyse(stencil, 0);
  EXPECT_EQ(facts.reach[0][0], (Reach{-3, 0}));
  EXPECT_EQ(facts.radius, (std::array{3, 0, 0}));
  EXPECT_EQ(facts.farthest, (std::array{Reach{-3, 0}, Reach{}, Reach{}}));
}

TEST(Facts, BuiltinTapsCarryTheirOwnCoefficient) {
  const Stencil stencil = make_builtin(Shape::star, 2, 1);
  const auto weights = weights_of(stencil);
  ASSERT_EQ(weights.size(), 5u);
  EXPECT_EQ(weights.at({0, 0, 0}), stencil.coefficients[0].value);
  EXPECT_EQ(weights.at({-1, 0, 0}), stencil.coefficients[1].value);
  EXPECT_EQ(weights.at({1, 0, 0}), stencil.coefficients[2].value);
  EXPECT_EQ(weights.at({0, -1, 0}), stencil.coefficients[3].value);
  EXPECT_EQ(weights.at({0, 1, 0}), stencil.coefficients[4].value);
}

TEST(LinearWeights, AreDistributedOverASum) {
  OneField f;
  const auto weights = weights_of(f.with(f.apply(Operation::multiply, f.a, f.apply(Operation::add, f.left, f.right))));
  EXPECT_EQ(weights, (std::map<Offset, double>{{{-1, 0, 0}, 3}, {{1, 0, 0}, 3}}));
}

TEST(LinearWeights, DivideASumByANumber) {
  OneField f;
  const NodeId sum = f.apply(Operation::add, f.left, f.right);
  const auto weights = weights_of(f.with(f.apply(Operation::divide, sum, f.builder.number(4))));
  EXPECT_EQ(weights, (std::map<Offset, double>{{{-1, 0, 0}, 0.25}, {{1, 0, 0}, 0.25}}));
}

TEST(LinearWeights, FollowSignsOfDifferencesAndNegation) {
  OneField f;
  const NodeId difference = f.apply(Operation::subtract, f.left, f.apply(Operation::multiply, f.b, f.right));
  const auto weights = weights_of(f.with(f.apply(Operation::negate, difference)));
  EXPECT_EQ(weights, (std::map<Offset, double>{{{-1, 0, 0}, -1}, {{1, 0, 0}, 5}}));
}

TEST(LinearWeights, MultiplyThroughNestedSumsAndMergeTheSameTap) {
  OneField f;  // u + a*(b*left + right - 2*u)
  const NodeId inner = f.apply(Operation::add, f.apply(Operation::multiply, f.b, f.left), f.right);
  const NodeId twice = f.apply(Operation::multiply, f.builder.number(2), f.centre);
  const NodeId change = f.apply(Operation::multiply, f.a, f.apply(Operation::subtract, inner, twice));
  const auto weights = weights_of(f.with(f.apply(Operation::add, f.centre, change)));
  EXPECT_EQ(weights, (std::map<Offset, double>{{{-1, 0, 0}, 15}, {{0, 0, 0}, -5}, {{1, 0, 0}, 3}}));
}

TEST(LinearWeights, OppositeWeightsOfOneTapCancel) {
  OneField f;
  const NodeId sum = f.apply(Operation::add, f.centre, f.left);
  const auto weights = weights_of(f.with(f.apply(Operation::subtract, sum, f.centre)));
  EXPECT_EQ(weights.at({0, 0, 0}), 0);
  EXPECT_EQ(weights.at({-1, 0, 0}), 1);
}

TEST(LinearWeights, WeightsOfBothSignsAddUp) {
  OneField f;
  const NodeId by_a = f.apply(Operation::multiply, f.a, f.left);
  const NodeId by_b = f.apply(Operation::multiply, f.b, f.left);
  const auto weight_of_left = [&](Operation first, Operation second) {
    OneField copy = f;
    const NodeId sum = copy.apply(second, copy.apply(first, copy.right, by_a), by_b);
    return weights_of(copy.with(sum)).at({-1, 0, 0});
  };
  EXPECT_EQ(weight_of_left(Operation::add, Operation::add), 3 + 5);
  EXPECT_EQ(weight_of_left(Operation::add, Operation::subtract), 3 - 5);
  EXPECT_EQ(weight_of_left(Operation::subtract, Operation::add), -3 + 5);
  EXPECT_EQ(weight_of_left(Operation::subtract, Operation::subtract), -3 - 5);
}

TEST(LinearWeights, SharedSumsAreFollowedOncePerNode) {
  OneField f;  // doubling 60 times is 2^60 paths
  NodeId sum = f.apply(Operation::add, f.left, f.right);
  for (int i = 0; i < 60; ++i) sum = f.apply(Operation::add, sum, sum);
  const auto weights = weights_of(f.with(sum));
  EXPECT_EQ(weights.at({1, 0, 0}), 0x1p60);
}

TEST(Linearity, ProductsOfFieldsConstantsAndFunctionsAreNotLinear) {
  const auto linear = [](auto make) {
    OneField f;
    const NodeId expression = make(f);
    return analyse(f.with(expression), 0).linear;
  };
  EXPECT_TRUE(
      linear([](OneField& f) { return f.apply(Operation::multiply, f.left, f.apply(Operation::exponential, f.a)); }));
  EXPECT_FALSE(linear([](OneField& f) { return f.apply(Operation::multiply, f.left, f.right); }));
  EXPECT_FALSE(linear([](OneField& f) { return f.apply(Operation::add, f.left, f.a); }));
  EXPECT_FALSE(linear([](OneField& f) { return f.apply(Operation::absolute, f.left); }));
  EXPECT_FALSE(linear([](OneField& f) { return f.apply(Operation::divide, f.a, f.left); }));
  EXPECT_FALSE(linear([](OneField& f) { return f.apply(Operation::maximum, f.left, f.right); }));
}

TEST(Linearity, WhatCoordinatesOrTheStepMultiplyIsNotLinear) {
  StencilBuilder builder("t", 1);
  const NodeId u = builder.read(builder.field("u"), {0, 0, 0});
  for (const NodeId factor : {builder.coordinate(0), builder.step()}) {
    StencilBuilder copy(builder.stencil());
    copy.update(copy.field("v"), copy.apply(Operation::multiply, factor, u));
    const StageFacts facts = analyse(std::move(copy).build(), 0);
    EXPECT_FALSE(facts.linear);
    EXPECT_TRUE(facts.placed);
    EXPECT_EQ(facts.operations, 1);
    EXPECT_EQ(facts.taps.size(), 1U);
  }
  EXPECT_FALSE(analyse(make_builtin(Shape::star, 2, 1), 0).placed);
}

TEST(Facts, UniformWorkIsNotCountedPerCell) {
  OneField f;
  const NodeId weight = f.apply(Operation::multiply, f.a, f.apply(Operation::multiply, f.a, f.b));
  EXPECT_EQ(analyse(f.with(f.apply(Operation::multiply, weight, f.left)), 0).operations, 1);
}

TEST(Facts, RejectAStageThatIsNotThere) { EXPECT_THROW(analyse(make_builtin(Shape::star, 1, 1), 1), Error); }

}  // namespace
}  // namespace stencil_tune
