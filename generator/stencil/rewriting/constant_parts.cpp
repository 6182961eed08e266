#include "generator/stencil/rewriting/constant_parts.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <set>
#include <vector>

namespace stencil_tune {
namespace {

/// What a node reads: the number of one field, which it reads at the cell alone, or one of these.
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

}  // namespace

ConstantParts with_constant_parts(const Stencil& stencil, const StepFacts& step, const std::vector<int>& fields) {
  ConstantParts result{stencil, {}};
  for (const auto& [field, part] : find_parts(StencilBuilder(stencil), step, fields)) {
    result.parts[field] = static_cast<NodeId>(result.stencil.nodes.size());
    result.stencil.nodes.push_back(stencil.nodes[at(part)]);
    result.stencil.nodes[at(part)] = Node{.op = Operation::read, .index = field};
  }
  return result;
}

}  // namespace stencil_tune
