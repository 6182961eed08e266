#include "tests/kernels/covering_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace stencil_tune {
namespace {

bool holds_pair(const std::vector<Row>& rows, std::size_t a, int i, std::size_t b, int j) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row[a] == i && row[b] == j; });
}

TEST(CoveringArray, HoldsEveryLegalPairAndOnlyLegalRows) {
  const std::vector<int> sizes{4, 3, 5, 2, 3};
  // Value 3 of the first factor goes with value 1 of the second alone, and never with the last of the third.
  const Legal legal = [](const Row& row) { return row[0] != 3 || (row[1] == 1 && row[2] != 4); };
  const auto rows = cover_pairs(sizes, legal);
  EXPECT_TRUE(std::all_of(rows.begin(), rows.end(), legal));
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      for (int i = 0; i < sizes[a]; ++i) {
        for (int j = 0; j < sizes[b]; ++j) {
          const bool forbidden = a == 0 && i == 3 && ((b == 1 && j != 1) || (b == 2 && j == 4));
          EXPECT_EQ(holds_pair(rows, a, i, b, j), !forbidden) << a << "=" << i << " " << b << "=" << j;
        }
      }
    }
  }
}

TEST(CoveringArray, IsMuchSmallerThanTheProduct) {
  const std::vector<int> sizes{6, 5, 4, 4, 3, 3};
  const auto rows = cover_pairs(sizes, [](const Row&) { return true; });
  EXPECT_GE(rows.size(), 30U);
  EXPECT_LE(rows.size(), 60U);
}

TEST(CoveringArray, IsTheSameEveryTime) {
  const std::vector<int> sizes{3, 3, 3, 3};
  const Legal legal = [](const Row& row) { return row[0] != row[1]; };
  EXPECT_EQ(cover_pairs(sizes, legal), cover_pairs(sizes, legal));
}

}  // namespace
}  // namespace stencil_tune
