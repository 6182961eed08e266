#include "generator/stencil/describe.hpp"
#include "generator/definition/definition.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(Describe, ShowsWhatWasUnderstood) {
  const Stencil stencil = parse_stencil("u_next = u + a * (u[x-1] + u[y+1] - 2*u); a = 0.25", 2);
  EXPECT_EQ(describe(stencil), "expression: rank 2, 1 stage, key " + stencil_key(stencil) +
                                   "\n"
                                   "fields: u, u_next\n"
                                   "coefficients, in the order in which launches take them:\n"
                                   "  a = 0.25         weighs u[x-1], u[y+1]; in the weights of u\n"
                                   "stage 0: writes u_next\n"
                                   "  reads u: 3 points, reach x -1..0 y 0..1\n"
                                   "    . o\n"
                                   "    o O\n"
                                   "  points      3\n"
                                   "  radius      1 x 1\n"
                                   "  shape       star (every point on an axis)\n"
                                   "  linear      yes, a weighted sum\n"
                                   "  operations  5 per update\n"
                                   "  bytes       8 (f32), 16 (f64) per update at least: 1 read, 1 written\n"
                                   "after a step: u_next becomes u\n");
}

TEST(Describe, SaysWhoseLayersAnIntermediateHasOnALineOfItsOwn) {
  const std::string text = describe(parse_definition(R"toml(
name = "estimate"
rank = 1
fields = ["u", "v", "u1", "u_next", "v_next"]
[[stage]]
u1 = "u + v[x-1]"
[[stage]]
u_next = "u1[x-1]"
v_next = "v + u1"
[hold]
u1 = "v"
)toml",
                                                     "estimate.toml"));
  EXPECT_TRUE(text.ends_with("\nafter a step: u_next becomes u, v_next becomes v\nheld layers of u1 are those of v\n"))
      << text;
}

/// The lines of a description that name coefficients.
std::string coefficients_of(const Stencil& stencil) {
  const std::string text = describe(stencil);
  const std::size_t begin = text.find("take them:\n");
  return begin == std::string::npos ? "" : text.substr(begin + 11, text.find("stage 0") - begin - 11);
}

TEST(Describe, NamesThePointsThatCoefficientsWeigh) {
  EXPECT_EQ(coefficients_of(make_builtin(Shape::star, 2, 1)),
            "  c0 = 0.344828     weighs in\n"
            "  c1 = 0.229885     weighs in[x-1]\n"
            "  c2 = 0.172414     weighs in[x+1]\n"
            "  c3 = 0.137931     weighs in[y-1]\n"
            "  c4 = 0.114943     weighs in[y+1]\n");
  EXPECT_NE(coefficients_of(make_builtin(Shape::star, 3, 2, Sharing::symmetric))
                .find("c2 = 0.0625       weighs in[z-2], in[y-2], in[x-2], in[x+2], in[y+2], in[z+2]\n"),
            std::string::npos);
  EXPECT_NE(coefficients_of(make_builtin(Shape::box, 3, 1)).find("c26 = "), std::string::npos) << "all of them";
  EXPECT_NE(coefficients_of(make_builtin(Shape::box, 3, 1, Sharing::symmetric)).find(" ... 12 points\n"),
            std::string::npos);
}

TEST(Describe, SaysWhereCoefficientsStandThatAreNoWeights) {
  EXPECT_EQ(coefficients_of(parse_stencil("u - k*v[x-1] + k*m*v[x+1]; k = 2; m = 3", 1)),
            "  k = 2            weighs -v[x-1]; in the weights of v[x+1]\n"
            "  m = 3            in the weights of v[x+1]\n");
  EXPECT_EQ(coefficients_of(parse_stencil("max(u[x-1], k*u); k = 0.5", 1)),
            "  k = 0.5          in the update of out\n");
}

TEST(Picture, PlanesStandSideBySideAndLikeOnesAreDrawnOnce) {
  const Stencil star = make_builtin(Shape::star, 3, 2);
  EXPECT_EQ(picture(analyse(star, 0), 3, 0),
            "z=-2..-1    z=0         z=1..2\n"
            ". . . . .   . . o . .   . . . . .\n"
            ". . . . .   . . o . .   . . . . .\n"
            ". . o . .   o o O o o   . . o . .\n"
            ". . . . .   . . o . .   . . . . .\n"
            ". . . . .   . . o . .   . . . . .\n");
}

TEST(Picture, ACentreThatIsNotReadIsMarked) {
  const Stencil stencil = parse_stencil("u[x-1] + u[x+2]", 1);
  EXPECT_EQ(picture(analyse(stencil, 0), 1, 0), "o + . o\n");
}

}  // namespace
}  // namespace stencil_tune
