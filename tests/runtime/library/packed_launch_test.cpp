#include "runtime/library/packed_launch.hpp"

#include "generator/candidates/space.hpp"
#include "runtime/library/box_launches.hpp"
#include "tests/runtime/fake_driver.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

Problem cube(Stencil stencil, ElementType type = ElementType::f32) {
  return make_problem(std::move(stencil), type, {}, {.rank = 3, .n = {128, 96, 64}});
}

/// A stencil with two inputs, two outputs and two coefficients of the same default value.
Stencil several() {
  StencilBuilder builder("several", 3);
  const int a = builder.field("a");
  const int b = builder.field("b");
  const NodeId sum = builder.apply(Operation::add,
                                   builder.apply(Operation::multiply, builder.read(a, {1, 0, 0}),
                                                 builder.coefficient_value(builder.coefficient("p", 2))),
                                   builder.apply(Operation::multiply, builder.read(b, {0, 0, -1}),
                                                 builder.coefficient_value(builder.coefficient("q", 2))));
  builder.update(builder.field("c"), sum);
  builder.update(builder.field("d"), builder.apply(Operation::negate, sum));
  return std::move(builder).build();
}

/// pack_arguments() from scratch and PackedLaunch must agree byte for byte.
void expect_same(const Problem& problem, const Tuning& tuning, const std::vector<double>& coefficients) {
  FakeDriver driver;
  std::vector<std::uint64_t> inputs;
  std::vector<std::uint64_t> outputs;
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) inputs.push_back(0x7f00'0000'0000 + 0x1000'0000 * i);
  for (std::size_t i = 0; i < problem.facts.outputs.size(); ++i) outputs.push_back(0x7e00'0000'0000 + 0x1000'0000 * i);
  std::vector<double> own;
  for (const Coefficient& c : problem.stencil.coefficients) own.push_back(c.value);
  const Box box{.low = {3, 4, 5}, .high = {77, 66, 55}};
  std::vector<std::byte> expected =
      pack_arguments(problem, box, tuning, inputs, outputs, coefficients.empty() ? own : coefficients);
  for (const TensorMapRequest& map : tensor_maps(problem, tuning, inputs)) {
    driver.encode_tensor_map(problem.type, map, std::span(expected).subspan(map.offset, 128));
  }
  const PackedLaunch launch(problem, tuning, box);
  std::vector<std::byte> found(launch.argument_bytes());
  launch.write_argument(driver, inputs, outputs, coefficients, found);
  EXPECT_EQ(found, expected) << code(tuning);
  EXPECT_EQ(launch.geometry().grid, launch_geometry(problem, tuning, box).grid);
}

TEST(PackedLaunch, IsWhatPackingFromScratchGives) {
  const Limits limits;
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16}) {
    for (const Stencil& stencil : {several(), make_builtin(Shape::star, 3, 2)}) {
      const Problem problem = cube(stencil, type);
      for (const Family family : families()) {
        const auto tuning = default_candidate(family, problem, limits);
        if (!tuning) continue;
        expect_same(problem, *tuning, {});
        std::vector<double> coefficients(stencil.coefficients.size(), 0.25);
        coefficients[0] = 7;
        expect_same(problem, *tuning, coefficients);
      }
    }
  }
}

TEST(PackedLaunch, EncodesTensorMapsOfTheAddressesOfEachLaunch) {
  const Problem problem = cube(make_builtin(Shape::star, 3, 1));
  Tuning tuning = *default_candidate(Family::streaming, problem, Limits{});
  tuning.planes = Planes::ring;
  tuning.prefetch = 1;
  ASSERT_FALSE(first_violation(problem, Limits{}, tuning)) << first_violation(problem, Limits{}, tuning)->message;
  ASSERT_FALSE(tensor_maps(problem, tuning, std::vector<std::uint64_t>{1}).empty());
  expect_same(problem, tuning, {});
}

TEST(BoxLaunches, PreparesABoxOnceAndForgetsTheOldest) {
  const Problem problem = cube(make_builtin(Shape::star, 3, 1));
  const Tuning tuning = *default_candidate(Family::direct, problem, Limits{});
  BoxLaunches launches;
  const auto first = launches.find_or_make(problem, tuning, {.low = {1, 1, 1}, .high = {9, 9, 9}});
  EXPECT_EQ(launches.find_or_make(problem, tuning, {.low = {1, 1, 1}, .high = {9, 9, 9}}), first);
  for (std::int64_t i = 10; i < 90; ++i) launches.find_or_make(problem, tuning, {.low = {1, 1, 1}, .high = {i, 9, 9}});
  EXPECT_NE(launches.find_or_make(problem, tuning, {.low = {1, 1, 1}, .high = {9, 9, 9}}), first);
  EXPECT_EQ(first->geometry().grid[2] > 0, true) << "a launch that is held stays";
}

}  // namespace
}  // namespace stencil_tune
