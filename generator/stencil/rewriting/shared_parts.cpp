#include "generator/stencil/rewriting/shared_parts.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/carry_out.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "generator/stencil/rewriting/shared_reciprocals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace stencil_tune {
namespace {

/// Whether it is a quotient or a function, whose instructions are many.
bool is_slow(Operation op) {
  switch (op) {
    case Operation::divide:
    case Operation::square_root:
    case Operation::exponential:
    case Operation::sine:
    case Operation::cosine:
    case Operation::tangent:
    case Operation::hyperbolic_tangent:
    case Operation::logarithm:
    case Operation::power:
    case Operation::modulo:
      return true;
    default:
      return false;
  }
}

/// What a node computes but for where: nodes of one shape are translations of one another.
struct PlacedPart {
  int shape = -1;
  bool reads = false;
  bool in_one_cell = true;  ///< all its reads have one offset
  Offset offset{0, 0, 0};   ///< that offset
};

/// A part that a stage reads at several cells.
struct Part {
  NodeId example = -1;       ///< a node that computes it somewhere
  std::set<Offset> offsets;  ///< at which the stage reads it
};

/// The parts of one stage.
class SharedPartsOfStage {
 public:
  SharedPartsOfStage(const StencilBuilder& builder, const std::vector<Node>& nodes, const std::vector<NodeId>& roots)
      : builder_(builder), nodes_(nodes), roots_(roots), placed_(nodes.size()) {
    const std::vector<bool> used = reachable(builder.stencil(), roots);
    std::map<int, Part> everywhere;
    for (std::size_t id = 0; id < nodes.size(); ++id) {
      if (!used[id]) continue;
      placed_[id] = place(nodes[id], static_cast<NodeId>(id));
      if (!placed_[id].reads || !placed_[id].in_one_cell || nodes[id].op == Operation::read) continue;
      Part& part = everywhere[placed_[id].shape];
      part.example = static_cast<NodeId>(id);
      part.offsets.insert(placed_[id].offset);
    }
    for (const auto& [shape, part] : everywhere) {
      if (part.offsets.size() > 1 && costs(part.example)) parts_.insert({shape, {part.example, {}}});
    }
    keep_largest();
  }

  /// By their shape.
  const std::map<int, Part>& parts() const { return parts_; }
  const PlacedPart& placed(std::size_t id) const { return placed_[id]; }
  bool is_part(std::size_t id) const { return placed_[id].in_one_cell && parts_.contains(placed_[id].shape); }
  /// What the stage computes where parts are fields: those nodes, and the parts' places, that it reads.
  const std::vector<bool>& left() const { return left_; }

 private:
  /// Operation; field, or what is computed without any read; shapes of the operands.
  using Key = std::array<int, 5>;

  PlacedPart place(const Node& node, NodeId id) {
    if (!builder_.reads_field(id)) return {shape_of({-1, id, -1, -1, -1}), false, true, {}};
    if (is_place(node.op)) return {-1, true, false, {}};  // two cells that a boundary makes one have two places
    if (node.op == Operation::read) {
      return {shape_of({static_cast<int>(node.op), node.index, -1, -1, -1}), true, true, node.offset};
    }
    PlacedPart result{-1, true, true, {}};
    Key key{static_cast<int>(node.op), -1, -1, -1, -1};
    bool first = true;
    for (int i = 0; i < operand_count(node.op); ++i) {
      const PlacedPart& operand = placed_[at(node.operands[at(i)])];
      key[at(2 + i)] = operand.shape;
      if (!operand.reads) continue;
      result.in_one_cell = result.in_one_cell && operand.in_one_cell && (first || operand.offset == result.offset);
      if (first) result.offset = operand.offset;
      first = false;
    }
    if (!result.in_one_cell) return result;
    if (commutes(node.op) && key[2] > key[3]) std::swap(key[2], key[3]);
    result.shape = shape_of(key);
    return result;
  }

  int shape_of(const Key& key) { return shapes_.try_emplace(key, static_cast<int>(shapes_.size())).first->second; }

  bool costs(NodeId part) const {
    const std::vector<bool> used = reachable(builder_.stencil(), {part});
    int products = 0;
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      const Node& node = nodes_[id];
      if (!used[id] || !builder_.reads_field(static_cast<NodeId>(id))) continue;
      if (is_slow(node.op)) return true;
      const bool is_product = node.op == Operation::multiply && builder_.reads_field(node.operands[0]) &&
                              builder_.reads_field(node.operands[1]);
      if (is_product) ++products;
    }
    return products > 1;
  }

  /// Takes those away that the stage reads at one offset alone where the others are fields; what is in them may then be
  /// read at several.
  void keep_largest() {
    const auto one_offset = [](const auto& part) { return part.second.offsets.size() == 1; };
    do {
      find_offsets();
    } while (std::erase_if(parts_, one_offset) > 0);
    std::erase_if(parts_, [](const auto& part) { return part.second.offsets.empty(); });
  }

  void find_offsets() {
    for (auto& [shape, part] : parts_) part.offsets.clear();
    left_.assign(nodes_.size(), false);
    for (const NodeId root : roots_) left_[at(root)] = true;
    for (std::size_t id = nodes_.size(); id-- > 0;) {
      if (!left_[id]) continue;
      const Node& node = nodes_[id];
      if (is_part(id)) {
        parts_[placed_[id].shape].offsets.insert(placed_[id].offset);
        continue;
      }
      for (int i = 0; i < operand_count(node.op); ++i) left_[at(node.operands[at(i)])] = true;
    }
  }

  const StencilBuilder& builder_;
  const std::vector<Node>& nodes_;
  const std::vector<NodeId>& roots_;
  std::vector<PlacedPart> placed_;
  std::map<Key, int> shapes_;
  std::map<int, Part> parts_;
  std::vector<bool> left_;
};

Stencil without_stages(const Stencil& stencil) {
  Stencil result = stencil;
  result.stages.clear();
  result.written = {};
  return result;
}

class PartsAsFields {
 public:
  explicit PartsAsFields(const Stencil& stencil) : stencil_(stencil), builder_(without_stages(stencil)) {}

  bool may_have_parts() const {
    int products = 0;
    for (const Node& node : stencil_.nodes) {
      if (is_slow(node.op)) return true;
      if (node.op == Operation::multiply) ++products;
    }
    return products > 1;
  }

  /// Whether there are any; the builder has them then.
  bool find() {
    for (const Stage& stage : stencil_.stages) add(stage);
    return builder_.stencil().fields.size() > stencil_.fields.size();
  }

  Stencil build() && { return std::move(builder_).build(); }

 private:
  void add(const Stage& stage) {
    std::vector<NodeId> roots;
    for (const Update& update : stage.updates) roots.push_back(update.expression);
    const SharedPartsOfStage shared(builder_, stencil_.nodes, roots);
    std::map<int, int> fields;  // [shape of a part]: the field that holds it
    if (!shared.parts().empty()) builder_.begin_stage();
    for (const auto& [shape, part] : shared.parts()) {
      const int field =
          builder_.field(fmt::format("part {}", builder_.stencil().fields.size() - stencil_.fields.size()));
      fields[shape] = field;
      builder_.update(field, at_its_cell(part.example, shared.placed(at(part.example)).offset));
    }
    builder_.begin_stage();
    std::vector<NodeId> rebuilt(stencil_.nodes.size(), -1);
    for (std::size_t id = 0; id < rebuilt.size(); ++id) {
      if (!shared.left()[id]) continue;
      rebuilt[id] = shared.is_part(id) ? builder_.read(fields[shared.placed(id).shape], shared.placed(id).offset)
                                       : with_operands(static_cast<NodeId>(id), rebuilt);
    }
    for (const Update& update : stage.updates) builder_.update(update.output, rebuilt[at(update.expression)]);
  }

  /// The node with its reads moved from there to the cell itself.
  NodeId at_its_cell(NodeId part, const Offset& from) {
    const std::vector<bool> used = reachable(builder_.stencil(), {part});
    std::vector<NodeId> rebuilt(stencil_.nodes.size(), -1);
    for (std::size_t id = 0; id < rebuilt.size(); ++id) {
      const Node& node = stencil_.nodes[id];
      if (!used[id]) continue;
      const bool moves = node.op == Operation::read && node.offset == from;
      rebuilt[id] = moves ? builder_.read(node.index, {0, 0, 0}) : with_operands(static_cast<NodeId>(id), rebuilt);
    }
    return rebuilt[at(part)];
  }

  NodeId with_operands(NodeId id, const std::vector<NodeId>& rebuilt) {
    const Node& node = stencil_.nodes[at(id)];
    const int count = operand_count(node.op);
    if (count == 0) return id;
    std::array<NodeId, 3> operands{-1, -1, -1};
    for (int i = 0; i < count; ++i) operands[at(i)] = rebuilt[at(node.operands[at(i)])];
    return builder_.apply(node.op, operands[0], operands[1], operands[2]);
  }

  const Stencil& stencil_;
  StencilBuilder builder_;
};

/// Sums stay in the order in which they are written: what reads a part is no longer the sum that was looked at.
void keep_order_of_sums(StepForm& form, std::size_t own_fields) {
  for (StepStage& stage : form.step.stages) {
    const std::vector<int>& inputs = stage.facts.inputs;
    const bool reads_part =
        std::any_of(inputs.begin(), inputs.end(), [&](int field) { return at(field) >= own_fields; });
    if (reads_part) stage.facts.linear_taps.clear();
  }
}

}  // namespace

std::shared_ptr<const StepForm> with_parts_once(const Stencil& stencil) {
  PartsAsFields parts(stencil);
  if (!parts.may_have_parts() || !parts.find()) return {};
  StepForm form;
  form.stencil = with_shared_reciprocals(std::move(parts).build());
  form.step = analyse_step(form.stencil);
  keep_order_of_sums(form, stencil.fields.size());
  return std::make_shared<const StepForm>(std::move(form));
}

}  // namespace stencil_tune
