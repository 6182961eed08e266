#include "generator/stencil/derivatives/differentiated.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace stencil_tune {
Derivatives::Derivatives(StencilBuilder& builder, std::size_t nodes, NodeId expression)
    : builder_(builder), of_(nodes, kNoNode) {
  of_[static_cast<std::size_t>(expression)] = builder_.number(1);
  for (NodeId id = expression; id >= 0; --id) {
    if (at(id) != kNoNode) pass_on(id);
  }
}

void Derivatives::add(NodeId to, NodeId derivative) {
  NodeId& sum = of_[static_cast<std::size_t>(to)];
  sum = sum == kNoNode ? derivative : builder_.apply(Operation::add, sum, derivative);
}

void Derivatives::pass_on(NodeId id) {
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
    case Operation::modulo:
      add(a, bar);
      return add(b, minus(times(bar, builder_.apply(Operation::floor, over(a, b)))));
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
    case Operation::outside:
    case Operation::profile:
    case Operation::in_layer:
    case Operation::less:
    case Operation::less_equal:
    case Operation::equal:
    case Operation::floor:
    case Operation::round:
    case Operation::random:
      return;  // ends here
  }
}

/// The logarithm of what may be negative is left out where the exponent is a number.
void Derivatives::pass_on_power(NodeId base, NodeId exponent, NodeId power, NodeId bar) {
  const NodeId less_one = builder_.apply(Operation::subtract, exponent, builder_.number(1));
  add(base, times(times(bar, exponent), builder_.apply(Operation::power, base, less_one)));
  if (builder_.stencil().nodes[static_cast<std::size_t>(exponent)].op == Operation::number) return;
  add(exponent, times(times(bar, power), builder_.apply(Operation::logarithm, base)));
}

bool is_placed(const Stencil& stencil) {
  return !stencil.layer_fields.empty() ||
         std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [](const Node& node) { return is_place(node.op); });
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
