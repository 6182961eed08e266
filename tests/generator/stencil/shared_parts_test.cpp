#include "generator/stencil/rewriting/shared_parts.hpp"

#include "generator/definition/definition.hpp"
#include "generator/stencil/rewriting/shared_reciprocals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

Stencil defined(const std::string& text) { return parse_definition("name = \"s\"\nrank = 2\n" + text, "s.toml"); }

/// A step of one stage that reads `u` and `v` alone.
Stencil updated_by(const std::string& expression) {
  return defined("fields = [\"u\", \"v\", \"u_next\"]\n[update]\nu_next = \"" + expression +
                 "\"\n[rotate]\nu_next = \"u\"\n");
}

std::size_t parts_of(const Stencil& stencil) {
  const auto form = with_parts_once(stencil);
  return form ? form->stencil.fields.size() - stencil.fields.size() : 0;
}

std::vector<Offset> offsets_of(const StageFacts& facts, int field) {
  std::vector<Offset> offsets;
  for (const Tap& tap : facts.taps) {
    if (tap.field == field) offsets.push_back(tap.offset);
  }
  return offsets;
}

TEST(SharedParts, OfShallowWaterAreItsThreeFluxes) {
  const Stencil stencil = load_definition("corpus/shallow2d.toml");
  const auto form = with_parts_once(stencil);
  ASSERT_NE(form, nullptr);
  ASSERT_EQ(form->stencil.fields.size(), 9u);
  EXPECT_TRUE(std::equal(stencil.fields.begin(), stencil.fields.end(), form->stencil.fields.begin()));
  ASSERT_EQ(form->step.stages.size(), 2u);
  const StageFacts& fluxes = form->step.stages[0].facts;
  EXPECT_EQ(fluxes.outputs, (std::vector<int>{6, 7, 8}));
  EXPECT_EQ(fluxes.inputs, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(fluxes.radius, (std::array<int, kMaxRank>{0, 0, 0}));
  EXPECT_TRUE(std::all_of(fluxes.taps.begin(), fluxes.taps.end(), [](const Tap& tap) {
    return tap.offset == Offset{0, 0, 0};
  }));
  const StageFacts& update = form->step.stages[1].facts;
  EXPECT_TRUE(update.linear);
  std::size_t reads = 0;
  for (const int part : fluxes.outputs) reads += offsets_of(update, part).size();
  EXPECT_EQ(reads, 8u) << "fu and gv at two cells, fv at four";
}

TEST(SharedParts, LeaveWhatAStepTakesAndStores) {
  const Stencil stencil = load_definition("corpus/shallow2d.toml");
  const auto form = with_parts_once(stencil);
  ASSERT_NE(form, nullptr);
  const StepFacts original = analyse_step(stencil);
  EXPECT_EQ(form->step.state, original.state);
  EXPECT_EQ(form->step.constants, original.constants);
  EXPECT_EQ(form->step.obstacle, "");
  for (int steps = 1; steps <= 3; ++steps) EXPECT_EQ(stored_fields(form->step, steps), stored_fields(original, steps));
  EXPECT_EQ(form->step.stages[1].layers_of, original.stages[0].layers_of);
  EXPECT_EQ(form->step.stages[1].facts.farthest, original.stages[0].facts.farthest);
}

TEST(SharedParts, CostSomething) {
  EXPECT_EQ(parts_of(load_definition("corpus/gray_scott2d.toml")), 0u);
  EXPECT_EQ(parts_of(load_definition("corpus/acoustic3d_o4.toml")), 0u);
  EXPECT_EQ(parts_of(updated_by("u + u[x+1]*v[x+1] - u[x-1]*v[x-1]")), 0u) << "one product";
  EXPECT_EQ(parts_of(updated_by("u + u[x+1]*u[x+1]*v[x+1] - u[x-1]*u[x-1]*v[x-1]")), 1u) << "two products";
  EXPECT_EQ(parts_of(updated_by("u + u[x+1]/v[x+1] - u[x-1]/v[x-1]")), 1u);
  EXPECT_EQ(parts_of(updated_by("v + sqrt(u[x+1]) - sqrt(u[y-1])")), 1u);
  EXPECT_EQ(parts_of(updated_by("v + tanh(u[x+1]) - tanh(u[y-1])")), 1u);
}

TEST(SharedParts, ReadOneCellAndAreReadAtSeveral) {
  EXPECT_EQ(parts_of(updated_by("u + u[x+1]/v[x+1]")), 0u) << "at one cell";
  EXPECT_EQ(parts_of(updated_by("u + u[x+1]/v - u/v[x-1]")), 0u) << "reads two cells";
  EXPECT_EQ(parts_of(updated_by("u + u[x+1]/v[x+1] - v[x-1]/u[x-1]")), 0u) << "two quotients";
  EXPECT_EQ(parts_of(updated_by("u + (u[x+1] + v[x+1])/v[x+1] - (v[x-1] + u[x-1])/v[x-1]")), 1u)
      << "sums of another order";
}

TEST(SharedParts, HaveNoPlace) {
  // What is computed of a coordinate differs from cell to cell with the same fields.
  EXPECT_EQ(parts_of(updated_by("v + sqrt(u[x+1]*x) - sqrt(u[y-1]*x)")), 0u);
  EXPECT_EQ(parts_of(updated_by("v + x*sqrt(u[x+1]) - x*sqrt(u[y-1])")), 1u);
}

TEST(SharedParts, AreAsLargeAsTheyCanBe) {
  // 1/v is in both cells' quotients: within the part it is computed once anyway.
  EXPECT_EQ(parts_of(updated_by("u + sqrt(u[x+1]/v[x+1]) - sqrt(u[x-1]/v[x-1])")), 1u);
  // The root is read at one cell; the quotient in it is read at another one too.
  const Stencil stencil = updated_by("u + sqrt(u[x+1]/v[x+1]) - u[x-1]/v[x-1]");
  const auto form = with_parts_once(stencil);
  ASSERT_NE(form, nullptr);
  EXPECT_EQ(offsets_of(form->step.stages[1].facts, 3), (std::vector<Offset>{{-1, 0, 0}, {1, 0, 0}}));
}

std::size_t divisions(const Stencil& stencil) {
  return static_cast<std::size_t>(std::count_if(stencil.nodes.begin(), stencil.nodes.end(),
                                                [](const Node& node) { return node.op == Operation::divide; }));
}

TEST(SharedReciprocals, DivideOnceByADenominator) {
  const auto water = with_parts_once(load_definition("corpus/shallow2d.toml"));
  ASSERT_NE(water, nullptr);
  EXPECT_EQ(divisions(water->stencil), 1u) << "three fluxes divide by the depth";
  EXPECT_EQ(divisions(with_shared_reciprocals(updated_by("u + u[x+1]/v - u[x-1]/v"))), 1u);
  EXPECT_EQ(divisions(with_shared_reciprocals(updated_by("u + u[x+1]/v - u[x-1]/v[x-1]"))), 2u);
}

TEST(SharedReciprocals, LeaveASingleQuotientAlone) {
  const Stencil stencil = updated_by("u + u[x+1]/v");
  EXPECT_EQ(with_shared_reciprocals(stencil).nodes, stencil.nodes);
  const Stencil twice = with_shared_reciprocals(updated_by("u + u[x+1]/v - u[x-1]/v"));
  const bool has_products = std::any_of(twice.nodes.begin(), twice.nodes.end(),
                                        [](const Node& node) { return node.op == Operation::multiply; });
  EXPECT_TRUE(has_products);
}

TEST(SharedParts, StandBeforeTheStageThatReadsThem) {
  const Stencil stencil = defined(R"toml(
fields = ["u", "guess", "u_next"]
[[stage]]
guess = "u + 0.1*(u[x+1] - u)"
[[stage]]
u_next = "guess + exp(guess[x+1]) - exp(guess[y-1])"
[rotate]
u_next = "u"
)toml");
  const auto form = with_parts_once(stencil);
  ASSERT_NE(form, nullptr);
  ASSERT_EQ(form->step.stages.size(), 3u);
  EXPECT_EQ(form->step.stages[1].facts.inputs, (std::vector<int>{1}));
  EXPECT_EQ(form->step.stages[1].facts.outputs, (std::vector<int>{3}));
  EXPECT_EQ(form->step.stages[2].facts.inputs, (std::vector<int>{1, 3}));
}

}  // namespace
}  // namespace stencil_tune
