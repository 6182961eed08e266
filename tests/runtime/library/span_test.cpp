#include "stencil_tune/span.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

namespace stencil_tune {
namespace {

double sum(Span<const double> numbers) {
  double total = 0;
  for (const double number : numbers) total += number;
  return total;
}

TEST(SpanTest, ContainersAndArraysOfTheElementAreAccepted) {
  const double array[] = {1, 2, 3};
  std::vector<double> numbers{1, 2, 3, 4};
  EXPECT_EQ(sum(array), 6);
  EXPECT_EQ(sum(numbers), 10);
  EXPECT_EQ(sum(std::array{1.5, 2.5}), 4);
  EXPECT_EQ(sum(std::span(numbers).first(2)), 3);
  EXPECT_EQ(sum({numbers.data(), 1}), 1);
  EXPECT_EQ(sum({}), 0);
  EXPECT_TRUE(Span<int>().empty());
}

TEST(SpanTest, OtherElementsAndLostConstAreNot) {
  static_assert(!std::is_convertible_v<std::vector<float>&, Span<const double>>);
  static_assert(!std::is_convertible_v<const std::vector<double>&, Span<double>>);
  static_assert(std::is_convertible_v<std::vector<void*>&, Span<void* const>>);
}

TEST(SpanTest, AStdSpanSeesTheSameElements) {
  std::vector<int> numbers{1, 2, 3};
  Span<int> all = numbers;
  const std::span<int> seen = all;
  seen[1] = 5;
  EXPECT_EQ(all[1], 5);
  EXPECT_EQ(seen.size(), 3U);
}

TEST(SpanTest, BytesOfAVectorAreItsElements) {
  std::vector<float> cells(3, 0);
  as_writable_bytes(cells)[3] = std::byte{0x40};  // the exponent of 2, on a little-endian machine
  EXPECT_EQ(cells[0], 2);
  EXPECT_EQ(as_bytes(cells).size(), 12U);
  EXPECT_EQ(as_bytes(cells)[3], std::byte{0x40});
}

}  // namespace
}  // namespace stencil_tune
