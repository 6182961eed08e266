#include "generator/kernel_source/plane_sums.hpp"

#include "generator/candidates/shape.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "generator/stencil/rewriting/sum_parts.hpp"
#include "tests/generator/problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

using testing::box;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::star;

constexpr AxisMap kSameAxes{0, 1, 2};

Problem on_cube(Stencil stencil) {
  return make_problem(std::move(stencil), ElementType::f32, {}, Extents{3, {64, 64, 64}});
}

/// next = 2*p - old + v*v * (p above + p below): a wave equation with the neighbours along z alone.
Problem wave() {
  using enum Operation;
  StencilBuilder builder("wave", 3);
  const int p = builder.field("p");
  const int old = builder.field("old");
  const int v = builder.field("v");
  const NodeId speed = builder.read(v, {0, 0, 0});
  const NodeId both = builder.apply(add, builder.read(p, {0, 0, 1}), builder.read(p, {0, 0, -1}));
  const NodeId twice = builder.apply(multiply, builder.number(2), builder.read(p, {0, 0, 0}));
  const NodeId inertia = builder.apply(subtract, twice, builder.read(old, {0, 0, 0}));
  const NodeId force = builder.apply(multiply, builder.apply(multiply, speed, speed), both);
  builder.update(builder.field("next"), builder.apply(add, inertia, force));
  return on_cube(std::move(builder).build());
}

/// The greater of a cell and the one above it: nothing to sum, yet both planes are read.
Problem upward_maximum() {
  StencilBuilder builder("upward maximum", 3);
  const int in = builder.field("in");
  builder.update(builder.field("out"),
                 builder.apply(Operation::maximum, builder.read(in, {0, 0, 0}), builder.read(in, {0, 0, 1})));
  return on_cube(std::move(builder).build());
}

TEST(PlaneSums, MakeOneSumOfALinearUpdate) {
  EXPECT_EQ(count_sums(star(3, 4)), 1);
  EXPECT_EQ(count_sums(box(3, 1)), 1);
  const std::string text = plane_sums_text(star(3, 1), kSameAxes);
  EXPECT_THAT(text, HasSubstr("out[0] = sum[0];"));
  EXPECT_THAT(text, HasSubstr("if constexpr (kDz == -1) {\n      sum[0] = c[5] * u(0, 0, 0, -1);"));
  EXPECT_THAT(text, HasSubstr("if constexpr (kDz == 1) {\n      sum[0] += c[6] * u(0, 0, 0, 1);"));
}

TEST(PlaneSums, LeaveInputsReadAtTheCellAloneToTheEnd) {
  const Problem problem = wave();
  EXPECT_FALSE(is_late(problem.facts, 0));
  EXPECT_TRUE(is_late(problem.facts, 1));
  EXPECT_TRUE(is_late(problem.facts, 2));
  EXPECT_EQ(early_inputs(problem.facts), 1);
  EXPECT_EQ(count_sums(problem), 2) << "what the cell itself gives, and what its neighbours give times v*v";
  const std::string text = plane_sums_text(problem, kSameAxes);
  const std::string planes = text.substr(0, text.find("finish"));
  EXPECT_THAT(planes, Not(HasSubstr("u(1,"))) << "old waits in no sum";
  EXPECT_THAT(text.substr(planes.size()), HasSubstr("u(1, 0, 0, 0)"));
}

TEST(PlaneSums, CarryWhatIsNoSum) {
  EXPECT_EQ(count_sums(upward_maximum()), 2);
  EXPECT_THAT(plane_sums_text(upward_maximum(), kSameAxes), HasSubstr("out[0] = maximum(sum["));
}

/// row(z) = west + 2 * here + east; out = (row(-1) + 3 * row(0) + row(1)) * c.
Problem rows_of_rows() {
  using enum Operation;
  StencilBuilder builder("rows", 3);
  const int in = builder.field("in");
  const auto row = [&](int z) {
    const NodeId outer = builder.apply(add, builder.read(in, {-1, 0, z}), builder.read(in, {1, 0, z}));
    return builder.apply(add, outer, builder.apply(multiply, builder.number(2), builder.read(in, {0, 0, z})));
  };
  const NodeId ends = builder.apply(add, row(-1), row(1));
  const NodeId all = builder.apply(add, ends, builder.apply(multiply, builder.number(3), row(0)));
  const NodeId c = builder.coefficient_value(builder.coefficient("c", 0.1));
  builder.update(builder.field("out"), builder.apply(multiply, c, all));
  return on_cube(std::move(builder).build());
}

TEST(PlaneSums, KeepAWeightedSumWithinAPlaneWhole) {
  const std::string text = plane_sums_text(rows_of_rows(), kSameAxes);
  EXPECT_THAT(text, HasSubstr("sum[0] = c[0] * fma(Value(2.0), u(0, 0, 0, -1), (u(0, -1, 0, -1) + u(0, 1, 0, -1)));"));
  EXPECT_THAT(text, HasSubstr("* fma(Value(2.0), u(0, 0, 0, 0), (u(0, -1, 0, 0) + u(0, 1, 0, 0)));"))
      << "the same sum for every output that reads the plane";
}

TEST(PlaneSums, AddCellsOfEqualWeightFirstWhereOutputsThenShareSums) {
  const Problem problem = on_cube(make_builtin(Shape::box, 3, 1, Sharing::symmetric));
  EXPECT_THAT(plane_sums_text(problem, kSameAxes),
              HasSubstr("* ((u(0, -1, -1, 1) + u(0, -1, 1, 1)) + (u(0, 1, -1, 1) + u(0, 1, 1, 1)));"));
}

TEST(PlaneSums, AddOneCellAfterTheOtherWhereNothingIsShared) {
  const Problem problem = on_cube(make_builtin(Shape::star, 3, 2, Sharing::symmetric));
  EXPECT_THAT(plane_sums_text(problem, kSameAxes), HasSubstr("      sum[0] += c[2] * u(0, 0, -2, 0);\n"
                                                             "      sum[0] += c[1] * u(0, 0, -1, 0);\n"
                                                             "      sum[0] += c[2] * u(0, -2, 0, 0);\n"));
}

TEST(PlaneSums, SubtractWhatIsNegative) {
  const Stencil stencil = parse_stencil("v = a*u[x-1] - b*u[x+1] - a*u[z+1] - b*u[y+1, z+1]; a = 0.1; b = 0.2", 3);
  const std::string text = plane_sums_text(on_cube(stencil), kSameAxes);
  EXPECT_THAT(text, HasSubstr("if constexpr (kDz == 0) {\n"
                              "      sum[0] = c[0] * u(0, -1, 0, 0);\n"
                              "      sum[0] -= c[1] * u(0, 1, 0, 0);\n"));
  EXPECT_THAT(text, HasSubstr("if constexpr (kDz == 1) {\n"
                              "      sum[0] -= c[0] * u(0, 0, 0, 1);\n"
                              "      sum[0] -= c[1] * u(0, 0, 1, 1);\n"));
}

TEST(PlaneSums, FinishWithLateTermsOfTheirOwnSignAndWeight) {
  const Stencil stencil = parse_stencil("v = u[z-1] + u[z+1] - a*p + b*q; a = 0.1; b = 0.2", 3);
  EXPECT_THAT(plane_sums_text(on_cube(stencil), kSameAxes),
              HasSubstr("out[0] = ((sum[0] + c[1] * u(2, 0, 0, 0)) - c[0] * u(1, 0, 0, 0));"));
  const Stencil weighted = parse_stencil("v = a * (u[z-1] + u[z+1] - p); a = 0.1", 3);
  EXPECT_THAT(plane_sums_text(on_cube(weighted), kSameAxes), HasSubstr("out[0] = (sum[0] - c[0] * u(1, 0, 0, 0));"));
}

/// Four neighbours of equal weight in each of three planes, and no sums that outputs of one plane have in common.
TEST(PlaneSums, AddCellsOfEqualWeightFirstWherePlanesThenShareSums) {
  using enum Operation;
  StencilBuilder builder("three stars", 3);
  const int in = builder.field("in");
  NodeId all = -1;
  for (const int z : {-1, 0, 1}) {
    NodeId star = builder.read(in, {-1, 0, z});
    for (const Offset& offset : {Offset{1, 0, z}, Offset{0, -1, z}, Offset{0, 1, z}}) {
      star = builder.apply(add, star, builder.read(in, offset));
    }
    const NodeId weighted = builder.apply(multiply, builder.number(0.25 + z * z), star);
    all = all < 0 ? weighted : builder.apply(add, all, weighted);
  }
  builder.update(builder.field("out"), all);
  EXPECT_THAT(plane_sums_text(on_cube(std::move(builder).build()), kSameAxes),
              HasSubstr("((u(0, -1, 0, -1) + (u(0, 0, -1, -1) + u(0, 0, 1, -1))) + u(0, 1, 0, -1))"));
}

/// out = (a*b above - a*b below) * c + sqrt(a): a flux's divergence along z, and something of the cell's own plane.
Problem flux() {
  using enum Operation;
  StencilBuilder builder("flux", 3);
  const int a = builder.field("a");
  const int b = builder.field("b");
  const auto product = [&](int z) {
    return builder.apply(multiply, builder.read(a, {0, 0, z}), builder.read(b, {0, 0, z}));
  };
  const NodeId c = builder.coefficient_value(builder.coefficient("c", 0.5));
  const NodeId difference = builder.apply(subtract, product(1), product(-1));
  const NodeId root = builder.apply(square_root, builder.read(a, {0, 0, 0}));
  builder.update(builder.field("out"), builder.apply(add, builder.apply(multiply, c, difference), root));
  return on_cube(std::move(builder).build());
}

TEST(PlaneSums, AddWhatIsNotLinearWithinAPlane) {
  EXPECT_EQ(count_sums(flux()), 1);
  const std::string text = plane_sums_text(flux(), kSameAxes);
  EXPECT_THAT(text, HasSubstr("sum[0] = (-c[0] * u(0, 0, 0, -1) * u(1, 0, 0, -1));"));
  EXPECT_THAT(text, HasSubstr("sum[0] += square_root(u(0, 0, 0, 0));"));
  EXPECT_THAT(text, HasSubstr("sum[0] += c[0] * u(0, 0, 0, 1) * u(1, 0, 0, 1);"));
  EXPECT_THAT(text, HasSubstr("out[0] = sum[0];"));
}

TEST(PlaneSums, KeepConstantsWithTheCellTheyAreAddedTo) {
  const Stencil stencil = parse_stencil("v = u + a * (u[z-1] + (k - u) + u[z+1]); a = 0.1; k = 80", 3);
  const std::string text = plane_sums_text(on_cube(stencil), kSameAxes);
  EXPECT_THAT(text, HasSubstr("c[0] * (c[1] - u(0, 0, 0, 0));"));
}

TEST(PlaneSums, NeedOnePlaneInTheRingAndOnlyOfEarlyInputs) {
  const Tuning tuning = parse_code("streaming.bx32.by4.cz8.ring.sums.pf1");
  const SharedTile ring = Candidate(wave(), tuning).shape().shared;
  EXPECT_EQ(ring.inputs, 1);
  EXPECT_EQ(ring.planes, 3) << "one in use, one on its way, one being given back";
  EXPECT_EQ(Candidate(star(3, 8), tuning).shape().shared.planes, 3);
}

TEST(PlaneSums, AreInTheSourceOfKernelsThatKeepThem) {
  const Problem problem = wave();
  EXPECT_THAT(generate({problem, parse_code("streaming.bx32.by4.cz8.regs.sums")}).text,
              HasSubstr("return f == 1 || f == 2;"));
  EXPECT_THAT(generate({problem, parse_code("streaming.bx32.by4.cz8.regs")}).text, Not(HasSubstr("add_plane")));
}

}  // namespace
}  // namespace stencil_tune
