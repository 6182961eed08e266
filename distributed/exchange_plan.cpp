#include "distributed/exchange_plan.hpp"

#include "generator/cut/halo_need.hpp"

#include <utility>

namespace stencil_tune {
namespace {

std::vector<Direction> directions() {
  std::vector<Direction> all;
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        if (x != 0 || y != 0 || z != 0) all.push_back({x, y, z});
      }
    }
  }
  return all;
}

Direction opposite(const Direction& direction) { return {-direction[0], -direction[1], -direction[2]}; }

/// Own cells that the neighbour in that direction has in its halo.
Box sent(const Box& own, const Direction& direction, const HaloLayers& layers) {
  Box box = own;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (direction[axis] > 0) box.low[axis] = own.high[axis] - layers[axis].low;
    if (direction[axis] < 0) box.high[axis] = own.low[axis] + layers[axis].high;
  }
  return box;
}

/// Cells of the halo that the neighbour in the opposite direction sends that way.
Box received(const Box& own, const Direction& direction, const HaloLayers& layers) {
  Box box = own;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (direction[axis] > 0) {
      box.low[axis] = own.low[axis] - layers[axis].low;
      box.high[axis] = own.low[axis];
    }
    if (direction[axis] < 0) {
      box.low[axis] = own.high[axis];
      box.high[axis] = own.high[axis] + layers[axis].high;
    }
  }
  return box;
}

Box relative_to(const Box& array, Box box) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    box.low[axis] -= array.low[axis];
    box.high[axis] -= array.low[axis];
  }
  return box;
}

bool only_slowest_axis_is_cut(const Decomposition& grid) {
  for (std::size_t axis = 0; axis + 1 < static_cast<std::size_t>(grid.grid().rank); ++axis) {
    if (grid.cut()[axis] > 1) return false;
  }
  return true;
}

std::int64_t cells_of(const std::vector<Message>& messages) {
  std::int64_t cells = 0;
  for (const Message& message : messages) cells += message.cells;
  return cells;
}

}  // namespace

std::int64_t ExchangePlan::cells_sent() const { return cells_of(sends); }
std::int64_t ExchangePlan::cells_received() const { return cells_of(receives); }

std::vector<FieldHalo> halos_before(const Problem& whole, int steps) {
  const HaloNeed need = halo_need(whole, steps);
  std::vector<FieldHalo> halos;
  for (const int field : whole.step.state) halos.push_back({field, need.fields[static_cast<std::size_t>(field)]});
  return halos;
}

ExchangePlan plan_exchange(const Decomposition& grid, int rank, const std::vector<FieldHalo>& fields) {
  const Box own = grid.owned(rank);
  const Box array = grid.array(rank);
  ExchangePlan plan;
  plan.contiguous = only_slowest_axis_is_cut(grid);
  const auto add = [&](std::vector<Message>& messages, int peer, const Direction& direction, auto box_of) {
    Message message{.peer = peer, .parts = {}, .cells = 0};
    const std::int64_t start = cells_of(messages);
    for (const FieldHalo& field : fields) {
      const Box box = box_of(own, direction, field.layers);
      if (box.cells() == 0) continue;
      message.parts.push_back({field.field, relative_to(array, box), start + message.cells});
      message.cells += box.cells();
    }
    if (message.cells > 0) messages.push_back(std::move(message));
  };
  for (const Direction& direction : directions()) {
    if (const auto to = grid.neighbour(rank, direction)) add(plan.sends, *to, direction, sent);
    if (const auto from = grid.neighbour(rank, opposite(direction))) add(plan.receives, *from, direction, received);
  }
  return plan;
}

}  // namespace stencil_tune
