#include "templates/index_width.cuh"

#include "generator/candidates/constraints.hpp"
#include "generator/kernel_source/source.hpp"
#include "tests/generator/problems.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

constexpr BeyondGrid kNothing{0, 0};

bool wide(const Problem& problem, std::string_view code) {
  const Candidate candidate(problem, parse_code(code));
  const std::string source = generate(candidate).text;
  const bool in_source = source.find("using Index = long long;") != std::string::npos;
  EXPECT_NE(in_source, source.find("using Index = int;") != std::string::npos);
  EXPECT_EQ(in_source, candidate.shape().wide_index);
  return in_source;
}

TEST(IndexWidth, AnAxisMayBeMirroredOnceWithin32Bits) {
  EXPECT_TRUE(fits_32_bits({1LL << 30, 1, 1}, 0, 0, kNothing));
  EXPECT_FALSE(fits_32_bits({(1LL << 30) + 1, 1, 1}, 0, 0, kNothing));
  EXPECT_FALSE(fits_32_bits({1, (1LL << 30) + 1, 1}, 1, 0, kNothing));
  EXPECT_FALSE(fits_32_bits({1, 1, (1LL << 30) + 1}, 0, 1, kNothing));
}

TEST(IndexWidth, OffsetsBeyondTheGridFitToo) {
  EXPECT_TRUE(fits_32_bits({1 << 20, 512, 2}, 1 << 20, 1 << 29, {400, 0}));
  EXPECT_FALSE(fits_32_bits({1 << 20, 512, 2}, 1 << 20, 1 << 29, {600, 0}));
  EXPECT_FALSE(fits_32_bits({1 << 20, 512, 2}, 1 << 20, 1 << 29, {0, 1}));
  EXPECT_FALSE(fits_32_bits({1, 1, 1}, 1LL << 40, 1LL << 40, kNothing));
  EXPECT_FALSE(fits_32_bits({1, 1, 1}, 1, 1, {1LL << 62, 0}));
}

TEST(IndexWidth, KernelsCountInAsFewBitsAsTheirGridTakes) {
  EXPECT_FALSE(wide(testing::star(3, 1, ElementType::f32, 1024), "streaming.bx32.by4.rx4.v4.cz4.regs"));
  EXPECT_TRUE(wide(testing::star(3, 1, ElementType::f32, 1290), "direct.bx32.by4"));
  EXPECT_FALSE(wide(testing::star(2, 1, ElementType::f32, 32768), "direct.bx32.by4"));
  EXPECT_FALSE(wide(testing::star(1, 1, ElementType::f32, 1 << 30), "direct.bx32.by1"));
  EXPECT_TRUE(wide(testing::star(1, 1, ElementType::f32, 1'200'000'000), "direct.bx32.by1"));
}

TEST(IndexWidth, FusedStepsCountPlanesBeforeTheGridToo) {
  const Problem flat =
      make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {1 << 14, 1 << 12, 16}}, 0, 8);
  EXPECT_FALSE(wide(flat, "direct.bx32.by4"));
  EXPECT_FALSE(wide(flat, "temporal.bx32.by4.rx2.ry4.v2.pf2.t2.ch2"));
  EXPECT_TRUE(wide(flat, "temporal.bx32.by4.rx2.ry4.v2.pf2.t8.ch2.tg8"));
}

}  // namespace
}  // namespace stencil_tune
