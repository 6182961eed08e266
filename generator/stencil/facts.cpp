#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

const Stage& stage_of(const Stencil& stencil, int stage) {
  if (stage < 0 || at(stage) >= stencil.stages.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("stencil '{}' has {} stages; there is no stage {}",
                                                         stencil.name, stencil.stages.size(), stage));
  }
  return stencil.stages[at(stage)];
}

/// Reads and arithmetic of the marked nodes.
void collect(const Stencil& stencil, const std::vector<bool>& marked, StageFacts& facts) {
  std::vector<bool> reads(stencil.nodes.size());
  for (std::size_t id = 0; id < stencil.nodes.size(); ++id) {
    if (!marked[id]) continue;
    const Node& node = stencil.nodes[id];
    reads[id] = node.op == Operation::read || is_place(node.op);
    facts.placed = facts.placed || is_place(node.op);
    facts.asks_place = facts.asks_place || node.op == Operation::coordinate || node.op == Operation::step ||
                       node.op == Operation::random ||
                       (node.op == Operation::profile && profile_along(stencil, node.index) == kAlongTime);
    for (int i = 0; i < operand_count(node.op); ++i) reads[id] = reads[id] || reads[at(node.operands[at(i)])];
    if (node.op == Operation::read) {
      facts.taps.push_back({node.index, node.offset});
    } else if (reads[id] && operand_count(node.op) > 0) {
      ++facts.operations;
    }
  }
  std::sort(facts.taps.begin(), facts.taps.end(), comes_before);
}

/// Inputs, reach and star from the sorted taps.
void measure(StageFacts& facts) {
  facts.star = true;
  for (const Tap& tap : facts.taps) {
    if (facts.inputs.empty() || facts.inputs.back() != tap.field) {
      facts.inputs.push_back(tap.field);
      facts.reach.emplace_back();
    }
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      Reach& reach = facts.reach.back()[axis];
      reach.low = std::min(reach.low, tap.offset[axis]);
      reach.high = std::max(reach.high, tap.offset[axis]);
      Reach& farthest = facts.farthest[axis];
      farthest = {std::min(farthest.low, reach.low), std::max(farthest.high, reach.high)};
      facts.radius[axis] = std::max(-farthest.low, farthest.high);
    }
    if (std::count(tap.offset.begin(), tap.offset.end(), 0) < kMaxRank - 1) facts.star = false;
  }
}

/// Empty where a weight would be a node that the stencil does not have (StencilBuilder::build() adds them all).
std::vector<LinearTap> taps_with_known_weights(const Stencil& stencil, NodeId root) {
  StencilBuilder scratch(stencil);
  std::vector<LinearTap> taps = distribute_weights(scratch, root);
  const bool known = std::all_of(taps.begin(), taps.end(), [&](const LinearTap& tap) {
    return tap.weight < 0 || at(tap.weight) < stencil.nodes.size();
  });
  return known ? taps : std::vector<LinearTap>();
}

}  // namespace

StageFacts analyse(const Stencil& stencil, int stage) {
  const std::vector<Update>& updates = stage_of(stencil, stage).updates;
  StageFacts facts;
  std::vector<NodeId> roots;
  facts.linear = true;
  for (const Update& update : updates) {
    facts.outputs.push_back(update.output);
    roots.push_back(update.expression);
    facts.linear = facts.linear && is_linear(stencil, update.expression);
  }
  collect(stencil, reachable(stencil, roots), facts);
  measure(facts);
  if (facts.linear && updates.size() == 1) facts.linear_taps = taps_with_known_weights(stencil, roots[0]);
  return facts;
}

std::size_t minimal_bytes(const StageFacts& facts, ElementType type) {
  return (facts.inputs.size() + facts.outputs.size()) * size_of(type);
}

}  // namespace stencil_tune
