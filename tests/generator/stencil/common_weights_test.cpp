#include "generator/stencil/rewriting/common_weights.hpp"

#include "generator/definition/definition.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stencil_tune {
namespace {

/// What the expression is where every cell of a field has the same value.
double value(const Stencil& stencil, NodeId id, const std::vector<double>& fields) {
  const Node& node = stencil.nodes[static_cast<std::size_t>(id)];
  const auto operand = [&](std::size_t i) { return value(stencil, node.operands[i], fields); };
  switch (node.op) {
    case Operation::number:
      return node.value;
    case Operation::coefficient:
      return stencil.coefficients[static_cast<std::size_t>(node.index)].value;
    case Operation::read:
      return fields[static_cast<std::size_t>(node.index)];
    case Operation::negate:
      return -operand(0);
    case Operation::add:
      return operand(0) + operand(1);
    case Operation::subtract:
      return operand(0) - operand(1);
    case Operation::multiply:
      return operand(0) * operand(1);
    default:
      ADD_FAILURE() << name(node.op);
      return 0;
  }
}

int count(const Stencil& stencil, NodeId root, Operation op) {
  const std::vector<bool> used = reachable(stencil, {root});
  int found = 0;
  for (std::size_t id = 0; id < used.size(); ++id) found += used[id] && stencil.nodes[id].op == op ? 1 : 0;
  return found;
}

/// A step of one stage that reads `u` and `k`, with the coefficient `c`.
Stencil updated_by(const std::string& expression) {
  return parse_definition(
      "name = \"s\"\nrank = 2\nfields = [\"u\", \"k\", \"u_next\"]\n[coefficients]\nc = 0.5\n[update]\nu_next = \"" +
          expression + "\"\n[rotate]\nu_next = \"u\"\n",
      "s.toml");
}

NodeId updated(const Stencil& stencil, std::size_t stage = 0, std::size_t output = 0) {
  return stencil.stages[stage].updates[output].expression;
}

/// How many products the update has, and that it is the same value.
int products(const Stencil& before) {
  const Stencil after = with_common_weights_in_front(before);
  const std::vector<double> fields{2, 3, 0};
  EXPECT_NEAR(value(after, updated(after), fields), value(before, updated(before), fields), 1e-12);
  return count(after, updated(after), Operation::multiply);
}

TEST(CommonWeights, OfAFactorOfCoefficientsGoInFront) {
  EXPECT_EQ(products(updated_by("u + c*k*(4*(u[x-1] + u[x+1]) - 3*u)")), 4) << "(4c)*k, times the sum, 0.75*u";
  EXPECT_EQ(products(updated_by("k + c*(4*(u[x-1] + u[x+1]) - 3*u[y-1]*u)")), 4);
}

TEST(CommonWeights, OfSumsWithinASum) {
  EXPECT_EQ(products(updated_by("u + c*(k*(2*u[x-1] - 8*u) + u*(2*k - 8*k[x+1]))")), 6)
      << "8c, times the sum, its two products, 0.25 of each sum";
}

TEST(CommonWeights, StayWhereATermHasNone) {
  const Stencil unweighted = updated_by("u + c*k*(4*u[x-1] + u[x+1])");
  EXPECT_EQ(products(unweighted), count(unweighted, updated(unweighted), Operation::multiply));
}

TEST(CommonWeights, StayWhereTheFactorWouldCostMore) {
  const Stencil by_a_field = updated_by("u + c + k*(4*u[x-1] + 3*u[x+1])");
  EXPECT_EQ(products(by_a_field), count(by_a_field, updated(by_a_field), Operation::multiply));
}

TEST(CommonWeights, OfOneFactorAreThoseOfAllItsSums) {
  const Stencil two_sums = updated_by("u + c*k*(4*u[x-1] - 3*u) + c*k*(3*u[y-1] - 5*u[y+1])");
  const Stencil after = with_common_weights_in_front(two_sums);
  EXPECT_EQ(products(two_sums), 6) << "(3c)*k once, times two sums, a weight of each";
  const Stencil nothing_in_common = updated_by("u + c*k*(4*u[x-1] - 3*u) + c*k*(2*u[y-1] - 5*u[y+1])");
  EXPECT_EQ(products(nothing_in_common), count(nothing_in_common, updated(nothing_in_common), Operation::multiply));
  const Stencil without_a_sum = updated_by("u + c*k*(4*u[x-1] - 3*u) + sqrt(abs(c*k))");
  EXPECT_EQ(count(with_common_weights_in_front(without_a_sum), updated(with_common_weights_in_front(without_a_sum)),
                  Operation::multiply),
            count(without_a_sum, updated(without_a_sum), Operation::multiply));
}

TEST(CommonWeights, LeaveTheAcousticWaveTwoOfThreeWeightsAndTheElasticOneOfTwo) {
  const Stencil wave = load_definition("corpus/acoustic3d_o4.toml");
  const Stencil after = with_common_weights_in_front(wave);
  EXPECT_EQ(count(wave, updated(wave), Operation::multiply), 7) << "2*p, v^2, c2*v^2, times the sum, three weights";
  EXPECT_LE(count(after, updated(after), Operation::multiply), 8) << "7.5*c2 besides, which all cells share";
  EXPECT_NEAR(value(after, updated(after), {2, 1, 3, 0}), value(wave, updated(wave), {2, 1, 3, 0}), 1e-12);
  const Stencil elastic = load_definition("corpus/elastic3d.toml");
  const Stencil shared = with_common_weights_in_front(elastic);
  for (std::size_t stage = 0; stage < 2; ++stage) {
    for (std::size_t output = 0; output < elastic.stages[stage].updates.size(); ++output) {
      EXPECT_LT(count(shared, updated(shared, stage, output), Operation::multiply),
                count(elastic, updated(elastic, stage, output), Operation::multiply))
          << stage << ' ' << output;
    }
  }
}

}  // namespace
}  // namespace stencil_tune
