#include "generator/kernel_source/regroup.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>

namespace stencil_tune {
namespace {

// ---- operations in a tile -------------------------------------------------------------------------------------------

/// What a node computes but for where in x and y: nodes of one shape are translations of one another.
struct Placed {
  int shape = -1;
  bool anywhere = true;  ///< reads nothing, so that it has no place
  int x = 0;
  int y = 0;
};

class ShapeCounter {
 public:
  explicit ShapeCounter(const Stencil& stencil) : stencil_(stencil), placed_(stencil.nodes.size()) {}

  int count(const std::vector<NodeId>& roots) {
    const std::vector<bool> marked = reachable(stencil_, roots);
    for (std::size_t id = 0; id < marked.size(); ++id) {
      if (marked[id]) placed_[id] = place(stencil_.nodes[id], static_cast<NodeId>(id));
    }
    return operations_;
  }

 private:
  /// Operation; index, plane or place of the node itself; then shape and distance of each operand.
  using Key = std::array<std::int64_t, 12>;

  Placed place(const Node& node, NodeId id) {
    if (node.op == Operation::read) {
      return {shape_of({static_cast<int>(node.op), node.index, node.offset[2]}), false, node.offset[0], node.offset[1]};
    }
    std::vector<Placed> operands;
    operands.reserve(static_cast<std::size_t>(operand_count(node.op)));
    for (int i = 0; i < operand_count(node.op); ++i) operands.push_back(placed_[at(node.operands[at(i)])]);
    const auto first = std::find_if(operands.begin(), operands.end(), [](const Placed& p) { return !p.anywhere; });
    if (first == operands.end()) return {shape_of({static_cast<int>(node.op), -1, id}), true, 0, 0};
    const Placed here{0, false, first->x, first->y};
    Key key{static_cast<int>(node.op), -1, -1};
    std::size_t next = 3;
    for (const Placed& operand : operands) {
      key[next++] = operand.shape;
      key[next++] = operand.anywhere ? 0 : operand.x - here.x;
      key[next++] = operand.anywhere ? 0 : operand.y - here.y;
    }
    const auto known = shapes_.size();
    const int shape = shape_of(key);
    if (shapes_.size() > known) ++operations_;
    return {shape, false, here.x, here.y};
  }

  int shape_of(const Key& key) { return shapes_.try_emplace(key, static_cast<int>(shapes_.size())).first->second; }

  const Stencil& stencil_;
  std::vector<Placed> placed_;
  std::map<Key, int> shapes_;
  int operations_ = 0;
};

// ---- regrouping -----------------------------------------------------------------------------------------------------

/// Whether there is one way only from the root to each read below it.
bool reads_each_cell_once(const Stencil& stencil, NodeId root) {
  std::vector<int> ways(at(root) + 1);
  ways[at(root)] = 1;
  for (NodeId id = root; id >= 0; --id) {
    const Node& node = stencil.nodes[at(id)];
    if (node.op == Operation::read && ways[at(id)] > 1) return false;
    for (int i = 0; ways[at(id)] > 0 && i < operand_count(node.op); ++i) {
      int& more = ways[at(node.operands[at(i)])];
      more = std::min(2, more + ways[at(id)]);
    }
  }
  return true;
}

/// Sums of cells, along z, then y, then x.
class Summation {
 public:
  explicit Summation(StencilBuilder& builder) : builder_(builder) {}

  /// -1 for no taps.
  NodeId sum(std::vector<Tap> taps) {
    std::sort(taps.begin(), taps.end(), [](const Tap& a, const Tap& b) {
      return std::tie(a.field, a.offset) < std::tie(b.field, b.offset);  // x first, z last
    });
    NodeId total = -1;
    for (auto first = taps.begin(); first != taps.end();) {
      const auto last = std::find_if(first, taps.end(), [&](const Tap& tap) { return tap.field != first->field; });
      total = add(total, along(first, last, 0));
      first = last;
    }
    return total;
  }

 private:
  using Iterator = std::vector<Tap>::const_iterator;

  NodeId along(Iterator first, Iterator last, std::size_t axis) {
    if (axis == kMaxRank) return builder_.read(first->field, first->offset);
    NodeId total = -1;
    while (first != last) {
      const auto next =
          std::find_if(first, last, [&](const Tap& tap) { return tap.offset[axis] != first->offset[axis]; });
      total = add(total, along(first, next, axis + 1));
      first = next;
    }
    return total;
  }

  NodeId add(NodeId a, NodeId b) { return a < 0 ? b : builder_.apply(Operation::add, a, b); }

  StencilBuilder& builder_;
};

/// Taps of one weight: those added, those subtracted.
struct WeightGroup {
  NodeId weight = -1;
  std::vector<Tap> added;
  std::vector<Tap> subtracted;
};

std::vector<WeightGroup> by_weight(const std::vector<LinearTap>& taps) {
  std::vector<WeightGroup> groups;
  std::map<NodeId, std::size_t> group_of;
  for (const LinearTap& tap : taps) {
    const auto [entry, is_new] = group_of.try_emplace(tap.weight, groups.size());
    if (is_new) groups.push_back({tap.weight, {}, {}});
    WeightGroup& group = groups[entry->second];
    (tap.negative ? group.subtracted : group.added).push_back(tap.tap);
  }
  return groups;
}

NodeId weighted_sum(StencilBuilder& builder, const std::vector<EquallyWeighted>& sums) {
  NodeId total = -1;
  for (const EquallyWeighted& part : sums) {
    const NodeId term = part.weight < 0 ? part.sum : builder.apply(Operation::multiply, part.weight, part.sum);
    if (total < 0) {
      total = part.negative ? builder.apply(Operation::negate, term) : term;
    } else {
      total = builder.apply(part.negative ? Operation::subtract : Operation::add, total, term);
    }
  }
  return total;
}

}  // namespace

int operations_in_tile(const Stencil& stencil, const std::vector<NodeId>& roots) {
  return ShapeCounter(stencil).count(roots);
}

NodeId regroup(StencilBuilder& builder, NodeId root, const std::vector<LinearTap>& taps) {
  const std::vector<WeightGroup> groups = by_weight(taps);
  if (groups.size() == taps.size() || !reads_each_cell_once(builder.stencil(), root)) return root;
  const NodeId regrouped = weighted_sum(builder, sum_by_weight(builder, taps));
  const int before = operations_in_tile(builder.stencil(), {root});
  return operations_in_tile(builder.stencil(), {regrouped}) < before ? regrouped : root;
}

std::vector<EquallyWeighted> sum_by_weight(StencilBuilder& builder, const std::vector<LinearTap>& taps) {
  Summation summation(builder);
  std::vector<EquallyWeighted> sums;
  for (const WeightGroup& group : by_weight(taps)) {
    const NodeId added = summation.sum(group.added);
    const NodeId subtracted = summation.sum(group.subtracted);
    if (added < 0) {
      sums.push_back({group.weight, subtracted, true});
    } else {
      const NodeId sum = subtracted < 0 ? added : builder.apply(Operation::subtract, added, subtracted);
      sums.push_back({group.weight, sum, false});
    }
  }
  return sums;
}

}  // namespace stencil_tune
