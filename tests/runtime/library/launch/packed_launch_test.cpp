#include "runtime/library/launch/packed_launch.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/space.hpp"
#include "generator/definition/definition.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/library/launch/box_launches.hpp"
#include "stencil_tune/error.hpp"
#include "tests/runtime/fake_driver.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace stencil_tune {
namespace {

Problem on_grid(Stencil stencil, const std::array<std::int64_t, kMaxRank>& n, ElementType type = ElementType::f32,
                std::int64_t pitch = 0) {
  const int rank = stencil.rank;
  return make_problem(std::move(stencil), type, {}, {.rank = rank, .n = n}, pitch);
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

/// Reads the kernel's parameter member by member, in the order of templates/arguments.cuh.
class ArgumentReader {
 public:
  explicit ArgumentReader(const std::vector<std::byte>& bytes, std::size_t at = 0) : bytes_(bytes), at_(at) {}

  template <class T>
  std::vector<T> next(std::size_t count) {
    at_ = (at_ + alignof(T) - 1) / alignof(T) * alignof(T);
    std::vector<T> values(count);
    std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return values;
  }

 private:
  const std::vector<std::byte>& bytes_;
  std::size_t at_;
};

struct Arguments {
  std::vector<std::uint64_t> in, out;
  std::vector<std::int64_t> low, high, origin, n, strides;
  std::vector<std::uint32_t> tiles;
  std::vector<double> coefficients;
};

Arguments read_arguments(const Problem& problem, const std::vector<std::byte>& bytes, std::size_t maps) {
  ArgumentReader reader(bytes, maps * kTensorMapBytes);
  Arguments a;
  a.in = reader.next<std::uint64_t>(problem.facts.inputs.size());
  a.out = reader.next<std::uint64_t>(problem.facts.outputs.size());
  for (auto* of_axes : {&a.low, &a.high, &a.origin, &a.n}) *of_axes = reader.next<std::int64_t>(3);
  a.strides = reader.next<std::int64_t>(2);
  a.tiles = reader.next<std::uint32_t>(4);
  const std::size_t count = problem.stencil.coefficients.size();
  if (problem.type == ElementType::f64) {
    a.coefficients = reader.next<double>(count);
  } else {
    const auto floats = reader.next<float>(count);
    a.coefficients.assign(floats.begin(), floats.end());
  }
  return a;
}

struct Written {
  std::vector<std::uint64_t> inputs, outputs;  ///< as given
  std::vector<std::byte> bytes;
};

Written write(const PackedLaunch& launch, const Problem& problem, const std::vector<double>& coefficients) {
  Written written;
  for (std::size_t i = 0; i < problem.facts.inputs.size(); ++i) written.inputs.push_back(0x7f00'0000'0000 + 4096 * i);
  for (std::size_t i = 0; i < problem.facts.outputs.size(); ++i) written.outputs.push_back(0x7e00'0000'0000 + 4096 * i);
  written.bytes.resize(launch.argument_bytes());
  FakeDriver driver;
  launch.write_argument(driver, written.inputs, written.outputs, coefficients, written.bytes);
  return written;
}

const Box kPart{.low = {3, 4, 5}, .high = {77, 66, 55}};

/// Every member is what the kernel expects in its place.
void expect_arguments(const Problem& problem, const Tuning& tuning, const std::vector<double>& coefficients) {
  SCOPED_TRACE(code(tuning) + " " + std::string(name(problem.type)) + " " + to_string(problem.extents));
  const Candidate candidate(problem, tuning);
  const Written written = write(PackedLaunch(candidate, kPart), problem, coefficients);
  const std::size_t maps = candidate.shape().uses_tensor_maps ? problem.facts.inputs.size() : 0;
  const Arguments found = read_arguments(problem, written.bytes, maps);
  EXPECT_EQ(found.in, written.inputs);
  EXPECT_EQ(found.out, written.outputs);
  EXPECT_EQ(found.low, (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(found.high, (std::vector<std::int64_t>{77, 66, 55}));
  EXPECT_EQ(found.origin, (std::vector<std::int64_t>{0, 4, 5})) << "the line that x 3 lies in";
  EXPECT_EQ(found.n, std::vector<std::int64_t>(problem.extents.n.begin(), problem.extents.n.end()));
  EXPECT_EQ(found.strides, (std::vector<std::int64_t>{problem.pitch, problem.pitch * problem.extents.n[1]}));
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const std::int64_t covered = found.tiles[axis] * candidate.shape().cluster_tile[axis];
    EXPECT_GE(found.origin[axis] + covered, found.high[axis]);
    EXPECT_LT(found.origin[axis] + covered - candidate.shape().cluster_tile[axis], found.high[axis]);
  }
  std::vector<double> own;
  for (const Coefficient& c : problem.stencil.coefficients) own.push_back(c.value);
  const bool doubles = problem.type == ElementType::f64;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double wanted = coefficients.empty() ? own[i] : coefficients[i];
    EXPECT_EQ(found.coefficients[i], doubles ? wanted : static_cast<double>(static_cast<float>(wanted)));
  }
}

TEST(PackedLaunch, PutsEveryMemberWhereTheKernelReadsIt) {
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16}) {
    for (const Stencil& stencil : {several(), make_builtin(Shape::star, 3, 2)}) {
      for (const auto& n : {std::array<std::int64_t, kMaxRank>{128, 96, 64}, {96, 130, 71}}) {
        const Problem problem = on_grid(stencil, n, type, n[0] + 32);
        for (const Family* family : families()) {
          const auto tuning = default_candidate(*family, problem, Limits{});
          if (!tuning) continue;
          std::vector<double> coefficients(stencil.coefficients.size(), 0.25);
          coefficients[0] = 7.1;
          expect_arguments(problem, *tuning, coefficients);
          expect_arguments(problem, *tuning, {});
        }
      }
    }
  }
}

/// Behind the coefficients, along the kernel's axes: a line of a 2D grid is walked along the kernel's z.
TEST(PackedLaunch, PutsThePlaceBehindTheCoefficientsOfStencilsThatAskForIt) {
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::bf16}) {
    for (const char* update : {"u + a*x; a = 0.3", "u + b*x + a*y; a = 0.3; b = 0.5", "u + x"}) {
      const Stencil stencil = parse_stencil(std::string("v = ") + update, 2);
      const Problem problem = make_problem(stencil, type, {}, {2, {128, 96, 1}});
      for (const char* code : {"direct.bx32.by4", "streaming.bx64.by1.cz16.regs"}) {
        const Candidate candidate(problem, parse_code(code));
        const PackedLaunch launch(candidate, updated_box(problem));
        const std::vector<std::uint64_t> address{0x1000};
        std::vector<std::byte> bytes(launch.argument_bytes());
        FakeDriver driver;
        const std::vector<double> coefficients(stencil.coefficients.size(), 1.5);
        launch.write_argument(driver, address, address, coefficients, bytes, {{-5, 1000000000000, 77}, 42});
        const std::size_t value = type == ElementType::f64 ? 8 : 4;
        std::array<std::int64_t, 4> found{};
        const std::size_t at = 8 * (2 + 4 * 3 + 2) + 4 * 4 + value * coefficients.size();
        ASSERT_LE(at + sizeof found, bytes.size());
        std::memcpy(found.data(), bytes.data() + at, sizeof found);
        const bool walks = std::string_view(code).starts_with("streaming");
        EXPECT_EQ(found[0], -5);
        EXPECT_EQ(found[walks ? 2 : 1], 1000000000000);
        EXPECT_EQ(found[walks ? 1 : 2], 0);
        EXPECT_EQ(found[3], 42);
        EXPECT_NE(generate(candidate, "k").text.find("kPlaced = true"), std::string::npos);
      }
    }
  }
}

TEST(PackedLaunch, LeavesThePlaceAwayWhereNothingAsksForIt) {
  const Problem problem = make_problem(parse_stencil("v = sin(u)", 2), ElementType::f32, {}, {2, {128, 96, 1}});
  const Candidate candidate(problem, parse_code("direct.bx32.by4"));
  EXPECT_EQ(PackedLaunch(candidate, updated_box(problem)).argument_bytes(), 8U * (2 + 4 * 3 + 2) + 4 * 4 + 8);
  EXPECT_EQ(generate(candidate, "k").text.find("kPlace ="), std::string::npos);
}

TEST(PackedLaunch, LeavesAStrideAloneThatLooksLikeACoefficient) {
  // 32768 * 32640 = 0x3fc00000, the bytes of 1.5f; 0x3ff8... of 1.5 in f64 needs grids that no memory holds.
  StencilBuilder builder("one_coefficient", 3);
  const NodeId c = builder.coefficient_value(builder.coefficient("c", 1.5));
  const int u = builder.field("u");
  builder.update(builder.field("u_next"), builder.apply(Operation::multiply, c, builder.read(u, {0, 0, 1})));
  const Problem problem = on_grid(std::move(builder).build(), {32768, 32640, 4});
  float stride_as_float = 0;
  const auto stride = static_cast<std::uint32_t>(problem.pitch * problem.extents.n[1]);
  std::memcpy(&stride_as_float, &stride, sizeof stride);
  ASSERT_EQ(stride_as_float, 1.5F);
  for (const Family* family : families()) {
    const auto tuning = default_candidate(*family, problem, Limits{});
    if (tuning) expect_arguments(problem, *tuning, {0.125});
  }
}

TEST(PackedLaunch, EncodesTensorMapsOfTheAddressesOfEachLaunch) {
  const Problem problem = on_grid(several(), {128, 96, 64});
  Tuning tuning = *default_candidate(family_named("streaming"), problem, Limits{});
  tuning.planes = Planes::ring;
  tuning.prefetch = 1;
  const Candidate candidate(problem, tuning);
  ASSERT_FALSE(first_violation(candidate, Limits{})) << first_violation(candidate, Limits{})->message;
  expect_arguments(problem, tuning, {1, 2});
  const Written written = write(PackedLaunch(candidate, kPart), problem, {});
  for (std::size_t i = 0; i < 2; ++i) {  // the fake driver's maps are the address
    EXPECT_EQ(ArgumentReader(written.bytes, i * kTensorMapBytes).next<std::uint64_t>(1).front(), written.inputs[i]);
  }
}

TEST(PackedLaunch, RefusesOtherCountsOfFields) {
  const Problem problem = on_grid(several(), {128, 96, 64});
  const PackedLaunch launch({problem, parse_code("direct.bx32.by4")}, kPart);
  FakeDriver driver;
  std::vector<std::byte> to(launch.argument_bytes());
  const std::vector<std::uint64_t> two{1, 2}, one{1};
  const std::vector<double> none, three{1, 2, 3};
  EXPECT_THROW(launch.write_argument(driver, one, two, none, to), Error);
  EXPECT_THROW(launch.write_argument(driver, two, one, none, to), Error);
  EXPECT_THROW(launch.write_argument(driver, two, two, three, to), Error);
  EXPECT_NO_THROW(launch.write_argument(driver, two, two, none, to));
}

TEST(BoxLaunches, PreparesABoxOnceAndForgetsTheOldest) {
  const Problem problem = on_grid(make_builtin(Shape::star, 3, 1), {128, 96, 64});
  const Tuning tuning = *default_candidate(family_named("direct"), problem, Limits{});
  BoxLaunches launches(3, 1);
  const auto first = launches.find_or_make(problem, tuning, {.low = {1, 1, 1}, .high = {9, 9, 9}});
  EXPECT_EQ(launches.find_or_make(problem, tuning, {.low = {1, 1, 1}, .high = {9, 9, 9}}), first);
  for (std::int64_t i = 10; i < 90; ++i) launches.find_or_make(problem, tuning, {.low = {1, 1, 1}, .high = {i, 9, 9}});
  EXPECT_NE(launches.find_or_make(problem, tuning, {.low = {1, 1, 1}, .high = {9, 9, 9}}), first);
  EXPECT_EQ(first->geometry().grid[2] > 0, true) << "a launch that is held stays";
}

/// The parts of a domain, and beside its held layers a slab on each side for each fused step.
std::vector<Box> boxes_between(int fused_steps) {
  std::vector<Box> boxes;
  const std::array<std::pair<std::int64_t, std::int64_t>, 3> cuts{{{1, 9}, {9, 55}, {55, 63}}};
  for (const auto& x : cuts) {
    for (const auto& y : cuts) {
      for (const auto& z : cuts) {
        boxes.push_back({.low = {x.first, y.first, z.first}, .high = {x.second, y.second, z.second}});
      }
    }
  }
  for (std::int64_t step = 1; step <= fused_steps; ++step) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Box low{.low = {1, 1, 1}, .high = {63, 63, 63}}, high = low;
      low.high[axis] = 1 + step;
      high.low[axis] = 63 - step;
      boxes.insert(boxes.end(), {low, high});
    }
  }
  return boxes;
}

TEST(BoxLaunches, RememberTheShellsOfAllFusedSteps) {
  const Problem problem = on_grid(make_builtin(Shape::star, 3, 1), {64, 64, 64});
  const Tuning tuning = *default_candidate(family_named("direct"), problem, Limits{});
  for (const int fused : {1, 12, 32}) {
    BoxLaunches launches(3, fused);
    std::vector<std::shared_ptr<const PackedLaunch>> first, again;
    for (const Box& box : boxes_between(fused)) first.push_back(launches.find_or_make(problem, tuning, box));
    for (const Box& box : boxes_between(fused)) again.push_back(launches.find_or_make(problem, tuning, box));
    EXPECT_EQ(first, again) << fused << " fused steps";
  }
}

}  // namespace
}  // namespace stencil_tune
