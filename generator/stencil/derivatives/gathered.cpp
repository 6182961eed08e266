#include "generator/stencil/derivatives/gathered.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <utility>

namespace stencil_tune {
Gathered::Gathered(const Stencil& stage, StencilBuilder& to, Distances distances)
    : stage_(stage), to_(to), distances_(distances), chain_(to, true) {
  for (NodeId id = 0; id < static_cast<NodeId>(stage.nodes.size()); ++id) add_part(id);
  for (int user = 0; user < static_cast<int>(parts_.size()); ++user) {
    for (std::size_t i = 0; i < parts_[at(user)].operands.size(); ++i) {
      parts_[at(parts_[at(user)].operands[i].part)].users.emplace_back(user, i);
    }
  }
}

void Gathered::add_part(NodeId id) {
  const Node& node = stage_.nodes[at(id)];
  Part part;
  part.node = id;
  Key key{node.op, node.value, node.index, {}};
  if (node.op == Operation::read || node.op == Operation::random) {
    for (int axis = 0; axis < kMaxRank; ++axis) part.shift[at(axis)] = node.offset[at(axis)];
  } else if (node.op == Operation::profile) {
    for (const int axis : axes_of(profile_along(stage_, node.index))) part.shift[at(axis)] = node.offset[at(axis)];
  } else if (is_place(node.op) && node.op != Operation::step) {
    part.shift[at(node.index)] = node.offset[at(node.index)];
  }
  for (int i = 0; i < operand_count(node.op); ++i) {
    const Operand& operand = places_[at(node.operands[at(i)])];
    part.operands.push_back(operand);
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (!part.shift[axis]) part.shift[axis] = operand.shift[axis];
    }
  }
  for (Operand& operand : part.operands) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (operand.shift[axis]) *operand.shift[axis] -= *part.shift[axis];
    }
    std::get<3>(key).emplace_back(operand.part, operand.shift);
  }
  const Shift shift = part.shift;
  const auto [entry, is_new] = known_.try_emplace(std::move(key), static_cast<int>(parts_.size()));
  if (is_new) {
    if (node.op == Operation::read) of_field_[node.index] = entry->second;
    parts_.push_back(std::move(part));
  }
  places_.push_back({entry->second, shift});
}

void Gathered::add_output(const Update& update, int gradient) {
  const Operand& place = places_[at(update.expression)];
  parts_[at(place.part)].outputs.emplace_back(gradient, place.shift);
}

NodeId Gathered::gradient_of(int field) {
  const auto found = of_field_.find(field);
  return found == of_field_.end() ? kNoNode : bar(found->second, {0, 0, 0});
}

NodeId Gathered::value_of(NodeId node, const Offset& by) {
  const auto read = [this, by](const Node& of) {
    return to_.read(field_like(to_, stage_.fields[at(of.index)], stage_, of.index), moved(of.offset, by));
  };
  return moved_.try_emplace(by, stage_, to_, read, by, distances_).first->second.copy(node);
}

/// The part's value at the offset.
NodeId Gathered::value(int part, const Offset& offset) {
  Offset by{};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (const auto shift = parts_[at(part)].shift[axis]) by[axis] = offset[axis] - *shift;
  }
  return value_of(parts_[at(part)].node, by);
}

/// What flows back to the part at the offset.
NodeId Gathered::bar(int part, const Offset& offset) {
  const auto known = bars_.find({part, offset});
  if (known != bars_.end()) return known->second;
  const auto before = [&](const Shift& shift) {
    Offset place = offset;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) place[axis] -= shift[axis].value_or(0);
    return place;
  };
  Sum sum;
  for (const auto& [gradient, shift] : parts_[at(part)].outputs) {
    sum.add(to_, read_where_it_exists(to_, gradient, before(shift)));
  }
  for (const auto& [user, operand] : parts_[at(part)].users) {
    sum.add(to_, handed_on(user, operand, before(parts_[at(user)].operands[operand].shift)));
  }
  return bars_[{part, offset}] = sum.id;
}

/// What a part hands on to one of its operands, where the part is at that offset.
NodeId Gathered::handed_on(int user, std::size_t operand, const Offset& offset) {
  const NodeId flowing = bar(user, offset);
  if (flowing == kNoNode) return kNoNode;
  const Part& part = parts_[at(user)];
  const auto value_of_operand = [&](int of) {
    Offset place = offset;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) place[axis] += part.operands[at(of)].shift[axis].value_or(0);
    return value(part.operands[at(of)].part, place);
  };
  return chain_.handed_on(stage_.nodes[at(part.node)].op, static_cast<int>(operand), value_of_operand, flowing);
}

}  // namespace stencil_tune
