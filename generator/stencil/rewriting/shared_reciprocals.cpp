#include "generator/stencil/rewriting/shared_reciprocals.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <cstddef>
#include <vector>

namespace stencil_tune {
namespace {

/// [node]: how many of the used nodes divide by it.
std::vector<int> quotients_by(const std::vector<Node>& nodes, const std::vector<bool>& used) {
  std::vector<int> quotients(nodes.size(), 0);
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (used[id] && nodes[id].op == Operation::divide) ++quotients[at(nodes[id].operands[1])];
  }
  return quotients;
}

/// [node]: the builder's node that computes it with shared reciprocals; -1 where the node is not used.
std::vector<NodeId> with_products(StencilBuilder& builder, const std::vector<Node>& nodes,
                                  const std::vector<bool>& used) {
  const std::vector<int> quotients = quotients_by(nodes, used);
  std::vector<NodeId> rebuilt(nodes.size(), -1);
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (!used[id]) continue;
    const Node& node = nodes[id];
    const int count = operand_count(node.op);
    std::array<NodeId, 3> operands{-1, -1, -1};
    for (int i = 0; i < count; ++i) operands[at(i)] = rebuilt[at(node.operands[at(i)])];
    const bool shares =
        node.op == Operation::divide && quotients[at(node.operands[1])] > 1 && builder.reads_field(node.operands[1]);
    if (shares) {
      const NodeId reciprocal = builder.apply(Operation::divide, builder.number(1), operands[1]);
      rebuilt[id] = builder.apply(Operation::multiply, operands[0], reciprocal);
    } else {
      rebuilt[id] =
          count == 0 ? static_cast<NodeId>(id) : builder.apply(node.op, operands[0], operands[1], operands[2]);
    }
  }
  return rebuilt;
}

}  // namespace

Stencil with_shared_reciprocals(const Stencil& stencil) {
  Stencil fields = stencil;
  fields.stages.clear();
  StencilBuilder builder(std::move(fields));
  for (const Stage& stage : stencil.stages) {
    std::vector<NodeId> roots;
    for (const Update& update : stage.updates) roots.push_back(update.expression);
    const std::vector<NodeId> rebuilt = with_products(builder, stencil.nodes, reachable(stencil, roots));
    builder.begin_stage();
    for (const Update& update : stage.updates) builder.update(update.output, rebuilt[at(update.expression)]);
  }
  return std::move(builder).build();
}

}  // namespace stencil_tune
