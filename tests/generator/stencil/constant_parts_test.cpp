#include "generator/stencil/rewriting/constant_parts.hpp"

#include "generator/definition/definition.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stencil_tune {
namespace {

/// A step of stages that read `u`, and of the constants `k` (field 1) and `m` (field 2) and the coefficient `c` what
/// their text has.
Stencil defined(const std::string& stages) {
  const auto if_read = [&](char name, const std::string& text) {
    return stages.find(name) != std::string::npos ? text : std::string();
  };
  return parse_definition("name = \"s\"\nrank = 2\nfields = [\"u\", " + if_read('k', "\"k\", ") +
                              if_read('m', "\"m\", ") + if_read('v', "\"v\", ") + "\"u_next\"]\n" +
                              if_read('c', "[coefficients]\nc = 0.5\n") + stages + "\n[rotate]\nu_next = \"u\"\n",
                          "s.toml");
}

Stencil updated_by(const std::string& expression) { return defined("[[stage]]\nu_next = \"" + expression + "\""); }

ConstantParts parts_of(const Stencil& stencil) { return with_constant_parts(stencil, analyse_step(stencil), {1, 2}); }

std::vector<int> fields_with_parts(const std::string& expression) {
  std::vector<int> fields;
  for (const auto& [field, part] : parts_of(updated_by(expression)).parts) fields.push_back(field);
  return fields;
}

/// What the nodes below are, by their operations alone: for a tree that reads each field at the cell.
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

TEST(ConstantParts, AreAllThatAStepMakesOfAField) {
  EXPECT_EQ(fields_with_parts("u + c*k^2*(u[x-1] + u[x+1])"), std::vector<int>{1});
  EXPECT_EQ(fields_with_parts("u + k^2*u[x-1] + (1 - m)*u[x+1]"), (std::vector<int>{1, 2}));
  EXPECT_EQ(fields_with_parts("u + k^2*u[x-1] + k^2*u[x+1]"), std::vector<int>{1});
}

TEST(ConstantParts, AreNoneOfWhatIsReadByItselfOrElsewhereOrInTwoWays) {
  EXPECT_EQ(fields_with_parts("u + k*(u[x-1] + u[x+1])"), std::vector<int>{});
  EXPECT_EQ(fields_with_parts("u + k^2*u[x-1] + k*u[x+1]"), std::vector<int>{});
  EXPECT_EQ(fields_with_parts("u + k^2*u[x-1] + k^3*u[x+1]"), std::vector<int>{});
  EXPECT_EQ(fields_with_parts("u + k[y-1]^2*u[x-1]"), std::vector<int>{});
  EXPECT_EQ(fields_with_parts("u + k^2*u[x-1] + k[y-1]"), std::vector<int>{});
  EXPECT_EQ(fields_with_parts("u + c*(k + m)*u[x-1]"), std::vector<int>{}) << "of both fields together";
  EXPECT_EQ(fields_with_parts("u[x-1] + 0.5*k"), std::vector<int>{}) << "a weighted sum";
}

TEST(ConstantParts, AreThoseOfAllStages) {
  const auto two_stages = [](const std::string& second) {
    return defined("[[stage]]\nv = \"u + k^2*u[x-1]\"\n[[stage]]\nu_next = \"" + second + "\"");
  };
  EXPECT_EQ(parts_of(two_stages("u + k^2*v[y-1]*u")).parts.size(), 1u);
  EXPECT_EQ(parts_of(two_stages("u + k*v[y-1]*u")).parts.size(), 0u);
}

TEST(ConstantParts, OfTheAcousticWaveTakeAWeightOfItsSumAlong) {
  const Stencil wave = load_definition("corpus/acoustic3d_o4.toml");
  const ConstantParts parts = with_constant_parts(wave, analyse_step(wave), {2});
  ASSERT_EQ(parts.parts.size(), 1u);
  const NodeId before = wave.stages[0].updates[0].expression;
  const NodeId after = parts.stencil.stages[0].updates[0].expression;
  EXPECT_EQ(count(wave, before, Operation::multiply), 7) << "2*p, v^2, c2*v^2, times the sum, its three weights";
  EXPECT_EQ(count(parts.stencil, after, Operation::multiply) + count(parts.stencil, after, Operation::negate), 5)
      << "2*p, times the sum, its weights: one is -1";
  const double part = value(parts.stencil, parts.parts.at(2), {0, 0, 3, 0});
  EXPECT_DOUBLE_EQ(part, 7.5 * wave.coefficients[0].value * 9);
  EXPECT_NEAR(value(parts.stencil, after, {2, 1, part, 0}), value(wave, before, {2, 1, 3, 0}), 1e-12);
}

TEST(ConstantParts, TakeNoWeightThatOneOfTheirSumsLacks) {
  const auto part_of_two = [](const std::string& expression) {
    const ConstantParts parts = parts_of(updated_by(expression));
    return value(parts.stencil, parts.parts.at(1), {0, 2, 0, 0});
  };
  EXPECT_EQ(part_of_two("u + k^2*(3*u[x-1] + 5*u[x+1])"), 5 * 4);
  EXPECT_EQ(part_of_two("u + k^2*(3*u[x-1] + 5*u[x+1]) + k^2*(3*u[y-1] - 7*u[y+1])"), 3 * 4);
  EXPECT_EQ(part_of_two("u + k^2*(3*u[x-1] + u[x+1])"), 4) << "one term has no weight";
  EXPECT_EQ(part_of_two("u + k^2*(3*u[x-1] + 5*u[x+1]) + k^2"), 4) << "the part is a term itself";
}

}  // namespace
}  // namespace stencil_tune
