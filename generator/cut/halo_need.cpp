#include "generator/cut/halo_need.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/linear.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace stencil_tune {
namespace {

void widen(HaloLayers& layers, const HaloLayers& to) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    layers[axis].low = std::max(layers[axis].low, to[axis].low);
    layers[axis].high = std::max(layers[axis].high, to[axis].high);
  }
}

/// Layers of an input for an output that is needed `from` beyond the own cells.
HaloLayers read_from(const HaloLayers& from, const std::array<Reach, kMaxRank>& reach) {
  HaloLayers layers = from;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    layers[axis].low -= reach[axis].low;
    layers[axis].high += reach[axis].high;
  }
  return layers;
}

class Backwards {
 public:
  Backwards(const Problem& problem, std::vector<HaloLayers> wanted) : problem_(problem) {
    need_.fields = std::move(wanted);
    need_.fields.resize(problem.stencil.fields.size());
    const auto axes = problem.boundaries.begin();
    holds_ = std::count(axes, axes + problem.extents.rank, Boundary::hold) > 0;
    for (const Node& node : problem.stencil.nodes) {
      if (asks_edge(node.op))
        edges_[at(node.index)] = std::max(edges_[at(node.index)], std::abs(node.offset[at(node.index)]));
      for (std::size_t axis = 0; node.op == Operation::profile && axis < at(problem.extents.rank); ++axis) {
        profiles_[axis].low = std::min(profiles_[axis].low, node.offset[axis]);
        profiles_[axis].high = std::max(profiles_[axis].high, node.offset[axis]);
      }
    }
  }

  HaloNeed run(int steps) && {
    for (int step = 0; step < steps; ++step) {
      undo_rotations();
      for (std::size_t stage = problem_.step.stages.size(); stage-- > 0;) undo(stage);
    }
    return std::move(need_);
  }

 private:
  /// What a field is needed for under its name before the step's rotations.
  void undo_rotations() {
    std::vector<HaloLayers> before = need_.fields;
    for (const Rotation& rotation : problem_.stencil.rotations) before[at(rotation.to)] = {};
    for (const Rotation& rotation : problem_.stencil.rotations) {
      widen(before[at(rotation.from)], need_.fields[at(rotation.to)]);
    }
    need_.fields = std::move(before);
  }

  /// Outputs have the held layers of other fields, which are needed as far as they are.
  void undo(std::size_t number) {
    const StepStage& stage = problem_.step.stages[number];
    const StageFacts& facts = stage.facts;
    HaloLayers outputs{};
    std::vector<HaloLayers> held;
    for (const int field : facts.outputs) {
      widen(outputs, need_.fields[at(field)]);
      held.push_back(std::exchange(need_.fields[at(field)], {}));
    }
    if (asks_layers(problem_)) widen(need_.asked, asked_from(outputs, problem_.stencil.stages[number]));
    for (std::size_t i = 0; holds_ && i < held.size(); ++i) widen(need_.fields[at(stage.layers_of[i])], held[i]);
    for (std::size_t i = 0; i < facts.inputs.size(); ++i) {
      widen(need_.fields[at(facts.inputs[i])], read_from(outputs, seen(facts.reach[i])));
    }
    widen(need_.arrays, read_from(outputs, seen(facts.farthest)));
    widen(need_.arrays, read_from(outputs, seen(profiles_)));
  }

  /// How far updates ask for layers that are made so far beyond the own cells.
  HaloLayers asked_from(const HaloLayers& outputs, const Stage& stage) const {
    std::vector<NodeId> updates;
    for (const Update& update : stage.updates) updates.push_back(update.expression);
    const std::vector<bool> used = reachable(problem_.stencil, updates);
    HaloLayers asked{};
    for (std::size_t i = 0; i < used.size(); ++i) {
      const Node& node = problem_.stencil.nodes[i];
      if (!used[i] || node.op != Operation::in_layer) continue;
      const std::size_t axis = at(node.index);
      asked[axis].low = std::max(asked[axis].low, outputs[axis].low - node.offset[axis]);
      asked[axis].high = std::max(asked[axis].high, outputs[axis].high + node.offset[axis]);
    }
    return asked;
  }

  /// What a definition changes beyond an edge is wrong as far as it looks for one. Where an axis mirrors, reads beyond
  /// one end are of cells on the other side.
  std::array<Reach, kMaxRank> seen(std::array<Reach, kMaxRank> reach) const {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      reach[axis] = {std::min(reach[axis].low, -edges_[axis]), std::max(reach[axis].high, edges_[axis])};
      if (problem_.boundaries[axis] != Boundary::reflect) continue;
      const int far = std::max(-reach[axis].low, reach[axis].high);
      reach[axis] = {-far, far};
    }
    return reach;
  }

  const Problem& problem_;
  std::array<int, kMaxRank> edges_{0, 0, 0};
  bool holds_ = false;
  std::array<Reach, kMaxRank> profiles_{};  ///< how far arrays along some axes are read; they end with the part's array
  HaloNeed need_;
};

}  // namespace

HaloNeed halo_need(const Problem& problem, int steps, std::vector<HaloLayers> wanted) {
  return Backwards(problem, std::move(wanted)).run(steps);
}

std::vector<int> fields_with_halos(const Problem& problem) {
  std::vector<int> fields = problem.step.state;
  for (const std::vector<int>* more : {&problem.step.constants, &problem.step.layers}) {
    std::copy_if(more->begin(), more->end(), std::back_inserter(fields),
                 [&](int field) { return !is_profile(problem.stencil, field); });
  }
  std::sort(fields.begin(), fields.end());
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  return fields;
}

bool may_cut(const Problem& problem, std::size_t axis, int steps) {
  const auto& nodes = problem.stencil.nodes;
  const auto asks_layer = [&](const Node& node) {
    return node.op == Operation::in_layer && node.index == static_cast<int>(axis);
  };
  if (std::any_of(nodes.begin(), nodes.end(), asks_layer)) return false;
  if (problem.boundaries[axis] != Boundary::periodic) return true;
  const bool in_own_cells = steps == 1 && problem.stencil.stages.size() == 1;
  return std::none_of(nodes.begin(), nodes.end(), [&](const Node& node) {
    const bool counts_on = node.op == Operation::coordinate && !in_own_cells;
    const bool asks = counts_on || node.op == Operation::before || node.op == Operation::after;
    const bool asks_all = node.op == Operation::random && !in_own_cells;
    return asks_all || (asks && node.index == static_cast<int>(axis));
  });
}

}  // namespace stencil_tune
