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

TEST(ConstantParts, StandWhereTheFieldWasAndTheFieldWhereTheyWere) {
  const ConstantParts parts = parts_of(updated_by("u + c*k^2*(u[x-1] + u[x+1])"));
  const Node& part = parts.stencil.nodes[static_cast<std::size_t>(parts.parts.at(1))];
  EXPECT_EQ(part.op, Operation::multiply);
  const std::vector<bool> used = reachable(parts.stencil, roots_of(parts.stencil));
  int products = 0, reads = 0;
  for (std::size_t id = 0; id < used.size(); ++id) {
    const Node& node = parts.stencil.nodes[id];
    products += used[id] && node.op == Operation::multiply ? 1 : 0;
    reads += used[id] && node.op == Operation::read && node.index == 1 ? 1 : 0;
  }
  EXPECT_EQ(products, 1) << "the field times the sum";
  EXPECT_EQ(reads, 1);
}

}  // namespace
}  // namespace stencil_tune
