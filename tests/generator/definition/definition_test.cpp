#include "generator/definition/definition.hpp"
#include "generator/candidates/space.hpp"
#include "generator/definition/expression/operators.hpp"
#include "generator/definition/text.hpp"
#include "generator/kernel_source/source.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <optional>

namespace stencil_tune {
namespace {

std::string message_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::malformed_definition);
    return error.what();
  }
  ADD_FAILURE() << "nothing was rejected";
  return "";
}

std::string expression_error(const std::string& text, int rank = 2) {
  return message_of([&] { parse_stencil(text, rank); });
}

std::string definition_error(const std::string& text) {
  return message_of([&] { parse_definition(text, "t.toml"); });
}

std::string with_update(const std::string& expression) {
  return "rank = 2\nfields = [\"u\", \"v\"]\n[coefficients]\na = 0.5\n[update]\nv = \"" + expression + "\"\n";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string key_of(const std::string& expression, int rank = 2) { return stencil_key(parse_stencil(expression, rank)); }

// ---- expressions

TEST(Expression, ReadsCoefficientsAndRotationByConvention) {
  const Stencil stencil = parse_stencil("u_next = u + alpha * laplacian(u); alpha = -0.1", 3);
  EXPECT_EQ(stencil.fields, (std::vector<std::string>{"u", "u_next"}));
  ASSERT_EQ(stencil.coefficients.size(), 1u);
  EXPECT_EQ(stencil.coefficients[0].value, -0.1);
  ASSERT_EQ(stencil.rotations.size(), 1u);
  EXPECT_EQ(stencil.fields[static_cast<std::size_t>(stencil.rotations[0].to)], "u");
  EXPECT_EQ(stencil_key(stencil), stencil_key(find_builtin("heat3d")));
}

TEST(Expression, TheRightSideAloneIsEnough) {
  EXPECT_EQ(key_of("0.5*(u[x-1] + u[x+1])"), key_of("w = 0.5*(q[-1,0] + q[1,0]);"));
}

TEST(Expression, TwoLevelSchemesRotateThePreviousStateToo) {
  const Stencil stencil = parse_stencil("u_next = 2*u - u_prev + laplacian(u)", 2);
  EXPECT_EQ(stencil.rotations.size(), 2u);
}

TEST(Expression, SeveralOutputsAreOneStage) {
  const Stencil stencil = parse_stencil("a_next = a + b; b_next = b - a", 1);
  ASSERT_EQ(stencil.stages.size(), 1u);
  EXPECT_EQ(stencil.stages[0].updates.size(), 2u);
  EXPECT_EQ(stencil.fields, (std::vector<std::string>{"a", "b", "a_next", "b_next"})) << "what is read comes first";
}

TEST(Expression, ArraysAlongOneAxisComeBeforeOtherFieldsThatAreRead) {
  EXPECT_EQ(parse_stencil("v = dy*u[x-1] + k + dx; dx(x); dy(y)", 2).fields,
            (std::vector<std::string>{"dx", "dy", "u", "k", "v"}));
}

/// No key depends on the order of fields: winners that were stored for another order serve.
TEST(Expression, TheOrderOfFieldsIsNoPartOfTheKey) {
  const auto key = [](const std::string& fields) {
    return stencil_key(parse_definition("rank = 1\nfields = [" + fields + "]\n[update]\nv = \"2*u[x-1] + w\"\n", "t"));
  };
  EXPECT_EQ(key("\"u\", \"w\", \"v\""), key("\"v\", \"w\", \"u\""));
  EXPECT_EQ(key("\"v\", \"w\", \"u\""), key_of("v = 2*u[x-1] + w", 1));
}

double coefficient_of(const std::string& value) {
  return parse_stencil("v = a*u[x-1]; a = " + value, 2).coefficients.at(0).value;
}

TEST(ConstantExpressions, GiveCoefficientsTheirValues) {
  EXPECT_EQ(coefficient_of("1/3"), 1.0 / 3);
  EXPECT_EQ(coefficient_of("-0.5"), -0.5);
  EXPECT_EQ(coefficient_of("+2"), 2);
  EXPECT_EQ(coefficient_of("1e-3*2"), 1e-3 * 2);
  EXPECT_EQ(coefficient_of("sqrt(2)/2"), std::sqrt(2.0) / 2);
  EXPECT_EQ(coefficient_of("-(1 - 0.25)^2"), -0.5625);
  EXPECT_EQ(coefficient_of("max(0.5, 0.25) * (2 > 1)"), 0.5);
  EXPECT_EQ(coefficient_of("2*pi/10"), 2 * M_PI / 10);
  EXPECT_EQ(key_of("v = a*u[x-1]; a = 1/3"), key_of("v = a*u[x-1]; a = 0.25")) << "a value is no part of the key";
}

TEST(ConstantExpressions, PiIsANameLikeOthersWhereSomethingHasIt) {
  EXPECT_EQ(parse_stencil("v = u[x-1] + pi", 1).fields.size(), 3U) << "a field, as every name without a value";
  EXPECT_EQ(parse_stencil("v = pi*u[x-1]; pi = 3", 1).coefficients.at(0).value, 3);
  EXPECT_TRUE(contains(expression_error("v = k*u[x-1]; k = 2*pi; pi = 3"), "'k', which it writes"));
}

TEST(ConstantExpressions, HaveFiniteValuesOfNumbersAlone) {
  EXPECT_TRUE(contains(expression_error("v = a*u; a = 1/0"), "line 1, column 15: division by zero"));
  EXPECT_TRUE(contains(expression_error("v = a*u; a = 1/(2 - 2)"), "line 1, column 15: division by zero"));
  EXPECT_TRUE(
      contains(expression_error("v = a*u; a = 2*sqrt(-1)"), "line 1, column 16: this constant expression has no"));
  EXPECT_TRUE(contains(expression_error("v = a*u; a = 1e30*1e30"), "line 1, column 18: the value of this constant"));
  EXPECT_TRUE(contains(expression_error("v = a*u; a = 1/"), "found the end"));
  EXPECT_TRUE(contains(expression_error("v = a*u; a = 1/3; b = 2/3"), "'b' is declared but never used"));
  EXPECT_TRUE(contains(expression_error("v = a*u; a = 2*u"), "line 1, column 10: the sweep reads field 'a'"));
  EXPECT_TRUE(contains(expression_error("v = a*u; a = 2*x"), "as in a = 1/3"));
}

TEST(Expression, AxesLeftOutOfAnIndexStayAtTheCentre) {
  EXPECT_EQ(key_of("u[z+1]", 3), key_of("u[x, y, z+1]", 3));
  EXPECT_EQ(key_of("u[z+1]", 3), key_of("u[0, 0, 1]", 3));
  EXPECT_EQ(key_of("u[y-2, x+1]"), key_of("u[1,-2]"));
}

TEST(Expression, PrecedenceIsThatOfMathematics) {
  EXPECT_EQ(key_of("-u^2"), key_of("-(u*u)"));
  EXPECT_EQ(key_of("u + 2*v^3"), key_of("u + (2*((v*v)*v))"));
  EXPECT_EQ(key_of("u - v - w"), key_of("(u - v) - w"));
  EXPECT_EQ(key_of("u / v * w"), key_of("(u / v) * w"));
  EXPECT_EQ(key_of("u < v + 1"), key_of("u < (v + 1)"));
  EXPECT_EQ(key_of("u > v"), key_of("v < u"));
  EXPECT_EQ(key_of("2^3^2 * u"), key_of("512 * u"));
  EXPECT_EQ(key_of("u^-1"), key_of("1/u"));
  EXPECT_EQ(key_of("u^-4"), key_of("1/((u*u)*(u*u))"));
  EXPECT_EQ(key_of("u^-5"), key_of("1/((u*u)*(u*u)*u)"));
  EXPECT_NE(key_of("u - (v - w)"), key_of("u - v - w"));
}

TEST(Expression, ConditionsAreNumbers) {
  EXPECT_EQ(key_of("u < 1 && v < 1"), key_of("select(u < 1, v < 1, 0)"));
  EXPECT_EQ(key_of("u < 1 || v < 1"), key_of("select(u < 1, 1, v < 1)"));
  EXPECT_EQ(key_of("u != v"), key_of("select(u == v, 0, 1)"));
  EXPECT_EQ(key_of("!u"), key_of("select(u, 0, 1)"));
}

TEST(Expression, MinAndMaxTakeAnyNumberOfArguments) { EXPECT_EQ(key_of("max(u, v, w)"), key_of("max(max(u, v), w)")); }

TEST(Expression, ShiftsMoveAllThatIsReadOnEveryAxis) {
  EXPECT_EQ(key_of("d_x_forward(u*v[z+1])", 3), key_of("u[x+1]*v[x+1, z+1] - u*v[z+1]", 3));
  EXPECT_EQ(key_of("d_y_forward(u*v[x-1])", 3), key_of("u[y+1]*v[x-1, y+1] - u*v[x-1]", 3));
  EXPECT_EQ(key_of("d_z_forward(u*v[z+1])", 3), key_of("u[z+1]*v[z+2] - u*v[z+1]", 3));
}

TEST(Expression, OperatorsApplyToExpressions) {
  EXPECT_EQ(key_of("d_x(u)", 1), key_of("0.5*(u[x+1] - u[x-1])", 1));
  EXPECT_EQ(key_of("d_x_backward(d_x_forward(u))", 1), key_of("u[x+1] - u - (u - u[x-1])", 1));
  EXPECT_EQ(key_of("d_x_forward(u*v)", 1), key_of("u[x+1]*v[x+1] - u*v", 1));
}

// ---- difference operators

TEST(DifferenceWeights, AreThoseOfTheTables) {
  using Kind = Difference::Kind;
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& table) {
    ASSERT_EQ(found.size(), table.size());
    for (std::size_t i = 0; i < table.size(); ++i) EXPECT_NEAR(found[i], table[i], 1e-15);
  };
  expect(difference_weights(Kind::second, 2), {-2, 1});
  expect(difference_weights(Kind::second, 8), {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560});
  expect(difference_weights(Kind::first, 2), {0, 0.5});
  expect(difference_weights(Kind::first, 6), {0, 3.0 / 4, -3.0 / 20, 1.0 / 60});
  expect(difference_weights(Kind::forward, 2), {1});
  expect(difference_weights(Kind::forward, 4), {9.0 / 8, -1.0 / 24});
  expect(difference_weights(Kind::forward, 8), {1225.0 / 1024, -245.0 / 3072, 49.0 / 5120, -5.0 / 7168});
}

/// A difference of accuracy order n is exact for polynomials of degree n (second: n + 1).
TEST(DifferenceWeights, AreExactForPolynomials) {
  for (int accuracy = 2; accuracy <= kDefinitionLimits.accuracy; accuracy += 2) {
    const double h = 0.1;
    const auto power = [&](double x) { return std::pow(x, accuracy); };
    const std::vector<double> first = difference_weights(Difference::Kind::first, accuracy);
    const std::vector<double> staggered = difference_weights(Difference::Kind::forward, accuracy);
    double at_one = 0;
    for (std::size_t k = 1; k < first.size(); ++k) {
      const double distance = static_cast<double>(k) * h;
      at_one += first[k] * (power(1 + distance) - power(1 - distance)) / h;
    }
    EXPECT_NEAR(at_one, accuracy, 1e-10) << accuracy;
    double between = 0;
    for (std::size_t k = 0; k < staggered.size(); ++k) {
      const double distance = (static_cast<double>(k) + 0.5) * h;
      between += staggered[k] * (power(1 + distance) - power(1 - distance)) / h;
    }
    EXPECT_NEAR(between, accuracy, 1e-10) << accuracy;
  }
}

/// The conditions that the weights of a difference fulfil, and they alone: every power of the distance adds up to 0 but
/// the derivative's own. `distance` of the kth weight; `own`: the power whose sum is `value`.
void expect_moments(const std::vector<double>& weights, double first_distance, int first_power, int own, double value) {
  for (int i = 0; i < static_cast<int>(weights.size()); ++i) {
    const int power = first_power + 2 * i;
    double sum = 0, magnitude = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double distance = first_distance + static_cast<double>(k);
      if (distance == 0 && power > 0) continue;
      const double term = (distance == 0 ? 1 : 2) * weights[k] * std::pow(distance, power);
      sum += term;
      magnitude += std::fabs(term);
    }
    EXPECT_NEAR(sum, power == own ? value : 0, 1e-13 * magnitude) << weights.size() << " weights, power " << power;
  }
}

TEST(DifferenceWeights, FulfilTheConditionsOfEveryAccuracy) {
  for (int accuracy = 2; accuracy <= kDefinitionLimits.accuracy; accuracy += 2) {
    expect_moments(difference_weights(Difference::Kind::second, accuracy), 0, 0, 2, 2);
    const std::vector<double> first = difference_weights(Difference::Kind::first, accuracy);
    EXPECT_EQ(first[0], 0);
    expect_moments({first.begin() + 1, first.end()}, 1, 1, 1, 1);
    expect_moments(difference_weights(Difference::Kind::forward, accuracy), 0.5, 1, 1, 1);
    EXPECT_EQ(difference_weights(Difference::Kind::forward, accuracy),
              difference_weights(Difference::Kind::backward, accuracy));
  }
}

TEST(Operators, LaplacianSharesOneWeightADistance) {
  const Stencil stencil = parse_stencil("laplacian(u, accuracy=4)", 3);
  const StageFacts facts = analyse(stencil, 0);
  EXPECT_EQ(facts.taps.size(), 13u);
  EXPECT_EQ(facts.operations, 15);  // 3 products, 2 sums of 6 in 10 additions, 2 more
  EXPECT_TRUE(facts.linear);
}

TEST(Operators, SecondDerivativeIsNotTheFirstTwice) {
  EXPECT_EQ(analyse(parse_stencil("d_yy(u)", 2), 0).radius, (std::array{0, 1, 0}));
  EXPECT_EQ(analyse(parse_stencil("d_y(d_y(u))", 2), 0).radius, (std::array{0, 2, 0}));
}

// ---- functions, coordinates and the step's number

TEST(Functions, AreOperationsOfTheirArguments) {
  StencilBuilder builder("t", 1);
  const NodeId u = builder.read(builder.field("u"), {0, 0, 0});
  const NodeId left = builder.read(builder.field("u"), {-1, 0, 0});
  const auto key_of = [&](NodeId expression) {
    StencilBuilder copy(builder.stencil());
    copy.update(copy.field("v"), expression);
    copy.rotate(copy.field("v"), copy.field("u"));
    return stencil_key(std::move(copy).build());
  };
  const auto key = [](const std::string& text) { return stencil_key(parse_stencil("v = " + text, 1)); };
  EXPECT_EQ(key("sin(u)"), key_of(builder.apply(Operation::sine, u)));
  EXPECT_EQ(key("cos(u)"), key_of(builder.apply(Operation::cosine, u)));
  EXPECT_EQ(key("tan(u)"), key_of(builder.apply(Operation::tangent, u)));
  EXPECT_EQ(key("tanh(u)"), key_of(builder.apply(Operation::hyperbolic_tangent, u)));
  EXPECT_EQ(key("log(u)"), key_of(builder.apply(Operation::logarithm, u)));
  EXPECT_EQ(key("pow(u, u[x-1])"), key_of(builder.apply(Operation::power, u, left)));
  EXPECT_EQ(key("floor(u)"), key_of(builder.apply(Operation::floor, u)));
  EXPECT_EQ(key("mod(u, u[x-1])"), key_of(builder.apply(Operation::modulo, u, left)));
  EXPECT_EQ(key("2 * u % 3 + u"), key("mod(2*u, 3) + u"));
  EXPECT_EQ(key("u + sin(0)"), key("u"));
  EXPECT_EQ(key("u * pow(2, 3)"), key("8 * u"));
  EXPECT_EQ(key("u * floor(-2.5) + u[x-1] * (-7 % 3) + u[x+1] * (7 % -3)"), key("u * -3 + u[x-1] * 2 + u[x+1] * -2"));
}

TEST(Comparisons, ChainAndChoose) {
  const auto key = [](const std::string& text) { return stencil_key(parse_stencil("v = " + text, 1)); };
  EXPECT_EQ(key("0 < u <= u[x-1] < 3"), key("0 < u && u <= u[x-1] && u[x-1] < 3"));
  EXPECT_EQ(key("u > 0 ? u : -u"), key("select(u > 0, u, -u)"));
  EXPECT_EQ(key("u < 0 || u > 2 ? 0 : u > 1 ? 1 : u + 1"), key("select(u < 0 || u > 2, 0, select(u > 1, 1, u + 1))"));
  EXPECT_EQ(key("2 * (u ? 1 : u[x-1])"), key("2 * select(u, 1, u[x-1])"));
  EXPECT_EQ(key("u + (select(1, 2, u) ? 0 : random(1) + q) + random(1)"), key("u + random(1)"));
}

TEST(Sums, AreTheirTermsWithNumbersPutIn) {
  const auto key = [](const std::string& text) { return stencil_key(parse_stencil("v = " + text, 2)); };
  EXPECT_EQ(key("sum(dx in -1..1, u[x+dx])"), key("u[x-1] + u + u[x+1]"));
  EXPECT_EQ(key("sum(i in 0..1, j in i..1, (1 + i + 2*j) * u[x-i, y+2*j-1])"),
            key("u[y-1] + 3*u[y+1] + 4*u[x-1, y+1]"));
  EXPECT_EQ(key("0.1 * sum(k in 1..3, (-1)^k * u[k, -k] / k)"),
            key("0.1 * (-1*u[1, -1] + u[2, -2]/2 + -1*u[3, -3]/3)"));
  EXPECT_EQ(key("sum(k in -1..1, k == 0 ? 0 : u[y+k] * x[x+k])"), key("u[y-1] * x[x-1] + u[y+1] * x[x+1]"));
  EXPECT_EQ(key("sum(k in -1..1, (k ? min(u[x+k], k ? 1/k : 2) : u) * 3)"),
            key("min(u[x-1], -1)*3 + u*3 + min(u[x+1], 1)*3"));
  EXPECT_EQ(key("sum*u; sum = 0.5"), key("a*u; a = 0.5")) << "the name is free";
  EXPECT_EQ(parse_stencil("v = u / norm; norm = sum(k in -1..1, 2^k)", 1).coefficients.at(0).value, 3.5);
  EXPECT_EQ(parse_definition("rank = 1\nfields = [\"u\", \"v\"]\n[coefficients]\nw = \"sum(k in 1..3, k^2)\"\n"
                             "[update]\nv = \"w*u\"\n",
                             "t.toml")
                .coefficients[0]
                .value,
            14);
}

TEST(RandomNumbers, HaveASeedAndTheNumberOfTheirCall) {
  const auto key = [](const std::string& text) { return stencil_key(parse_stencil("v = " + text, 2)); };
  EXPECT_EQ(key("u + random(7)"), key("u + random(7, 0)"));
  EXPECT_EQ(key("u[x-1]*random(7) - random(7)"), key("u[x-1]*random(7, 0) - random(7, 1)"));
  EXPECT_NE(key("u + random(7)"), key("u + random(8)"));
  EXPECT_NE(key("u + random(7, 1)"), key("u + random(7, 2)"));
  EXPECT_EQ(key("u + random(s); s = 3"), key("u + random(s); s = 4"));
  EXPECT_EQ(key("u + sum(k in 1..2, random(0))"), key("u + (random(0) + random(0))"));
  const auto form = [](const std::string& text) { return stencil_form(parse_stencil("v = " + text, 2), -1); };
  EXPECT_EQ(form("u[x-1] + random(7)"), form("u[x-1] + random(8, 1)"));
  StencilBuilder builder("t", 2);
  const int seed = builder.coefficient("s", 3);
  const NodeId drop =
      builder.apply(Operation::subtract, builder.random(0x1p32, seed, {1, 0, 0}), builder.random(0, seed));
  builder.update(builder.field("v"), builder.apply(Operation::add, builder.read(builder.field("u"), {0, 0, 0}), drop));
  builder.rotate(builder.field("v"), builder.field("u"));
  EXPECT_EQ(stencil_key(std::move(builder).build()), stencil_key(parse_definition(R"toml(
rank = 2
fields = ["u", "v"]
coefficients.s = 1.0
let.a = "random(s)"
let.b = "random(s)"
update.v = "u + (b[x+1] - a)"
)toml",
                                                                                  "t.toml")));
}

TEST(Functions, ThatCameLaterLeaveNamesToDefinitionsThatDeclareThem) {
  const Stencil rotated = parse_stencil("v = cos*u[x-1] + sin*u[x+1]; cos = 0.8; sin = 0.6", 1);
  EXPECT_EQ(rotated.coefficients.size(), 2U);
  EXPECT_EQ(stencil_key(rotated), stencil_key(parse_stencil("v = a*u[x-1] + b*u[x+1]; a = 1; b = 2", 1)));
  EXPECT_TRUE(contains(expression_error("v = cos*u + cos(u); cos = 0.8"), "'cos' is no function"));
}

TEST(Coordinates, AreThoseOfTheCellThatIsAsked) {
  const auto key = [](const std::string& text) { return stencil_key(parse_stencil("v = " + text, 2)); };
  EXPECT_NE(key("u + x"), key("u + y"));
  EXPECT_EQ(key("d_x(u*x)"), key("0.5 * (u[x+1]*x[x+1] - u[x-1]*x[x-1])"));
  EXPECT_EQ(key("u + x[y+1]"), key("u + x"));
  EXPECT_EQ(key("u + x[x+1, y-1]"), key("u + x[1, -1]"));
  EXPECT_NE(key("u + x[x+1]"), key("u + x[x-1]"));
  EXPECT_EQ(parse_stencil("v = u + x", 2).fields.size(), 2U);
}

TEST(StepNumber, IsTWhereNothingOfTheNameIsDeclared) {
  const auto define = [](const std::string& declared, const std::string& update) {
    return parse_definition("rank = 1\n" + declared + "[update]\nv = \"" + update + "\"\n", "t.toml");
  };
  const std::string fields = "fields = [\"u\", \"v\"]\n";
  const auto uses_step = [](const Stencil& stencil) {
    return std::any_of(stencil.nodes.begin(), stencil.nodes.end(),
                       [](const Node& node) { return node.op == Operation::step; });
  };
  EXPECT_TRUE(uses_step(define(fields, "u + t")));
  EXPECT_FALSE(uses_step(define(fields + "[coefficients]\nt = 2.0\n", "u + t")));
  EXPECT_FALSE(uses_step(define(fields + "[let]\nt = \"2*u\"\n", "u + t")));
  EXPECT_FALSE(uses_step(define("fields = [\"t\", \"v\"]\n", "t[x-1] + t")));
  EXPECT_FALSE(uses_step(parse_stencil("t_next = t + 0.1*laplacian(t)", 2))) << "in one-liners it is a field";
  EXPECT_EQ(parse_stencil("v = u + t", 1).fields.size(), 3U);
}

TEST(Definitions, MayHave128Fields) {
  std::string names, sum;
  for (int i = 0; i < 127; ++i) {
    names += "\"f" + std::to_string(i) + "\", ";
    sum += (i > 0 ? " + f" : "f") + std::to_string(i);
  }
  const auto text = [&](const std::string& more) {
    return "rank = 1\nfields = [" + names + more + "\"v\"]\n[update]\nv = \"" + sum + "\"\n";
  };
  EXPECT_EQ(parse_definition(text(""), "t.toml").fields.size(), 128U);
  EXPECT_TRUE(contains(definition_error(text("\"w\", ")), "more than 128 fields"));
}

// ---- messages

TEST(ExpressionErrors, ShowLineColumnCaretAndSuggestion) {
  EXPECT_EQ(definition_error(with_update("u + a * laplacain(u)")),
            "t.toml, line 6, column 14: unknown function 'laplacain'; did you mean 'laplacian'?\n"
            "  v = \"u + a * laplacain(u)\"\n"
            "               ^");
}

TEST(ExpressionErrors, ColumnsCountCharactersNotBytes) {
  EXPECT_TRUE(
      contains(definition_error(with_update("u + \xc2\xb7")), "column 10: U+00B7 has no meaning here; write *"));
}

TEST(ExpressionErrors, SayWhatToWriteInstead) {
  EXPECT_TRUE(contains(definition_error(with_update("2u")), "such as 2*u"));
  EXPECT_TRUE(contains(definition_error(with_update("u**2")), "'**' is written ^"));
  EXPECT_TRUE(contains(definition_error(with_update("u^0.5")), "sqrt"));
  EXPECT_TRUE(contains(definition_error(with_update("pow(u)")), "'pow' takes 2 arguments, found 1"));
  EXPECT_TRUE(contains(definition_error(with_update("sin(u, a)")), "'sin' takes 1 arguments"));
  EXPECT_TRUE(contains(definition_error(with_update("log2(u)")), "log(x) / log(2)"));
  EXPECT_TRUE(contains(definition_error(with_update("cosh(u)")), "exp(x)"));
  EXPECT_TRUE(contains(definition_error(with_update("u * sin")), "'sin' is a function; write sin(...)"));
  EXPECT_TRUE(contains(definition_error(with_update("tnah(u)")), "did you mean 'tanh'?"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u + z")), "no axis of a stencil of rank 2"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u + t[x-1]")), "number of the step"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u + x[x+17]")), "16"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u + log(0)")), "no finite value"));
  EXPECT_TRUE(contains(definition_error(with_update("u ? 1")), "':' expected before what is taken"));
  EXPECT_TRUE(contains(definition_error(with_update("u + (1 ? u : )")), "an expression is missing"));
  EXPECT_TRUE(contains(definition_error(with_update("u % 0")), "division by zero"));
  EXPECT_TRUE(contains(definition_error(with_update("ceil(u)")), "write -floor(-x)"));
  EXPECT_TRUE(contains(definition_error(with_update("sum(u)")), "sum(k in -2..2, ...)"));
  EXPECT_TRUE(contains(definition_error(with_update("sum(k in 2..1, u)")), "no number lies in 2..1"));
  EXPECT_TRUE(contains(definition_error(with_update("sum(k in 1..a, u)")), "'k' counts whole numbers"));
  EXPECT_TRUE(contains(definition_error(with_update("sum(u in 1..2, u)")), "'u' is declared already"));
  EXPECT_TRUE(contains(definition_error(with_update("sum(k in 1..2, u[x+a*k])")), "whole number of cells"));
  EXPECT_TRUE(contains(definition_error(with_update("sum(k in 1..17, u[x+k])")), "16 cells"));
  EXPECT_TRUE(contains(definition_error(with_update("u + sum(k in 1..9999, sum(i in 1..9999, 0))")), "too many terms"));
  EXPECT_TRUE(contains(definition_error(with_update("u + random(0.5)")), "a seed is a coefficient, or a whole number"));
  EXPECT_TRUE(contains(definition_error(with_update("u = 1")), "=="));
  EXPECT_TRUE(contains(definition_error(with_update("u a")), "operator is missing before 'a'"));
  EXPECT_TRUE(contains(definition_error(with_update("(u")), "')' expected"));
  EXPECT_TRUE(contains(definition_error(with_update("u)")), "closes nothing"));
  EXPECT_TRUE(contains(definition_error(with_update("uu")), "did you mean 'u'"));
  EXPECT_TRUE(contains(definition_error(with_update("a[x-1]")), "coefficient"));
  EXPECT_TRUE(contains(definition_error(with_update("u(2)")), "no function"));
  EXPECT_TRUE(contains(definition_error(with_update("u[z-1]")), "no axis of a stencil of rank 2"));
  EXPECT_TRUE(contains(definition_error(with_update("u[-1]")), "1 offsets for a stencil of rank 2"));
  EXPECT_TRUE(contains(definition_error(with_update("u[x-1, x+1]")), "given once"));
  EXPECT_TRUE(contains(definition_error(with_update("u[x-17]")), "16 cells"));
  EXPECT_TRUE(contains(definition_error(with_update("u[x-0.5]")), "whole number"));
  EXPECT_TRUE(contains(definition_error(with_update("d_z(u)")), "no z axis"));
  EXPECT_TRUE(contains(definition_error(with_update("laplacian(u, accuracy=3)")), "even number"));
  EXPECT_TRUE(contains(definition_error(with_update("laplacian(u, order=4)")), "accuracy=4"));
  EXPECT_TRUE(contains(definition_error(with_update("laplacian(a)")), "reads no field"));
  EXPECT_TRUE(contains(definition_error(with_update("u / 0")), "division by zero"));
  EXPECT_TRUE(contains(definition_error(with_update("u * sqrt(-1)")), "no finite value"));
  EXPECT_TRUE(contains(definition_error(with_update("u * 1e300")), "f32"));
  EXPECT_TRUE(contains(definition_error(with_update("u * (1e30)^2")), "f32"));
  EXPECT_TRUE(contains(definition_error(with_update("")), "missing"));
}

TEST(ExpressionErrors, OfOneLiners) {
  EXPECT_TRUE(contains(expression_error("u + "), "found the end"));
  EXPECT_TRUE(contains(expression_error("u; v"), "needs a name"));
  EXPECT_TRUE(contains(expression_error("u = laplacian(u)"), "reads field 'u', which it writes"));
  EXPECT_TRUE(contains(expression_error("v = u; a = 1"), "'a' is declared but never used"));
  EXPECT_TRUE(contains(expression_error(""), "missing"));
  EXPECT_TRUE(contains(expression_error("v = 3"), "updates no field"));
}

// ---- files

TEST(Definition, ReadsAllItsParts) {
  const Stencil stencil = parse_definition(R"(
name = "two-stages"
rank = 1
element = "f64"
fields = ["u", "w", "u_next"]
source = "made up"
[coefficients]
b = 2
a = 1.5
[let]
twice = "2*u"
[[stage]]
w = "a*twice[x+1] + b*u"
[[stage]]
u_next = '''
w[x-1]
+ u'''
[rotate]
u_next = "u"
)",
                                           "file.toml");
  EXPECT_EQ(stencil.name, "two-stages");
  EXPECT_EQ(stencil.element, ElementType::f64);
  EXPECT_EQ(stencil.coefficients[0].name, "b") << "coefficients stay in the order of the text";
  ASSERT_EQ(stencil.stages.size(), 2u);
  EXPECT_EQ(analyse(stencil, 0).reach[0][0], (Reach{0, 1}));
  EXPECT_EQ(analyse(stencil, 1).inputs.size(), 2u);
  EXPECT_EQ(stencil.rotations.size(), 1u);
}

TEST(Definition, ALetIsReadShiftedOnEveryAxis) {
  const auto key = [](const std::string& update) {
    return stencil_key(parse_definition(
        "rank = 3\nfields = ['u', 'v']\n[let]\np = 'u*u[x+1]'\n[update]\nv = '" + update + "'\n", "t"));
  };
  EXPECT_EQ(key("p[x-1]"), key_of("u[x-1]*u", 3));
  EXPECT_EQ(key("p[y+2]"), key_of("u[y+2]*u[x+1, y+2]", 3));
  EXPECT_EQ(key("p[z+1]"), key_of("u[z+1]*u[x+1, z+1]", 3));
}

TEST(Definition, IsNamedAfterItsFileWhereItGivesNoName) {
  EXPECT_EQ(parse_definition(with_update("a*u"), "some/folder/wave.toml").name, "wave");
}

TEST(Definition, CommentsMayBeInAnyLanguageAndAByteOrderMarkMayStandFirst) {
  EXPECT_EQ(parse_definition("\xef\xbb\xbf# W\xc3\xa4rme\n" + with_update("a*u"), "t").rank, 2);
}

TEST(Definition, MultiLineExpressionsAreShownAtTheirOwnLine) {
  const std::string message =
      definition_error("rank = 1\nfields = [\"u\", \"v\"]\n[update]\nv = \"\"\"\nu +\n  uu\"\"\"\n");
  EXPECT_TRUE(contains(message, "line 6, column 3")) << message;
}

std::string with_layer_fields(const std::string& rotate, const std::string& line = "") {
  return "rank = 2\n" + line +
         "fields = [\"u\", \"m(x in layer)\", \"n(y in layer)\", \"v\", \"q(x in layer)\"]\n"
         "[update]\nv = \"u + m[x-1] + n + y_in_layer[y+1]\"\nq = \"0.5*m\"\n[rotate]\n" +
         rotate;
}

TEST(LayerFields, ExistAlongTheAxisThatIsNamed) {
  const Stencil stencil = parse_definition(with_layer_fields("v = \"u\"\nq = \"m\"\n", "layer = 20\n"), "t");
  std::vector<int> axes;
  for (int field = 0; field < 5; ++field) axes.push_back(layer_axis(stencil, field));
  EXPECT_EQ(axes, (std::vector<int>{-1, 0, 1, -1, 0}));
  EXPECT_EQ(stencil.layers, parse_layer_widths("20", 2));
  EXPECT_EQ(layer_axis(parse_stencil("v = u + m; m(z in layer)", 3), 0), 2);
}

TEST(LayerFields, AreSelectedByTheLayer) {
  const auto key = [](const std::string& update) {
    return stencil_key(parse_definition(
        "rank = 2\nfields = [\"u\", \"m(x in layer)\", \"v\"]\n[update]\nv = \"" + update + "\"\n", "t"));
  };
  EXPECT_EQ(key("u + m[x-1, y+1]"), key("u + select(x_in_layer[x-1], m[x-1, y+1], 0)"));
  EXPECT_NE(key("u + m[x-1, y+1]"), key("u + select(x_in_layer, m[x-1, y+1], 0)"));
  EXPECT_EQ(key("u + m[x-1, y+1]"), key_of("v = u + m[x-1, y+1]; m(x in layer)"));
  EXPECT_NE(key("u + m[x-1, y+1]"), key_of("v = u + m[x-1, y+1]; m(y in layer)"));
  EXPECT_TRUE(parse_stencil("d_x(m); m(x in layer)", 2).rotations.empty()) << "what is written is of the whole grid";
}

TEST(LayerFields, WidthsAreNoPartOfTheKey) {
  const auto key = [](const std::string& line) {
    return stencil_key(parse_definition(with_layer_fields("v = \"u\"\nq = \"m\"\n", line), "t"));
  };
  EXPECT_EQ(key(""), key("layer = 20\n"));
  EXPECT_EQ(key(""), key("layer = \"x=3:4\"\n"));
}

TEST(LayerFields, ErrorsSayWhatToWrite) {
  EXPECT_TRUE(contains(expression_error("v = u + m; m(z in layer)"), "m(x in layer)"));
  EXPECT_TRUE(contains(definition_error("rank = 1\nfields = [\"u(x in layers)\"]"), "u(x in layer)"));
  EXPECT_TRUE(contains(definition_error(with_layer_fields("", "layer = 2.5\n")), "write layer = 20"));
  EXPECT_TRUE(contains(definition_error(with_layer_fields("", "layer = \"z=3\"\n")), "'z' is not an axis"));
  EXPECT_TRUE(contains(definition_error(with_layer_fields("", "layer = \"3-4\"\n")), "line 2"));
  EXPECT_TRUE(contains(definition_error(with_layer_fields("v = \"m\"\n")), "line 7, column 1: field 'v' becomes 'm'"));
  EXPECT_TRUE(contains(definition_error(with_layer_fields("q = \"n\"\n")), "different axes"));
  EXPECT_TRUE(contains(
      definition_error("rank = 1\nfields = [\"m(x in layer)\", \"u\", \"u1\", \"v\"]\n[[stage]]\nu1 = \"u[x-1] + m\"\n"
                       "[[stage]]\nv = \"u1[x-1]\"\n[rotate]\nv = \"u\"\n[hold]\nu1 = \"m\"\n"),
      "'m' has no held layers for 'u1'"));
}

TEST(HeldLayers, AreNoneOfAFieldBetweenStages) {
  const auto chain = [](const std::string& of_q) {
    return "rank = 1\nfields = [\"u\", \"q\", \"r\", \"v\"]\n[[stage]]\nq = \"u[x-1]\"\n"
           "[[stage]]\nr = \"q[x+2]\"\n[[stage]]\nv = \"u + r[x+1] + q[x-1]\"\n[rotate]\nv = \"u\"\n"
           "[hold]\nr = \"u\"\nq = \"" +
           of_q + "\"\n";
  };
  EXPECT_TRUE(contains(definition_error(chain("r")), "'q' cannot have the held layers of 'r'"));
  EXPECT_NO_THROW(parse_definition(chain("u"), "t.toml"));
}

TEST(DefinitionErrors, SayWhatIsMissingOrWrong) {
  EXPECT_TRUE(contains(definition_error(""), "rank is missing"));
  EXPECT_TRUE(contains(definition_error("rank = 4"), "1, 2 or 3"));
  EXPECT_TRUE(contains(definition_error("rank = 2"), "fields are missing"));
  EXPECT_TRUE(contains(definition_error("rank = 2\nfields = [\"u\"]"), "[update]"));
  EXPECT_TRUE(contains(definition_error("rnak = 2"), "did you mean 'rank'"));
  EXPECT_TRUE(contains(definition_error("rank = 2 2"), "line 1"));
  EXPECT_TRUE(contains(definition_error("rank = 2\nfields = [\"u\", \"u\"]"), "declared already"));
  EXPECT_TRUE(contains(definition_error("rank = 2\nfields = [\"x\"]"), "is an axis"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u").substr(0, 9) + "fields = [\"t\", \"y\"]"), "is an axis"));
  EXPECT_TRUE(contains(definition_error("rank = 2\nfields = [\"sqrt\"]"), "is a function"));
  for (const std::string word : {"int", "blockIdx"}) {
    EXPECT_TRUE(contains(definition_error("rank = 2\nfields = [\"" + word + "\"]"), "no word of C++ or CUDA"));
  }
  EXPECT_TRUE(contains(definition_error("rank = 2\nelement = \"f23\"\n" + with_update("a*u").substr(9)), "'f32'"));
  EXPECT_TRUE(contains(definition_error(with_update("u")), "'a' is declared but never used"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u*v")), "reads field 'v', which it writes"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u") + "w = \"u\"\n"), "not one of the fields"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u") + "[rotate]\nv = \"v\"\n"), "becomes itself"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u") + "[rotate]\nv = \"w\"\n"), "not one of the fields"));
  EXPECT_TRUE(contains(definition_error(with_update("a*u") + "[[stage]]\nv = \"u\"\n"), "either"));
}

TEST(DefinitionErrors, APlaceInBracketsIsToldWhatItMeans) {
  EXPECT_TRUE(contains(expression_error("u + k*u[x-1]; k(x, y, z)"), "a field of the whole grid has its name alone"));
  for (const std::string clause : {"k(x) = 0.1", "k(x, y) = 2*u"}) {
    const std::string message = expression_error("u + k*u[x-1]; " + clause);
    EXPECT_TRUE(contains(message, "filled by the caller: write k(...) alone, or k = ...")) << message;
  }
}

TEST(DefinitionErrors, ALetThatIsDeclaredFurtherDownIsSaidSo) {
  const std::string message =
      definition_error("rank = 1\nfields = [\"u\", \"v\"]\n[let]\na = \"2*b\"\nb = \"u[x-1]\"\n[update]\nv = \"a\"\n");
  EXPECT_TRUE(contains(message, "line 4, column 8: 'b' is declared further down")) << message;
}

TEST(DefinitionErrors, CoefficientsAreFiniteNumbers) {
  const auto with_value = [](const std::string& value) {
    return "rank = 1\nfields = [\"u\", \"v\"]\n[coefficients]\nb = 2.0\na = " + value + "\n[update]\nv = \"a*b*u\"\n";
  };
  for (const std::string value : {"nan", "inf", "-inf", "1e300", "\"1e300\"", "\"\"", "true", "[1]"}) {
    definition_error(with_value(value));
  }
  EXPECT_TRUE(contains(definition_error(with_value("true")), "line 5, column 5: a coefficient's default is a number"));
  EXPECT_TRUE(contains(definition_error(with_value("\"1/0\"")), "line 5, column 7: division by zero"));
  EXPECT_TRUE(contains(definition_error(with_value("\"2*b\"")), "line 5, column 8: 'b' is no number"));
  EXPECT_TRUE(contains(definition_error(with_value("\"2*u\"")), "line 5, column 8: 'u' is no number"));
  EXPECT_TRUE(contains(definition_error(with_value("\"2*p\"")), "line 5, column 8: 'p' is no field"));
  EXPECT_TRUE(contains(definition_error(with_value("\"2*t\"")), "line 5, column 6: a number is the same in all cells"));
  EXPECT_EQ(parse_definition(with_value("\"-1/3 + pi\""), "t").coefficients.at(1).value, -1.0 / 3 + M_PI);
}

// ---- what becomes what

/// The wave with one more line.
std::string leapfrog(const std::string& older, const std::string& rotate) {
  return "rank = 1\nfields = [\"p\", \"" + older + "\", \"p_next\"]\n[update]\np_next = \"2*p - " + older +
         " + 0.1*laplacian(p)\"\n" + rotate;
}

TEST(Rotations, ThatAreTurnedRoundAreRefusedWithTheRightLine) {
  const std::string message = definition_error(with_update("a*u") + "[rotate]\nu = \"v\"\n");
  EXPECT_TRUE(contains(message, "t.toml, line 8, column 1: ")) << message;
  EXPECT_TRUE(contains(message, "write v = \"u\"\n  u = \"v\"\n  ^")) << message;
  EXPECT_TRUE(
      contains(definition_error(leapfrog("q", "[rotate]\nq = \"p\"\np = \"p_next\"\n")), "write p_next = \"p\""));
}

TEST(Rotations, OfEveryKindThatKeepWhatIsWrittenAreTaken) {
  const auto rotations = [](const std::string& text) { return parse_definition(text, "t").rotations.size(); };
  EXPECT_EQ(rotations(leapfrog("q", "[rotate]\np = \"q\"\np_next = \"p\"\n")), 2U) << "in any order";
  EXPECT_EQ(rotations(with_update("a*u") + "[rotate]\nv = \"u\"\nu = \"v\"\n"), 2U) << "u gets what is written";
  const std::string crossing =
      "rank = 1\nfields = [\"a\", \"b\", \"s\", \"r\"]\n[update]\ns = \"a + b\"\nr = \"a - b\"\n[rotate]\ns = \"b\"\nr "
      "= \"a\"\n";
  EXPECT_EQ(rotations(crossing), 2U);
  EXPECT_EQ(rotations("rank = 1\nfields = [\"u\", \"f\", \"g\", \"v\"]\n[update]\nv = \"u + f - g\"\n"
                      "[rotate]\nv = \"u\"\nf = \"g\"\ng = \"f\"\n"),
            3U)
      << "forces that take turns";
}

TEST(Rotations, AnOlderLevelThatNothingBecomesIsRefused) {
  const std::string message = expression_error("p_next = 2*p - p_old + c*laplacian(p); c = 0.1");
  EXPECT_TRUE(contains(message, "line 1, column 16: 'p_old' has the name of an older time level of 'p'")) << message;
  EXPECT_TRUE(contains(message, "call it 'p_prev', or write [rotate] with p_next = \"p\" and p = \"p_old\"."))
      << message;
  for (const std::string older : {"p_old", "p_last", "p_before", "p_previous", "p_nm1", "p_m1"}) {
    EXPECT_TRUE(
        contains(definition_error(leapfrog(older, "")), "t.toml, line 4, column 17: '" + older + "' has the name"));
    const std::string level = "[rotate]\np_next = \"p\"\n";
    EXPECT_EQ(parse_definition(leapfrog(older, level + "p = \"" + older + "\"\n"), "t").rotations.size(), 2U);
    EXPECT_EQ(parse_definition(leapfrog(older, level), "t").rotations.size(), 1U) << "a file may say that it stays";
  }
  EXPECT_EQ(parse_stencil("p_next = p + p_max", 1).rotations.size(), 1U);
  const std::string copied = "rank = 1\nfields = [\"p\", \"p_old\", \"p_next\"]\n[[stage]]\np_next = \"2*p - p_old\"\n";
  EXPECT_EQ(parse_definition(copied + "[[stage]]\np_old = \"p\"\n", "t").rotations.size(), 1U);
}

TEST(DefinitionErrors, EscapesInExpressionsAreRefused) {
  EXPECT_TRUE(contains(definition_error(with_update("a \\u002a u")), "without backslashes"));
}

TEST(DefinitionErrors, QuotedTextIsPrintable) {
  const std::string message = definition_error("rank = 2\nfields = [\"\xe2\x80\xae\x1b[31m\"]");
  for (const char c : message) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
}

TEST(ParseDefinition, NoNameReachesTheKernelSource) {
  const Stencil stencil = parse_definition(R"(
name = "injected-name"
rank = 2
description = "injected description"
fields = ["injected_in", "injected_out"]
[coefficients]
injected_weight = 0.5   # injected comment
[let]
injected_sum = "injected_in[x-1] + injected_in[x+1]"
[update]
injected_out = "injected_weight * injected_sum"
)",
                                           "injected.toml");
  const Boundaries hold{Boundary::hold, Boundary::hold, Boundary::hold};
  const Problem problem = make_problem(stencil, ElementType::f32, hold, {2, {64, 64, 1}});
  for (const Family* family : families()) {
    const std::optional<Tuning> tuning = default_candidate(*family, problem, Limits{});
    if (family->fuses_steps) continue;  // one step
    ASSERT_TRUE(tuning) << family->name;
    const std::string text = generate({problem, *tuning}).text;
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find("injected"), std::string::npos) << family->name;
  }
}

TEST(LoadDefinition, SaysWhenThereIsNoSuchFile) {
  try {
    load_definition("no/such/file.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::file_io);
  }
  EXPECT_THROW(load_definition("/"), Error);
}

TEST(LoadDefinition, EndlessFilesAreNotReadToTheirEnd) {
  if (!std::ifstream("/dev/zero")) GTEST_SKIP() << "no /dev/zero here";
  EXPECT_THROW(load_definition("/dev/zero"), Error);
}

}  // namespace
}  // namespace stencil_tune
