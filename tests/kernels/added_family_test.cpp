// A family joins through its entry and its model alone: drawn, generated, explained, predicted, checked and launched.
#include "generator/candidates/constraints.hpp"
#include "generator/candidates/explain.hpp"
#include "generator/candidates/space.hpp"
#include "generator/kernel_source/signature.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/module.hpp"
#include "runtime/library/launch/packed_launch.hpp"
#include "runtime/model/model.hpp"
#include "tests/kernels/copy_family.hpp"
#include "tests/runtime/fake_driver.hpp"
#include "tuner/executor/host_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace stencil_tune {
namespace {

class AddedFamily : public testing::Environment {
 public:
  void SetUp() override { add_copy_family(); }
};
const auto* const kAdded = testing::AddGlobalTestEnvironment(new AddedFamily);

const Extents kGrid{3, {67, 19, 5}};

TEST(AddedFamilyTest, IsDrawnFromWhereItServes) {
  const Problem problem = copy_problem(kGrid, ElementType::f32);
  const Limits limits;
  const Space space(problem, limits);
  std::mt19937_64 random(1);
  std::set<std::string> codes;
  for (int i = 0; i < 400; ++i) {
    const Tuning tuning = *space.sample(random);
    if (tuning.family == &copy_family()) codes.insert(code(tuning));
  }
  EXPECT_GT(codes.size(), 20U) << "two widths, six heights, three depths";
  for (const std::string& each : codes) EXPECT_EQ(code(parse_code(each)), each);
  EXPECT_FALSE(space.neighbours(parse_code("copy.bx32.by4")).empty());
}

TEST(AddedFamilyTest, KeepsToItsConstraints) {
  const Problem star = make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, kGrid);
  const auto violation = first_violation({star, parse_code("copy.bx32.by4")}, Limits{});
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->constraint, "copies_alone");
  EXPECT_FALSE(default_candidate(copy_family(), star, Limits{}));
}

TEST(AddedFamilyTest, GeneratesExplainsPredictsAndSigns) {
  const Problem problem = copy_problem(kGrid, ElementType::f32);
  const Tuning tuning = parse_code("copy.bx64.by2.u4");
  EXPECT_THAT(generate({problem, tuning}).text,
              testing::AllOf(testing::HasSubstr("stencil_tune/copy.cuh"), testing::HasSubstr("kUnroll = 4")));
  EXPECT_THAT(explain(problem, Limits{}, tuning), testing::HasSubstr("256x2x1 cells a block"));
  EXPECT_NE(template_signature(tuning), template_signature(parse_code("direct.bx32.by4")));
  const PerformanceModel model(problem, Limits{}, find_device_model("h200"));
  EXPECT_TRUE(std::isfinite(model.predict(tuning).time_ms));
}

TEST(AddedFamilyTest, IsRightOnTheHostExecutor) {
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16}) {
    const std::vector<Tuning> tunings{parse_code("copy.bx32.by4"), parse_code("copy.bx64.by1.u4")};
    for (const HostVerdict& verdict : check_on_host(copy_problem(kGrid, type), tunings)) {
      EXPECT_TRUE(verdict.right) << verdict.message;
      EXPECT_GT(verdict.cells_checked, 0);
    }
  }
}

TEST(AddedFamilyTest, IsLaunched) {
  const Problem problem = copy_problem(kGrid, ElementType::f32);
  const Candidate candidate(problem, parse_code("copy.bx32.by4"));
  const PackedLaunch launch(candidate, updated_box(problem));
  EXPECT_EQ(launch.geometry().grid, (std::array<unsigned, 3>{3, 5, 5}));
  FakeDriver driver;
  std::vector<std::byte> argument(launch.argument_bytes());
  const std::vector<std::uint64_t> in{0x1000}, out{0x2000};
  launch.write_argument(driver, in, out, {}, argument);
  Module module(driver, {.cubin = std::vector<std::byte>(16), .entry = "stencil_kernel", .resources = {}});
  module.launch(launch.geometry(), argument, nullptr);
  ASSERT_EQ(driver.launches.size(), 1U);
  EXPECT_EQ(driver.launches[0].block, (std::array<unsigned, 3>{32, 4, 1}));
}

}  // namespace
}  // namespace stencil_tune
