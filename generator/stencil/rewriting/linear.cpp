#include "generator/stencil/rewriting/linear.hpp"

#include "generator/stencil/indices.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <tuple>

namespace stencil_tune {
namespace {

/// A signed read-free factor; node -1 stands for 1.
struct Weight {
  NodeId node = -1;
  bool negative = false;
};

/// What the root's derivative with respect to each node is, collected from the root down to the terms.
class WeightCollector {
 public:
  WeightCollector(StencilBuilder& builder, NodeId root, const IsTerm& is_term)
      : builder_(builder), is_term_(is_term), weights_(at(root) + 1) {
    weights_[at(root)] = Weight{};
  }

  std::vector<LinearTerm> collect() {
    // Operands come before their users, so that going down each node has its whole weight when it is reached.
    for (NodeId id = static_cast<NodeId>(weights_.size()) - 1; id >= 0; --id) {
      if (weights_[at(id)]) pass_on(id);
    }
    return std::move(terms_);
  }

 private:
  void pass_on(NodeId id) {
    const Weight weight = *weights_[at(id)];
    const Node node = builder_.stencil().nodes[at(id)];  // a copy: weights may grow the arena
    const NodeId a = node.operands[0];
    const NodeId b = node.operands[1];
    if (node.op == Operation::read || is_term_(id, weight.node)) {
      terms_.push_back({id, weight.node, weight.negative});
      return;
    }
    switch (node.op) {
      case Operation::add:
        give(a, weight);
        give(b, weight);
        break;
      case Operation::subtract:
        give(a, weight);
        give(b, {weight.node, !weight.negative});
        break;
      case Operation::negate:
        give(a, {weight.node, !weight.negative});
        break;
      case Operation::multiply:
        if (builder_.reads_field(a)) {
          give(a, scaled(weight, Operation::multiply, b));
        } else {
          give(b, scaled(weight, Operation::multiply, a));
        }
        break;
      case Operation::divide:
        give(a, scaled(weight, Operation::divide, b));
        break;
      default:
        break;  // is_linear() admits nothing else
    }
  }

  Weight scaled(Weight weight, Operation op, NodeId by) {
    if (weight.node < 0) {
      if (op == Operation::multiply) return {by, weight.negative};
      weight.node = builder_.number(1);
    }
    return {builder_.apply(op, weight.node, by), weight.negative};
  }

  void give(NodeId id, Weight more) {
    std::optional<Weight>& weight = weights_[at(id)];
    weight = weight ? sum(*weight, more) : more;
  }

  Weight sum(Weight a, Weight b) {
    if (a.node == b.node && a.negative != b.negative) return {builder_.number(0), false};
    const NodeId x = a.node < 0 ? builder_.number(1) : a.node;
    const NodeId y = b.node < 0 ? builder_.number(1) : b.node;
    if (a.negative == b.negative) return {builder_.apply(Operation::add, x, y), a.negative};
    return a.negative ? Weight{builder_.apply(Operation::subtract, y, x), false}
                      : Weight{builder_.apply(Operation::subtract, x, y), false};
  }

  StencilBuilder& builder_;
  const IsTerm& is_term_;
  std::vector<std::optional<Weight>> weights_;
  std::vector<LinearTerm> terms_;
};

enum class Degree { constant, linear, other };

Degree degree_of(const Node& node, const std::vector<Degree>& known) {
  const auto of = [&](int operand) { return known[at(node.operands[static_cast<std::size_t>(operand)])]; };
  const int count = operand_count(node.op);
  if (is_place(node.op)) return Degree::other;
  bool constant = node.op != Operation::read;
  for (int i = 0; i < count; ++i) constant = constant && of(i) == Degree::constant;
  if (constant) return Degree::constant;
  const auto is = [](bool linear) { return linear ? Degree::linear : Degree::other; };
  switch (node.op) {
    case Operation::read:
      return Degree::linear;
    case Operation::negate:
      return of(0);
    case Operation::add:
    case Operation::subtract:
      return is(of(0) == Degree::linear && of(1) == Degree::linear);
    case Operation::multiply:
      return is((of(0) == Degree::linear && of(1) == Degree::constant) ||
                (of(0) == Degree::constant && of(1) == Degree::linear));
    case Operation::divide:
      return is(of(0) == Degree::linear && of(1) == Degree::constant);
    default:
      return Degree::other;
  }
}

}  // namespace

bool is_linear(const Stencil& stencil, NodeId root) {
  std::vector<Degree> degrees;
  degrees.reserve(at(root) + 1);
  for (NodeId id = 0; id <= root; ++id) degrees.push_back(degree_of(stencil.nodes[at(id)], degrees));
  return degrees.back() == Degree::linear;
}

std::vector<LinearTerm> distribute_terms(StencilBuilder& builder, NodeId root, const IsTerm& is_term) {
  return WeightCollector(builder, root, is_term).collect();
}

std::vector<LinearTap> distribute_weights(StencilBuilder& builder, NodeId root) {
  std::vector<LinearTap> taps;
  for (const LinearTerm& term : distribute_terms(builder, root, [](NodeId, NodeId) { return false; })) {
    const Node& read = builder.stencil().nodes[at(term.node)];
    taps.push_back({{read.index, read.offset}, term.weight, term.negative});
  }
  std::sort(taps.begin(), taps.end(),
            [](const LinearTap& a, const LinearTap& b) { return comes_before(a.tap, b.tap); });
  return taps;
}

bool comes_before(const Tap& a, const Tap& b) {
  return std::tie(a.field, a.offset[2], a.offset[1], a.offset[0]) <
         std::tie(b.field, b.offset[2], b.offset[1], b.offset[0]);
}

std::vector<NodeId> roots_of(const Stencil& stencil) {
  std::vector<NodeId> roots;
  for (const Stage& stage : stencil.stages) {
    for (const Update& update : stage.updates) roots.push_back(update.expression);
  }
  return roots;
}

std::vector<bool> reachable(const Stencil& stencil, const std::vector<NodeId>& roots) {
  std::vector<bool> marked(stencil.nodes.size());
  NodeId last = -1;
  for (const NodeId root : roots) {
    marked[at(root)] = true;
    last = std::max(last, root);
  }
  for (NodeId id = last; id >= 0; --id) {
    if (!marked[at(id)]) continue;
    const Node& node = stencil.nodes[at(id)];
    for (int i = 0; i < operand_count(node.op); ++i) marked[at(node.operands[static_cast<std::size_t>(i)])] = true;
  }
  return marked;
}

}  // namespace stencil_tune
