#include "tuner/verify/reference_program.hpp"

#include "tuner/verify/check_case.hpp"
#include "tuner/verify/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace stencil_tune {
namespace {

/// What the device's interpreter computes, run on the host: the same header, another compiler.
check::Bounded interpret(const Problem& problem, const ReferenceProgram& program,
                         const std::vector<std::vector<double>>& inputs, const check::Rounding& rounding,
                         const std::array<std::int64_t, kMaxRank>& cell) {
  std::vector<check::Bounded> slots(static_cast<std::size_t>(program.slots));
  const auto read = [&](int input, const int(&offset)[3]) -> check::Bounded {
    std::int64_t at[3];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      at[axis] = check::mapped_index(cell[axis] + offset[axis], problem.extents.n[axis],
                                     static_cast<int>(problem.boundaries[axis]));
      if (at[axis] < 0) return check::exactly(0);
    }
    const auto place = static_cast<std::size_t>((at[2] * problem.extents.n[1] + at[1]) * problem.pitch + at[0]);
    return check::exactly(inputs[static_cast<std::size_t>(input)][place]);
  };
  return check::run_program(program.instructions.data(), static_cast<int>(program.instructions.size()), slots.data(),
                            rounding, read);
}

void expect_agreement(const Problem& problem) {
  const std::vector<double> coefficients = distinct_coefficients(problem.stencil);
  const check::Rounding rounding = rounding_of(problem.type);
  std::vector<std::vector<double>> inputs;
  for (int field : problem.facts.inputs) inputs.push_back(host_input(problem, 1, field, suitable_input(problem)));
  const auto expected = evaluate_reference(problem, inputs, coefficients);
  const Box box = updated_box(problem);
  for (std::size_t output = 0; output < expected.size(); ++output) {
    const ReferenceProgram program = compile_reference(problem, updates_of(problem)[output].expression, coefficients);
    for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
      for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
        for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
          const check::Bounded result = interpret(problem, program, inputs, rounding, {x, y, z});
          const auto place = static_cast<std::size_t>((z * problem.extents.n[1] + y) * problem.pitch + x);
          ASSERT_EQ(result.value, expected[output].value[place]) << x << ' ' << y << ' ' << z;
          ASSERT_EQ(check::tolerance(result, rounding), expected[output].tolerance[place]);
        }
      }
    }
  }
}

/// Two inputs and two outputs with every operation, some nodes shared.
Stencil every_operation() {
  StencilBuilder b("every", 2);
  const int u = b.field("u");
  const int v = b.field("v");
  const NodeId west = b.read(u, {-1, 0, 0});
  const NodeId north = b.read(v, {0, 2, 0});
  const NodeId weight = b.coefficient_value(b.coefficient("w", 0.3));
  const NodeId mean = b.apply(Operation::multiply, weight, b.apply(Operation::add, west, north));
  const NodeId root = b.apply(Operation::square_root, b.apply(Operation::absolute, mean));
  const NodeId ratio = b.apply(Operation::divide, root, b.apply(Operation::add, north, b.number(1.1)));
  const NodeId grown = b.apply(Operation::exponential, b.apply(Operation::negate, ratio));
  const NodeId low = b.apply(Operation::minimum, grown, b.apply(Operation::subtract, west, mean));
  const NodeId high = b.apply(Operation::maximum, ratio, mean);
  const NodeId below = b.apply(Operation::less, low, high);
  const NodeId same = b.apply(Operation::equal, west, north);
  const NodeId ordered = b.apply(Operation::less_equal, north, ratio);
  b.update(b.field("p"), b.apply(Operation::select, below, high, b.apply(Operation::add, low, same)));
  b.update(b.field("q"), b.apply(Operation::select, ordered, grown, mean));
  return std::move(b).build();
}

TEST(ReferenceProgram, AgreesWithThePlainEvaluatorOnEveryOperation) {
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    expect_agreement(make_problem(every_operation(), type, {Boundary::periodic, Boundary::reflect, Boundary::hold},
                                  {2, {7, 5, 1}}, 9));
  }
}

TEST(ReferenceProgram, AgreesOnEveryBoundary) {
  for (const Boundary boundary :
       {Boundary::hold, Boundary::zero, Boundary::clamp, Boundary::periodic, Boundary::reflect}) {
    expect_agreement(
        make_problem(make_builtin(Shape::box, 3, 2), ElementType::f32, {boundary, boundary, boundary}, {3, {7, 5, 6}}));
  }
}

TEST(ReferenceProgram, ALongSumNeedsFewSlotsWhicheverWayItLeans) {
  for (const bool left : {true, false}) {
    StencilBuilder b("chain", 1);
    const int in = b.field("in");
    NodeId sum = b.read(in, {0, 0, 0});
    for (int i = 1; i < 200; ++i) {
      const NodeId tap = b.read(in, {i, 0, 0});
      sum = left ? b.apply(Operation::add, sum, tap) : b.apply(Operation::add, tap, sum);
    }
    b.update(b.field("out"), sum);
    const Problem problem = make_problem(std::move(b).build(), ElementType::f32,
                                         {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {9, 1, 1}});
    EXPECT_LE(compile_reference(problem, updates_of(problem)[0].expression, {}).slots, 3);
  }
}

TEST(ExactCase, SumsOfABoxAreTheSameToTheBitInAnyOrderOfF32) {
  const Problem problem = make_problem(make_builtin(Shape::box, 3, 4), ElementType::f32,
                                       {Boundary::periodic, Boundary::periodic, Boundary::periodic}, {3, {9, 9, 9}});
  const auto coefficients = exact_coefficients(problem);
  ASSERT_TRUE(coefficients);
  const std::vector<double> input = host_input(problem, 1, 0, check::Input::integers);
  // The first 729 cells are the box around the centre; all weights differ from their neighbours.
  float forward = 0;
  float backward = 0;
  const std::size_t n = 729;
  ASSERT_EQ(coefficients->size(), n);
  for (std::size_t i = 0; i < n; ++i) {
    forward += static_cast<float>((*coefficients)[i]) * static_cast<float>(input[i]);
    backward += static_cast<float>((*coefficients)[n - 1 - i]) * static_cast<float>(input[n - 1 - i]);
  }
  EXPECT_EQ(forward, backward);
  EXPECT_NE(forward, 0);
}

TEST(ExactCase, IsRefusedWhereResultsRound) {
  const auto of = [](Operation op, double number) {
    StencilBuilder b("s", 1);
    const NodeId read = b.read(b.field("in"), {0, 0, 0});
    b.update(b.field("out"), b.apply(op, read, operand_count(op) > 1 ? b.number(number) : -1));
    return exact_coefficients(make_problem(std::move(b).build(), ElementType::f32,
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
  EXPECT_FALSE(exact_coefficients(make_problem(std::move(b).build(), ElementType::f32,
                                               {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {9, 1, 1}})));
}

TEST(ExactCase, AsksTheGameOfLifeAboutLivingCells) {
  StencilBuilder b("s", 1);
  const int in = b.field("in");
  const NodeId sum = b.apply(Operation::add, b.read(in, {-1, 0, 0}), b.read(in, {1, 0, 0}));
  b.update(b.field("out"), b.apply(Operation::equal, sum, b.number(1)));
  const Problem problem = make_problem(std::move(b).build(), ElementType::f32,
                                       {Boundary::periodic, Boundary::periodic, Boundary::periodic}, {1, {400, 1, 1}});
  ASSERT_TRUE(exact_coefficients(problem));
  const std::vector<std::vector<double>> input{host_input(problem, 1, 0, exact_input(problem))};
  const auto expected = evaluate_reference(problem, input, {}, /*exact=*/true);
  const auto ones = std::count(expected[0].value.begin(), expected[0].value.end(), 1);
  EXPECT_GT(ones, 100);
  EXPECT_LT(ones, 300);
}

TEST(SuitableInput, HasBothSignsUnlessTheStencilDividesOrTakesRoots) {
  const auto input_of = [](Operation op) {
    StencilBuilder b("s", 1);
    const NodeId u = b.read(b.field("in"), {0, 0, 0});
    const NodeId left = b.read(b.field("in"), {-1, 0, 0});
    b.update(b.field("out"), op == Operation::square_root ? b.apply(op, u) : b.apply(op, u, left));
    return suitable_input(make_problem(std::move(b).build(), ElementType::f32, {}, {1, {8, 1, 1}}));
  };
  for (const Operation op : {Operation::add, Operation::multiply, Operation::minimum, Operation::less}) {
    EXPECT_EQ(input_of(op), check::Input::signed_unit) << name(op);
  }
  EXPECT_EQ(input_of(Operation::divide), check::Input::positive);
  EXPECT_EQ(input_of(Operation::square_root), check::Input::positive);
}

TEST(HostInput, StaysInItsRangeAndDiffersFromCellToCell) {
  const Problem problem = make_problem(make_builtin(Shape::star, 1, 1), ElementType::f64,
                                       {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {4000, 1, 1}});
  const auto in_range = [](const std::vector<double>& cells, double low, double high) {
    return std::all_of(cells.begin(), cells.end(), [&](double x) { return x >= low && x <= high; });
  };
  const auto signed_unit = host_input(problem, 1, 0, check::Input::signed_unit);
  EXPECT_TRUE(in_range(signed_unit, -1, 1));
  EXPECT_TRUE(in_range(host_input(problem, 1, 0, check::Input::positive), 0.25, 1));
  EXPECT_TRUE(in_range(host_input(problem, 1, 0, check::Input::integers), -8, 8));
  auto sorted = signed_unit;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_GT(std::unique(sorted.begin(), sorted.end()) - sorted.begin(), 3990);
  EXPECT_LT(sorted.front(), -0.99);
  EXPECT_NE(signed_unit, host_input(problem, 2, 0, check::Input::signed_unit));
  EXPECT_NE(signed_unit, host_input(problem, 1, 1, check::Input::signed_unit));
}

TEST(DistinctCoefficients, TellTapsApartThatHaveEqualDefaults) {
  const Stencil star = make_builtin(Shape::star, 3, 1);
  const auto values = distinct_coefficients(star);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(values[i], values[j]);
  }
}

}  // namespace
}  // namespace stencil_tune
