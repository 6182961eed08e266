#include "stencil_tune/stencil.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace stencil_tune {
namespace {

ErrorCode code_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(StencilBuilder, EqualExpressionsAreOneNode) {
  StencilBuilder b("t", 1);
  const NodeId left = b.read(b.field("u"), {-1, 0, 0});
  EXPECT_EQ(left, b.read(b.field("u"), {-1, 0, 0}));
  const NodeId right = b.read(b.field("u"), {1, 0, 0});
  EXPECT_NE(left, right);
  EXPECT_EQ(b.apply(Operation::add, left, right), b.apply(Operation::add, right, left));
  EXPECT_NE(b.apply(Operation::subtract, left, right), b.apply(Operation::subtract, right, left));
}

TEST(StencilBuilder, CarriesOutOperationsOnNumbers) {
  StencilBuilder b("t", 1);
  EXPECT_EQ(b.apply(Operation::add, b.number(2), b.number(3)), b.number(5));
  EXPECT_EQ(b.apply(Operation::square_root, b.number(9)), b.number(3));
  EXPECT_EQ(b.apply(Operation::select, b.number(0), b.number(1), b.number(2)), b.number(2));
}

TEST(StencilBuilder, CarriesOutOperationsOnNumbersInTheirOrder) {
  StencilBuilder b("t", 1);
  const auto of = [&](Operation op, double x, double y) { return b.apply(op, b.number(x), b.number(y)); };
  EXPECT_EQ(of(Operation::subtract, 2, 5), b.number(-3));
  EXPECT_EQ(of(Operation::divide, 1, 4), b.number(0.25));
  for (const auto& [x, y] : {std::pair{2.0, 5.0}, {5.0, 2.0}, {2.0, 2.0}}) {
    EXPECT_EQ(of(Operation::minimum, x, y), b.number(x < y ? x : y));
    EXPECT_EQ(of(Operation::maximum, x, y), b.number(x < y ? y : x));
    EXPECT_EQ(of(Operation::less, x, y), b.number(x < y ? 1 : 0));
    EXPECT_EQ(of(Operation::less_equal, x, y), b.number(x <= y ? 1 : 0));
    EXPECT_EQ(of(Operation::equal, x, y), b.number(x == y ? 1 : 0));
  }
  EXPECT_EQ(b.apply(Operation::negate, b.number(2)), b.number(-2));
  EXPECT_EQ(b.apply(Operation::absolute, b.number(-2)), b.number(2));
  EXPECT_EQ(b.apply(Operation::exponential, b.number(0)), b.number(1));
  EXPECT_EQ(b.apply(Operation::select, b.number(3), b.number(1), b.number(2)), b.number(1));
}

TEST(StencilBuilder, CarriesOutFunctionsOfNumbers) {
  StencilBuilder b("t", 1);
  const auto value = [&](NodeId id) { return b.stencil().nodes[static_cast<std::size_t>(id)].value; };
  const auto of = [&](Operation op) { return value(b.apply(op, b.number(0.7))); };
  EXPECT_DOUBLE_EQ(of(Operation::sine), std::sin(0.7));
  EXPECT_DOUBLE_EQ(of(Operation::cosine), std::cos(0.7));
  EXPECT_DOUBLE_EQ(of(Operation::tangent), std::tan(0.7));
  EXPECT_DOUBLE_EQ(of(Operation::hyperbolic_tangent), std::tanh(0.7));
  EXPECT_DOUBLE_EQ(of(Operation::logarithm), std::log(0.7));
  EXPECT_EQ(b.apply(Operation::power, b.number(2), b.number(5)), b.number(32));
  const NodeId pole = b.apply(Operation::logarithm, b.number(0));
  EXPECT_EQ(b.stencil().nodes[static_cast<std::size_t>(pole)].op, Operation::logarithm) << "not finite";
}

TEST(StencilBuilder, PowersAreNoProductsThatCommute) {
  StencilBuilder b("t", 1);
  const NodeId u = b.read(b.field("u"), {0, 0, 0});
  const NodeId v = b.read(b.field("v"), {0, 0, 0});
  EXPECT_NE(b.apply(Operation::power, u, v), b.apply(Operation::power, v, u));
  EXPECT_NE(b.apply(Operation::power, u, b.number(1)), b.number(1));
}

TEST(StencilBuilder, CoordinatesDifferFromCellToCell) {
  StencilBuilder b("t", 2);
  const NodeId x = b.coordinate(0), y = b.coordinate(1);
  EXPECT_EQ(b.coordinate(0), x);
  EXPECT_NE(x, y);
  EXPECT_NE(b.coordinate(0, 1), x);
  EXPECT_NE(b.step(), x);
  EXPECT_TRUE(b.reads_field(x));
  EXPECT_TRUE(b.reads_field(b.step()));
  const NodeId u = b.read(b.field("u"), {0, 0, 0});
  const NodeId quotient = b.apply(Operation::divide, u, x);  // not u * (1 / x): x may be 0
  EXPECT_EQ(b.stencil().nodes[static_cast<std::size_t>(quotient)].op, Operation::divide);
  EXPECT_EQ(code_of([&] { b.coordinate(2); }), ErrorCode::malformed_definition);
  EXPECT_EQ(code_of([&] { b.coordinate(-1); }), ErrorCode::malformed_definition);
}

TEST(StencilBuilder, LeavesOperationsWithoutAFiniteResult) {
  StencilBuilder b("t", 1);
  const NodeId quotient = b.apply(Operation::divide, b.number(1), b.number(0));
  EXPECT_EQ(b.stencil().nodes[static_cast<std::size_t>(quotient)].op, Operation::divide);
}

TEST(StencilBuilder, NeutralOperandsVanish) {
  StencilBuilder b("t", 1);
  const NodeId u = b.read(b.field("u"), {0, 0, 0});
  EXPECT_EQ(b.apply(Operation::multiply, b.number(1), u), u);
  EXPECT_EQ(b.apply(Operation::multiply, u, b.number(1)), u);
  EXPECT_EQ(b.apply(Operation::add, b.number(0), u), u);
  EXPECT_EQ(b.apply(Operation::divide, u, b.number(1)), u);
  EXPECT_EQ(b.apply(Operation::add, u, b.number(0)), u);
  EXPECT_EQ(b.apply(Operation::subtract, u, b.number(0)), u);
  EXPECT_EQ(b.apply(Operation::negate, b.apply(Operation::negate, u)), u);
}

TEST(StencilBuilder, ADifferenceFromZeroIsTheNegative) {
  StencilBuilder b("t", 1);
  const NodeId u = b.read(b.field("u"), {0, 0, 0});
  const NodeId negative = b.apply(Operation::negate, u);
  EXPECT_NE(negative, u);
  EXPECT_EQ(b.apply(Operation::subtract, b.number(0), u), negative);
}

TEST(StencilBuilder, DivisionByAUniformValueLeavesTheCell) {
  StencilBuilder b("t", 1);
  const NodeId u = b.read(b.field("u"), {0, 0, 0});
  const NodeId h = b.coefficient_value(b.coefficient("h", 2));
  const Node quotient = b.stencil().nodes[static_cast<std::size_t>(b.apply(Operation::divide, u, h))];
  EXPECT_EQ(quotient.op, Operation::multiply);
  EXPECT_FALSE(b.reads_field(quotient.operands[0]));
}

TEST(StencilBuilder, RejectsWrongOperandCounts) {
  StencilBuilder b("t", 1);
  const NodeId u = b.read(b.field("u"), {0, 0, 0});
  EXPECT_EQ(code_of([&] { b.apply(Operation::add, u); }), ErrorCode::malformed_definition);
  EXPECT_EQ(code_of([&] { b.apply(Operation::negate, u, u); }), ErrorCode::malformed_definition);
  EXPECT_EQ(code_of([&] { b.apply(Operation::add, u, 99); }), ErrorCode::malformed_definition);
  EXPECT_EQ(code_of([&] { b.apply(Operation::read, u); }), ErrorCode::malformed_definition);
}

TEST(StencilBuilder, RejectsNumbersThatAreNone) {
  StencilBuilder b("t", 1);
  EXPECT_EQ(code_of([&] { b.number(std::nan("")); }), ErrorCode::malformed_definition);
  EXPECT_EQ(code_of([&] { b.number(std::numeric_limits<double>::infinity()); }), ErrorCode::malformed_definition);
}

TEST(StencilBuilder, RejectsReadsBeyondTheRank) {
  StencilBuilder b("t", 1);
  const int u = b.field("u");
  EXPECT_EQ(code_of([&] { b.read(u, {0, 1, 0}); }), ErrorCode::malformed_definition);
}

TEST(StencilBuilder, RejectsAStageThatReadsWhatItWrites) {
  StencilBuilder b("t", 1);
  const int u = b.field("u");
  b.update(u, b.read(u, {1, 0, 0}));
  EXPECT_EQ(code_of([&] { std::move(b).build(); }), ErrorCode::malformed_definition);
}

TEST(StencilBuilder, ALaterStageReadsWhatAnEarlierWrote) {
  StencilBuilder b("t", 1);
  const int u = b.field("u");
  const int v = b.field("v");
  b.update(v, b.read(u, {1, 0, 0}));
  b.begin_stage();
  b.update(u, b.read(v, {-1, 0, 0}));
  EXPECT_EQ(std::move(b).build().stages.size(), 2u);
}

TEST(StencilBuilder, RejectsEmptyStagesDoubleWritesAndNoUpdates) {
  EXPECT_EQ(code_of([] { StencilBuilder("t", 1).build(); }), ErrorCode::malformed_definition);
  StencilBuilder twice("t", 1);
  const NodeId u = twice.read(twice.field("u"), {0, 0, 0});
  twice.update(twice.field("v"), u);
  twice.update(twice.field("v"), u);
  EXPECT_EQ(code_of([&] { std::move(twice).build(); }), ErrorCode::malformed_definition);
  StencilBuilder empty("t", 1);
  empty.update(empty.field("v"), empty.read(empty.field("u"), {0, 0, 0}));
  empty.begin_stage();
  EXPECT_EQ(code_of([&] { std::move(empty).build(); }), ErrorCode::malformed_definition);
}

TEST(StencilBuilder, DropsNodesThatNothingUses) {
  StencilBuilder b("t", 1);
  const NodeId u = b.read(b.field("u"), {0, 0, 0});
  b.apply(Operation::absolute, u);
  b.update(b.field("v"), u);
  EXPECT_EQ(std::move(b).build().nodes.size(), 1u);
}

TEST(Builtin, StarsAndBoxesHaveTheTextbooksPoints) {
  EXPECT_EQ(analyse(make_builtin(Shape::star, 3, 1), 0).taps.size(), 7u);
  EXPECT_EQ(analyse(make_builtin(Shape::star, 3, 4), 0).taps.size(), 25u);
  EXPECT_EQ(analyse(make_builtin(Shape::star, 1, 2), 0).taps.size(), 5u);
  EXPECT_EQ(analyse(make_builtin(Shape::box, 2, 1), 0).taps.size(), 9u);
  EXPECT_EQ(analyse(make_builtin(Shape::box, 3, 2), 0).taps.size(), 125u);
}

TEST(Builtin, CoefficientsAreOneATapOrOneADistance) {
  EXPECT_EQ(make_builtin(Shape::star, 3, 2).coefficients.size(), 13u);
  EXPECT_EQ(make_builtin(Shape::star, 3, 2, Sharing::symmetric).coefficients.size(), 3u);
  EXPECT_EQ(make_builtin(Shape::box, 3, 1, Sharing::symmetric).coefficients.size(), 4u);
  EXPECT_EQ(make_builtin(Shape::box, 2, 2, Sharing::symmetric).coefficients.size(), 6u);
}

TEST(Builtin, WeightsOfAllTapsSumToOneAndDiffer) {
  for (const Sharing sharing : {Sharing::distinct, Sharing::symmetric}) {
    const Stencil stencil = make_builtin(Shape::box, 2, 2, sharing);
    double sum = 0;
    std::set<double> values;
    for (const LinearTap& tap : analyse(stencil, 0).linear_taps) {
      ASSERT_GE(tap.weight, 0);
      const Node& weight = stencil.nodes[static_cast<std::size_t>(tap.weight)];
      sum += std::fabs(stencil.coefficients[static_cast<std::size_t>(weight.index)].value);
    }
    for (const Coefficient& coefficient : stencil.coefficients) values.insert(coefficient.value);
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_EQ(values.size(), stencil.coefficients.size());
  }
}

TEST(Builtin, TheLargestBoxIsBuilt) {
  const Stencil stencil = make_builtin(Shape::box, 3, 16);
  EXPECT_EQ(stencil.coefficients.size(), 33u * 33 * 33);
  EXPECT_EQ(analyse(stencil, 0).linear_taps.size(), 33u * 33 * 33);
}

TEST(Builtin, RejectsRankAndOrderOutsideTheirRange) {
  EXPECT_EQ(code_of([] { make_builtin(Shape::star, 0, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { make_builtin(Shape::star, 4, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { make_builtin(Shape::star, 3, 0); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] { make_builtin(Shape::star, 3, 17); }), ErrorCode::invalid_argument);
}

TEST(Builtin, EveryListedNameIsFoundUnderItsOwnName) {
  for (const std::string& name : builtin_names()) {
    if (name.ends_with("16r")) continue;  // the largest boxes take seconds under sanitizers
    EXPECT_EQ(find_builtin(name).name, name);
  }
  EXPECT_EQ(stencil_key(find_builtin("star3d2r-symmetric")),
            stencil_key(make_builtin(Shape::star, 3, 2, Sharing::symmetric)));
}

TEST(Builtin, UnknownNameSuggestsTheNearest) {
  try {
    find_builtin("haet3d");
    FAIL() << "found a stencil that does not exist";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unknown_name);
    EXPECT_NE(std::string(error.what()).find("'heat3d'"), std::string::npos) << error.what();
  }
}

/// 0 - (a + b), (b + a) * 1
void define_both(StencilBuilder& b) {
  const NodeId left = b.read(b.field("u"), {-1, 0, 0});
  const NodeId right = b.read(b.field("u"), {1, 0, 0});
  b.update(b.field("v"), b.apply(Operation::subtract, b.number(0), b.apply(Operation::add, left, right)));
  b.update(b.field("w"), b.apply(Operation::multiply, b.apply(Operation::add, right, left), b.number(1)));
}

TEST(DefineStencil, KeepsWhatIsWrittenBesideWhatIsSimplified) {
  const Stencil stencil = define_stencil("both", 1, define_both);
  EXPECT_EQ(stencil.nodes.size(), 4u);  // two reads, one sum, one negation
  EXPECT_EQ(stencil.written.nodes.size(), 8u);
  ASSERT_EQ(stencil.written.stages.size(), 1u);
  const auto operation = [&](std::size_t update) {
    return stencil.written.nodes[static_cast<std::size_t>(stencil.written.stages[0].updates[update].expression)].op;
  };
  EXPECT_EQ(operation(0), Operation::subtract);
  EXPECT_EQ(operation(1), Operation::multiply);
}

TEST(DefineStencil, LeavesTheKeyAlone) {
  StencilBuilder builder("one", 1);
  define_both(builder);
  EXPECT_EQ(stencil_key(define_stencil("both", 1, define_both)), stencil_key(std::move(builder).build()));
}

TEST(DefineStencil, RejectsADefinitionThatDiffersFromTimeToTime) {
  int calls = 0;
  const auto define = [&](StencilBuilder& b) {
    b.coefficient("c", ++calls);
    define_both(b);
  };
  EXPECT_THROW(define_stencil("fickle", 1, define), Error);
  EXPECT_EQ(calls, 2);
}

TEST(MakeBuiltin, HasBothForms) {
  const Stencil star = make_builtin(Shape::star, 3, 2);
  EXPECT_EQ(star.written.nodes, star.nodes) << "there is nothing to simplify";
  EXPECT_NE(find_builtin("jacobi2d").written.nodes, find_builtin("jacobi2d").nodes);
}

}  // namespace
}  // namespace stencil_tune
