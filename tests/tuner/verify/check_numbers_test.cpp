#include "tuner/verify/check_numbers.hpp"

#include "generator/definition/definition.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

TEST(ExactCase, SumsOfABoxAreTheSameToTheBitInAnyOrderOfF32) {
  const Problem problem = make_problem(make_builtin(Shape::box, 3, 4), ElementType::f32,
                                       {Boundary::periodic, Boundary::periodic, Boundary::periodic}, {3, {9, 9, 9}});
  const auto numbers = exact_numbers(problem);
  ASSERT_TRUE(numbers);
  const std::vector<double>& coefficients = numbers->coefficients;
  const std::vector<double> input = host_input(problem, 1, 0, numbers->input);
  // The first 729 cells are the box around the centre; all weights differ from their neighbours.
  float forward = 0;
  float backward = 0;
  const std::size_t n = 729;
  ASSERT_EQ(coefficients.size(), n);
  for (std::size_t i = 0; i < n; ++i) {
    forward += static_cast<float>(coefficients[i]) * static_cast<float>(input[i]);
    backward += static_cast<float>(coefficients[n - 1 - i]) * static_cast<float>(input[n - 1 - i]);
  }
  EXPECT_EQ(forward, backward);
  EXPECT_NE(forward, 0);
}

TEST(ExactCase, IsRefusedWhereResultsRound) {
  const auto of = [](Operation op, double number) {
    StencilBuilder b("s", 1);
    const NodeId read = b.read(b.field("in"), {0, 0, 0});
    b.update(b.field("out"), b.apply(op, read, operand_count(op) > 1 ? b.number(number) : -1));
    return exact_numbers(make_problem(std::move(b).build(), ElementType::f32,
                                      {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {9, 1, 1}}));
  };
  EXPECT_TRUE(of(Operation::multiply, 0.25));
  EXPECT_TRUE(of(Operation::minimum, 3));
  EXPECT_FALSE(of(Operation::multiply, 0.1));
  EXPECT_FALSE(of(Operation::multiply, 1e30));
  EXPECT_FALSE(of(Operation::square_root, 0));
}

TEST(ExactCase, IsRefusedForQuotients) {
  StencilBuilder b("s", 1);
  const int in = b.field("in");
  b.update(b.field("out"), b.apply(Operation::divide, b.read(in, {0, 0, 0}), b.read(in, {1, 0, 0})));
  EXPECT_FALSE(exact_numbers(make_problem(std::move(b).build(), ElementType::f32,
                                          {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {9, 1, 1}})));
}

TEST(ExactCase, AsksTheGameOfLifeAboutLivingCells) {
  StencilBuilder b("s", 1);
  const int in = b.field("in");
  const NodeId sum = b.apply(Operation::add, b.read(in, {-1, 0, 0}), b.read(in, {1, 0, 0}));
  b.update(b.field("out"), b.apply(Operation::equal, sum, b.number(1)));
  const Problem problem = make_problem(std::move(b).build(), ElementType::f32,
                                       {Boundary::periodic, Boundary::periodic, Boundary::periodic}, {1, {400, 1, 1}});
  const auto numbers = exact_numbers(problem);
  ASSERT_TRUE(numbers);
  const auto expected = evaluate_reference(problem, host_inputs(problem, 1, numbers->input), {}, /*exact=*/true);
  const auto ones = std::count(expected[0].value.begin(), expected[0].value.end(), 1);
  EXPECT_GT(ones, 100);
  EXPECT_LT(ones, 300);
}

TEST(ExactCase, GoesOnForAsManySweepsAsValuesKeepTheirDigits) {
  const auto exact = [](const Stencil& stencil, ElementType type, int sweeps) {
    const Boundaries periodic{Boundary::periodic, Boundary::periodic, Boundary::periodic};
    return exact_numbers(make_problem(stencil, type, periodic, {2, {9, 9, 1}}), sweeps).has_value();
  };
  const Stencil life = load_definition("corpus/life.toml");
  EXPECT_TRUE(exact(life, ElementType::bf16, 32));
  const Stencil heat = find_builtin("heat2d");
  EXPECT_TRUE(exact(heat, ElementType::f32, 3));
  EXPECT_FALSE(exact(heat, ElementType::f32, 8));
}

TEST(ExactCase, OfAWholeStepIsOneOfEachStageInBothForms) {
  /// The second stage's weight.
  const auto step = [](const char* weight) {
    return parse_definition(std::string(R"toml(
name = "corrector"
rank = 1
fields = ["u", "guess", "u_next"]
[[stage]]
guess = "u + 0.5*u[x-1]"
[[stage]]
u_next = "u + )toml") + weight + R"toml(*guess[x+1]"
[rotate]
u_next = "u"
)toml",
                            "corrector.toml");
  };
  const auto exact = [&](const char* written, const char* simplified, int steps) {
    Stencil stencil = step(simplified);
    stencil.written = step(written).written;
    return exact_numbers(make_problem(std::move(stencil), ElementType::f32, {}, {1, {9, 1, 1}}, 0, 1, kWholeStep),
                         steps)
        .has_value();
  };
  EXPECT_TRUE(exact("0.25", "0.25", 1));
  EXPECT_TRUE(exact("0.25", "0.25", 4));
  EXPECT_FALSE(exact("0.25", "0.25", 8)) << "three more binary digits a step";
  EXPECT_FALSE(exact("0.1", "0.25", 1));
  EXPECT_FALSE(exact("0.25", "0.1", 1));
}

const check::Input kSigned{check::Pattern::signed_unit, 0, 1};

TEST(HostInput, StaysInItsRangeAndDiffersFromCellToCell) {
  const Problem problem = make_problem(make_builtin(Shape::star, 1, 1), ElementType::f64,
                                       {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {4000, 1, 1}});
  const auto in_range = [&](check::Pattern pattern, double scale, double low, double high) {
    const std::vector<double> cells = host_input(problem, 1, 0, {pattern, 0, scale});
    return std::all_of(cells.begin(), cells.end(), [&](double x) { return x >= low && x <= high; });
  };
  EXPECT_TRUE(in_range(check::Pattern::signed_unit, 1, -1, 1));
  EXPECT_FALSE(in_range(check::Pattern::signed_unit, 8, -7.9, 8));
  EXPECT_FALSE(in_range(check::Pattern::signed_unit, 8, -8, 7.9));
  EXPECT_TRUE(in_range(check::Pattern::positive, 1, 0.25, 1));
  EXPECT_TRUE(in_range(check::Pattern::integers, 1, -8, 8));
  EXPECT_TRUE(in_range(check::Pattern::bits, 1, 0, 1));
  EXPECT_TRUE(in_range(check::Pattern::slopes, 1, 0x1p-10, 1));
  auto sorted = host_input(problem, 1, 0, kSigned);
  EXPECT_NE(sorted, host_input(problem, 2, 0, kSigned));
  EXPECT_NE(sorted, host_input(problem, 1, 1, kSigned));
  std::sort(sorted.begin(), sorted.end());
  EXPECT_GT(std::unique(sorted.begin(), sorted.end()) - sorted.begin(), 3990);
  EXPECT_LT(sorted.front(), -0.99);
}

TEST(HostInput, UsesAllBitsOfTheElementType) {
  for (const ElementType type : {ElementType::f64, ElementType::f32}) {
    const Problem problem = make_problem(make_builtin(Shape::star, 1, 1), type,
                                         {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {1000, 1, 1}});
    const int digits = type == ElementType::f64 ? 53 : 24;
    int odd = 0;  // cells whose last bit of those that [1/2, 1) has is set
    int of = 0;
    for (const double cell : host_input(problem, 1, 0, {check::Pattern::positive, 0, 1})) {
      if (cell < 0.5) continue;
      ++of;
      odd += std::fmod(std::ldexp(cell, digits), 2) != 0 ? 1 : 0;
    }
    EXPECT_GT(odd, of / 4) << name(type);
    EXPECT_LT(odd, 3 * of / 4) << name(type);
  }
}

TEST(RandomNumbers, HaveBothSignsUnlessTheStencilDividesOrTakesRoots) {
  const auto pattern_of = [](Operation op) {
    StencilBuilder b("s", 1);
    const NodeId u = b.read(b.field("in"), {0, 0, 0});
    const NodeId left = b.read(b.field("in"), {-1, 0, 0});
    b.update(b.field("out"), op == Operation::square_root ? b.apply(op, u) : b.apply(op, u, left));
    return random_numbers(make_problem(std::move(b).build(), ElementType::f32, {}, {1, {8, 1, 1}})).input.pattern;
  };
  for (const Operation op : {Operation::add, Operation::multiply, Operation::minimum, Operation::less}) {
    EXPECT_EQ(pattern_of(op), check::Pattern::signed_unit) << name(op);
  }
  EXPECT_EQ(pattern_of(Operation::divide), check::Pattern::positive);
  EXPECT_EQ(pattern_of(Operation::square_root), check::Pattern::positive);
}

TEST(RandomNumbers, TellTapsApartThatHaveEqualDefaults) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32,
                                       {Boundary::zero, Boundary::zero, Boundary::zero}, {3, {9, 9, 9}});
  const auto values = random_numbers(problem).coefficients;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(values[i], values[j]);
  }
}

}  // namespace
}  // namespace stencil_tune
