#include "generator/stencil/adjoint.hpp"

#include "generator/stencil/linear.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr NodeId kNone = -1;  // a derivative of zero

/// The partial derivatives of one update with respect to all nodes of its stencil, in reverse order (Griewank and
/// Walther, Evaluating Derivatives, chapter 3). Adds nodes to a builder that went on from the stencil.
class Derivatives {
 public:
  Derivatives(StencilBuilder& builder, std::size_t nodes, NodeId expression) : builder_(builder), of_(nodes, kNone) {
    of_[static_cast<std::size_t>(expression)] = builder_.number(1);
    for (NodeId id = expression; id >= 0; --id) {
      if (at(id) != kNone) pass_on(id);
    }
  }

  /// kNone where the update does not depend on it.
  NodeId at(NodeId id) const { return of_[static_cast<std::size_t>(id)]; }

 private:
  void add(NodeId to, NodeId derivative) {
    NodeId& sum = of_[static_cast<std::size_t>(to)];
    sum = sum == kNone ? derivative : builder_.apply(Operation::add, sum, derivative);
  }

  NodeId times(NodeId a, NodeId b) { return builder_.apply(Operation::multiply, a, b); }
  NodeId over(NodeId a, NodeId b) { return builder_.apply(Operation::divide, a, b); }
  NodeId minus(NodeId a) { return builder_.apply(Operation::negate, a); }
  NodeId where(NodeId condition, NodeId a, NodeId b) { return builder_.apply(Operation::select, condition, a, b); }

  void pass_on(NodeId id) {
    const Node node = builder_.stencil().nodes[static_cast<std::size_t>(id)];  // a copy: nodes are added below
    const auto [a, b, c] = node.operands;
    const NodeId bar = at(id);
    const NodeId zero = builder_.number(0);
    switch (node.op) {
      case Operation::negate:
        return add(a, minus(bar));
      case Operation::absolute:
        return add(a, where(builder_.apply(Operation::less, a, zero), minus(bar),
                            where(builder_.apply(Operation::less, zero, a), bar, zero)));
      case Operation::square_root:
        return add(a, over(times(builder_.number(0.5), bar), id));
      case Operation::exponential:
        return add(a, times(bar, id));
      case Operation::logarithm:
        return add(a, over(bar, a));
      case Operation::sine:
        return add(a, times(bar, builder_.apply(Operation::cosine, a)));
      case Operation::cosine:
        return add(a, minus(times(bar, builder_.apply(Operation::sine, a))));
      case Operation::tangent:
        return add(a, times(bar, builder_.apply(Operation::add, builder_.number(1), times(id, id))));
      case Operation::hyperbolic_tangent:
        return add(a, times(bar, builder_.apply(Operation::subtract, builder_.number(1), times(id, id))));
      case Operation::power:
        return pass_on_power(a, b, id, bar);
      case Operation::add:
        add(a, bar);
        return add(b, bar);
      case Operation::subtract:
        add(a, bar);
        return add(b, minus(bar));
      case Operation::multiply:
        add(a, times(bar, b));
        return add(b, times(bar, a));
      case Operation::divide:
        add(a, over(bar, b));
        return add(b, minus(over(times(bar, a), times(b, b))));
      case Operation::minimum:
      case Operation::maximum: {
        const NodeId first = node.op == Operation::minimum ? builder_.apply(Operation::less_equal, a, b)
                                                           : builder_.apply(Operation::less_equal, b, a);
        add(a, where(first, bar, zero));
        return add(b, where(first, zero, bar));
      }
      case Operation::select:
        add(b, where(a, bar, zero));
        return add(c, where(a, zero, bar));
      case Operation::number:
      case Operation::coefficient:
      case Operation::read:
      case Operation::coordinate:
      case Operation::step:
      case Operation::before:
      case Operation::after:
      case Operation::profile:
      case Operation::less:
      case Operation::less_equal:
      case Operation::equal:
        return;  // ends here
    }
  }

  /// The logarithm of what may be negative is left out where the exponent is a number.
  void pass_on_power(NodeId base, NodeId exponent, NodeId power, NodeId bar) {
    const NodeId less_one = builder_.apply(Operation::subtract, exponent, builder_.number(1));
    add(base, times(times(bar, exponent), builder_.apply(Operation::power, base, less_one)));
    if (builder_.stencil().nodes[static_cast<std::size_t>(exponent)].op == Operation::number) return;
    add(exponent, times(times(bar, power), builder_.apply(Operation::logarithm, base)));
  }

  StencilBuilder& builder_;
  std::vector<NodeId> of_;
};

/// Writes expressions of one stencil into another one's, with all reads moved by an offset.
class Shifted {
 public:
  Shifted(const Stencil& from, StencilBuilder& to, const Offset& by) : from_(from), to_(to), by_(by) {}

  NodeId copy(NodeId id) {
    const auto known = copies_.find(id);
    if (known != copies_.end()) return known->second;
    const NodeId made = make(from_.nodes[static_cast<std::size_t>(id)]);
    copies_.emplace(id, made);
    return made;
  }

 private:
  NodeId make(const Node& node) {
    switch (node.op) {
      case Operation::number:
        return to_.number(node.value);
      case Operation::coefficient:
        return to_.coefficient_value(node.index);
      case Operation::read: {
        Offset offset = node.offset;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis) offset[axis] += by_[axis];
        return to_.read(to_.field(from_.fields[static_cast<std::size_t>(node.index)]), offset);
      }
      default:
        break;
    }
    std::array<NodeId, 3> operands{kNone, kNone, kNone};
    for (std::size_t i = 0; i < static_cast<std::size_t>(operand_count(node.op)); ++i) {
      operands[i] = copy(node.operands[i]);
    }
    return to_.apply(node.op, operands[0], operands[1], operands[2]);
  }

  const Stencil& from_;
  StencilBuilder& to_;
  Offset by_;
  std::map<NodeId, NodeId> copies_;
};

Offset opposite(Offset offset) {
  for (int& cells : offset) cells = -cells;
  return offset;
}

bool is_literal(const StencilBuilder& builder, NodeId id, double value) {
  const Node& node = builder.stencil().nodes[static_cast<std::size_t>(id)];
  return node.op == Operation::number && node.value == value;
}

/// What both kinds of derivative start from: the stencil, with the derivatives of its updates added to it.
class Differentiated {
 public:
  explicit Differentiated(const Stencil& stencil) : stencil_(stencil), builder_(stencil) {
    if (stencil.stages.size() != 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("stencil '{}' has {} stages: derivatives are known for stencils of one", stencil.name,
                              stencil.stages.size()));
    }
    const bool placed =
        std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [](const Node& node) { return is_place(node.op); });
    if (placed) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format(
              "stencil '{}' uses coordinates, the step's number, profiles or boundaries of its own: derivatives "
              "are known for stencils that are the same everywhere and in each step",
              stencil.name));
    }
    for (const Update& update : stencil.stages.front().updates) {
      updates_.emplace_back(update.output, Derivatives(builder_, stencil.nodes.size(), update.expression));
    }
  }

  /// An empty stencil with the same coefficients and the gradients of the outputs.
  StencilBuilder start(std::string_view what) const {
    StencilBuilder made(fmt::format("{} of {}", what, stencil_.name), stencil_.rank);
    for (const Coefficient& coefficient : stencil_.coefficients) made.coefficient(coefficient.name, coefficient.value);
    for (const Update& update : stencil_.stages.front().updates) made.field(gradient_of(update.output));
    return made;
  }

  std::string gradient_of(int field) const { return gradient_name(stencil_.fields[static_cast<std::size_t>(field)]); }

  /// The gradient of an output times the derivative, at the cell that is `offset` away. 0 where the gradient is, also
  /// where the derivative is not finite there, as beyond an edge.
  NodeId term(StencilBuilder& to, int output, NodeId derivative, const Offset& offset) {
    const NodeId weight = Shifted(builder_.stencil(), to, offset).copy(derivative);
    const NodeId gradient = to.read(to.field(gradient_of(output)), offset);
    if (is_literal(to, weight, 0)) return kNone;
    const NodeId product = to.apply(Operation::multiply, weight, gradient);
    if (!to.reads_field(weight)) return product;
    const NodeId zero = to.number(0);
    return to.apply(Operation::select, to.apply(Operation::equal, gradient, zero), zero, product);
  }

  const Stencil& stencil() const { return stencil_; }
  const std::vector<std::pair<int, Derivatives>>& updates() const { return updates_; }

 private:
  const Stencil& stencil_;
  StencilBuilder builder_;
  std::vector<std::pair<int, Derivatives>> updates_;
};

/// Terms of a sum that may turn out to have none.
struct Sum {
  NodeId id = kNone;

  void add(StencilBuilder& builder, NodeId term) {
    if (term == kNone) return;
    id = id == kNone ? term : builder.apply(Operation::add, id, term);
  }
};

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

}  // namespace

std::string gradient_name(const std::string& field) { return "grad_" + field; }

Stencil adjoint_of(const Stencil& stencil) {
  Differentiated from(stencil);
  StencilBuilder adjoint = from.start("adjoint");
  std::map<int, Sum> gradients;  // by input
  for (const auto& [output, derivatives] : from.updates()) {
    for (NodeId id = 0; id < static_cast<NodeId>(stencil.nodes.size()); ++id) {
      const Node& node = stencil.nodes[static_cast<std::size_t>(id)];
      if (node.op != Operation::read || derivatives.at(id) == kNone) continue;
      gradients[node.index].add(adjoint, from.term(adjoint, output, derivatives.at(id), opposite(node.offset)));
    }
  }
  std::erase_if(gradients, [](const auto& entry) { return entry.second.id == kNone; });
  if (gradients.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stencil '{}' has no derivative with respect to a field", stencil.name));
  }
  for (const auto& [input, sum] : gradients) adjoint.update(adjoint.field(from.gradient_of(input)), sum.id);
  rotate_back(stencil, gradients, adjoint);
  return std::move(adjoint).build();
}

Stencil coefficient_adjoint_of(const Stencil& stencil) {
  Differentiated from(stencil);
  StencilBuilder adjoint = from.start("coefficient gradients");
  std::map<int, Sum> gradients;  // by coefficient
  for (const auto& [output, derivatives] : from.updates()) {
    for (NodeId id = 0; id < static_cast<NodeId>(stencil.nodes.size()); ++id) {
      const Node& node = stencil.nodes[static_cast<std::size_t>(id)];
      if (node.op != Operation::coefficient || derivatives.at(id) == kNone) continue;
      gradients[node.index].add(adjoint, from.term(adjoint, output, derivatives.at(id), {0, 0, 0}));
    }
  }
  std::erase_if(gradients, [](const auto& entry) { return entry.second.id == kNone; });
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
