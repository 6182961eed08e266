// What is legal can be launched: no candidate of any problem breaks a limit that CUDA documents.
#include "generator/candidates/space.hpp"
#include "generator/kernel_source/launch.hpp"
#include "tests/generator/problems.hpp"

#include <gtest/gtest.h>

#include <random>

namespace stencil_tune {
namespace {

using testing::cube;

/// The first broken limit; empty when there is none. CUDA C++ Programming Guide 13.0, "Technical Specifications per
/// Compute Capability"; driver API manual, cuLaunchKernelEx and cuTensorMapEncodeTiled.
std::string broken_launch_limit(const LaunchGeometry& launch, const Limits& limits) {
  const auto& [grid, block, shared_bytes, cluster, together] = launch;
  if (std::uint64_t{block[0]} * block[1] * block[2] > 1024 || block[2] > 64) return "block";
  if (grid[0] > 0x7fffffff || grid[1] > 65535 || grid[2] > 65535) return "grid";
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return "empty grid";
  if (cluster < 1 || cluster > 8 || grid[0] % cluster != 0) return "cluster";
  if (cluster > 1 && !limits.has_clusters()) return "architecture of clusters";
  if (shared_bytes > limits.shared_per_block) return "shared memory";
  return "";
}

std::string broken_map_limit(const TensorMapRequest& map, std::size_t cell_bytes) {
  for (const std::uint64_t extent : map.extents) {
    if (extent < 1 || extent > std::uint64_t{1} << 32) return "extent of a tensor map";
    if (extent > 0x7fffffff) return "coordinate of a tensor copy";
  }
  for (const std::uint64_t stride : map.strides) {
    if (stride % 16 != 0 || stride >= std::uint64_t{1} << 40) return "stride of a tensor map";
  }
  for (const std::uint32_t cells : map.box) {
    if (cells < 1 || cells > 256) return "box of a tensor map";
  }
  return map.box[0] * cell_bytes % 16 == 0 ? "" : "row of a tensor map's box";
}

/// What the host counts in 64 bits, in full: no number was cut off when it was packed.
bool counts_all_blocks(const Candidate& candidate, const LaunchGeometry& launch) {
  const Lengths blocks = blocks_of(candidate.shape().tiles, candidate.tuning());
  const double all = static_cast<double>(blocks[0]) * static_cast<double>(blocks[1]) * static_cast<double>(blocks[2]);
  const double launched = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  return launched <= all && launched > 0;
}

void expect_launchable(const Candidate& candidate, const Limits& limits) {
  const Problem& problem = candidate.problem();
  const Box box = updated_box(problem);
  const LaunchGeometry launch = launch_geometry(candidate, box);
  SCOPED_TRACE(code(candidate.tuning()) + " on " + to_string(problem.extents));
  EXPECT_EQ(broken_launch_limit(launch, limits), "");
  EXPECT_TRUE(counts_all_blocks(candidate, launch));
  EXPECT_EQ(std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2], threads_per_block(candidate.tuning()));
  const KernelArguments arguments(candidate, box);
  EXPECT_LE(arguments.bytes(), 32764U);
  for (const TensorMapRequest& map : arguments.tensor_maps()) {
    EXPECT_EQ(broken_map_limit(map, size_of(problem.type)), "");
  }
}

std::vector<Extents> grids(int rank) {
  switch (rank) {
    case 1:
      return {cube(1, 7), cube(1, 1000), cube(1, 1 << 30), cube(1, 1LL << 33), cube(1, 1LL << 40)};
    case 2:
      return {cube(2, 5),
              cube(2, 512),
              cube(2, 1 << 16),
              {2, {64, 1 << 26, 1}},
              {2, {1LL << 32, 5, 1}},
              {2, {16, 1LL << 33, 1}},
              {2, {1LL << 36, 4096, 1}}};
    default:
      return {cube(3, 3),
              cube(3, 512),
              {3, {2048, 2048, 1100}},
              {3, {1000, 37, 5}},
              {3, {1 << 14, 1 << 14, 4}},
              {3, {32, 1 << 20, 1 << 10}},
              {3, {64, 64, 1LL << 32}},
              {3, {1 << 14, 1 << 14, 1 << 14}},
              {3, {16, 1LL << 33, 4}},
              {3, {1LL << 33, 16, 16}},
              {3, {1 << 20, 1 << 20, 8}}};
  }
}

/// A linear stencil of many coefficients, of two inputs.
Stencil many_coefficients(int rank, int coefficients) {
  StencilBuilder b("many", rank);
  NodeId sum = -1;
  for (int i = 0; i < coefficients; ++i) {
    const NodeId weight = b.coefficient_value(b.coefficient("c" + std::to_string(i), 1));
    const Offset offset{i % 17 - 8, rank > 1 ? i / 17 % 17 - 8 : 0, rank > 2 ? i / 289 % 17 - 8 : 0};
    const NodeId term = b.apply(Operation::multiply, weight, b.read(b.field(i % 2 == 0 ? "u" : "v"), offset));
    sum = sum < 0 ? term : b.apply(Operation::add, sum, term);
  }
  b.update(b.field("w"), sum);
  return std::move(b).build();
}

class LaunchLimits : public ::testing::TestWithParam<int> {};

TEST_P(LaunchLimits, HoldForWhateverIsLegal) {
  constexpr int kDrawnOfAFamily = 60;
  const int rank = GetParam();
  std::mt19937_64 random(7);
  int launched = 0;
  for (const Limits& limits : {limits_of_architecture("sm_80"), limits_of_architecture("sm_90")}) {
    for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f16}) {
      for (const Extents& extents : grids(rank)) {
        const Boundary boundary = launched % 2 == 0 ? Boundary::hold : Boundary::zero;
        const Problem problem =
            make_problem(make_builtin(Shape::star, rank, 1), type, {boundary, boundary, boundary}, extents, 0, 32);
        const Space space(problem, limits);
        for (const Family* family : families()) {
          for (int i = 0; i < kDrawnOfAFamily; ++i) {
            const auto tuning = space.sample(*family, random);
            if (!tuning) break;
            expect_launchable({problem, *tuning}, limits);
            ++launched;
          }
        }
      }
    }
  }
  EXPECT_GT(launched, 1000);
}

INSTANTIATE_TEST_SUITE_P(Rank, LaunchLimits, ::testing::Values(1, 2, 3));

bool keeps_argument_bytes(const Candidate& candidate) {
  bool keeps = true;
  for_each_constraint(candidate.family(), [&](const Constraint& constraint) {
    if (constraint.name == "argument_bytes" && constraint.violation(candidate, Limits{})) keeps = false;
  });
  return keeps;
}

TEST(LaunchLimits, ArgumentsHoldTensorMapsToo) {
  int kept = 0, broken = 0;
  for (int coefficients = 4020; coefficients < 4080; ++coefficients) {
    const Problem problem =
        make_problem(many_coefficients(3, coefficients), ElementType::f64, {}, {3, {512, 512, 512}});
    for (const char* each : {"direct.bx32.by4", "streaming.bx32.by4.cz4.ring.sums.pf1"}) {
      const Candidate candidate(problem, parse_code(each));
      const bool keeps = keeps_argument_bytes(candidate);
      (keeps ? kept : broken) += 1;
      if (!keeps) continue;
      EXPECT_LE(KernelArguments(candidate, updated_box(problem)).bytes(), 32764U) << each;
    }
  }
  EXPECT_GT(kept, 30);
  EXPECT_GT(broken, 30);
}

}  // namespace
}  // namespace stencil_tune
