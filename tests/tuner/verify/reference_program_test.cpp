#include "tuner/verify/reference/reference_program.hpp"

#include "generator/definition/definition.hpp"
#include "templates/philox.cuh"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/reference/reference.hpp"

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
                            rounding,
                            {{cell[0], cell[1], cell[2]},
                             kCheckPlace.step,
                             {problem.extents.n[0], problem.extents.n[1], problem.extents.n[2]}},
                            read);
}

void expect_agreement(const Problem& problem) {
  const auto [input, exactly, coefficients] = random_numbers(problem);
  const check::Rounding rounding = rounding_of(problem.type);
  const std::vector<std::vector<double>> inputs = host_inputs(problem, 1, input);
  const auto expected = evaluate_reference(problem, inputs, coefficients);
  const Box box = updated_box(problem);
  for (std::size_t output = 0; output < expected.size(); ++output) {
    const ReferenceProgram program = compile_reference(problem, reference_expression(problem, output), coefficients);
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

TEST(ReferenceProgram, AgreesWithThePlainEvaluatorOnFunctionsAndPlaces) {
  const Stencil stencil = parse_definition(
      "rank = 2\nfields = [\"u\", \"p\", \"q\"]\n[update]\n"
      "p = \"sin(u) + cos(u[x-1])*tan(0.3*u) + pow(u[y+1], 1.5) + x[x+1]*y\"\n"
      "q = \"tanh(u) + log(u[x+1]) + t*y[y-2] + x/3 + u*x_before[x-2] - y_after[y+1] + u*y_outside[y-1]\"\n",
      "functions.toml");
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::bf16}) {
    expect_agreement(
        make_problem(stencil, type, {Boundary::periodic, Boundary::zero, Boundary::hold}, {2, {7, 5, 1}}, 9));
  }
}

TEST(ReferenceProgram, AgreesWithThePlainEvaluatorOnWholeAndRandomNumbers) {
  const Stencil stencil = parse_definition(R"toml(
rank = 2
fields = ["u", "p", "q"]
coefficients.s = 12.0
let.r = "random(s)"
update.p = "floor(3*u[x-1]) + mod(u - 1.1, 0.7*u[x+1]) + x[x-1] % 3 - (u - t) % -2.5"
update.q = "u + r - r[x+1, y-2] + random(4000000000) * floor(u + 0.3*y)"
)toml",
                                           "words.toml");
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::bf16}) {
    expect_agreement(
        make_problem(stencil, type, {Boundary::periodic, Boundary::zero, Boundary::hold}, {2, {7, 5, 1}}, 9));
  }
}

/// Those that come with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, OfKernelsAndTheReferenceIsThatOfThePublishedVectors) {
  struct Known {
    PhiloxWords counter;
    std::array<unsigned, 2> key;
    PhiloxWords words;
  };
  constexpr unsigned kAll = 0xffffffffu;
  constexpr std::array kKnown{
      Known{{{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      Known{{{kAll, kAll, kAll, kAll}}, {kAll, kAll}, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      Known{{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
            {0xa4093822, 0x299f31d0},
            {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}}};
  for (const auto& [counter, key, words] : kKnown) {
    const PhiloxWords made = philox(counter, key[0], key[1]);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(made.word[i], words.word[i]);
    const long long place[4] = {counter.word[0], counter.word[1], counter.word[2], counter.word[3]};
    // A call's number fits f64 with a seed below it as far as 21 bits.
    const unsigned call = key[1] & 0x1fffff;
    const double both = call * 0x1p32 + key[0];
    EXPECT_EQ(check::random_number(place, both, true), uniform<float>(philox(counter, key[0], call)));
    EXPECT_EQ(check::random_number(place, both, false), uniform<double>(philox(counter, key[0], call)));
  }
}

TEST(ReferenceProgram, CountsCoordinatesThatF32DoesNotHoldAsRounded) {
  const Stencil stencil = parse_stencil("v = u + x", 1);
  const auto rounded = [&](ElementType type, std::int64_t cells) {
    const Problem problem =
        make_problem(stencil, type, {Boundary::zero, Boundary::zero, Boundary::zero}, {1, {cells, 1, 1}});
    for (const check::Instruction& each :
         compile_reference(problem, reference_expression(problem, 0), {}).instructions) {
      if (each.code == check::Code::coordinate) return each.inexact != 0;
    }
    return false;
  };
  EXPECT_FALSE(rounded(ElementType::f32, 1000));
  EXPECT_TRUE(rounded(ElementType::f32, std::int64_t{1} << 24));
  EXPECT_FALSE(rounded(ElementType::f64, std::int64_t{1} << 24));
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
    EXPECT_LE(compile_reference(problem, reference_expression(problem, 0), {}).slots, 3);
  }
}

}  // namespace
}  // namespace stencil_tune
