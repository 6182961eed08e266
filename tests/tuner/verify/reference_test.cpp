#include "tuner/verify/reference/reference.hpp"

#include "generator/definition/definition.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/verify/check_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace stencil_tune {
namespace {

constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};

Boundaries all(Boundary boundary) { return {boundary, boundary, boundary}; }

Extents line(std::int64_t n) { return {1, {n, 1, 1}}; }

/// out[x] = in[x - 1] * c0 + in[x + 2]
Stencil shifted_pair() {
  StencilBuilder builder("pair", 1);
  const int in = builder.field("in");
  const NodeId left = builder.apply(Operation::multiply, builder.coefficient_value(builder.coefficient("c0", 2)),
                                    builder.read(in, {-1, 0, 0}));
  builder.update(builder.field("out"), builder.apply(Operation::add, left, builder.read(in, {2, 0, 0})));
  return std::move(builder).build();
}

std::vector<double> values_of(const Boundary boundary) {
  const Problem problem = make_problem(shifted_pair(), ElementType::f64, all(boundary), line(4));
  const std::vector<std::vector<double>> inputs{{1, 10, 100, 1000}};
  return evaluate_reference(problem, inputs, std::vector<double>{2}).front().value;
}

TEST(Reference, AnswersReadsBeyondTheEdgesByTheBoundary) {
  EXPECT_EQ(values_of(Boundary::zero), (std::vector<double>{100, 1002, 20, 200}));
  EXPECT_EQ(values_of(Boundary::clamp), (std::vector<double>{102, 1002, 1020, 1200}));
  EXPECT_EQ(values_of(Boundary::periodic), (std::vector<double>{2100, 1002, 21, 210}));
  EXPECT_EQ(values_of(Boundary::reflect), (std::vector<double>{120, 1002, 120, 210}));
}

TEST(Reference, WrapsAndMirrorsAsOftenAsNeeded) {
  using check::mapped_index;
  EXPECT_EQ(mapped_index(-7, 3, static_cast<int>(Boundary::periodic)), 2);
  EXPECT_EQ(mapped_index(8, 3, static_cast<int>(Boundary::periodic)), 2);
  EXPECT_EQ(mapped_index(-5, 3, static_cast<int>(Boundary::reflect)), 1);  // 0 1 2 1 0 1
  EXPECT_EQ(mapped_index(6, 3, static_cast<int>(Boundary::reflect)), 2);
  EXPECT_EQ(mapped_index(5, 1, static_cast<int>(Boundary::reflect)), 0);
}

TEST(Reference, HoldWritesOnlyTheInterior) {
  const Problem problem = make_problem(shifted_pair(), ElementType::f64, kHold, line(7));
  const std::vector<std::vector<double>> inputs{{1, 2, 3, 4, 5, 6, 7}};
  const ReferenceField out = evaluate_reference(problem, inputs, std::vector<double>{1}).front();
  EXPECT_EQ(out.tolerance[0], -1);
  EXPECT_EQ(out.tolerance[5], -1);
  EXPECT_EQ(out.value[1], 1 + 4);
  EXPECT_EQ(out.value[4], 4 + 7);
}

TEST(Reference, LeavesRowPaddingAlone) {
  const Problem problem =
      make_problem(make_builtin(Shape::star, 2, 1), ElementType::f32, all(Boundary::periodic), {2, {3, 2, 1}}, 8);
  const std::vector<std::vector<double>> inputs{std::vector<double>(16, 1.0)};
  std::vector<double> ones(problem.stencil.coefficients.size(), 1.0);
  const ReferenceField out = evaluate_reference(problem, inputs, ones).front();
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(out.tolerance[i] >= 0, i % 8 < 3) << i;
    if (i % 8 < 3) {
      EXPECT_EQ(out.value[i], 5) << i;
    }
  }
}

TEST(Reference, RefusesInputsOfAnotherSize) {
  const Problem problem = make_problem(shifted_pair(), ElementType::f64, kHold, line(7));
  const std::vector<std::vector<double>> short_inputs{{1, 2, 3}};
  EXPECT_THROW(evaluate_reference(problem, short_inputs, std::vector<double>{1}), Error);
  const std::vector<std::vector<double>> inputs{std::vector<double>(7)};
  EXPECT_THROW(evaluate_reference(problem, inputs, {}), Error);
}

/// The weighted sum of a star or box at one cell, in f32, in the order given and fused or not.
float sum_in_f32(const Problem& problem, const std::vector<double>& input, const std::vector<double>& weights,
                 const std::vector<std::size_t>& order, bool fused) {
  float sum = 0;
  for (std::size_t i : order) {
    const LinearTap& tap = problem.facts.linear_taps[i];
    const Node& weight = problem.stencil.nodes[static_cast<std::size_t>(tap.weight)];
    const auto& n = problem.extents.n;
    const std::int64_t place = (n[2] / 2 + tap.tap.offset[2]) * n[1] * n[0] + (n[1] / 2 + tap.tap.offset[1]) * n[0] +
                               n[0] / 2 + tap.tap.offset[0];
    const auto w = static_cast<float>(weights[static_cast<std::size_t>(weight.index)]);
    const auto x = static_cast<float>(input[static_cast<std::size_t>(place)]);
    if (fused) {
      sum = std::fma(w, x, sum);
    } else {
      const volatile float product = w * x;
      sum += product;
    }
  }
  return sum;
}

TEST(Reference, AcceptsEveryOrderOfSummingAndRefusesAWrongTerm) {
  const Problem problem = make_problem(make_builtin(Shape::box, 3, 1), ElementType::f32, kHold, {3, {3, 3, 3}});
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  int told_apart = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::vector<double>> inputs{std::vector<double>(27)};
    for (double& x : inputs[0]) x = static_cast<float>(number(random));
    std::vector<double> weights(problem.stencil.coefficients.size());
    for (double& w : weights) w = number(random);
    const ReferenceField out = evaluate_reference(problem, inputs, weights).front();
    std::vector<std::size_t> order(problem.facts.linear_taps.size());
    ASSERT_EQ(order.size(), 27u);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (const bool fused : {false, true}) {
      EXPECT_TRUE(out.accepts(13, sum_in_f32(problem, inputs[0], weights, order, fused)));
    }
    order.pop_back();
    if (!out.accepts(13, sum_in_f32(problem, inputs[0], weights, order, true))) ++told_apart;
  }
  EXPECT_GE(told_apart, 198);  // a term may happen to be as small as rounding
}

TEST(Reference, SixteenBitResultsMayRoundOnce) {
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    const Problem problem = make_problem(shifted_pair(), type, all(Boundary::periodic), line(4));
    const std::vector<std::vector<double>> inputs{{0.5, 0.25, 0.75, 0.125}};
    const ReferenceField out = evaluate_reference(problem, inputs, std::vector<double>{1.0 / 3}).front();
    for (std::size_t i = 0; i < 4; ++i) {
      const double rounded = round_to_storage(out.value[i], type);
      EXPECT_TRUE(out.accepts(i, rounded));
      EXPECT_FALSE(out.accepts(i, rounded * 1.02));
    }
  }
}

/// Results from 0.5 to 1, where neighbouring numbers of the type are `spacing` apart.
void expect_sharp(ElementType type, double spacing, int refused) {
  const Problem problem = make_problem(shifted_pair(), type, all(Boundary::periodic), line(4));
  const std::vector<std::vector<double>> inputs{{0.5, 0.5625, 0.625, 0.6875}};
  const ReferenceField out = evaluate_reference(problem, inputs, std::vector<double>{0.25}).front();
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_GE(out.value[i], 0.5);
    ASSERT_LT(out.value[i], 1);
    EXPECT_TRUE(out.accepts(i, out.value[i] + 0.5 * spacing)) << name(type);
    EXPECT_FALSE(out.accepts(i, out.value[i] + refused * spacing)) << name(type);
    EXPECT_FALSE(out.accepts(i, out.value[i] - refused * spacing)) << name(type);
  }
}

TEST(Reference, AllowsAFewRoundingsOfTheElementTypeAndNoMore) {
  // A product, a sum and, in f64, the reference's own roundings: 2 * 1.01 * 2^-52 of a result below 1.
  expect_sharp(ElementType::f64, 0x1p-53, 5);
  expect_sharp(ElementType::f32, 0x1p-24, 3);
  expect_sharp(ElementType::f16, 0x1p-11, 2);
  expect_sharp(ElementType::bf16, 0x1p-8, 2);
}

/// out = in < 0.5 ? 1 : 2 at one cell
ReferenceField stepped(double input, double coefficient) {
  StencilBuilder builder("step", 1);
  const NodeId scaled = builder.apply(Operation::multiply, builder.coefficient_value(builder.coefficient("c", 1)),
                                      builder.read(builder.field("in"), {0, 0, 0}));
  const NodeId below = builder.apply(Operation::less, scaled, builder.number(0.5));
  builder.update(builder.field("out"), builder.apply(Operation::select, below, builder.number(1), builder.number(2)));
  const Problem problem = make_problem(std::move(builder).build(), ElementType::f32, all(Boundary::zero), line(1));
  const std::vector<std::vector<double>> inputs{{input}};
  return evaluate_reference(problem, inputs, std::vector<double>{coefficient}).front();
}

TEST(Reference, AcceptsEitherBranchOnlyNearATie) {
  const ReferenceField clear = stepped(0.4, 1);
  EXPECT_TRUE(clear.accepts(0, 1));
  EXPECT_FALSE(clear.accepts(0, 2));
  const ReferenceField tie = stepped(0.5, 1);
  EXPECT_TRUE(tie.accepts(0, 1));
  EXPECT_TRUE(tie.accepts(0, 2));
  EXPECT_FALSE(tie.accepts(0, 3.5));
}

TEST(Reference, ADivisorThatMayBeZeroBoundsNothing) {
  using namespace check;
  const Rounding f32 = rounding_of(ElementType::f32);
  const Bounded zero = subtract(multiply(exactly(0.5), exactly(3)), exactly(1.5));
  EXPECT_TRUE(std::isinf(tolerance(divide(exactly(1), zero, f32), f32)));
  EXPECT_TRUE(std::isfinite(tolerance(divide(exactly(1), exactly(3), f32), f32)));
  // Its own value is not 0, so that the quotient is a number.
  const Bounded near_zero = opaque(0.5, 0.75, 0);
  EXPECT_EQ(tolerance(divide(exactly(1), near_zero, f32), f32), infinity());
  EXPECT_EQ(tolerance(divide(exactly(1), negate(near_zero), f32), f32), infinity());
  EXPECT_TRUE(std::isfinite(tolerance(divide(exactly(1), opaque(0.5, 0.25, 0), f32), f32)));
}

TEST(Reference, WhatMayBeAnythingStaysSo) {
  using namespace check;
  const Rounding f32 = rounding_of(ElementType::f32);
  const Bounded anything = opaque(2, infinity(), 0);
  for (const Bounded& result : {multiply(exactly(3), anything), multiply(anything, exactly(0)),
                                add(exactly(1), multiply(exactly(0.5), subtract(anything, exactly(2)))),
                                divide(anything, exactly(3), f32), square_root(multiply(anything, anything), f32)}) {
    EXPECT_EQ(tolerance(result, f32), infinity());
  }
}

TEST(Reference, InheritedErrorsCancelWithTheNumbersThatHaveThem) {
  using namespace check;
  const Rounding f32 = rounding_of(ElementType::f32);
  constexpr double kError = 1e-3;
  const Bounded a = opaque(5.25, kError, 0);
  const Bounded b = opaque(5, kError, 0);
  const Bounded square = multiply(subtract(a, b), subtract(a, b));
  const double farthest = std::pow(0.25 + 2 * kError, 2) - 0.25 * 0.25;
  EXPECT_GE(tolerance(square, f32), farthest);
  EXPECT_LT(tolerance(square, f32), 1.05 * farthest);
}

TEST(Reference, BoundsRootsQuotientsAndExtremaComputedInF32) {
  using namespace check;
  const Rounding f32 = rounding_of(ElementType::f32);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<float> number(0.25f, 1.0f);
  for (int i = 0; i < 1000; ++i) {
    const float a = number(random);
    const float b = number(random);
    const float c = number(random);
    // sqrt(a * b + c) / (b + c), then the larger of it and a
    const Bounded sum = add(multiply(exactly(a), exactly(b)), exactly(c));
    const Bounded ratio = divide(square_root(sum, f32), add(exactly(b), exactly(c)), f32);
    const Bounded result = maximum(ratio, exactly(a), f32);
    const float computed = std::max(std::sqrt(a * b + c) / (b + c), a);
    EXPECT_LE(std::fabs(computed - result.value), tolerance(result, f32));
    EXPECT_LT(tolerance(result, f32), 1e-5);
  }
}

// ---- functions ------------------------------------------------------------------------------------------------------

using check::Bounded;
using check::Rounding;

struct FunctionCase {
  const char* name;
  std::function<Bounded(const Bounded&, const Rounding&)> bounded;
  std::function<double(double)> exact;
  double low, high;    ///< range of operands
  double sharp = 1.5;  ///< the bound is at most that many times what the operand's error really moves
};

std::vector<FunctionCase> functions() {
  const Bounded power = check::exactly(1.5), inverse_cube = check::exactly(-3);
  return {
      {"sin", check::sine, [](double x) { return std::sin(x); }, -20, 20, 1e9},
      {"cos", check::cosine, [](double x) { return std::cos(x); }, -20, 20, 1e9},
      {"tan", check::tangent, [](double x) { return std::tan(x); }, -1.2, 1.2, 1.5},
      {"tanh", check::hyperbolic_tangent, [](double x) { return std::tanh(x); }, -4, 4, 1.5},
      {"log", check::logarithm, [](double x) { return std::log(x); }, 0.1, 9, 1.5},
      {"pow", [=](const Bounded& a, const Rounding& r) { return check::power(a, power, r); },
       [](double x) { return std::pow(x, 1.5); }, 0.1, 9, 1.5},
      {"pow of a whole exponent", [=](const Bounded& a, const Rounding& r) { return check::power(a, inverse_cube, r); },
       [](double x) { return std::pow(x, -3); }, -2, -0.5, 1.5}};
}

/// What a kernel makes of operands that are off lies within the bound; of operands that are exact it is exact.
TEST(Reference, BoundsFloorsAndRests) {
  const auto rest = [](double a, double b) { return a - b * std::floor(a / b); };
  const Rounding f64 = rounding_of(ElementType::f64);
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(-1, 1);
  int certain = 0;
  for (int i = 0; i < 4000; ++i) {
    const double a = 5 * unit(random), b = std::copysign(0.5 + std::fabs(unit(random)), unit(random));
    const Bounded left = check::opaque(a, 0.02, 0), right = check::opaque(b, 0.01, 0);
    const Bounded floored = check::floored(left, f64), modulo = check::modulo(left, right, f64);
    const double a_off = a + 0.02 * unit(random), b_off = b + 0.01 * unit(random);
    ASSERT_LE(std::fabs(std::floor(a_off) - floored.value), check::tolerance(floored, f64)) << a;
    ASSERT_LE(std::fabs(rest(a_off, b_off) - modulo.value), check::tolerance(modulo, f64) * (1 + 1e-12))
        << a << " " << b;
    ASSERT_LE(check::tolerance(floored, f64), 1);
    certain += check::tolerance(floored, f64) == 0 && check::tolerance(modulo, f64) < 0.25 ? 1 : 0;
  }
  EXPECT_GT(certain, 3000);
  EXPECT_EQ(check::modulo(check::exactly(-7), check::exactly(3), f64).value, 2);
  EXPECT_EQ(check::modulo(check::exactly(49), check::exactly(49), f64).value, 0);
  EXPECT_LT(check::tolerance(check::modulo(check::exactly(49), check::exactly(49), f64), f64), 1e-300);
  EXPECT_TRUE(std::isinf(check::tolerance(check::modulo(check::exactly(1), check::opaque(0.001, 0.01, 0), f64), f64)));
}

/// The bound covers every operand that the kernel may have, and no more than it must.
TEST(Reference, BoundsFunctionsOfWhatIsKnownToWithinAnError) {
  const Rounding f64 = rounding_of(ElementType::f64);
  std::mt19937_64 random(3);
  for (const FunctionCase& each : functions()) {
    std::uniform_real_distribution<double> operand(each.low, each.high);
    for (int i = 0; i < 2000; ++i) {
      const double x = operand(random);
      const double error = 1e-3 * std::fabs(x);
      const Bounded result = each.bounded(check::opaque(x, error, 0), f64);
      ASSERT_EQ(result.value, each.exact(x)) << each.name;
      const double moved =
          std::max(std::fabs(each.exact(x + error) - result.value), std::fabs(each.exact(x - error) - result.value));
      ASSERT_GE(check::tolerance(result, f64) * (1 + 1e-12), moved) << each.name << " of " << x;
      ASSERT_LE(check::tolerance(result, f64), each.sharp * moved + 1e-12) << each.name << " of " << x;
      ASSERT_LE(check::tolerance(result, f64), each.sharp < 2 ? 1e9 : 1.01 * error) << each.name << " of " << x;
    }
  }
}

/// As the host's own, which are off by half a unit in the last place or little more, and CUDA's by a few.
TEST(Reference, BoundsFunctionsComputedInF32) {
  const Rounding f32 = rounding_of(ElementType::f32);
  std::mt19937_64 random(4);
  for (const FunctionCase& each : functions()) {
    std::uniform_real_distribution<float> operand(static_cast<float>(each.low), static_cast<float>(each.high));
    for (int i = 0; i < 2000; ++i) {
      const float x = operand(random);
      const Bounded result = each.bounded(check::exactly(x), f32);
      const auto rounded = static_cast<double>(static_cast<float>(each.exact(x)));
      const double unit = std::nextafter(std::fabs(static_cast<float>(rounded)), 1e30F) - std::fabs(rounded);
      ASSERT_GE(check::tolerance(result, f32), std::fabs(rounded - result.value) + unit) << each.name << " of " << x;
      ASSERT_LE(check::tolerance(result, f32), 21 * unit) << each.name << " of " << x;
    }
  }
}

TEST(Reference, FunctionsWherePolesAndDomainsEndBoundNothing) {
  const Rounding f32 = rounding_of(ElementType::f32);
  const auto of = [&](double value, double error) { return check::opaque(value, error, 0); };
  const auto anything = [&](const Bounded& result) { return std::isinf(check::tolerance(result, f32)); };
  EXPECT_TRUE(anything(check::logarithm(of(0.5, 0.5), f32)));
  EXPECT_TRUE(anything(check::logarithm(of(-0.1, 0.2), f32)));
  EXPECT_FALSE(anything(check::logarithm(of(0.5, 0.4), f32)));
  EXPECT_TRUE(anything(check::tangent(of(1.5, 0.1), f32)));
  EXPECT_FALSE(anything(check::tangent(of(1.5, 0.01), f32)));
  EXPECT_TRUE(anything(check::power(of(0.1, 0.2), check::exactly(0.5), f32)));
  EXPECT_TRUE(anything(check::power(of(-0.1, 0.2), check::exactly(0.5), f32)));
  EXPECT_TRUE(anything(check::power(of(0.1, 0.2), check::exactly(-2), f32)));
  EXPECT_TRUE(anything(check::power(of(-2, 0), of(3, 1e-3), f32))) << "an exponent that may be whole and need not be";
  EXPECT_FALSE(anything(check::power(of(0.1, 0.2), check::exactly(2), f32)));
  EXPECT_FALSE(anything(check::power(check::exactly(0), of(0.5, 0.1), f32)));
  EXPECT_TRUE(anything(check::power(check::exactly(100), check::exactly(30), f32))) << "Inf in f32";
  EXPECT_TRUE(anything(check::sine(of(3e38, 1e38), f32))) << "of what may be Inf";
  EXPECT_FALSE(anything(check::sine(of(5, 100), f32)));
  EXPECT_LE(check::tolerance(check::sine(of(5, 100), f32), f32), 2.001);
  for (const auto& function :
       {check::sine, check::cosine, check::tangent, check::hyperbolic_tangent, check::logarithm}) {
    EXPECT_TRUE(anything(function(of(1, check::infinity()), f32)));
  }
}

TEST(Reference, FunctionsThatAreNaNForEveryKernelMustBeNaN) {
  const Rounding f32 = rounding_of(ElementType::f32);
  const auto is_nan_alone = [&](const Bounded& result) {
    const double allowed = check::tolerance(result, f32);
    return check::is_nan(result) && !check::accepts(result.value, allowed, 0.5) &&
           check::accepts(result.value, allowed, std::nan(""));
  };
  const Bounded nan = check::exactly(std::nan("")), infinite = check::exactly(check::infinity());
  for (const auto& function : {check::sine, check::cosine, check::tangent}) {
    EXPECT_TRUE(is_nan_alone(function(nan, f32)));
    EXPECT_TRUE(is_nan_alone(function(infinite, f32)));
  }
  EXPECT_TRUE(is_nan_alone(check::hyperbolic_tangent(nan, f32)));
  EXPECT_EQ(check::hyperbolic_tangent(infinite, f32).value, 1);
  EXPECT_TRUE(is_nan_alone(check::logarithm(check::opaque(-2, 0.1, 0), f32)));
  EXPECT_TRUE(is_nan_alone(check::power(check::opaque(-2, 0.1, 0), check::exactly(0.5), f32)));
  EXPECT_TRUE(is_nan_alone(check::power(check::exactly(-2), check::opaque(0.5, 0.1, 0), f32)));
  EXPECT_EQ(check::power(nan, check::exactly(0), f32).value, 1);
}

TEST(Reference, KnowsWhereItsCellsAreAndWhichStepItMakes) {
  const Stencil stencil = parse_definition(
      "rank = 2\nfields = [\"u\", \"v\"]\n[update]\nv = \"0*u + x + 100*y[y-1] + 10000*t\"\n[rotate]\nv = \"u\"\n",
      "place.toml");
  const Problem problem = make_problem(stencil, ElementType::f64, all(Boundary::zero), {2, {3, 2, 1}});
  const std::vector<std::vector<double>> inputs{std::vector<double>(6, 1.0)};
  const Place elsewhere{{-4, 2, 0}, 30};
  for (const Place& place : {kCheckPlace, elsewhere}) {
    const auto steps = evaluate_steps(problem, inputs, {}, false, 2, place);
    const auto& [origin, step] = place;
    for (std::size_t done = 0; done < steps.size(); ++done) {
      for (std::size_t y = 0; y < 2; ++y) {
        for (std::size_t x = 0; x < 3; ++x) {
          EXPECT_EQ(steps[done].front().value[y * 3 + x], static_cast<double>(origin[0]) + double(x) +
                                                              100 * (static_cast<double>(origin[1]) + double(y) - 1) +
                                                              10000 * (static_cast<double>(step) + double(done)));
        }
      }
    }
  }
}

TEST(Reference, ExactResultsLeaveNoRoom) {
  const Problem problem = make_problem(shifted_pair(), ElementType::f16, all(Boundary::periodic), line(4));
  const std::vector<std::vector<double>> inputs{{1, 2, 3, 4}};
  const ReferenceField out = evaluate_reference(problem, inputs, std::vector<double>{0.5}, true).front();
  EXPECT_TRUE(out.accepts(0, out.value[0]));
  EXPECT_FALSE(out.accepts(0, std::nextafter(out.value[0], 9.0)));
}

// ---- NaN ------------------------------------------------------------------------------------------------------------

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The field after each of some sweeps over a line, both coefficients 0.5.
std::vector<ReferenceField> sweeps_of(const std::string& expression, const std::vector<double>& cells, int sweeps) {
  const Stencil stencil = parse_stencil(expression, 1);
  const Problem problem =
      make_problem(stencil, ElementType::f32, all(Boundary::zero), line(static_cast<std::int64_t>(cells.size())));
  const std::vector<std::vector<double>> inputs{cells};
  std::vector<ReferenceField> fields;
  const std::vector<double> coefficients(stencil.coefficients.size(), 0.5);
  for (auto& step : evaluate_steps(problem, inputs, coefficients, false, sweeps)) {
    fields.push_back(std::move(step.front()));
  }
  return fields;
}

TEST(ReferenceOfNaN, SpreadsItFromSweepToSweepAndAcceptsNothingElseThere) {
  for (const std::string expression : {"u_next = a * u[x-1] + a * u; a = 1", "u_next = a * u[x-1] * u + a; a = 1",
                                       "u_next = u[x-1] / (u + 2)", "u_next = sqrt(abs(u[x-1]) + abs(u) + 1)"}) {
    const auto fields = sweeps_of(expression, {1, kNaN, 1, 1, 1, 1, 1}, 4);
    for (std::size_t sweep = 0; sweep < fields.size(); ++sweep) {
      for (std::size_t cell = 0; cell < 7; ++cell) {
        const bool reached = cell >= 1 && cell <= sweep + 2;
        EXPECT_EQ(std::isnan(fields[sweep].value[cell]), reached) << expression << ", " << sweep << ", " << cell;
        EXPECT_EQ(fields[sweep].accepts(cell, kNaN), reached);
        EXPECT_EQ(fields[sweep].accepts(cell, 0.0), !reached && fields[sweep].value[cell] == 0);
      }
    }
  }
}

TEST(ReferenceOfNaN, LosesItInMinimaAndMaximaWhicheverOperandItIs) {
  for (const std::string expression : {"u_next = min(u, 2)", "u_next = min(2, u)", "u_next = max(u, 2)",
                                       "u_next = max(2, u)", "u_next = max(u, u[x-1], 2)"}) {
    for (const ReferenceField& field : sweeps_of(expression, {2, kNaN, 2, kNaN}, 2)) {
      for (std::size_t cell = 1; cell < 4; ++cell) {
        EXPECT_TRUE(field.accepts(cell, 2)) << expression << ", " << cell;
        EXPECT_FALSE(field.accepts(cell, kNaN)) << expression << ", " << cell;
      }
    }
  }
  EXPECT_TRUE(std::isnan(sweeps_of("u_next = min(u, u[x-1])", {kNaN, kNaN, kNaN}, 1)[0].value[1]));
}

TEST(ReferenceOfNaN, ComparesAsFalseAndIsNotZero) {
  const std::vector<double> cells{kNaN, 1};
  const auto first = [&](const std::string& expression) { return sweeps_of(expression, cells, 1)[0]; };
  for (const std::string comparison : {"u < 2", "u <= 2", "u == u", "u > 2"}) {
    const ReferenceField field = first("u_next = select(" + comparison + ", 3, 4)");
    EXPECT_TRUE(field.accepts(0, 4)) << comparison;
    EXPECT_FALSE(field.accepts(0, 3)) << comparison;
  }
  EXPECT_FALSE(first("u_next = select(u, 3, 4)").accepts(0, 4));
  EXPECT_TRUE(first("u_next = select(u, 3, 4)").accepts(0, 3));
}

TEST(ReferenceOfNaN, AcceptsAnythingWhereInfinitiesMayOrMayNotMeet) {
  // Written as u - a u + ..., a kernel may add up the weights of u first: 0.5 * infinity is no NaN.
  const ReferenceField field = sweeps_of("u_next = u - a * u + u[x-1]; a = 1", {1, kInfinity, 1}, 1)[0];
  EXPECT_TRUE(field.accepts(1, kNaN));
  EXPECT_TRUE(field.accepts(1, kInfinity));
  EXPECT_FALSE(field.accepts(0, kNaN));
}

TEST(ReferenceOfNaN, AcceptsAnythingWhereAnEarlierSweepMayHoldAnything) {
  const auto fields = sweeps_of("u_next = a * u - a * u[x-1]; a = 1", {1, kInfinity, kInfinity, 1, 1}, 2);
  for (const double result : {kNaN, kInfinity, 0.0}) {
    EXPECT_TRUE(fields[0].accepts(2, result));
    EXPECT_TRUE(fields[1].accepts(2, result));
    EXPECT_TRUE(fields[1].accepts(3, result));
  }
}

}  // namespace
}  // namespace stencil_tune
