#include "generator/stencil/derivatives/reversed.hpp"

#include "generator/stencil/derivatives/differentiated.hpp"
#include "generator/stencil/derivatives/tangent.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/step.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

class Reversal {
 public:
  explicit Reversal(const Stencil& stencil)
      : stencil_(stencil), step_(analyse_step(stencil)), made_(empty_like(stencil, "reversed " + stencil.name)) {
    for (std::size_t i = 0; i < step_.state.size(); ++i) {
      known_[name(step_.becomes[i])] = field_like(made_, name(step_.state[i]), stencil, step_.state[i]);
    }
  }

  Stencil run() && {
    std::vector<Stencil> stages;
    for (int stage = 0; stage < static_cast<int>(stencil_.stages.size()); ++stage) {
      stages.push_back(stage_of(stencil_, stage));
    }
    for (std::size_t stage = stages.size(); stage-- > 0;) take_back(stages[stage]);
    for (const int state : step_.state) {
      const int to = field_like(made_, name(state), stencil_, state);
      const auto found = known_.find(name(state));
      if (found == known_.end()) refuse(name(state));
      made_.rotate(found->second, to);
    }
    return std::move(made_).build();
  }

 private:
  const std::string& name(int field) const { return stencil_.fields[at(field)]; }

  [[noreturn]] void refuse(const std::string& field) const {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("stencil '{}' cannot be taken back: '{}' is no term, with factor 1 or -1, of what a step leaves",
                    stencil_.name, field));
  }

  /// Fields that the stage overwrites what its outputs leave of: before_NAME.
  void take_back(const Stencil& stage) {
    const Differentiated derivatives(stage);
    std::vector<std::pair<std::string, NodeId>> found;
    for (std::size_t i = 0; i < derivatives.updates().size(); ++i) {
      const std::string& output = stage.fields[at(stage.stages.front().updates[i].output)];
      const auto left = known_.extract(output);
      if (left.empty()) continue;  // the next step does not begin with it
      const auto term = overwritten(stage, derivatives, i);
      if (!term) refuse(output);
      const NodeId rest = without(stage, stage.stages.front().updates[i].expression, term->first);
      const NodeId value = made_.read(left.mapped(), {0, 0, 0});
      found.emplace_back(term->first, term->second > 0 ? made_.apply(Operation::subtract, value, rest)
                                                       : made_.apply(Operation::subtract, rest, value));
    }
    if (found.empty()) return;
    if (!made_.stencil().stages.empty()) made_.begin_stage();
    for (const auto& [field, value] : found) {
      const auto of = std::find(stencil_.fields.begin(), stencil_.fields.end(), field) - stencil_.fields.begin();
      const int before = field_like(made_, "before_" + field, stencil_, static_cast<int>(of));
      made_.update(before, where_it_exists(made_, before, {0, 0, 0}, value));
      known_[field] = before;
    }
  }

  /// The only field of an update that nobody knows, and its factor: 1 or -1, and it is read at the cell alone.
  std::optional<std::pair<std::string, double>> overwritten(const Stencil& stage, const Differentiated& derivatives,
                                                            std::size_t update) const {
    std::optional<std::pair<std::string, double>> found;
    for (NodeId id = 0; id < static_cast<NodeId>(stage.nodes.size()); ++id) {
      const Node& node = stage.nodes[at(id)];
      const NodeId derivative = derivatives.updates()[update].second.at(id);
      if (node.op != Operation::read || derivative == kNoNode) continue;
      const std::string& field = stage.fields[at(node.index)];
      const bool is_constant = std::find_if(step_.constants.begin(), step_.constants.end(), [&](int constant) {
                                 return name(constant) == field;
                               }) != step_.constants.end();
      if (is_constant || known_.contains(field)) continue;
      const Node& factor = derivatives.extended().nodes[at(derivative)];
      const bool is_unit = factor.op == Operation::number && (factor.value == 1 || factor.value == -1);
      if (found || !is_unit || node.offset != Offset{}) return std::nullopt;
      found.emplace(field, factor.value);
    }
    return found;
  }

  NodeId without(const Stencil& stage, NodeId expression, const std::string& term) {
    const auto read = [&](const Node& node) {
      const std::string& field = stage.fields[at(node.index)];
      if (field == term) return made_.number(0);
      const auto found = known_.find(field);
      return made_.read(found == known_.end() ? field_like(made_, field, stage, node.index) : found->second,
                        node.offset);
    };
    return Rewritten(stage, made_, read).copy(expression);
  }

  const Stencil& stencil_;
  const StepFacts step_;
  StencilBuilder made_;
  std::map<std::string, int>
      known_;  ///< fields of the step, by their names in it: those of what is made that hold them
};

}  // namespace

Stencil reversed_of(const Stencil& stencil) { return Reversal(stencil).run(); }

}  // namespace stencil_tune
