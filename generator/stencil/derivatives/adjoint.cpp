#include "generator/stencil/derivatives/adjoint.hpp"

#include "generator/stencil/derivatives/differentiated.hpp"
#include "generator/stencil/derivatives/gathered.hpp"
#include "generator/stencil/derivatives/tangent.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "generator/stencil/step.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
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

/// What each cell adds to the gradients of coefficients that are wanted. of_outputs: fields with the gradients that a
/// stage's outputs have. 0 where these are, also where a derivative is not finite there, as beyond an edge.
std::map<int, Sum> coefficient_gradients(const Differentiated& from, StencilBuilder& to,
                                         const std::map<int, int>& of_outputs,
                                         const std::function<bool(int coefficient)>& is_wanted) {
  const Stencil& extended = from.extended();
  const auto read = [&](const Node& node) {
    const std::string& name = extended.fields[static_cast<std::size_t>(node.index)];
    return to.read(field_like(to, name, extended, node.index), node.offset);
  };
  Rewritten copies(extended, to, read);
  std::map<int, Sum> sums;
  for (const auto& [output, derivatives] : from.updates()) {
    const auto of_output = of_outputs.find(output);
    if (of_output == of_outputs.end()) continue;
    for (NodeId id = 0; id < static_cast<NodeId>(from.stencil().nodes.size()); ++id) {
      const Node& node = from.stencil().nodes[static_cast<std::size_t>(id)];
      if (node.op != Operation::coefficient || derivatives.at(id) == kNoNode || !is_wanted(node.index)) continue;
      const NodeId weight = copies.copy(derivatives.at(id)), zero = to.number(0);
      if (is_literal(to, weight, 0)) continue;
      const NodeId gradient = read_where_it_exists(to, of_output->second, {0, 0, 0});
      const NodeId product = to.apply(Operation::multiply, weight, gradient);
      sums[node.index].add(
          to, !to.reads_field(weight)
                  ? product
                  : to.apply(Operation::select, to.apply(Operation::equal, gradient, zero), zero, product));
    }
  }
  return sums;
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

/// What an update of one stage copies: a field of the state, as it is or with the other sign.
struct Copied {
  int field = 0;
  bool is_negated = false;
};
std::optional<Copied> copied_by(const Stencil& stencil, const Update& update) {
  const auto node_at = [&](NodeId id) { return stencil.nodes[static_cast<std::size_t>(id)]; };
  Node node = node_at(update.expression);
  const bool is_negated = node.op == Operation::negate;
  if (is_negated) node = node_at(node.operands[0]);
  const auto is_state = [&](const Rotation& rotation) { return rotation.to == node.index; };
  if (node.op != Operation::read || node.offset != Offset{} ||
      std::none_of(stencil.rotations.begin(), stencil.rotations.end(), is_state)) {
    return std::nullopt;
  }
  return Copied{node.index, is_negated};
}

/// The gradient of an older time level becomes that of the newer one with the other sign, cell by cell: such arrays
/// change places instead, and the older one's is kept as its negative.
Stencil with_turns_for_copies(const Stencil& step) {
  if (step.stages.size() > 1) return step;
  std::map<int, Copied> copies;  // by output
  std::map<int, int> turns;      // for each field what it becomes
  for (const Rotation& rotation : step.rotations) turns[rotation.from] = rotation.to;
  for (const Update& update : step.stages.front().updates) {
    const auto copied = copied_by(step, update);
    if (!copied || turns.contains(copied->field) || !turns.contains(update.output)) continue;
    turns[copied->field] = turns.at(update.output);
    turns.erase(update.output);
    copies.emplace(update.output, *copied);
  }
  std::set<int> negated;
  for (const auto& [output, copied] : copies) {
    if (copied.is_negated) negated.insert(turns.at(copied.field));
  }
  StencilBuilder made = empty_like(step, step.name);
  const auto own = [&](int field) {
    const std::string& name = step.fields[static_cast<std::size_t>(field)];
    return field_like(made, negated.contains(field) ? "negated_" + name : name, step, field);
  };
  Rewritten rewritten(step, made, [&](const Node& read) {
    const NodeId value = made.read(own(read.index), read.offset);
    return negated.contains(read.index) ? made.apply(Operation::negate, value) : value;
  });
  for (const Update& update : step.stages.front().updates) {
    if (copies.contains(update.output)) continue;
    const NodeId value = rewritten.copy(update.expression);
    made.update(own(update.output), value);
  }
  for (const auto& [from, to] : turns) made.rotate(own(from), own(to));
  for (const Hold& hold : step.holds) made.hold(own(hold.field), own(hold.layers_of));
  return std::move(made).build();
}

/// A step back, stage by stage. Along the way each field and coefficient has at most one gradient, which is a field.
class StepBack {
 public:
  StepBack(const Stencil& stencil, const std::vector<std::string>& wanted, Along held)
      : stencil_(stencil),
        step_(analyse_step(stencil)),
        held_(held),
        made_(empty_like(stencil, "adjoint step of " + stencil.name)) {
    for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
      stages_.push_back(stage_of(stencil, stage));
    }
    derivatives_.reserve(stages_.size());
    for (const Stencil& stage : stages_) derivatives_.emplace_back(stage);
    for (const int axis : axes_of(held)) {
      if (stencil.boundary[static_cast<std::size_t>(axis)]) made_.boundary(axis, Boundary::zero);
    }
    for (std::size_t i = 0; i < step_.state.size(); ++i) {
      gradients_[name(step_.becomes[i])] = gradient_field(name(step_.state[i]));
    }
    for (const std::string& each : wanted) want(each);
    for (const StepStage& stage : step_.stages) {
      for (const int layers_of : stage.layers_of) {
        if (!keeps_to_layers(stage, layers_of)) {
          throw Error(ErrorCode::invalid_argument,
                      fmt::format("stencil '{}' hands layers of '{}' on: its adjoint step is not known", stencil.name,
                                  name(layers_of)));
        }
      }
    }
  }

  Stencil run() && {
    make_again();
    for (std::size_t stage = stages_.size(); stage-- > 0;) take_back(stage);
    take_turns();
    return with_turns_for_copies(std::move(made_).build());
  }

 private:
  static bool contains(const std::vector<int>& fields, int field) {
    return std::find(fields.begin(), fields.end(), field) != fields.end();
  }

  const std::string& name(int field) const { return stencil_.fields[static_cast<std::size_t>(field)]; }

  /// -1 for a coefficient.
  int find(const std::string& field) const {
    const auto at = std::find(stencil_.fields.begin(), stencil_.fields.end(), field);
    return at == stencil_.fields.end() ? -1 : static_cast<int>(at - stencil_.fields.begin());
  }

  /// A field for a gradient, which exists where what it is of does.
  int gradient_field(const std::string& of, const std::string& suffix = "") {
    const int field = find(of);
    const std::string gradient = gradient_name(of) + suffix;
    return field < 0 ? made_.field(gradient) : field_like(made_, gradient, stencil_, field);
  }

  void want(const std::string& each) {
    const int field = find(each);
    const auto is_named = [&](const Coefficient& coefficient) { return coefficient.name == each; };
    const auto& coefficients = stencil_.coefficients;
    if (field < 0 ? std::none_of(coefficients.begin(), coefficients.end(), is_named)
                  : is_profile(stencil_, field) || contains(step_.state, field)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' is no coefficient of stencil '{}', and no field of the whole grid beside its state",
                              each, stencil_.name));
    }
    wanted_.insert(each);
  }

  /// Whether nothing that counts flows from the layers that a stage holds to the field that they are of.
  bool keeps_to_layers(const StepStage& stage, int layers_of) const {
    if (wanted_.contains(name(layers_of))) return false;
    const int writer = step_.written_by[static_cast<std::size_t>(layers_of)];
    if (writer < 0) return true;
    const auto& own = step_.stages[static_cast<std::size_t>(writer)].facts.farthest;
    const std::vector<int> axes = axes_of(held_);
    return std::all_of(axes.begin(), axes.end(), [&](int axis) {
      const auto at = static_cast<std::size_t>(axis);
      return stage.facts.farthest[at].low >= own[at].low && stage.facts.farthest[at].high <= own[at].high;
    });
  }

  /// The value where a stage updates cells, the other in the layers that it holds.
  NodeId inside(int stage, NodeId value, NodeId other) {
    Sum beyond;  // cells from the stage's box to here
    for (const int axis : axes_of(held_)) {
      const Reach& reach = step_.stages[static_cast<std::size_t>(stage)].facts.farthest[static_cast<std::size_t>(axis)];
      if (reach.low != 0) beyond.add(made_, made_.before(axis, reach.low));
      if (reach.high != 0) beyond.add(made_, made_.after(axis, reach.high));
    }
    if (beyond.id == kNoNode) return value;
    return made_.apply(Operation::select, made_.apply(Operation::equal, beyond.id, made_.number(0)), value, other);
  }

  void begin_stage() {
    if (!made_.stencil().stages.empty()) made_.begin_stage();
  }

  // ---- what derivatives depend on ----

  bool is_constant(const std::string& of) const { return find(of) < 0 || contains(step_.constants, find(of)); }

  /// What the fields that count, and coefficients, get from the gradients of a stage's outputs.
  std::map<std::string, NodeId> flows_back(std::size_t number, StencilBuilder& to,
                                           const std::map<std::string, int>& of_outputs) const {
    const Stencil& stage = stages_[number];
    std::map<std::string, NodeId> found;
    const auto note = [&](const std::string& of, NodeId gradient) {
      if (gradient != kNoNode) found.emplace(of, gradient);
    };
    Gathered gathered(stage, to, Distances::of_the_grid);
    std::map<int, int> by_output;
    for (const Update& update : stage.stages.front().updates) {
      const auto gradient = of_outputs.find(stage.fields[static_cast<std::size_t>(update.output)]);
      if (gradient == of_outputs.end()) continue;
      gathered.add_output(update, gradient->second);
      by_output.emplace(update.output, gradient->second);
    }
    for (const int field : analyse(stage, 0).inputs) {
      const std::string& of = stage.fields[static_cast<std::size_t>(field)];
      if (!is_constant(of) || wanted_.contains(of)) note(of, gathered.gradient_of(field));
    }
    const auto name_of = [&](int coefficient) -> const std::string& {
      return stage.coefficients[static_cast<std::size_t>(coefficient)].name;
    };
    const auto is_wanted = [&](int coefficient) { return wanted_.contains(name_of(coefficient)); };
    for (const auto& [coefficient, sum] : coefficient_gradients(derivatives_[number], to, by_output, is_wanted)) {
      note(name_of(coefficient), sum.id);
    }
    return found;
  }

  /// Stages write once more what later ones read, as far as derivatives depend on it.
  void make_again() {
    std::set<std::string> needed;
    const auto need = [&](const Stencil& of, const std::vector<NodeId>& expressions) {
      const std::vector<bool> used = reachable(of, expressions);
      for (std::size_t id = 0; id < of.nodes.size(); ++id) {
        const Node& node = of.nodes[id];
        if (used[id] && node.op == Operation::read) needed.insert(of.fields[static_cast<std::size_t>(node.index)]);
      }
    };
    std::vector<std::vector<Update>> again(stages_.size());
    for (std::size_t stage = stages_.size(); stage-- > 0;) {
      std::vector<NodeId> expressions;
      StencilBuilder trial = derivatives_[stage].start("trial");
      std::map<std::string, int> of_outputs;
      for (const Update& update : stages_[stage].stages.front().updates) {
        const std::string& output = stages_[stage].fields[static_cast<std::size_t>(update.output)];
        of_outputs[output] = trial.field(gradient_name(output));
        if (!needed.contains(output)) continue;
        again[stage].push_back(update);
        expressions.push_back(update.expression);
      }
      need(stages_[stage], expressions);
      expressions.clear();
      for (const auto& [to, gradient] : flows_back(stage, trial, of_outputs)) expressions.push_back(gradient);
      need(trial.stencil(), expressions);
    }
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      if (!again[stage].empty()) write_again(stage, again[stage]);
    }
  }

  void write_again(std::size_t number, const std::vector<Update>& updates) {
    const Stencil& stage = stages_[number];
    const StepStage& facts = step_.stages[number];
    const auto own = [&](int field) {
      return field_like(made_, stage.fields[static_cast<std::size_t>(field)], stage, field);
    };
    Rewritten copies(stage, made_, [&](const Node& read) { return made_.read(own(read.index), read.offset); });
    begin_stage();
    for (const Update& update : updates) {
      const int field = find(stage.fields[static_cast<std::size_t>(update.output)]);
      if (contains(step_.state, field)) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("stencil '{}' writes '{}' in place: its adjoint step is not known", stencil_.name,
                                name(field)));
      }
      const NodeId value = copies.copy(update.expression);
      const auto at = std::find(facts.facts.outputs.begin(), facts.facts.outputs.end(), field);
      const int layers_of = facts.layers_of[static_cast<std::size_t>(at - facts.facts.outputs.begin())];
      const int layers = layers_of == field ? -1 : field_like(made_, name(layers_of), stencil_, layers_of);
      const NodeId held = layers < 0 ? made_.number(0) : read_where_it_exists(made_, layers, {0, 0, 0});
      made_.update(own(update.output), inside(static_cast<int>(number), value, held));
      if (layers >= 0) made_.hold(own(update.output), layers);
    }
  }

  // ---- gradients ----

  /// From the gradients of a stage's outputs to those of what it reads.
  void take_back(std::size_t number) {
    std::map<std::string, int> of_outputs;
    for (const Update& update : stages_[number].stages.front().updates) {
      const auto gradient = gradients_.extract(stages_[number].fields[static_cast<std::size_t>(update.output)]);
      if (gradient.empty()) continue;  // nobody reads the output
      of_outputs[gradient.key()] = gradient.mapped();
      if (wanted_.contains(gradient.key()) && taken_back_.contains(gradient.mapped()))
        turns_[gradient.mapped()] = gradient_field(gradient.key());
    }
    std::vector<std::pair<int, NodeId>> updates;
    for (const auto& [to, gradient] : flows_back(number, made_, of_outputs)) {
      Sum sum{gradient};
      if (wanted_.contains(to) && is_constant(to)) gradients_.try_emplace(to, gradient_field(to));
      if (wanted_.contains(to) && !is_constant(to)) {  // receivers record fields alone that the next step reads
        const NodeId last = read_where_it_exists(made_, gradient_field(to), {0, 0, 0});
        sum.add(made_, made_.apply(Operation::multiply, made_.number(0), last));
      }
      if (const auto before = gradients_.find(to); before != gradients_.end()) {
        sum.add(made_, read_where_it_exists(made_, before->second, {0, 0, 0}));
      }
      gradients_[to] = gradient_field(to, fmt::format("_of_stage_{}", number));
      updates.emplace_back(gradients_[to], where_it_exists(made_, gradients_[to], {0, 0, 0}, without_held(to, sum.id)));
    }
    if (updates.empty()) return;
    begin_stage();
    for (const auto& [gradient, value] : updates) {
      made_.update(gradient, value);
      taken_back_.insert(gradient);
    }
  }

  /// A gradient is 0 in the layers that were held when its field was written: nothing flows on from there.
  NodeId without_held(const std::string& of, NodeId gradient) {
    const int field = find(of);
    const int stage = field < 0 ? -1 : step_.written_by[static_cast<std::size_t>(field)];
    return stage < 0 ? gradient : inside(stage, gradient, made_.number(0));
  }

  /// What the gradients have become takes the places of those that the step began with.
  void take_turns() {
    if (taken_back_.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("stencil '{}' has no derivative with respect to a field", stencil_.name));
    }
    for (const int state : step_.state) {
      const auto found = gradients_.find(name(state));
      int from = found == gradients_.end() ? -1 : found->second;
      if (!taken_back_.contains(from)) {
        const NodeId value = from < 0 ? made_.number(0) : read_where_it_exists(made_, from, {0, 0, 0});
        from = gradient_field(name(state), "_before");
        made_.update(from, where_it_exists(made_, from, {0, 0, 0}, without_held(name(state), value)));
      }
      turns_[from] = gradient_field(name(state));
    }
    for (const std::string& each : wanted_) {
      const auto found = gradients_.find(each);
      if (found != gradients_.end()) turns_[found->second] = gradient_field(each);
    }
    for (const auto& [from, to] : turns_) made_.rotate(from, to);
    // What is handed on has the zeros of the state's gradients in layers that are held.
    for (const int gradient : taken_back_) {
      const int axis = layer_axis(made_.stencil(), gradient);
      const auto alike = std::find_if(step_.state.begin(), step_.state.end(),
                                      [&](int state) { return layer_axis(stencil_, state) == axis; });
      const bool is_handed_on = !turns_.contains(gradient);
      if (is_handed_on && alike != step_.state.end()) made_.hold(gradient, gradient_field(name(*alike)));
    }
  }

  const Stencil& stencil_;
  const StepFacts step_;
  const Along held_;
  StencilBuilder made_;
  std::vector<Stencil> stages_;              ///< the stencil's, each as one of its own
  std::vector<Differentiated> derivatives_;  ///< one a stage
  std::set<std::string> wanted_;
  std::map<std::string, int> gradients_;  ///< by the field or coefficient that they are of: fields of what is made
  std::set<int> taken_back_;              ///< those that stages write
  std::map<int, int> turns_;              ///< those that take the places of others after the step
};

}  // namespace

std::string gradient_name(const std::string& field) { return "grad_" + field; }

Stencil adjoint_of(const Stencil& stencil) {
  StencilBuilder adjoint = start(Differentiated(stencil), "adjoint");
  Gathered gathered(stencil, adjoint, Distances::of_coefficients);
  for (const Update& update : stencil.stages.front().updates) {
    gathered.add_output(update, adjoint.field(gradient_of(stencil, update.output)));
  }
  std::map<int, Sum> gradients;  // by input
  for (const int input : analyse(stencil, 0).inputs) {
    if (const NodeId gradient = gathered.gradient_of(input); gradient != kNoNode) gradients[input] = {gradient};
  }
  if (gradients.size() == 1 && is_sum_of_one_field(stencil)) {
    gradients.begin()->second.id = opposite_sum(stencil, adjoint);
  }
  if (gradients.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stencil '{}' has no derivative with respect to a field", stencil.name));
  }
  for (const auto& [input, sum] : gradients) {
    const int gradient = field_like(adjoint, gradient_of(stencil, input), stencil, input);
    adjoint.update(gradient, where_it_exists(adjoint, gradient, {0, 0, 0}, sum.id));
  }
  rotate_back(stencil, gradients, adjoint);
  return std::move(adjoint).build();
}

Stencil adjoint_step_of(const Stencil& stencil, const std::vector<std::string>& wanted, Along held) {
  return StepBack(stencil, wanted, held).run();
}

Stencil coefficient_adjoint_of(const Stencil& stencil) {
  const Differentiated from(stencil);
  StencilBuilder adjoint = start(from, "coefficient gradients");
  std::map<int, int> of_outputs;
  for (const auto& [output, derivatives] : from.updates()) {
    of_outputs.emplace(output, adjoint.field(gradient_of(stencil, output)));
  }
  const std::map<int, Sum> gradients = coefficient_gradients(from, adjoint, of_outputs, [](int) { return true; });
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
