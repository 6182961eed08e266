#include "generator/stencil/derivatives/differentiated.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
/// Whether it may be no finite number where all fields are: beyond an edge, in cells that updates do not read.
bool Chain::may_be_infinite(NodeId number) {
  const auto known = infinite_.find(number);
  if (known != infinite_.end()) return known->second;
  const Node node = builder_.stencil().nodes[static_cast<std::size_t>(number)];
  bool found = false;
  switch (node.op) {
    case Operation::read:
    case Operation::divide:
    case Operation::square_root:
    case Operation::exponential:
    case Operation::logarithm:
    case Operation::power:
    case Operation::tangent:
    case Operation::modulo:
      found = builder_.reads_field(number);
      break;
    default:
      for (int i = 0; i < operand_count(node.op); ++i) {
        found = may_be_infinite(node.operands[static_cast<std::size_t>(i)]) || found;
      }
  }
  return infinite_[number] = found;
}

NodeId Chain::guarded(Operation op, NodeId bar, NodeId weight) {
  const NodeId result = builder_.apply(op, bar, weight);
  if (!guards_ || !may_be_infinite(weight)) return result;
  const NodeId zero = builder_.number(0);
  return where(builder_.apply(Operation::equal, bar, zero), zero, result);
}

NodeId Chain::handed_on(Operation op, int to, const Value& value, NodeId bar) {
  const auto apply = [this](Operation operation, NodeId a, NodeId b = kNoNode) {
    return builder_.apply(operation, a, b);
  };
  const NodeId zero = builder_.number(0), one = builder_.number(1);
  switch (op) {
    case Operation::negate:
      return minus(bar);
    case Operation::absolute:
      return where(apply(Operation::less, value(0), zero), minus(bar),
                   where(apply(Operation::less, zero, value(0)), bar, zero));
    case Operation::square_root:
      return over(apply(Operation::multiply, builder_.number(0.5), bar), apply(op, value(0)));
    case Operation::exponential:
      return times(bar, apply(op, value(0)));
    case Operation::logarithm:
      return over(bar, value(0));
    case Operation::sine:
      return times(bar, apply(Operation::cosine, value(0)));
    case Operation::cosine:
      return minus(times(bar, apply(Operation::sine, value(0))));
    case Operation::tangent:
    case Operation::hyperbolic_tangent: {
      const NodeId itself = apply(op, value(0));
      const Operation sign = op == Operation::tangent ? Operation::add : Operation::subtract;
      return times(bar, apply(sign, one, apply(Operation::multiply, itself, itself)));
    }
    case Operation::power: {
      const NodeId base = value(0), exponent = value(1);
      if (to == 0) return times(times(bar, exponent), apply(op, base, apply(Operation::subtract, exponent, one)));
      // The logarithm of what may be negative is left out where the exponent is a number.
      if (builder_.stencil().nodes[static_cast<std::size_t>(exponent)].op == Operation::number) return kNoNode;
      return times(times(bar, apply(op, base, exponent)), apply(Operation::logarithm, base));
    }
    case Operation::add:
      return bar;
    case Operation::subtract:
      return to == 0 ? bar : minus(bar);
    case Operation::multiply:
      return times(bar, value(1 - to));
    case Operation::divide:
      if (to == 0) return over(bar, value(1));
      return minus(over(times(bar, value(0)), apply(Operation::multiply, value(1), value(1))));
    case Operation::modulo:
      if (to == 0) return bar;
      return minus(times(bar, apply(Operation::floor, apply(Operation::divide, value(0), value(1)))));
    case Operation::minimum:
    case Operation::maximum: {
      const NodeId a = value(op == Operation::minimum ? 0 : 1), b = value(op == Operation::minimum ? 1 : 0);
      const NodeId first = apply(Operation::less_equal, a, b);
      return to == 0 ? where(first, bar, zero) : where(first, zero, bar);
    }
    case Operation::select:
      if (to == 0) return kNoNode;
      return to == 1 ? where(value(0), bar, zero) : where(value(0), zero, bar);
    case Operation::number:
    case Operation::coefficient:
    case Operation::read:
    case Operation::coordinate:
    case Operation::step:
    case Operation::before:
    case Operation::after:
    case Operation::outside:
    case Operation::profile:
    case Operation::in_layer:
    case Operation::less:
    case Operation::less_equal:
    case Operation::equal:
    case Operation::floor:
    case Operation::round:
    case Operation::random:
      break;
  }
  return kNoNode;
}

Derivatives::Derivatives(StencilBuilder& builder, std::size_t nodes, NodeId expression)
    : builder_(builder), of_(nodes, kNoNode) {
  of_[static_cast<std::size_t>(expression)] = builder_.number(1);
  Chain chain(builder);
  for (NodeId id = expression; id >= 0; --id) {
    if (at(id) == kNoNode) continue;
    const Node node = builder_.stencil().nodes[static_cast<std::size_t>(id)];  // a copy: nodes are added
    for (int i = 0; i < operand_count(node.op); ++i) {
      const NodeId operand = node.operands[static_cast<std::size_t>(i)];
      const auto value = [&](int of) { return node.operands[static_cast<std::size_t>(of)]; };
      const NodeId derivative = chain.handed_on(node.op, i, value, at(id));
      if (derivative != kNoNode) add(operand, derivative);
    }
  }
}

void Derivatives::add(NodeId to, NodeId derivative) {
  NodeId& sum = of_[static_cast<std::size_t>(to)];
  sum = sum == kNoNode ? derivative : builder_.apply(Operation::add, sum, derivative);
}

bool is_placed(const Stencil& stencil) {
  return !stencil.layer_fields.empty() ||
         std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [](const Node& node) { return is_place(node.op); });
}

bool counts_steps(const Stencil& stencil) {
  return std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [&](const Node& node) {
    const bool is_of_time = node.op == Operation::profile && profile_along(stencil, node.index) == kAlongTime;
    return node.op == Operation::step || node.op == Operation::random || is_of_time;
  });
}

std::array<Reach, kMaxRank> profile_reach(const Stencil& stencil) {
  std::array<Reach, kMaxRank> reach{};
  for (const Node& node : stencil.nodes) {
    if (node.op != Operation::profile) continue;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      reach[axis].low = std::min(reach[axis].low, node.offset[axis]);
      reach[axis].high = std::max(reach[axis].high, node.offset[axis]);
    }
  }
  return reach;
}

Offset moved(Offset offset, const Offset& by) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) offset[axis] += by[axis];
  return offset;
}

int field_like(StencilBuilder& to, const std::string& name, const Stencil& from, int field) {
  const std::size_t known = to.stencil().fields.size();
  const bool along = is_profile(from, field);
  const int index = along ? to.profile(name, profile_along(from, field)) : to.field(name);
  if (to.stencil().fields.size() == known) return index;
  if (const int axis = layer_axis(from, field); axis >= 0) to.layer_field(index, axis);
  for (const FieldStorage& storage : from.storages) {
    if (storage.field == field) to.storage(index, storage.type);
  }
  return index;
}

StencilBuilder empty_like(const Stencil& stencil, std::string name) {
  StencilBuilder made(std::move(name), stencil.rank);
  for (const Coefficient& coefficient : stencil.coefficients) made.coefficient(coefficient.name, coefficient.value);
  if (stencil.layers) made.layers(*stencil.layers);
  for (int axis = 0; axis < stencil.rank; ++axis) {
    if (const auto& said = stencil.boundary[at(axis)]) made.boundary(axis, *said);
  }
  return made;
}

NodeId where_it_exists(StencilBuilder& builder, int field, const Offset& offset, NodeId value) {
  const int axis = layer_axis(builder.stencil(), field);
  if (axis < 0) return value;
  return builder.apply(Operation::select, builder.in_layer(axis, offset[at(axis)]), value, builder.number(0));
}

NodeId read_where_it_exists(StencilBuilder& builder, int field, const Offset& offset) {
  return where_it_exists(builder, field, offset, builder.read(field, offset));
}

std::string edge_coefficient_name(int axis, std::string_view what) { return fmt::format("{}.{}", "xyz"[axis], what); }

NodeId Rewritten::copy(NodeId id) {
  const auto known = copies_.find(id);
  if (known != copies_.end()) return known->second;
  const NodeId made = make(from_.nodes[static_cast<std::size_t>(id)]);
  copies_.emplace(id, made);
  return made;
}

NodeId Rewritten::make(const Node& node) {
  const bool has_axis = is_place(node.op) && node.op != Operation::profile && node.op != Operation::random;
  const int along = has_axis ? moved(node.offset, by_)[at(node.index)] : 0;
  switch (node.op) {
    case Operation::number:
      return to_.number(node.value);
    case Operation::coefficient:
      return to_.coefficient_value(node.index);
    case Operation::read:
      return read_(node);
    case Operation::coordinate:
      return to_.coordinate(node.index, along);
    case Operation::step:
      return to_.step();
    case Operation::before:
    case Operation::after:
    case Operation::outside:
      return beyond_edge(node, along);
    case Operation::profile:
      return to_.read(field_like(to_, from_.fields[at(node.index)], from_, node.index), moved(node.offset, by_));
    case Operation::in_layer:
      return to_.in_layer(node.index, along);
    case Operation::random:
      return to_.random(node.value, node.index, moved(node.offset, by_));
    default:
      break;
  }
  std::array<NodeId, 3> operands{kNoNode, kNoNode, kNoNode};
  for (std::size_t i = 0; i < static_cast<std::size_t>(operand_count(node.op)); ++i) {
    operands[i] = copy(node.operands[i]);
  }
  return to_.apply(node.op, operands[0], operands[1], operands[2]);
}

NodeId Rewritten::edge_coefficient(int axis, std::string_view what) {
  return to_.coefficient_value(to_.coefficient(edge_coefficient_name(axis, what), 0));
}

NodeId Rewritten::beyond_edge(const Node& node, int offset) {
  const int axis = node.index;
  const bool is_low = node.op == Operation::before || (node.op == Operation::outside && node.offset[at(axis)] < 0);
  if (distances_ == Distances::of_the_grid) {
    return node.op == Operation::outside ? to_.outside(axis, offset)
           : is_low                      ? to_.before(axis, offset)
                                         : to_.after(axis, offset);
  }
  const NodeId cell = to_.coordinate(axis, offset);
  const NodeId cells = is_low ? to_.apply(Operation::subtract, edge_coefficient(axis, "first"), cell)
                              : to_.apply(Operation::subtract, cell, edge_coefficient(axis, "last"));
  const NodeId distance = to_.apply(Operation::maximum, cells, to_.number(0));
  if (node.op != Operation::outside) return distance;
  return to_.apply(Operation::multiply, edge_coefficient(axis, "zero"), distance);
}

Differentiated::Differentiated(const Stencil& stencil) : stencil_(stencil), builder_(stencil) {
  if (stencil.stages.size() != 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stencil '{}' has {} stages: derivatives are known for stencils of one", stencil.name,
                            stencil.stages.size()));
  }
  if (!stencil.storages.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("stencil '{}' stores field '{}' in a type of its own: derivatives are known for stencils whose "
                    "fields are all of the problem's",
                    stencil.name, stencil.fields[at(stencil.storages.front().field)]));
  }
  for (const Update& update : stencil.stages.front().updates) {
    updates_.emplace_back(update.output, Derivatives(builder_, stencil.nodes.size(), update.expression));
  }
}

StencilBuilder Differentiated::start(std::string_view what) const {
  StencilBuilder made(fmt::format("{} of {}", what, stencil_.name), stencil_.rank);
  for (const Coefficient& coefficient : stencil_.coefficients) made.coefficient(coefficient.name, coefficient.value);
  if (stencil_.layers) made.layers(*stencil_.layers);
  return made;
}

}  // namespace stencil_tune
