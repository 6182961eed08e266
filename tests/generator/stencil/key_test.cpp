#include "stencil_tune/definition.hpp"
#include "stencil_tune/stencil.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace stencil_tune {
namespace {

struct Names {
  std::string u = "u", v = "v", a = "a", b = "b";
  double value_a = 1, value_b = 2;
  bool coefficients_first = false;
};

/// v = a*u[-1] + b*u[1], named and declared as asked.
Stencil two_taps(const Names& names) {
  StencilBuilder builder("any", 1);
  if (names.coefficients_first) {
    builder.coefficient(names.b, names.value_b);
    builder.field(names.v);
  }
  const int u = builder.field(names.u);
  const NodeId a = builder.coefficient_value(builder.coefficient(names.a, names.value_a));
  const NodeId b = builder.coefficient_value(builder.coefficient(names.b, names.value_b));
  const NodeId left = builder.apply(Operation::multiply, a, builder.read(u, {-1, 0, 0}));
  const NodeId right = builder.apply(Operation::multiply, b, builder.read(u, {1, 0, 0}));
  builder.update(builder.field(names.v), builder.apply(Operation::add, left, right));
  return std::move(builder).build();
}

TEST(StencilKey, Is32HexDigits) {
  const std::string key = stencil_key(make_builtin(Shape::star, 3, 1));
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(StencilKey, IgnoresNamesValuesAndOrderOfDeclaration) {
  const std::string key = stencil_key(two_taps({}));
  EXPECT_EQ(stencil_key(two_taps({"in", "out", "west", "east"})), key);
  Names values;
  values.value_a = 7;
  EXPECT_EQ(stencil_key(two_taps(values)), key);
  Names order;
  order.coefficients_first = true;
  EXPECT_EQ(stencil_key(two_taps(order)), key);
}

TEST(StencilKey, SeesWhichPlacesShareACoefficient) {
  Names shared;
  shared.b = shared.a;
  EXPECT_NE(stencil_key(two_taps(shared)), stencil_key(two_taps({})));
}

TEST(StencilKey, SeesFunctionsAxesAndTheStep) {
  const auto key = [](auto factor) {
    StencilBuilder builder("t", 3);
    const NodeId u = builder.read(builder.field("u"), {0, 0, 0});
    builder.update(builder.field("v"), builder.apply(Operation::multiply, u, factor(builder, u)));
    return stencil_key(std::move(builder).build());
  };
  std::set<std::string> keys;
  using enum Operation;
  for (const Operation op : {sine, cosine, tangent, hyperbolic_tangent, logarithm, exponential}) {
    keys.insert(key([&](StencilBuilder& b, NodeId u) { return b.apply(op, u); }));
  }
  keys.insert(key([&](StencilBuilder& b, NodeId u) { return b.apply(power, u, b.number(2)); }));
  keys.insert(key([&](StencilBuilder& b, NodeId u) { return b.apply(power, b.number(2), u); }));
  for (const int axis : {0, 1, 2}) keys.insert(key([&](StencilBuilder& b, NodeId) { return b.coordinate(axis); }));
  keys.insert(key([&](StencilBuilder& b, NodeId) { return b.coordinate(0, 1); }));
  keys.insert(key([&](StencilBuilder& b, NodeId) { return b.step(); }));
  EXPECT_EQ(keys.size(), 13U);
  const auto sum = [&](bool turned) {
    return key([&](StencilBuilder& b, NodeId) {
      const NodeId x = b.coordinate(0), y = b.coordinate(1);
      return turned ? b.apply(add, y, x) : b.apply(add, x, y);
    });
  };
  EXPECT_EQ(sum(false), sum(true));
}

TEST(StencilKey, SeesOffsetsOfCoordinates) {
  std::set<std::string> keys;
  for (const int axis : {0, 1, 2}) {
    for (const int offset : {-1, 0, 1}) {
      StencilBuilder builder("t", 3);
      const NodeId u = builder.read(builder.field("u"), {0, 0, 0});
      builder.update(builder.field("v"), builder.apply(Operation::subtract, u, builder.coordinate(axis, offset)));
      keys.insert(stencil_key(std::move(builder).build()));
    }
  }
  EXPECT_EQ(keys.size(), 9U);
}

TEST(StencilKey, SeesLiteralsOffsetsAndOperations) {
  const auto key = [](Operation op, double number, int offset) {
    StencilBuilder builder("t", 1);
    const NodeId u = builder.read(builder.field("u"), {offset, 0, 0});
    builder.update(builder.field("v"), builder.apply(op, builder.number(number), u));
    return stencil_key(std::move(builder).build());
  };
  const std::set<std::string> keys{key(Operation::multiply, 2, 0), key(Operation::multiply, 3, 0),
                                   key(Operation::multiply, 2, 1), key(Operation::subtract, 2, 0)};
  EXPECT_EQ(keys.size(), 4u);
}

TEST(StencilKey, SeesWhichFieldIsRead) {
  const auto reading = [](int which) {
    StencilBuilder builder("any", 1);
    const std::array<int, 2> fields{builder.field("u"), builder.field("v")};
    const NodeId both =
        builder.apply(Operation::multiply, builder.read(fields[0], {0, 0, 0}), builder.read(fields[1], {1, 0, 0}));
    const NodeId one = builder.read(fields[static_cast<std::size_t>(which)], {-1, 0, 0});
    builder.update(builder.field("out"), builder.apply(Operation::subtract, both, one));
    return stencil_key(std::move(builder).build());
  };
  EXPECT_NE(reading(0), reading(1));
}

TEST(StencilKey, SeesEveryOffset) {
  std::set<std::string> keys;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    for (const int distance : {-2, -1, 1, 2}) {
      StencilBuilder builder("t", 3);
      Offset offset{0, 0, 0};
      offset[axis] = distance;
      const NodeId u = builder.read(builder.field("u"), offset);
      builder.update(builder.field("v"), builder.apply(Operation::multiply, builder.number(2), u));
      keys.insert(stencil_key(std::move(builder).build()));
    }
  }
  EXPECT_EQ(keys.size(), 12u);
}

/// p = |u|, q = u, one after the other or in one stage, over a grid of that rank.
std::string key_of_two_updates(int rank, bool two_stages, bool other_field, bool rotates) {
  StencilBuilder builder("t", rank);
  const int u = builder.field("u"), v = builder.field("v"), p = builder.field("p"), q = builder.field("q");
  const NodeId read = builder.read(u, {0, 0, 0});
  builder.update(p, builder.apply(Operation::absolute, read));
  if (two_stages) builder.begin_stage();
  builder.update(q, other_field ? builder.read(v, {0, 0, 0}) : read);
  if (rotates) builder.rotate(q, u);
  return stencil_key(std::move(builder).build());
}

TEST(StencilKey, SeesRankStagesFieldsAndRotations) {
  const std::set<std::string> keys{key_of_two_updates(2, false, false, false),
                                   key_of_two_updates(1, false, false, false),
                                   key_of_two_updates(2, true, false, false), key_of_two_updates(2, false, true, false),
                                   key_of_two_updates(2, false, false, true)};
  EXPECT_EQ(keys.size(), 5u);
}

TEST(StencilKey, OperandsOfASumOrProductMayBeWrittenEitherWay) {
  const auto key = [](bool swapped) {
    StencilBuilder builder("t", 1);
    const int u = builder.field("u");
    NodeId x = builder.apply(Operation::absolute, builder.read(u, {-1, 0, 0}));
    NodeId y = builder.read(u, {1, 0, 0});
    if (swapped) std::swap(x, y);
    builder.update(builder.field("v"), builder.apply(Operation::multiply, x, y));
    return stencil_key(std::move(builder).build());
  };
  EXPECT_EQ(key(false), key(true));
}

TEST(StencilKey, BuiltinsDiffer) {
  std::set<std::string> keys;
  int count = 0;
  for (const Shape shape : {Shape::star, Shape::box}) {
    for (int rank = 2; rank <= 3; ++rank) {
      for (int order = 1; order <= 3; ++order) {
        for (const Sharing sharing : {Sharing::distinct, Sharing::symmetric}) {
          keys.insert(stencil_key(make_builtin(shape, rank, order, sharing)));
          ++count;
        }
      }
    }
  }
  EXPECT_EQ(keys.size(), static_cast<std::size_t>(count));
}

TEST(CanonicalText, NumbersByFirstAppearance) {
  EXPECT_EQ(canonical_text(two_taps({"in", "out", "west", "east"})).find("west"), std::string::npos);
  StencilBuilder builder("t", 1);
  const int unused = builder.field("unused");
  const int u = builder.field("u");
  const int v = builder.field("v");
  builder.update(v, builder.read(u, {1, 0, 0}));
  builder.rotate(v, u);
  EXPECT_EQ(unused, 0);
  EXPECT_EQ(canonical_text(std::move(builder).build()), "rank 1\nstage\nt0 = f0[1,0,0]\nf1 = t0\nf1 becomes f0\n");
}

TEST(CanonicalText, DeepSumsNeedNoDeepStack) {
  EXPECT_GT(canonical_text(make_builtin(Shape::box, 3, 12)).size(), 15625u);
}

Stencil line(const std::string& expression) { return parse_stencil(expression); }

std::string form(const Stencil& stencil) { return stencil_form(stencil, 0); }

TEST(StencilForm, OfALinearUpdateOfOneFieldIsItsTaps) {
  const std::string star = form(find_builtin("star3d1r"));
  EXPECT_EQ(form(line("u + alpha*laplacian(u); alpha = 0.1")), star);
  EXPECT_EQ(form(line("0.5*(u[x+1] + u[x-1]) + a*(u[y+1] + u[y-1]) - 3*(u[z+1] + u[z-1]) + u; a = 2")), star);
  EXPECT_EQ(form(find_stencil("heat3d")), star);
  EXPECT_NE(form(line("u + alpha*(u[x+1] - u[x-1]); alpha = 0.1")), star);
  EXPECT_NE(form(find_builtin("star3d2r")), star);
  EXPECT_NE(form(find_builtin("star2d1r")), star);
  EXPECT_NE(form(line("u_next = u + 0.1*laplacian(v)")), star);
}

TEST(StencilForm, OfOthersIsTheirStructureWithoutNumbers) {
  const auto of = [](const std::string& update) { return form(line(update)); };
  EXPECT_EQ(of("u + a*u^2*(u[x+1] - u); a = 2"), of("w + 3.5*w^2*(w[x+1] - w)"));
  EXPECT_EQ(of("a*u^2 + a*u[x+1]^2; a = 2"), of("a*b*u^2 + 3*u[x+1]^2; a = 2; b = 5"));
  EXPECT_NE(of("u + a*u^2*(u[x+1] - u); a = 2"), of("u + a*u^2*(u[y+1] - u); a = 2"));
  EXPECT_NE(of("max(u, a*u[x+1]); a = 2"), of("min(u, a*u[x+1]); a = 2"));
  EXPECT_NE(of("u + 0.1*x*u[x+1]"), of("u + 0.1*u[x+1]")) << "a weight that differs from cell to cell";
}

TEST(StencilForm, OfAStageIsNotThatOfTheStep) {
  const Stencil yee = find_stencil("yee3d");
  EXPECT_NE(stencil_form(yee, 0), stencil_form(yee, 1));
  EXPECT_NE(stencil_form(yee, 0), stencil_form(yee, -1));
  EXPECT_NE(stencil_form(yee, -1), stencil_form(find_stencil("yee3d_lossy"), -1));
}

}  // namespace
}  // namespace stencil_tune
