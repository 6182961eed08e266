#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/carry_out.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>

namespace stencil_tune {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(ErrorCode::malformed_definition, message); }

std::size_t hash_of(const Node& node) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
  };
  std::array<NodeId, 3> operands = node.operands;
  if (commutes(node.op) && operands[0] > operands[1]) std::swap(operands[0], operands[1]);
  mix(static_cast<std::uint64_t>(node.op));
  mix(std::bit_cast<std::uint64_t>(node.value));
  mix(static_cast<std::uint64_t>(node.index));
  for (const int offset : node.offset) mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(offset)));
  for (const NodeId operand : operands) mix(static_cast<std::uint64_t>(static_cast<std::int64_t>(operand)));
  return static_cast<std::size_t>(hash);
}

/// Old ids of the marked nodes become new ones, in the same order; -1 for the others.
std::vector<NodeId> drop_unmarked(Stencil& stencil, const std::vector<bool>& marked) {
  std::vector<NodeId> renumbered(stencil.nodes.size(), -1);
  std::vector<Node> kept;
  for (std::size_t id = 0; id < stencil.nodes.size(); ++id) {
    if (!marked[id]) continue;
    Node node = stencil.nodes[id];
    for (int i = 0; i < operand_count(node.op); ++i) {
      NodeId& operand = node.operands[static_cast<std::size_t>(i)];
      operand = renumbered[at(operand)];
    }
    renumbered[id] = static_cast<NodeId>(kept.size());
    kept.push_back(node);
  }
  stencil.nodes = std::move(kept);
  return renumbered;
}

void require_axis(const Stencil& stencil, int axis) {
  if (axis >= 0 && axis < stencil.rank) return;
  reject(fmt::format("there is no axis number {} in a stencil of rank {}", axis, stencil.rank));
}

void require_same_layers(const Stencil& stencil, const Rotation& rotation) {
  if (layer_axis(stencil, rotation.from) == layer_axis(stencil, rotation.to)) return;
  reject(
      fmt::format("field '{}' becomes '{}' after a step, but only one of both exists in layers alone, or they are of "
                  "different axes",
                  stencil.fields[at(rotation.from)], stencil.fields[at(rotation.to)]));
}

void require_same_storage(const Stencil& stencil, const Rotation& rotation) {
  constexpr auto kOfTheProblem = static_cast<ElementType>(-1);  // stands for a type that is not known here
  const auto type_of = [&](int field) { return storage_of(stencil, field, kOfTheProblem); };
  if (type_of(rotation.from) == type_of(rotation.to)) return;
  reject(fmt::format("field '{}' becomes '{}' after a step: both are stored in the same type",
                     stencil.fields[at(rotation.from)], stencil.fields[at(rotation.to)]));
}

void require_whole_field(const Stencil& stencil, int field) {
  const Along along = profile_along(stencil, field);
  if (along == 0) return;
  reject(fmt::format("field '{}' varies {}, and cannot be written or take another's place", stencil.fields[at(field)],
                     varies_along(along)));
}

/// One axis, two of three, or time.
void require_profile(const Stencil& stencil, Along along) {
  const std::vector<int> axes = axes_of(along);
  for (const int axis : axes) require_axis(stencil, axis);
  const bool is_part = axes.size() == 1 || (axes.size() == 2 && stencil.rank == 3);
  if (along == kAlongTime || (is_part && along < kAlongTime)) return;
  reject(fmt::format("a field varies along one axis, along two of a 3D grid's, or with time, not {} of {}",
                     varies_along(along), stencil.rank));
}

void check_stage(const Stencil& stencil, const Stage& stage, std::size_t number) {
  if (stage.updates.empty()) reject(fmt::format("stage {} of stencil '{}' writes nothing", number, stencil.name));
  std::set<int> written;
  std::vector<NodeId> roots;
  for (const Update& update : stage.updates) {
    if (!written.insert(update.output).second) {
      reject(fmt::format("stage {} of stencil '{}' writes field '{}' twice", number, stencil.name,
                         stencil.fields[static_cast<std::size_t>(update.output)]));
    }
    roots.push_back(update.expression);
  }
  const std::vector<bool> marked = reachable(stencil, roots);
  bool reads = false;
  for (std::size_t id = 0; id < marked.size(); ++id) {
    const Node& node = stencil.nodes[id];
    if (!marked[id] || node.op != Operation::read) continue;
    reads = true;
    if (written.contains(node.index)) {
      reject(
          fmt::format("stage {} of stencil '{}' reads field '{}', which it writes; write another field and rotate, "
                      "or split the stage",
                      number, stencil.name, stencil.fields[static_cast<std::size_t>(node.index)]));
    }
  }
  if (!reads) reject(fmt::format("stage {} of stencil '{}' reads no field", number, stencil.name));
}

}  // namespace

std::vector<int> axes_of(Along along) {
  std::vector<int> axes;
  for (int axis = 0; axis < kMaxRank; ++axis) {
    if ((along & along_axis(axis)) != 0) axes.push_back(axis);
  }
  return axes;
}

std::string along_text(Along along) {
  if (along == kAlongTime) return "t";
  std::string text;
  for (const int axis : axes_of(along)) text += fmt::format("{}{}", text.empty() ? "" : ", ", "xyz"[axis]);
  return text;
}

std::string varies_along(Along along) {
  return along == kAlongTime ? "with time alone" : fmt::format("along {} alone", along_text(along));
}

Along profile_along(const Stencil& stencil, int field) noexcept {
  for (const Profile& profile : stencil.profiles) {
    if (profile.field == field) return profile.along;
  }
  return 0;
}

bool is_profile(const Stencil& stencil, int field) noexcept { return profile_along(stencil, field) != 0; }

int layer_axis(const Stencil& stencil, int field) noexcept {
  for (const LayerField& layer_field : stencil.layer_fields) {
    if (layer_field.field == field) return layer_field.axis;
  }
  return -1;
}

ElementType storage_of(const Stencil& stencil, int field, ElementType type) noexcept {
  for (const FieldStorage& storage : stencil.storages) {
    if (storage.field == field) return storage.type;
  }
  return type;
}

StencilBuilder::StencilBuilder(std::string name, int rank, Form form) : form_(form) {
  if (rank < 1 || rank > kMaxRank) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stencil '{}': rank {} is outside 1 to {}", name, rank, kMaxRank));
  }
  stencil_.name = std::move(name);
  stencil_.rank = rank;
}

StencilBuilder::StencilBuilder(Stencil stencil) : stencil_(std::move(stencil)) {
  const std::vector<Node> nodes = std::exchange(stencil_.nodes, {});
  for (const Node& node : nodes) append(node);
  for (std::size_t i = 0; i < stencil_.coefficients.size(); ++i) {
    coefficient_index_.emplace(stencil_.coefficients[i].name, static_cast<int>(i));
  }
}

int StencilBuilder::field(std::string_view name) {
  const auto found = std::find(stencil_.fields.begin(), stencil_.fields.end(), name);
  if (found != stencil_.fields.end()) return static_cast<int>(found - stencil_.fields.begin());
  stencil_.fields.emplace_back(name);
  return static_cast<int>(stencil_.fields.size()) - 1;
}

int StencilBuilder::coefficient(std::string_view name, double default_value) {
  const auto [entry, added] =
      coefficient_index_.emplace(std::string(name), static_cast<int>(stencil_.coefficients.size()));
  if (added) stencil_.coefficients.push_back({std::string(name), default_value});
  return entry->second;
}

int StencilBuilder::profile(std::string_view name, Along along) {
  require_profile(stencil_, along);
  const auto known = static_cast<int>(stencil_.fields.size());
  const int index = field(name);
  if (index == known) stencil_.profiles.push_back({index, along});
  if (profile_along(stencil_, index) != along) {
    reject(fmt::format("field '{}' is known already, and does not vary {}", name, varies_along(along)));
  }
  return index;
}

void StencilBuilder::layer_field(int field, int axis) {
  require_axis(stencil_, axis);
  stencil_.layer_fields.push_back({field, axis});
}

void StencilBuilder::storage(int field, ElementType type, NodeId scale, NodeId shift) {
  for (const NodeId node : {scale, shift}) {
    if (node >= 0 && reads_field(node)) {
      reject(
          fmt::format("the scale and the shift of field '{}' are the same in all cells", stencil_.fields[at(field)]));
    }
  }
  stencil_.storages.push_back({field, type});
  scales_.push_back({field, scale, shift});
}

StencilBuilder::Scale StencilBuilder::scale_of(int field) const {
  const auto found =
      std::find_if(scales_.begin(), scales_.end(), [&](const Scale& scale) { return scale.field == field; });
  return found == scales_.end() ? Scale{field, -1, -1} : *found;
}

NodeId StencilBuilder::value(int field, const Offset& offset) {
  const auto [_, scale, shift] = scale_of(field);
  const NodeId number = read(field, offset);
  const NodeId scaled = scale < 0 ? number : apply(Operation::multiply, number, scale);
  if (shift < 0) return scaled;
  NodeId value = apply(Operation::add, scaled, shift);
  const Along along = profile_along(stencil_, field);
  for (int axis = 0; axis < stencil_.rank; ++axis) {
    const bool lies_along = along == 0 || (along & stencil_tune::along_axis(axis)) != 0;
    if (!lies_along) continue;  // at the cell itself too, where a named expression may be moved from
    value = apply(Operation::select, outside(axis, offset[at(axis)]), this->number(0), value);
  }
  return value;
}

NodeId StencilBuilder::stored(int field, NodeId value) {
  const auto [_, scale, shift] = scale_of(field);
  if (shift >= 0) value = apply(Operation::subtract, value, shift);
  if (scale >= 0) value = apply(Operation::divide, value, scale);
  const ElementType type = storage_of(stencil_, field, ElementType::f32);
  if (!is_whole(type)) return value;
  const auto [least, largest] = range_of(type);
  const NodeId low = number(least), high = number(largest);
  const Node& outer = stencil_.nodes[at(value)];
  if (outer.op == Operation::minimum && outer.operands[1] == high) {  // as a definition that was written has it
    const Node& inner = stencil_.nodes[at(outer.operands[0])];
    if (inner.op == Operation::maximum && inner.operands[1] == low &&
        stencil_.nodes[at(inner.operands[0])].op == Operation::round) {
      return value;
    }
  }
  return apply(Operation::minimum, apply(Operation::maximum, apply(Operation::round, value), low), high);
}

void StencilBuilder::boundary(int axis, Boundary boundary) {
  require_axis(stencil_, axis);
  stencil_.boundary[static_cast<std::size_t>(axis)] = boundary;
}

void StencilBuilder::layers(const LayerWidths& widths) { stencil_.layers = widths; }

NodeId StencilBuilder::number(double value) {
  if (!std::isfinite(value)) reject(fmt::format("{} is not a finite number", value));
  Node node;
  node.op = Operation::number;
  node.value = value == 0 ? 0.0 : value;  // one zero: -0 and 0 are the same literal
  return intern(node);
}

NodeId StencilBuilder::coefficient_value(int coefficient) {
  if (coefficient < 0 || at(coefficient) >= stencil_.coefficients.size()) {
    reject(fmt::format("there is no coefficient number {}", coefficient));
  }
  Node node;
  node.op = Operation::coefficient;
  node.index = coefficient;
  return intern(node);
}

NodeId StencilBuilder::read(int field, Offset offset) {
  if (field < 0 || at(field) >= stencil_.fields.size()) reject(fmt::format("there is no field number {}", field));
  for (int axis = stencil_.rank; axis < kMaxRank; ++axis) {
    if (offset[static_cast<std::size_t>(axis)] != 0) {
      reject(fmt::format("field '{}' is read at offset [{}], beyond the stencil's rank {}", stencil_.fields[at(field)],
                         fmt::join(offset, ","), stencil_.rank));
    }
  }
  const Along along = profile_along(stencil_, field);
  Node node;
  node.op = along == 0 ? Operation::read : Operation::profile;
  node.index = field;
  if (along == 0) node.offset = offset;
  for (const int axis : axes_of(along)) node.offset[at(axis)] = offset[at(axis)];
  return intern(node);
}

NodeId StencilBuilder::along_axis(Operation op, int axis, int offset) {
  require_axis(stencil_, axis);
  Node node;
  node.op = op;
  node.index = axis;
  node.offset[static_cast<std::size_t>(axis)] = offset;
  return intern(node);
}

NodeId StencilBuilder::coordinate(int axis, int offset) { return along_axis(Operation::coordinate, axis, offset); }

NodeId StencilBuilder::before(int axis, int offset) { return along_axis(Operation::before, axis, offset); }

NodeId StencilBuilder::after(int axis, int offset) { return along_axis(Operation::after, axis, offset); }

NodeId StencilBuilder::outside(int axis, int offset) { return along_axis(Operation::outside, axis, offset); }

NodeId StencilBuilder::in_layer(int axis, int offset) { return along_axis(Operation::in_layer, axis, offset); }

NodeId StencilBuilder::step() {
  Node node;
  node.op = Operation::step;
  return intern(node);
}

NodeId StencilBuilder::random(double key, int seed_coefficient, const Offset& offset) {
  if (seed_coefficient >= 0) coefficient_value(seed_coefficient);  // it exists
  if (!(key >= 0 && key < 0x1p53 && key == std::floor(key))) reject(fmt::format("{} is no key of random numbers", key));
  Node node;
  node.op = Operation::random;
  node.value = key;
  node.index = std::max(seed_coefficient, -1);
  std::copy_n(offset.begin(), stencil_.rank, node.offset.begin());
  return intern(node);
}

NodeId StencilBuilder::apply(Operation op, NodeId a, NodeId b, NodeId c) {
  const std::array<NodeId, 3> operands{a, b, c};
  const int count = operand_count(op);
  for (int i = 0; i < 3; ++i) {
    const NodeId operand = operands[static_cast<std::size_t>(i)];
    const bool there = operand >= 0 && at(operand) < stencil_.nodes.size();
    if (i < count ? !there : operand != -1) {
      reject(fmt::format("operation '{}' takes {} operands that exist already", name(op), count));
    }
  }
  if (count == 0) reject(fmt::format("'{}' is no operation on operands", name(op)));
  if (form_ == Form::simplified) {
    if (const NodeId simpler = simplify(op, a, b, c); simpler >= 0) return simpler;
  }
  Node node;
  node.op = op;
  node.operands = operands;
  return intern(node);
}

NodeId StencilBuilder::simplify(Operation op, NodeId a, NodeId b, NodeId c) {
  const auto node = [this](NodeId id) -> const Node& { return stencil_.nodes[at(id)]; };
  const auto is_number = [&](NodeId id) { return id < 0 || node(id).op == Operation::number; };
  const auto is = [&](NodeId id, double value) { return node(id).op == Operation::number && node(id).value == value; };
  if (is_number(a) && is_number(b) && is_number(c)) {
    const auto value = [&](NodeId id) { return id < 0 ? 0.0 : node(id).value; };
    const double result = carry_out(op, value(a), value(b), value(c));
    return std::isfinite(result) ? number(result) : -1;
  }
  switch (op) {
    case Operation::negate:
      return node(a).op == Operation::negate ? node(a).operands[0] : -1;
    case Operation::add:
      return is(a, 0) ? b : is(b, 0) ? a : -1;
    case Operation::subtract:
      return is(b, 0) ? a : is(a, 0) ? apply(Operation::negate, b) : -1;
    case Operation::select:
      if (is_number(a)) return is(a, 0) ? c : b;
      if (node(b).op != Operation::select || node(b).operands[0] != a) return -1;
      return apply(Operation::select, a, node(b).operands[1], c);
    case Operation::divide:
      if (is(b, 1)) return a;
      if (!reads_field(a) || reads_field(b) || is(b, 0)) return -1;
      return apply(Operation::multiply, apply(Operation::divide, number(1), b), a);
    case Operation::multiply: {
      if (is(a, 1)) return b;
      if (is(b, 1)) return a;
      if (reads_field(a) == reads_field(b)) return -1;
      const auto [free, read] = reads_field(a) ? std::pair(b, a) : std::pair(a, b);
      const auto [op_inner, p, q] = std::tuple(node(read).op, node(read).operands[0], node(read).operands[1]);
      if (op_inner != Operation::multiply || reads_field(p) == reads_field(q)) return -1;
      return reads_field(q) ? apply(Operation::multiply, apply(Operation::multiply, free, p), q)
                            : apply(Operation::multiply, apply(Operation::multiply, free, q), p);
    }
    default:
      return -1;
  }
}

void StencilBuilder::begin_stage() { stencil_.stages.emplace_back(); }

void StencilBuilder::update(int output_field, NodeId expression) {
  if (output_field < 0 || at(output_field) >= stencil_.fields.size()) {
    reject(fmt::format("there is no field number {} to write", output_field));
  }
  if (expression < 0 || at(expression) >= stencil_.nodes.size()) {
    reject(fmt::format("the update of field '{}' has no expression", stencil_.fields[at(output_field)]));
  }
  require_whole_field(stencil_, output_field);
  if (stencil_.stages.empty()) begin_stage();
  stencil_.stages.back().updates.push_back({output_field, expression});
}

void StencilBuilder::rotate(int from_field, int to_field) {
  const auto is_field = [this](int field) { return field >= 0 && at(field) < stencil_.fields.size(); };
  if (!is_field(from_field) || !is_field(to_field)) reject("a rotation names a field that does not exist");
  require_whole_field(stencil_, from_field);
  require_whole_field(stencil_, to_field);
  require_same_layers(stencil_, {from_field, to_field});
  require_same_storage(stencil_, {from_field, to_field});
  stencil_.rotations.push_back({from_field, to_field});
}

void StencilBuilder::hold(int field, int layers_of) { stencil_.holds.push_back({field, layers_of}); }

void StencilBuilder::edge(const WrittenEdge& edge) { stencil_.written.edges.push_back(edge); }

void StencilBuilder::rewrite(const std::function<NodeId(NodeId)>& change) {
  for (Stage& stage : stencil_.stages) {
    for (Update& update : stage.updates) update.expression = change(update.expression);
  }
}

namespace {

/// A field between stages has no held layers of its own that others could have: each step writes it before it is read.
void require_held_layers(const Stencil& stencil, const Hold& hold) {
  const auto becomes = [&](const Rotation& rotation) { return rotation.to == hold.layers_of; };
  if (std::any_of(stencil.rotations.begin(), stencil.rotations.end(), becomes)) return;
  std::vector<NodeId> updates;
  for (const Stage& stage : stencil.stages) {
    bool writes = false;
    for (const Update& update : stage.updates) {
      updates.push_back(update.expression);
      writes = writes || update.output == hold.layers_of;
    }
    if (writes) break;
    if (&stage == &stencil.stages.back()) return;  // no step writes it
  }
  const std::vector<bool> used = reachable(stencil, updates);
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i] && stencil.nodes[i].op == Operation::read && stencil.nodes[i].index == hold.layers_of) return;
  }
  reject(fmt::format("'{}' cannot have the held layers of '{}', which is a field between stages too",
                     stencil.fields[at(hold.field)], stencil.fields[at(hold.layers_of)]));
}

}  // namespace

Stencil StencilBuilder::build() && {
  if (stencil_.stages.empty()) reject(fmt::format("stencil '{}' updates nothing", stencil_.name));
  for (const Hold& hold : stencil_.holds) require_held_layers(stencil_, hold);
  std::vector<NodeId> roots;
  for (std::size_t i = 0; i < stencil_.stages.size(); ++i) {
    const std::vector<Update>& updates = stencil_.stages[i].updates;
    for (const Update& update : updates) roots.push_back(update.expression);
    if (form_ == Form::written) continue;
    check_stage(stencil_, stencil_.stages[i], i);
    if (updates.size() != 1 || !is_linear(stencil_, updates[0].expression)) continue;
    for (const LinearTap& tap : distribute_weights(*this, updates[0].expression)) {
      if (tap.weight >= 0) roots.push_back(tap.weight);
    }
  }
  std::vector<WrittenEdge> edges;  // a simplified form has those of the other
  if (form_ == Form::written) edges.swap(stencil_.written.edges);
  for (const WrittenEdge& edge : edges) {
    for (const NodeId term : edge.terms) {
      if (term >= 0) roots.push_back(term);
    }
  }
  const std::vector<NodeId> renumbered = drop_unmarked(stencil_, reachable(stencil_, roots));
  for (Stage& stage : stencil_.stages) {
    for (Update& update : stage.updates) update.expression = renumbered[at(update.expression)];
  }
  for (WrittenEdge& edge : edges) {
    for (NodeId& term : edge.terms) term = term >= 0 ? renumbered[at(term)] : term;
    stencil_.written.edges.push_back(edge);
  }
  return std::move(stencil_);
}

/// Equal, in the simplified form up to the order of operands where that does not matter.
bool StencilBuilder::same(const Node& a, const Node& b) const {
  if (a == b) return true;
  if (form_ == Form::written || a.op != b.op || !commutes(a.op)) return false;
  return a.operands[0] == b.operands[1] && a.operands[1] == b.operands[0];
}

NodeId StencilBuilder::intern(const Node& node) {
  const auto [first, last] = by_hash_.equal_range(hash_of(node));
  for (auto entry = first; entry != last; ++entry) {
    if (same(stencil_.nodes[at(entry->second)], node)) return entry->second;
  }
  return append(node);
}

NodeId StencilBuilder::append(const Node& node) {
  const auto id = static_cast<NodeId>(stencil_.nodes.size());
  bool reads = node.op == Operation::read || is_place(node.op);
  for (int i = 0; i < operand_count(node.op); ++i)
    reads = reads || reads_field(node.operands[static_cast<std::size_t>(i)]);
  stencil_.nodes.push_back(node);
  reads_field_.push_back(reads);
  by_hash_.emplace(hash_of(node), id);
  return id;
}

}  // namespace stencil_tune
