#include "runtime/library/definition_writer.hpp"

#include "generator/definition/definition.hpp"
#include "tests/kernels/random/random_stencils.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace stencil_tune {
namespace {

void expect_same_key(const Stencil& stencil) {
  const std::string text = write_definition(stencil);
  EXPECT_EQ(stencil_key(parse_definition(text, "written")), stencil_key(stencil)) << stencil.name << "\n" << text;
}

TEST(DefinitionWriter, EveryDefinitionOfTheCorpusKeepsItsKey) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator("corpus")) {
    if (file.path().extension() != ".toml") continue;
    expect_same_key(load_definition(file.path().string()));
    ++files;
  }
  EXPECT_GT(files, 10);
}

TEST(DefinitionWriter, EveryBuiltInKeepsItsKey) {
  for (const std::string& name : builtin_names()) {
    const Stencil stencil = find_builtin(name);
    if (stencil.coefficients.size() <= static_cast<std::size_t>(kDefinitionLimits.coefficients))
      expect_same_key(stencil);
  }
}

TEST(DefinitionWriter, StencilsThatNobodyWroteKeepTheirKeys) {
  Draw draw(1);
  for (int i = 0; i < 300; ++i) {
    const Stencil stencil = random_stencil(draw);
    if (stencil.coefficients.size() <= static_cast<std::size_t>(kDefinitionLimits.coefficients))
      expect_same_key(stencil);
  }
}

TEST(DefinitionWriter, WordsBeyondEdgesStayInTheUpdates) {
  expect_same_key(parse_definition(
      "rank = 2\nfields = [\"u\", \"v\"]\n[update]\nv = \"u[x-1, y+1] - u[x+1]\"\n[boundary]\ny = \"neumann(0.5)\"\n",
      "edges"));
}

TEST(DefinitionWriter, RandomNumbersKeepTheirSeedsAndCalls) {
  expect_same_key(
      parse_stencil("v = u + d_x(u*random(7)) + random(s)*mod(x, 3) - floor(random(7, 0) + random(7)); s = 3", 2));
}

TEST(DefinitionWriter, LayersStayWithTheirWidths) {
  const Stencil layered =
      parse_stencil("u_next = u[x-1] + m_next[x+1]*x_in_layer[x-2] + n; m_next(x in layer); n(z in layer)", 3);
  expect_same_key(layered);
  Stencil wide = layered;
  wide.layers = parse_layer_widths("x=4,z=0:5", 3);
  expect_same_key(wide);
  EXPECT_EQ(parse_definition(write_definition(wide), "written").layers, wide.layers);
}

TEST(DefinitionWriter, LeavesOutWhatNothingUses) {
  StencilBuilder builder("sparse", 1);
  builder.field("unused");
  const int u = builder.field("u"), next = builder.field("next"), history = builder.field("history");
  builder.coefficient("unused", 1);
  const NodeId weight = builder.coefficient_value(builder.coefficient("c", 0.5));
  builder.update(next, builder.apply(Operation::multiply, weight, builder.read(u, {1, 0, 0})));
  builder.rotate(next, u);
  builder.rotate(u, history);
  expect_same_key(std::move(builder).build());
}

TEST(DefinitionWriter, KeepsSignsBracketsAndTheLackOfRotations) {
  StencilBuilder builder("odd", 1);
  const int u = builder.field("u");
  const NodeId left = builder.read(u, {-1, 0, 0});
  const NodeId right = builder.read(u, {1, 0, 0});
  const NodeId c = builder.coefficient_value(builder.coefficient("c", -0.5));
  const auto apply = [&](Operation op, NodeId a, NodeId b = -1, NodeId d = -1) { return builder.apply(op, a, b, d); };
  const NodeId difference = apply(Operation::subtract, left, apply(Operation::subtract, right, c));
  const NodeId quotient = apply(Operation::divide, left, apply(Operation::divide, right, difference));
  const NodeId sign = apply(Operation::negate, apply(Operation::multiply, builder.number(-1e-7), difference));
  const NodeId smaller = apply(Operation::less, apply(Operation::less_equal, left, right), quotient);
  builder.update(builder.field("v"),
                 apply(Operation::select, smaller, sign, apply(Operation::minimum, left, quotient)));
  expect_same_key(std::move(builder).build());
}

}  // namespace
}  // namespace stencil_tune
