// What travels in an exchange: each cell of each halo once, from its owner.
#include "distributed/exchange_plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace stencil_tune {
namespace {

using Cell = std::array<std::int64_t, kMaxRank>;

template <class Visit>
void each_cell(const Box& box, Visit visit) {
  for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
    for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
      for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) visit(Cell{x, y, z});
    }
  }
}

/// The cell of the grid that stands there in the rank's array.
Cell global(const Decomposition& grid, int rank, Cell cell) {
  const Box array = grid.array(rank);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const std::int64_t n = grid.grid().n[axis];
    cell[axis] = (cell[axis] + array.low[axis] + n) % n;
  }
  return cell;
}

/// Cells that arrive in the rank's halo, with how often; each must be the very one that stands there.
std::map<Cell, int> arrivals(const Decomposition& grid, int rank, const std::vector<FieldHalo>& fields) {
  std::map<Cell, int> arrived;
  const ExchangePlan plan = plan_exchange(grid, rank, fields);
  std::map<int, std::size_t> received_from;
  for (const Message& receive : plan.receives) {
    const ExchangePlan peer = plan_exchange(grid, receive.peer, fields);
    std::size_t number = received_from[receive.peer]++;
    for (const Message& send : peer.sends) {
      if (send.peer != rank || number-- > 0) continue;
      EXPECT_EQ(send.cells, receive.cells);
      EXPECT_EQ(send.parts.size(), receive.parts.size());
      for (std::size_t i = 0; i < send.parts.size(); ++i) {
        std::vector<Cell> sent, expected;
        each_cell(send.parts[i].cells, [&](const Cell& cell) { sent.push_back(global(grid, receive.peer, cell)); });
        each_cell(receive.parts[i].cells, [&](const Cell& cell) {
          expected.push_back(global(grid, rank, cell));
          ++arrived[cell];
        });
        EXPECT_EQ(sent, expected) << "rank " << rank << " from " << receive.peer;
        EXPECT_EQ(send.parts[i].field, receive.parts[i].field);
      }
    }
  }
  return arrived;
}

void expect_whole_halo(const Decomposition& grid) {
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    std::map<Cell, int> arrived = arrivals(grid, rank, {{0, grid.halo()}});
    const Box array = grid.array(rank), own = grid.owned(rank);
    EXPECT_EQ(static_cast<std::int64_t>(arrived.size()), array.cells() - own.cells());
    for (const auto& [cell, times] : arrived) EXPECT_EQ(times, 1);
  }
}

TEST(ExchangePlan, FillsEachHaloCellOnceWithTheCellThatStandsThere) {
  constexpr HaloLayers kHalo{{{2, 1}, {1, 2}, {2, 2}}};
  for (const Boundary boundary : {Boundary::hold, Boundary::periodic}) {
    for (const Cut& cut : {Cut{2, 1, 1}, Cut{1, 3, 1}, Cut{1, 1, 4}, Cut{2, 2, 1}, Cut{2, 3, 2}, Cut{3, 3, 3}}) {
      expect_whole_halo(Decomposition({3, {7, 11, 9}}, {boundary, Boundary::periodic, boundary}, cut, kHalo));
    }
  }
}

TEST(ExchangePlan, FieldsTravelTogetherEachWithItsOwnLayers) {
  const Decomposition grid({2, {8, 12, 1}}, {Boundary::hold, Boundary::hold, Boundary::hold}, {1, 2, 1},
                           {{{0, 0}, {3, 3}, {0, 0}}});
  const ExchangePlan plan = plan_exchange(grid, 0, {{0, grid.halo()}, {2, {{{0, 0}, {1, 1}, {0, 0}}}}, {3, {}}});
  ASSERT_EQ(plan.sends.size(), 1U);
  ASSERT_EQ(plan.sends.front().parts.size(), 2U) << "nothing of a field without a halo";
  EXPECT_EQ(plan.cells_sent(), 8 * (3 + 1));
  EXPECT_EQ(plan.sends.front().parts[1].start, 8 * 3);
  EXPECT_EQ(plan.sends.front().parts[1].cells, (Box{{0, 5, 0}, {8, 6, 1}}));
  EXPECT_EQ(plan.receives.front().parts[0].cells, (Box{{0, 6, 0}, {8, 9, 1}}));
}

TEST(ExchangePlan, WholePlanesNeedNoPacking) {
  const Boundaries hold{Boundary::hold, Boundary::hold, Boundary::hold};
  const HaloLayers one{{{1, 1}, {1, 1}, {1, 1}}};
  const auto contiguous = [&](const Extents& extents, const Cut& cut) {
    return plan_exchange(Decomposition(extents, hold, cut, one), 0, {{0, one}}).contiguous;
  };
  EXPECT_TRUE(contiguous({3, {8, 8, 8}}, {1, 1, 2}));
  EXPECT_FALSE(contiguous({3, {8, 8, 8}}, {1, 2, 2}));
  EXPECT_FALSE(contiguous({3, {8, 8, 8}}, {1, 2, 1}));
  EXPECT_TRUE(contiguous({2, {8, 8, 1}}, {1, 2, 1}));
  EXPECT_TRUE(contiguous({1, {8, 1, 1}}, {2, 1, 1}));
}

}  // namespace
}  // namespace stencil_tune
