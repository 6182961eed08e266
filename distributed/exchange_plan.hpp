// Which cells go where in one exchange of halos. No GPU.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/decomposition.hpp"

#include <cstdint>
#include <vector>

namespace stencil_tune {

/// Layers of a field that are exchanged.
struct FieldHalo {
  int field = 0;
  HaloLayers layers{};
};

/// Cells of one field in a message.
struct MessagePart {
  int field = 0;
  Box cells;               ///< in the rank's array, counted from its first cell
  std::int64_t start = 0;  ///< where the part begins, in cells from the start of all messages of the exchange
};

struct Message {
  int peer = 0;
  std::vector<MessagePart> parts;  ///< one after another
  std::int64_t cells = 0;          ///< sum over all parts
};

/// One message for each neighbour, edges and corners included, so that all can travel at once. Both lists go through
/// the directions in the sender's order: where a rank is another's neighbour on two sides, first sends meet first
/// receives.
struct ExchangePlan {
  std::vector<Message> sends;
  std::vector<Message> receives;
  /// The cells of each part lie together in memory, on both sides, so that it needs no packing: the slowest axis alone
  /// is cut.
  bool contiguous = false;

  std::int64_t cells_sent() const;
  std::int64_t cells_received() const;
};

/// Halos of the fields that a step of the whole grid changes, as deep as so many steps need.
std::vector<FieldHalo> halos_before(const Problem& whole, int steps);

ExchangePlan plan_exchange(const Decomposition& grid, int rank, const std::vector<FieldHalo>& fields);

}  // namespace stencil_tune
