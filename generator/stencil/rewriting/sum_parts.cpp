#include "generator/stencil/rewriting/sum_parts.hpp"

#include "generator/stencil/indices.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {
namespace {

/// Where a node's reads lie along the walked axis, and what is done to them.
struct Reads {
  bool any = false;
  bool early = false;     ///< some are of an input that is read beyond the cell
  bool late = false;      ///< some are of an input that is not
  bool only_sums = true;  ///< nothing is done to them but add, subtract and negate
  bool additive = false;  ///< a sum, with read-free weights, of parts that each lie in one plane or are late
  int lowest = 0;         ///< plane
  int highest = 0;

  bool in_one_plane() const { return early && !late && lowest == highest; }
  bool only_late() const { return late && !early; }
};

bool adds(Operation op) { return op == Operation::add || op == Operation::subtract || op == Operation::negate; }

class Splitter {
 public:
  Splitter(const Problem& problem, std::size_t walked_axis)
      : problem_(problem), walked_axis_(walked_axis), parts_{StencilBuilder(problem.stencil), {}, {}} {
    for (const Node& node : problem.stencil.nodes) reads_.push_back(reads_of(node));
  }

  SumParts split() {
    const Stencil& stencil = problem_.stencil;
    const auto& updates = stencil.stages[at(problem_.stage)].updates;
    // From the outputs down: what planes can add to becomes a sum, its operands are not looked at.
    std::vector<bool> wanted(stencil.nodes.size());
    std::vector<bool> is_sum(stencil.nodes.size());
    for (const Update& update : updates) wanted[at(update.expression)] = true;
    for (NodeId id = static_cast<NodeId>(stencil.nodes.size()) - 1; id >= 0; --id) {
      if (!wanted[at(id)] || !reads_[at(id)].early) continue;
      is_sum[at(id)] = reads_[at(id)].additive;
      if (is_sum[at(id)]) continue;
      const Node& node = stencil.nodes[at(id)];
      for (int i = 0; i < operand_count(node.op); ++i) wanted[at(node.operands[at(i)])] = true;
    }
    // From the reads up: the same expressions over the sums.
    std::vector<NodeId> rewritten(stencil.nodes.size(), -1);
    for (NodeId id = 0; id < static_cast<NodeId>(stencil.nodes.size()); ++id) {
      if (!wanted[at(id)]) continue;
      if (!reads_[at(id)].early) {
        rewritten[at(id)] = id;
      } else {
        rewritten[at(id)] = is_sum[at(id)] ? sum(id) : with_operands(stencil.nodes[at(id)], rewritten);
      }
    }
    for (const Update& update : updates) {
      parts_.finish.push_back({update.output, rewritten[at(update.expression)]});
    }
    return std::move(parts_);
  }

 private:
  Reads reads_of(const Node& node) const {
    Reads reads;
    if (node.op == Operation::read) {
      const bool late = is_late(node.index);
      return {true, !late, late, true, true, node.offset[walked_axis_], node.offset[walked_axis_]};
    }
    for (int i = 0; i < operand_count(node.op); ++i) {
      const Reads& operand = reads_[at(node.operands[at(i)])];
      if (!operand.any) continue;
      reads.lowest = reads.any ? std::min(reads.lowest, operand.lowest) : operand.lowest;
      reads.highest = reads.any ? std::max(reads.highest, operand.highest) : operand.highest;
      reads.any = true;
      reads.early = reads.early || operand.early;
      reads.late = reads.late || operand.late;
      reads.only_sums = reads.only_sums && operand.only_sums;
    }
    reads.only_sums = reads.only_sums && adds(node.op) && !adds_a_constant(node);
    reads.additive = reads.in_one_plane() || reads.only_late() || is_sum_of_additive(node);
    return reads;
  }

  bool is_sum_of_additive(const Node& node) const {
    const auto additive = [&](std::size_t i) { return reads_[at(node.operands[i])].additive; };
    switch (node.op) {
      case Operation::add:
      case Operation::subtract:
        return additive(0) && additive(1);
      case Operation::negate:
        return additive(0);
      default:
        return is_weighted(node) && (additive(0) || additive(1));
    }
  }

  bool adds_a_constant(const Node& node) const {
    const auto any = [&](std::size_t i) { return reads_[at(node.operands[i])].any; };
    return (node.op == Operation::add || node.op == Operation::subtract) && any(0) != any(1);
  }

  /// Something that reads fields, times or over something that does not.
  bool is_weighted(const Node& node) const {
    const auto any = [&](std::size_t i) { return reads_[at(node.operands[i])].any; };
    if (node.op == Operation::multiply) return any(0) != any(1);
    return node.op == Operation::divide && any(0) && !any(1);
  }

  /// A field that other stages alone read says nothing of this one.
  bool is_late(int field) const {
    const auto& inputs = problem_.facts.inputs;
    const auto input = std::find(inputs.begin(), inputs.end(), field);
    return input == inputs.end() ||
           stencil_tune::is_late(problem_.facts, static_cast<std::size_t>(input - inputs.begin()));
  }

  /// What weights are not distributed over. Within a plane that is what is no sum, and a sum of weighted parts that
  /// gets one more weight: (a + 2*b) * c as it is, and not a*c + b*(2*c). Every output that reads the plane finds the
  /// same values.
  bool is_whole(NodeId id, NodeId weight) const {
    const Reads& reads = reads_[at(id)];
    const Node& node = problem_.stencil.nodes[at(id)];
    if (reads.only_late()) return true;
    if (!reads.in_one_plane()) return false;
    if (adds(node.op)) return adds_a_constant(node) || (weight >= 0 && !reads.only_sums);
    return !is_weighted(node);
  }

  NodeId with_operands(const Node& node, const std::vector<NodeId>& rewritten) {
    const auto operand = [&](std::size_t i) {
      return static_cast<int>(i) < operand_count(node.op) ? rewritten[at(node.operands[i])] : -1;
    };
    return parts_.builder.apply(node.op, operand(0), operand(1), operand(2));
  }

  /// Early terms become a sum; late ones stay beside it.
  NodeId sum(NodeId id) {
    StencilBuilder& builder = parts_.builder;
    NodeId whole = builder.read(builder.field(fmt::format("(sum {})", parts_.sums.size())), {0, 0, 0});
    auto& planes = parts_.sums.emplace_back();
    for (const LinearTerm& term :
         distribute_terms(builder, id, [this](NodeId node, NodeId weight) { return is_whole(node, weight); })) {
      const Reads& reads = reads_[at(term.node)];
      if (reads.early) {
        planes[reads.lowest].push_back(term);
      } else {
        const NodeId value = times_weight(builder, term.weight, term.node);
        whole = builder.apply(term.negative ? Operation::subtract : Operation::add, whole, value);
      }
    }
    return whole;
  }

  const Problem& problem_;
  std::size_t walked_axis_;
  SumParts parts_;
  std::vector<Reads> reads_;  ///< [node of the stencil]
};

}  // namespace

SumParts split_into_sums(const Problem& problem, std::size_t walked_axis) {
  return Splitter(problem, walked_axis).split();
}

NodeId times_weight(StencilBuilder& builder, NodeId weight, NodeId value) {
  return weight < 0 ? value : builder.apply(Operation::multiply, weight, value);
}

bool is_late(const StageFacts& facts, std::size_t input) {
  return std::all_of(facts.taps.begin(), facts.taps.end(), [&](const Tap& tap) {
    return tap.field != facts.inputs[input] || tap.offset == Offset{0, 0, 0};
  });
}

int early_inputs(const StageFacts& facts) {
  int early = 0, counted = -1;
  for (const Tap& tap : facts.taps) {  // a field's follow each other
    if (tap.offset == Offset{0, 0, 0} || tap.field == counted) continue;
    counted = tap.field;
    ++early;
  }
  return early;
}

int count_sums(const Problem& problem) {
  const auto last_axis = static_cast<std::size_t>(problem.stencil.rank - 1);  // is walked
  return static_cast<int>(split_into_sums(problem, last_axis).sums.size());
}

}  // namespace stencil_tune
