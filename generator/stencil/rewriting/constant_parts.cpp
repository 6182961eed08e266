#include "generator/stencil/rewriting/constant_parts.hpp"

#include "generator/stencil/rewriting/linear.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

namespace stencil_tune {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::vector<NodeId> roots_of(const Stencil& stencil) {
  std::vector<NodeId> roots;
  for (const Stage& stage : stencil.stages) {
    for (const Update& update : stage.updates) roots.push_back(update.expression);
  }
  return roots;
}

/// Of each node the one field that it reads, at the cell alone, or one of the others.
constexpr int kNone = -1;   ///< what it computes is the same in all cells
constexpr int kMixed = -2;  ///< several fields, another cell, or the cell's place

std::vector<int> fields_read(const StencilBuilder& builder) {
  const std::vector<Node>& nodes = builder.stencil().nodes;
  std::vector<int> fields(nodes.size(), kNone);
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    const Node& node = nodes[id];
    if (!builder.reads_field(static_cast<NodeId>(id))) continue;
    if (node.op == Operation::read) {
      fields[id] = node.offset == Offset{0, 0, 0} ? node.index : kMixed;
    } else if (is_place(node.op)) {
      fields[id] = kMixed;
    }
    for (int i = 0; i < operand_count(node.op); ++i) {
      const int operand = fields[at(node.operands[at(i)])];
      if (operand == kNone) continue;
      fields[id] = fields[id] == kNone || fields[id] == operand ? operand : kMixed;
    }
  }
  return fields;
}

/// The parts as they are written, of fields in `wanted`.
std::map<int, NodeId> find_parts(const StencilBuilder& builder, const StepFacts& step, const std::vector<int>& wanted) {
  const Stencil& stencil = builder.stencil();
  const std::vector<int> fields = fields_read(builder);
  std::map<int, std::set<NodeId>> largest;
  std::set<int> refused;
  std::vector<bool> reached(stencil.nodes.size());
  for (const NodeId root : roots_of(stencil)) reached[at(root)] = true;
  for (auto id = static_cast<NodeId>(stencil.nodes.size()) - 1; id >= 0; --id) {
    if (!reached[at(id)]) continue;
    const Node& node = stencil.nodes[at(id)];
    if (node.op == Operation::read) refused.insert(node.index);
    if (fields[at(id)] >= 0) {
      largest[fields[at(id)]].insert(id);
      continue;
    }
    for (int i = 0; i < operand_count(node.op); ++i) reached[at(node.operands[at(i)])] = true;
  }
  for (const StepStage& stage : step.stages) {
    for (const LinearTap& weighted : stage.facts.linear_taps) refused.insert(weighted.tap.field);
  }
  std::map<int, NodeId> parts;
  for (const int field : wanted) {
    const auto found = largest.find(field);
    if (found == largest.end() || found->second.size() > 1 || refused.contains(field)) continue;
    parts.insert({field, *found->second.begin()});
  }
  return parts;
}

/// Weighted sums of an update: what adds up to a node, by sums and differences.
class WeightedSums {
 public:
  explicit WeightedSums(StencilBuilder& builder) : builder_(builder) {}

  /// The numbers that weigh the sum's terms, without their signs; none where a term has no such weight, since it would
  /// get one.
  std::set<double> weights(NodeId sum) const {
    std::set<double> result;
    return find_weights(sum, result) ? result : std::set<double>{};
  }

  NodeId divided(NodeId sum, double by) {
    const Node node = builder_.stencil().nodes[at(sum)];
    if (adds(node.op)) {
      const NodeId first = divided(node.operands[0], by);
      return builder_.apply(node.op, first, operand_count(node.op) > 1 ? divided(node.operands[1], by) : -1);
    }
    const auto weight = weight_of(node);
    return builder_.apply(Operation::multiply, builder_.number(weight.value_or(1) / by),
                          weight ? node.operands[1] : sum);
  }

 private:
  bool find_weights(NodeId sum, std::set<double>& weights) const {
    const Node& node = builder_.stencil().nodes[at(sum)];
    if (adds(node.op)) {
      const bool first = find_weights(node.operands[0], weights);
      return first && (operand_count(node.op) == 1 || find_weights(node.operands[1], weights));
    }
    const auto weight = weight_of(node);
    if (weight) weights.insert(std::abs(*weight));
    return weight.has_value();
  }

  static bool adds(Operation op) {
    return op == Operation::add || op == Operation::subtract || op == Operation::negate;
  }
  /// Of a product that begins with a number.
  std::optional<double> weight_of(const Node& node) const {
    if (node.op != Operation::multiply) return {};
    const Node& first = builder_.stencil().nodes[at(node.operands[0])];
    if (first.op != Operation::number || first.value == 0) return {};
    return first.value;
  }

  StencilBuilder& builder_;
};

/// The update's expressions over parts.
class OverParts {
 public:
  OverParts(StencilBuilder& builder, const std::map<int, NodeId>& parts)
      : builder_(builder), nodes_(builder.stencil().nodes), roots_(roots_of(builder.stencil())) {
    for (const auto& [field, part] : parts) field_of_[part] = field;
    for (const NodeId root : roots_) weights_.try_emplace(root);  // a part that is stored itself has no sum
    const std::vector<bool> used = reachable(builder.stencil(), roots_);
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (used[id]) find_sums_of_parts(nodes_[id]);
    }
  }

  /// The weight that belongs to the part; 1 where the sums have none in common.
  double weight(NodeId part) const {
    const auto found = weights_.find(part);
    return found == weights_.end() || found->second.empty() ? 1 : *found->second.rbegin();
  }

  void rewrite() {
    std::vector<NodeId> rebuilt(nodes_.size(), -1);
    const std::vector<bool> used = reachable(builder_.stencil(), roots_);
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      if (used[id]) rebuilt[id] = over_parts(static_cast<NodeId>(id), rebuilt);
    }
    builder_.rewrite([&](NodeId expression) { return rebuilt[at(expression)]; });
  }

 private:
  /// Weights that a part's sums so far have in common.
  void find_sums_of_parts(const Node& node) {
    for (int i = 0; i < operand_count(node.op); ++i) {
      const NodeId part = node.operands[at(i)];
      if (!field_of_.contains(part)) continue;
      std::set<double> weights;
      if (node.op == Operation::multiply) weights = WeightedSums(builder_).weights(node.operands[at(1 - i)]);
      const auto [known, is_first] = weights_.try_emplace(part, weights);
      if (is_first) continue;
      std::erase_if(known->second, [&](double weight) { return !weights.contains(weight); });
    }
  }

  NodeId over_parts(NodeId id, const std::vector<NodeId>& rebuilt) {
    const auto field = field_of_.find(id);
    if (field != field_of_.end()) return builder_.read(field->second, {0, 0, 0});
    const Node& node = nodes_[at(id)];
    const int count = operand_count(node.op);
    if (count == 0) return id;
    std::array<NodeId, 3> operands{-1, -1, -1};
    for (int i = 0; i < count; ++i) operands[at(i)] = rebuilt[at(node.operands[at(i)])];
    for (int i = 0; i < count; ++i) {
      const double by = weight(node.operands[at(i)]);
      if (by != 1) operands[at(1 - i)] = WeightedSums(builder_).divided(operands[at(1 - i)], by);
    }
    return builder_.apply(node.op, operands[0], operands[1], operands[2]);
  }

  StencilBuilder& builder_;
  const std::vector<Node> nodes_;
  const std::vector<NodeId> roots_;
  std::map<NodeId, int> field_of_;              ///< of each part
  std::map<NodeId, std::set<double>> weights_;  ///< of each part
};

}  // namespace

ConstantParts with_constant_parts(const Stencil& stencil, const StepFacts& step, const std::vector<int>& fields) {
  StencilBuilder builder(stencil);
  const std::map<int, NodeId> parts = find_parts(builder, step, fields);
  OverParts over(builder, parts);
  over.rewrite();
  std::map<int, NodeId> weighted;
  for (const auto& [field, part] : parts) {
    weighted[field] = builder.apply(Operation::multiply, builder.number(over.weight(part)), part);
  }
  return {builder.stencil(), weighted};
}

}  // namespace stencil_tune
