// The tap-table kernel on the host executor, against the reference.
#include "runtime/library/launch/tap_launch.hpp"

#include "generator/definition/definition.hpp"
#include "runtime/compile/compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tuner/executor/executor.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace stencil_tune {
namespace {

template <class Cell>
std::vector<Cell> random_cells(const Problem& problem, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Cell> cells(static_cast<std::size_t>(problem.allocated_cells()));
  for (Cell& cell : cells) cell = static_cast<Cell>(uniform(random));
  return cells;
}

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// Runs the kernel on a box and compares every cell: those in the box with the reference, the others with before.
template <class Cell>
void expect_right(const Problem& problem, const Box& box) {
  ASSERT_TRUE(has_tap_table(problem));
  std::vector<std::vector<Cell>> inputs;
  std::vector<std::uint64_t> addresses;
  std::vector<std::vector<double>> widened;
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) {
    inputs.push_back(random_cells<Cell>(problem, i + 1));
    widened.emplace_back(inputs.back().begin(), inputs.back().end());
  }
  for (const auto& input : inputs) addresses.push_back(address(input.data()));
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < problem.stencil.coefficients.size(); ++i) {
    coefficients.push_back(0.1 + 0.05 * static_cast<double>(i));
  }
  const std::vector<Cell> before = random_cells<Cell>(problem, 99);
  std::vector<Cell> result = before;
  const std::vector<std::uint64_t> outputs{address(result.data())};

  const KernelSource source = tap_kernel_source(problem);
  const HostLibrary library(std::span(&source, 1));
  const auto fault =
      library.kernel(source.entry)
          .run(TapLaunch::geometry(box), TapLaunch(problem).argument(box, addresses, outputs, coefficients));
  ASSERT_FALSE(fault) << fault->message;

  const ReferenceField expected = evaluate_reference(problem, widened, coefficients).front();
  for (std::int64_t z = 0; z < problem.extents.n[2]; ++z) {
    for (std::int64_t y = 0; y < problem.extents.n[1]; ++y) {
      for (std::int64_t x = 0; x < problem.pitch; ++x) {
        const auto i = static_cast<std::size_t>((z * problem.extents.n[1] + y) * problem.pitch + x);
        const bool inside = x >= box.low[0] && x < box.high[0] && y >= box.low[1] && y < box.high[1] &&
                            z >= box.low[2] && z < box.high[2];
        const bool right = inside ? expected.accepts(i, result[i]) : result[i] == before[i];
        ASSERT_TRUE(right) << x << ", " << y << ", " << z << ": " << result[i] << ", expected " << expected.value[i];
      }
    }
  }
}

template <class Cell>
void expect_right(const Problem& problem) {
  expect_right<Cell>(problem, updated_box(problem));
}

TEST(TapLaunch, IsRightWithEveryBoundary) {
  constexpr Extents kGrid{.rank = 3, .n = {37, 11, 5}};
  constexpr Boundaries kMixed{Boundary::periodic, Boundary::hold, Boundary::reflect};
  constexpr Boundaries kOthers{Boundary::clamp, Boundary::zero, Boundary::periodic};
  const Stencil star = make_builtin(Shape::star, 3, 2);
  expect_right<float>(make_problem(star, ElementType::f32, kMixed, kGrid, 40));
  expect_right<double>(make_problem(star, ElementType::f64, kOthers, kGrid));
}

TEST(TapLaunch, WrapsAsOftenAsNeeded) {
  const Boundaries periodic{Boundary::periodic, Boundary::periodic, Boundary::hold};
  expect_right<float>(make_problem(make_builtin(Shape::box, 2, 3), ElementType::f32, periodic, {2, {2, 1, 1}}));
}

TEST(TapLaunch, UpdatesABoxAndNothingElse) {
  const Problem problem = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {40, 12, 9}});
  expect_right<float>(problem, Box{.low = {3, 2, 1}, .high = {36, 10, 4}});
}

TEST(TapLaunch, TakesHundredsOfTapsAndWeightsMadeOfCoefficients) {
  expect_right<double>(make_problem(make_builtin(Shape::box, 3, 2), ElementType::f64, {}, {3, {9, 9, 7}}));
  const Stencil waves = load_definition("corpus/acoustic3d_o4.toml");
  const Problem problem = make_problem(waves, ElementType::f64, {}, {3, {11, 10, 9}});
  if (has_tap_table(problem)) expect_right<double>(problem);
  expect_right<float>(make_problem(find_builtin("heat3d"), ElementType::f32, {}, {3, {11, 10, 9}}));
}

TEST(TapLaunch, ServesNoGridOfMoreBlocksThanALaunchHas) {
  const auto serves = [](std::int64_t nz) {
    return has_tap_table(make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {34, 10, nz}}));
  };
  EXPECT_TRUE(serves((1LL << 31) + 1));
  EXPECT_FALSE(serves((1LL << 31) + 2));
}

TEST(TapLaunch, ServesNoStencilThatIsNotOneWeightedSum) {
  const auto serves = [](const char* file) {
    const Stencil stencil = load_definition(file);
    return has_tap_table(
        make_problem(stencil, ElementType::f32, {}, {stencil.rank, {32, 32, stencil.rank > 2 ? 32 : 1}}));
  };
  EXPECT_FALSE(serves("corpus/life.toml"));
  EXPECT_FALSE(serves("corpus/gray_scott2d.toml"));
  EXPECT_TRUE(serves("corpus/gaussian9x9.toml"));
}

TEST(TapLaunch, AllStencilsOfATypeShareOneSource) {
  const auto source = [](Shape shape, int order, Boundary boundary) {
    return tap_kernel_source(make_problem(make_builtin(shape, 3, order), ElementType::f32,
                                          {boundary, boundary, boundary}, {3, {32, 32, 32}}))
        .text;
  };
  EXPECT_EQ(source(Shape::star, 1, Boundary::hold), source(Shape::box, 1, Boundary::periodic));
  EXPECT_NE(source(Shape::star, 1, Boundary::hold), source(Shape::box, 2, Boundary::hold)) << "a larger table";
}

TEST(TapLaunch, NvrtcTakesEveryTypeAndTableSize) {
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = open_nvrtc();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    for (const int order : {1, 4}) {
      const Problem problem = make_problem(make_builtin(Shape::box, 3, order), type, {}, {3, {32, 32, 32}});
      EXPECT_GT(compiler->compile(tap_kernel_source(problem), "sm_90").cubin.size(), 0U);
    }
  }
}

TEST(TapLaunch, NothingToUpdateIsNoBlocks) {
  EXPECT_EQ(TapLaunch::geometry({.low = {1, 1, 1}, .high = {1, 9, 9}}).grid[0], 0U);
}

}  // namespace
}  // namespace stencil_tune
