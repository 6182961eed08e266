#include "generator/stencil/describe.hpp"
#include "generator/definition/definition.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

TEST(Describe, ShowsWhatWasUnderstood) {
  const Stencil stencil = parse_expression_stencil("u_next = u + a * (u[x-1] + u[y+1] - 2*u); a = 0.25", 2);
  EXPECT_EQ(describe(stencil), "expression: rank 2, 1 stage, key " + stencil_key(stencil) +
                                   "\n"
                                   "fields: u_next, u\n"
                                   "coefficients: a = 0.25\n"
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
  const Stencil stencil = parse_expression_stencil("u[x-1] + u[x+2]", 1);
  EXPECT_EQ(picture(analyse(stencil, 0), 1, 1), "o + . o\n");
}

}  // namespace
}  // namespace stencil_tune
