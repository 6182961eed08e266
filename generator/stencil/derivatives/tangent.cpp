#include "generator/stencil/derivatives/tangent.hpp"

#include "generator/stencil/derivatives/differentiated.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

const std::string& field_name(const Stencil& stencil, int field) {
  return stencil.fields[static_cast<std::size_t>(field)];
}

/// One update and its tangent, written into another stencil.
class TangentWriter {
 public:
  TangentWriter(const Differentiated& from, StencilBuilder& to, int coefficient)
      : from_(from), to_(to), coefficient_(coefficient), changes_(from.stencil().fields.size(), false) {
    for (const Update& update : from.stencil().stages.front().updates) mark(update.output);
    for (const Rotation& rotation : from.stencil().rotations) mark(rotation.to);
  }

  bool changes(int field) const { return changes_[static_cast<std::size_t>(field)]; }

  NodeId state(NodeId expression) {
    return Rewritten(from_.extended(), to_, [&](const Node& read) { return read_of(read, false); }).copy(expression);
  }

  NodeId tangent(NodeId expression, const Derivatives& derivatives) {
    Sum sum = through_fields(expression, derivatives);
    const std::size_t own = from_.stencil().nodes.size();
    for (NodeId id = 0; id < static_cast<NodeId>(own); ++id) {
      const Node& node = from_.stencil().nodes[static_cast<std::size_t>(id)];
      if (node.op != Operation::coefficient || node.index != coefficient_ || derivatives.at(id) == kNoNode) continue;
      sum.add(to_, state(derivatives.at(id)));
    }
    return sum.id == kNoNode ? to_.number(0) : sum.id;
  }

 private:
  void mark(int field) { changes_[static_cast<std::size_t>(field)] = true; }

  NodeId read_of(const Node& read, bool tangent) {
    const std::string& name = field_name(from_.stencil(), read.index);
    return to_.read(to_.field(tangent ? tangent_name(name) : name), read.offset);
  }

  /// A weighted sum of fields that all change is written as it stands, with its shared weights.
  Sum through_fields(NodeId expression, const Derivatives& derivatives) {
    const std::vector<int> inputs = analyse(from_.stencil(), 0).inputs;
    const bool all_change = std::all_of(inputs.begin(), inputs.end(), [&](int field) { return changes(field); });
    if (all_change && is_linear(from_.stencil(), expression)) {
      return {Rewritten(from_.extended(), to_, [&](const Node& read) { return read_of(read, true); }).copy(expression)};
    }
    Sum sum;
    const std::size_t own = from_.stencil().nodes.size();
    for (NodeId id = 0; id < static_cast<NodeId>(own); ++id) {
      const Node node = from_.stencil().nodes[static_cast<std::size_t>(id)];
      if (node.op != Operation::read || !changes(node.index) || derivatives.at(id) == kNoNode) continue;
      sum.add(to_, to_.apply(Operation::multiply, state(derivatives.at(id)), read_of(node, true)));
    }
    return sum;
  }

  const Differentiated& from_;
  StencilBuilder& to_;
  int coefficient_;
  std::vector<bool> changes_;
};

}  // namespace

std::string tangent_name(const std::string& field) { return "tangent_" + field; }

Stencil tangent_of(const Stencil& stencil, int coefficient) {
  if (coefficient < 0 || static_cast<std::size_t>(coefficient) >= stencil.coefficients.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("stencil '{}' has {} coefficients, numbered from 0: {}",
                                                         stencil.name, stencil.coefficients.size(), coefficient));
  }
  if (stencil.rotations.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("stencil '{}' has no rotation: it says no next step, whose tangents there could be", stencil.name));
  }
  if (is_placed(stencil)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("stencil '{}' uses coordinates, the step's number, random numbers, profiles, layers or "
                    "boundaries of its own: tangents are known for stencils that are the same everywhere and in "
                    "each step",
                    stencil.name));
  }
  const Differentiated from(stencil);
  StencilBuilder made = from.start("tangent");
  TangentWriter writer(from, made, coefficient);
  std::vector<std::pair<std::string, NodeId>> updates;
  for (std::size_t i = 0; i < from.updates().size(); ++i) {
    const auto& [output, derivatives] = from.updates()[i];
    const NodeId expression = stencil.stages.front().updates[i].expression;
    const std::string& name = field_name(stencil, output);
    updates.emplace_back(name, writer.state(expression));
    updates.emplace_back(tangent_name(name), writer.tangent(expression, derivatives));
  }
  for (const auto& [name, expression] : updates) made.update(made.field(name), expression);
  for (const Rotation& rotation : stencil.rotations) {
    const std::string& before = field_name(stencil, rotation.from);
    const std::string& after = field_name(stencil, rotation.to);
    made.rotate(made.field(before), made.field(after));
    made.rotate(made.field(tangent_name(before)), made.field(tangent_name(after)));
  }
  return std::move(made).build();
}

Stencil stage_of(const Stencil& stencil, int stage) {
  if (stage < 0 || static_cast<std::size_t>(stage) >= stencil.stages.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("stage {}: stencil '{}' has {}, numbered from 0", stage,
                                                         stencil.name, stencil.stages.size()));
  }
  StencilBuilder made = empty_like(stencil, fmt::format("stage {} of {}", stage, stencil.name));
  const auto own = [&](int field) { return field_like(made, field_name(stencil, field), stencil, field); };
  Rewritten copies(stencil, made, [&](const Node& read) { return made.read(own(read.index), read.offset); });
  std::vector<std::pair<int, NodeId>> updates;
  for (const Update& update : stencil.stages[static_cast<std::size_t>(stage)].updates) {
    updates.emplace_back(update.output, copies.copy(update.expression));
  }
  for (const auto& [output, expression] : updates) made.update(own(output), expression);
  return std::move(made).build();
}

}  // namespace stencil_tune
