// Who owns which cells: parts of a grid, their neighbours and the cut that sends least.
#include "stencil_tune/decomposition.hpp"

#include "tests/runtime/expect_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stencil_tune {
namespace {

constexpr Boundaries kHold{Boundary::hold, Boundary::hold, Boundary::hold};
constexpr Boundaries kPeriodicX{Boundary::periodic, Boundary::hold, Boundary::hold};
constexpr HaloLayers kOne{{{1, 1}, {1, 1}, {1, 1}}};

Extents cube(std::int64_t n) { return {3, {n, n, n}}; }

TEST(Decomposition, EveryCellHasOneOwnerAndPartsDifferByOneCell) {
  const Extents grid{3, {17, 11, 7}};
  const Decomposition parts(grid, kHold, {3, 2, 2}, kOne);
  std::vector<int> owners(static_cast<std::size_t>(grid.cells()), 0);
  for (int rank = 0; rank < parts.ranks(); ++rank) {
    const Box box = parts.owned(rank);
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      const std::int64_t cells = box.high[axis] - box.low[axis];
      const std::int64_t even = grid.n[axis] / parts.cut()[axis];
      EXPECT_TRUE(cells == even || cells == even + 1);
    }
    for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
      for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
        for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
          ++owners[static_cast<std::size_t>((z * grid.n[1] + y) * grid.n[0] + x)];
        }
      }
    }
  }
  for (const int owner : owners) ASSERT_EQ(owner, 1);
}

TEST(Decomposition, HalosStandWhereNeighboursAre) {
  const Decomposition parts({2, {10, 8, 1}}, kHold, {2, 2, 1}, {{{3, 2}, {1, 1}, {5, 5}}});
  EXPECT_EQ(parts.array(0), (Box{{0, 0, 0}, {7, 5, 1}}));
  EXPECT_EQ(parts.array(3), (Box{{2, 3, 0}, {10, 8, 1}}));
  EXPECT_EQ(parts.halo()[2], HaloWidth{}) << "an axis that is not cut has no halo";
  EXPECT_EQ(parts.halo_cells(0, parts.halo()), 7 * 5 - 5 * 4);
  EXPECT_EQ(parts.halo_cells(0, kOne), 6 * 5 - 5 * 4);
}

TEST(Decomposition, APeriodicAxisGoesRoundTheRing) {
  const Decomposition parts({2, {10, 8, 1}}, kPeriodicX, {2, 2, 1}, kOne);
  EXPECT_EQ(parts.neighbour(0, {-1, 0, 0}), 1);
  EXPECT_EQ(parts.neighbour(0, {1, 0, 0}), 1);
  EXPECT_EQ(parts.neighbour(1, {1, 1, 0}), 2);
  EXPECT_EQ(parts.neighbour(0, {0, -1, 0}), std::nullopt);
  EXPECT_EQ(parts.array(0), (Box{{-1, 0, 0}, {6, 5, 1}}));
}

TEST(Decomposition, AnAxisOfOnePartHasNoNeighboursEvenWherePeriodic) {
  const Decomposition parts({2, {10, 8, 1}}, kPeriodicX, {1, 2, 1}, kOne);
  EXPECT_EQ(parts.neighbour(0, {1, 0, 0}), std::nullopt);
  EXPECT_EQ(parts.neighbour(0, {1, 1, 0}), std::nullopt);
  EXPECT_EQ(parts.array(0), (Box{{0, 0, 0}, {10, 5, 1}}));
}

TEST(Decomposition, NoRankReceivesMoreThanTheMost) {
  const HaloLayers uneven{{{3, 1}, {0, 2}, {4, 4}}};
  for (const Boundaries& boundaries : {kHold, kPeriodicX}) {
    for (const Extents& grid : {cube(24), Extents{3, {25, 23, 19}}}) {
      for (const Cut& cut : {Cut{1, 1, 1}, Cut{2, 1, 3}, Cut{5, 2, 1}, Cut{4, 3, 2}, Cut{1, 6, 4}}) {
        const Decomposition parts(grid, boundaries, cut, uneven);
        std::int64_t most = 0;
        for (int rank = 0; rank < parts.ranks(); ++rank) most = std::max(most, parts.halo_cells(rank, parts.halo()));
        EXPECT_EQ(parts.most_received(), most) << to_string(cut, 3) << " of " << grid.n[0];
      }
    }
  }
}

TEST(Decomposition, TheChosenCutSendsLeast) {
  EXPECT_EQ(choose_decomposition(cube(64), kHold, 1, kOne).cut(), (Cut{1, 1, 1}));
  EXPECT_EQ(choose_decomposition(cube(64), kHold, 2, kOne).cut(), (Cut{1, 1, 2})) << "whole planes where all are equal";
  EXPECT_EQ(choose_decomposition(cube(64), kHold, 8, kOne).cut(), (Cut{2, 2, 2}));
  EXPECT_EQ(choose_decomposition({3, {512, 64, 64}}, kHold, 4, kOne).cut(), (Cut{4, 1, 1}));
  EXPECT_EQ(choose_decomposition({2, {64, 64, 1}}, kHold, 2, kOne).cut(), (Cut{1, 2, 1}));
  const HaloLayers deep_in_z{{{1, 1}, {1, 1}, {8, 8}}};
  EXPECT_EQ(choose_decomposition(cube(64), kHold, 2, deep_in_z).cut(), (Cut{1, 2, 1}));
  EXPECT_EQ(choose_decomposition(cube(64), kHold, 2, kOne, {true, false, false}).cut(), (Cut{2, 1, 1}));
}

TEST(Decomposition, PartsThinnerThanTheHaloAreRefused) {
  const HaloLayers four{{{4, 4}, {4, 4}, {4, 4}}};
  EXPECT_ERROR(Decomposition(cube(10), kHold, {1, 1, 3}, four), ErrorCode::invalid_argument,
               "3 parts along z of a grid of 10x10x10 have 3 cells, and their neighbours take 4 layers");
  EXPECT_ERROR(Decomposition(cube(10), kHold, {11, 1, 1}, four), ErrorCode::invalid_argument, "from 1 to 10");
  EXPECT_ERROR(Decomposition({2, {10, 10, 1}}, kHold, {1, 1, 2}, {}), ErrorCode::invalid_argument, "along z");
  EXPECT_ERROR(choose_decomposition(cube(6), kHold, 8, four), ErrorCode::invalid_argument, "each as thick as the halo");
  EXPECT_EQ(choose_decomposition({3, {6, 6, 64}}, kHold, 8, four).cut(), (Cut{1, 1, 8}));
}

}  // namespace
}  // namespace stencil_tune
