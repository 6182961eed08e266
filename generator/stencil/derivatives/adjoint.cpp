#include "generator/stencil/derivatives/adjoint.hpp"

#include "generator/stencil/derivatives/differentiated.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace stencil_tune {
namespace {

Offset opposite(Offset offset) {
  for (int& cells : offset) cells = -cells;
  return offset;
}

bool is_literal(const StencilBuilder& builder, NodeId id, double value) {
  const Node& node = builder.stencil().nodes[static_cast<std::size_t>(id)];
  return node.op == Operation::number && node.value == value;
}

std::string gradient_of(const Stencil& stencil, int field) {
  return gradient_name(stencil.fields[static_cast<std::size_t>(field)]);
}

/// An empty stencil with the gradients of the outputs.
StencilBuilder start(const Differentiated& from, std::string_view what) {
  StencilBuilder made = from.start(what);
  for (const Update& update : from.stencil().stages.front().updates)
    field_like(made, gradient_of(from.stencil(), update.output), from.stencil(), update.output);
  return made;
}

/// The gradient of an output times the derivative, at the cell that is `offset` away. 0 where the gradient is, also
/// where the derivative is not finite there, as beyond an edge.
NodeId term(const Differentiated& from, StencilBuilder& to, int output, NodeId derivative, const Offset& offset,
            Distances distances) {
  const Stencil& extended = from.extended();
  const auto read = [&](const Node& node) {
    const std::string& name = extended.fields[static_cast<std::size_t>(node.index)];
    return to.read(field_like(to, name, extended, node.index), moved(node.offset, offset));
  };
  const NodeId weight = Rewritten(extended, to, read, offset, distances).copy(derivative);
  const NodeId gradient = to.read(to.field(gradient_of(from.stencil(), output)), offset);
  if (is_literal(to, weight, 0)) return kNoNode;
  const NodeId product = to.apply(Operation::multiply, weight, gradient);
  if (!to.reads_field(weight)) return product;
  const NodeId zero = to.number(0);
  return to.apply(Operation::select, to.apply(Operation::equal, gradient, zero), zero, product);
}

/// The gradients take turns where the fields do, the other way, and nothing else moves.
void rotate_back(const Stencil& stencil, const std::map<int, Sum>& gradients, StencilBuilder& adjoint) {
  const auto& updates = stencil.stages.front().updates;
  const auto is_output = [&](int field) {
    return std::any_of(updates.begin(), updates.end(), [&](const Update& update) { return update.output == field; });
  };
  const bool plain = stencil.rotations.size() == updates.size() &&
                     std::all_of(stencil.rotations.begin(), stencil.rotations.end(), [&](const Rotation& rotation) {
                       return is_output(rotation.from) && !is_output(rotation.to) && gradients.count(rotation.to) > 0;
                     });
  if (!plain) return;
  for (const Rotation& rotation : stencil.rotations) {
    const auto field = [&](int of) {
      return adjoint.field(gradient_name(stencil.fields[static_cast<std::size_t>(of)]));
    };
    adjoint.rotate(field(rotation.to), field(rotation.from));
  }
}

/// A weighted sum of one field's cells: its adjoint is the same sum of the cells opposite.
bool is_sum_of_one_field(const Stencil& stencil) {
  const auto& updates = stencil.stages.front().updates;
  if (updates.size() != 1 || !is_linear(stencil, updates.front().expression)) return false;
  return analyse(stencil, 0).inputs.size() == 1;
}

/// Whether opposite cells have the same weight.
bool is_symmetric(const StageFacts& facts) {
  const auto has = [&](const LinearTap& wanted) {
    return std::any_of(facts.linear_taps.begin(), facts.linear_taps.end(), [&](const LinearTap& tap) {
      return tap.tap.offset == opposite(wanted.tap.offset) && tap.weight == wanted.weight &&
             tap.negative == wanted.negative;
    });
  };
  return std::all_of(facts.linear_taps.begin(), facts.linear_taps.end(), has);
}

/// Written as the stencil is, so that a sum that is the same from both sides is its own adjoint to the key, and kernels
/// that were tuned for it serve.
NodeId opposite_sum(const Stencil& stencil, StencilBuilder& adjoint) {
  const Update& update = stencil.stages.front().updates.front();
  const int gradient = adjoint.field(gradient_of(stencil, update.output));
  const bool symmetric = is_symmetric(analyse(stencil, 0));
  const auto read = [&](const Node& node) {
    return adjoint.read(gradient, symmetric ? node.offset : opposite(node.offset));
  };
  return Rewritten(stencil, adjoint, read).copy(update.expression);
}

}  // namespace

std::string gradient_name(const std::string& field) { return "grad_" + field; }

Stencil adjoint_of(const Stencil& stencil) {
  const Differentiated from(stencil);
  StencilBuilder adjoint = start(from, "adjoint");
  std::map<int, Sum> gradients;  // by input
  for (const auto& [output, derivatives] : from.updates()) {
    for (NodeId id = 0; id < static_cast<NodeId>(stencil.nodes.size()); ++id) {
      const Node& node = stencil.nodes[static_cast<std::size_t>(id)];
      if (node.op != Operation::read || derivatives.at(id) == kNoNode) continue;
      gradients[node.index].add(
          adjoint, term(from, adjoint, output, derivatives.at(id), opposite(node.offset), Distances::of_coefficients));
    }
  }
  std::erase_if(gradients, [](const auto& entry) { return entry.second.id == kNoNode; });
  if (gradients.size() == 1 && is_sum_of_one_field(stencil)) {
    gradients.begin()->second.id = opposite_sum(stencil, adjoint);
  }
  if (gradients.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stencil '{}' has no derivative with respect to a field", stencil.name));
  }
  for (const auto& [input, sum] : gradients) {
    adjoint.update(field_like(adjoint, gradient_of(stencil, input), stencil, input), sum.id);
  }
  rotate_back(stencil, gradients, adjoint);
  return std::move(adjoint).build();
}

Stencil coefficient_adjoint_of(const Stencil& stencil) {
  const Differentiated from(stencil);
  StencilBuilder adjoint = start(from, "coefficient gradients");
  std::map<int, Sum> gradients;  // by coefficient
  for (const auto& [output, derivatives] : from.updates()) {
    for (NodeId id = 0; id < static_cast<NodeId>(stencil.nodes.size()); ++id) {
      const Node& node = stencil.nodes[static_cast<std::size_t>(id)];
      if (node.op != Operation::coefficient || derivatives.at(id) == kNoNode) continue;
      gradients[node.index].add(adjoint,
                                term(from, adjoint, output, derivatives.at(id), {0, 0, 0}, Distances::of_the_grid));
    }
  }
  std::erase_if(gradients, [](const auto& entry) { return entry.second.id == kNoNode; });
  if (gradients.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("no output of stencil '{}' depends on a coefficient", stencil.name));
  }
  for (const auto& [coefficient, sum] : gradients) {
    const std::string& name = stencil.coefficients[static_cast<std::size_t>(coefficient)].name;
    adjoint.update(adjoint.field(gradient_name(name)), sum.id);
  }
  return std::move(adjoint).build();
}

}  // namespace stencil_tune
