#include "generator/cut/zones.hpp"

#include "generator/cut/halo_need.hpp"
#include "generator/stencil/axis_names.hpp"
#include "generator/stencil/indices.hpp"
#include "stencil_tune/error.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::int64_t kSectorBytesOfRow = 32;
constexpr std::int64_t kWarpSize = 32;  // lanes of a row of a tile of fused steps, each with as many cells as it reads

using Axes = std::array<bool, kMaxRank>;

std::int64_t round_down(std::int64_t value, std::int64_t multiple) { return value / multiple * multiple; }
std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return round_down(value + multiple - 1, multiple); }

/// The stencil where no cell that is updated lies in a layer of these axes, and the numbers that its fields have in it.
class Simplified {
 public:
  Simplified(const Stencil& stencil, const Axes& no_layer)
      : from_(stencil), no_layer_(no_layer), folding_(stencil), folded_(stencil.nodes.size(), -1) {}

  Stencil run() && {
    for (const Stage& stage : from_.stages) {
      Stage& left = stages_.emplace_back();
      for (const Update& update : stage.updates) {
        if (exists(update.output)) left.updates.push_back({update.output, fold(update.expression)});
      }
    }
    keep_fields();
    builder_.emplace(from_.name, from_.rank);
    declare();
    copies_.assign(folding_.stencil().nodes.size(), -1);
    for (const Stage& stage : stages_) {
      if (stage.updates.empty()) continue;
      builder_->begin_stage();
      for (const Update& update : stage.updates) builder_->update(number(update.output), copy(update.expression));
    }
    for (const Rotation& rotation : from_.rotations) {
      if (kept_.contains(rotation.from)) builder_->rotate(number(rotation.from), number(rotation.to));
    }
    for (const Hold& hold : from_.holds) {
      if (kept_.contains(hold.field)) builder_->hold(number(hold.field), number(hold.layers_of));
    }
    Stencil stencil = std::move(*builder_).build();
    stencil.boundary = from_.boundary;
    stencil.layers = from_.layers;
    return stencil;
  }

  std::vector<int> fields() const { return {kept_.begin(), kept_.end()}; }

 private:
  bool exists(int field) const {
    const int axis = layer_axis(from_, field);
    return axis < 0 || !no_layer_[at(axis)];
  }

  NodeId fold(NodeId id) {
    if (folded_[at(id)] >= 0) return folded_[at(id)];
    const Node node = from_.nodes[at(id)];
    NodeId result = id;
    if (node.op == Operation::in_layer && no_layer_[at(node.index)]) {
      result = folding_.number(0);
    } else if (operand_count(node.op) > 0) {
      std::array<NodeId, 3> operands{-1, -1, -1};
      for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) operands[i] = fold(node.operands[i]);
      result = folding_.apply(node.op, operands[0], operands[1], operands[2]);
    }
    return folded_[at(id)] = result;
  }

  /// Those that are read, written or take another's place.
  void keep_fields() {
    std::vector<NodeId> open;
    for (const Stage& stage : stages_) {
      for (const Update& update : stage.updates) {
        kept_.insert(update.output);
        open.push_back(update.expression);
      }
    }
    std::set<NodeId> seen(open.begin(), open.end());
    while (!open.empty()) {
      const Node& node = folding_.stencil().nodes[at(open.back())];
      open.pop_back();
      if (node.op == Operation::read || node.op == Operation::profile) kept_.insert(node.index);
      for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) {
        if (seen.insert(node.operands[i]).second) open.push_back(node.operands[i]);
      }
    }
    for (const Rotation& rotation : from_.rotations) {
      if (exists(rotation.from)) kept_.insert({rotation.from, rotation.to});
    }
    for (const Hold& hold : from_.holds) {
      if (kept_.contains(hold.field)) kept_.insert(hold.layers_of);
    }
  }

  void declare() {
    for (const int field : kept_) {
      const int axis = profile_axis(from_, field);
      const int made =
          axis < 0 ? builder_->field(from_.fields[at(field)]) : builder_->profile(from_.fields[at(field)], axis);
      if (const int layers = layer_axis(from_, field); layers >= 0) builder_->layer_field(made, layers);
    }
    // All of them, in their order: a launch takes the whole stencil's values.
    for (const Coefficient& coefficient : from_.coefficients)
      builder_->coefficient(coefficient.name, coefficient.value);
  }

  int number(int field) const { return static_cast<int>(std::distance(kept_.begin(), kept_.find(field))); }

  NodeId copy(NodeId id) {
    if (copies_[at(id)] >= 0) return copies_[at(id)];
    const Node node = folding_.stencil().nodes[at(id)];
    return copies_[at(id)] = operand_count(node.op) > 0 ? copy_operation(node) : copy_leaf(node);
  }

  NodeId copy_operation(const Node& node) {
    std::array<NodeId, 3> operands{-1, -1, -1};
    for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) operands[i] = copy(node.operands[i]);
    return builder_->apply(node.op, operands[0], operands[1], operands[2]);
  }

  NodeId copy_leaf(const Node& node) {
    const int along = node.offset[std::min<std::size_t>(at(std::max(node.index, 0)), kMaxRank - 1)];
    switch (node.op) {
      case Operation::number:
        return builder_->number(node.value);
      case Operation::coefficient:
        return builder_->coefficient_value(node.index);
      case Operation::coordinate:
        return builder_->coordinate(node.index, along);
      case Operation::step:
        return builder_->step();
      case Operation::before:
        return builder_->before(node.index, along);
      case Operation::after:
        return builder_->after(node.index, along);
      case Operation::outside:
        return builder_->outside(node.index, along);
      case Operation::in_layer:
        return builder_->in_layer(node.index, along);
      default:
        return builder_->read(number(node.index), node.offset);  // a field or a profile
    }
  }

  const Stencil& from_;
  const Axes& no_layer_;
  StencilBuilder folding_;      ///< the whole stencil's nodes, and what becomes of them
  std::vector<NodeId> folded_;  ///< for each node of the whole: what becomes of it; -1 where nobody asked yet
  std::vector<Stage> stages_;   ///< what is left of them
  std::set<int> kept_;          ///< fields
  std::optional<StencilBuilder> builder_;
  std::vector<NodeId> copies_;
};

/// A part of an axis.
struct Piece {
  std::int64_t low = 0, high = 0;              ///< cells that are made there
  std::int64_t from = 0, to = 0;               ///< with what they read
  std::int64_t layer_low = 0, layer_high = 0;  ///< widths of the layers in it
  bool inside = false;                         ///< it lies in none of the axis's layers
};

/// What zones see of each other, in cells.
struct Margins {
  HaloLayers updated;  ///< how far beyond the zone's cells others are updated on the way
  HaloLayers read;     ///< how far beyond them cells are read
};

/// Outputs whose stage holds fewer layers than another are stored beyond a launch's box by as much.
std::int64_t stored_beyond(const Problem& step, std::size_t axis, bool high) {
  if (step.boundaries[axis] != Boundary::hold) return 0;
  std::int64_t most = 0;
  const auto reach = [high](const Reach& far) { return high ? far.high : -far.low; };
  for (const StepStage& stage : step.step.stages) {
    most = std::max<std::int64_t>(most, reach(step.facts.farthest[axis]) - reach(stage.facts.farthest[axis]));
  }
  return most;
}

Margins margins_of(const Problem& step, int steps) {
  const HaloNeed need = halo_need(step, steps);
  Margins margins{need.updated, need.arrays};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    for (HaloLayers* layers : {&margins.updated, &margins.read}) {
      (*layers)[axis].low += stored_beyond(step, axis, false);
      (*layers)[axis].high += stored_beyond(step, axis, true);
    }
  }
  return margins;
}

/// How far below and above a cell updates ask for layers; nothing where they do not.
std::optional<Reach> layers_asked(const Stencil& stencil, std::size_t axis) {
  std::optional<Reach> reach;
  for (const Node& node : stencil.nodes) {
    if (node.op != Operation::in_layer || node.index != static_cast<int>(axis)) continue;
    if (!reach) reach.emplace();
    *reach = {std::min(reach->low, node.offset[axis]), std::max(reach->high, node.offset[axis])};
  }
  return reach;
}

/// One piece where the axis has no layers, or no room between them.
std::vector<Piece> pieces_of(const Problem& step, std::size_t axis, const Margins& margins) {
  const std::int64_t n = step.extents.n[axis];
  const LayerWidths widths = step.stencil.layers.value_or(LayerWidths{});
  const std::int64_t low = widths.low[axis], high = widths.high[axis];
  const auto asked = layers_asked(step.stencil, axis);
  const bool has_layers = asked && (low > 0 || high > 0);
  const std::vector<Piece> whole{{0, n, 0, n, low, high, !has_layers}};
  if (!has_layers) return whole;
  // The same at both ends, so that one problem serves both.
  const std::int64_t updated =
      std::max(margins.updated[axis].low - asked->low, margins.updated[axis].high + asked->high);
  const std::int64_t read = std::max(margins.read[axis].low, margins.read[axis].high);
  const std::int64_t sector = axis == 0 ? kSectorBytesOfRow / static_cast<std::int64_t>(size_of(step.type)) : 1;
  const std::int64_t begin = low == 0 ? 0 : round_up(low + updated, sector);
  const std::int64_t end = high == 0 ? n : round_down(n - high - updated, sector);
  const bool is_x = axis == 0 && step.extents.rank > 1;
  const std::int64_t least = is_x ? kWarpSize * std::max(1, step.facts.radius[axis]) : 1;
  const auto from = [&](std::int64_t cell) {
    return std::max<std::int64_t>(0, round_down(std::min(cell - read, n - least), sector));
  };
  const auto to = [&](std::int64_t cell) { return std::min(n, round_up(std::max(cell + read, least), sector)); };
  // A zone at one end sees nothing of the other end's layer.
  const bool room = begin < end && to(begin) + asked->high < n - high && from(end) + asked->low > low;
  if (!room) return whole;
  std::vector<Piece> pieces;
  pieces.push_back({begin, end, from(begin), to(end), 0, 0, true});
  if (low > 0) pieces.push_back({0, begin, 0, to(begin), low, 0, false});
  if (high > 0) pieces.push_back({end, n, from(end), n, 0, high, false});
  return pieces;
}

/// Whether stages hold the same layers in both, at those ends of the part that are the grid's, and for the same fields.
bool holds_alike(const Problem& step, const Zone& zone) {
  for (const StepStage& stage : zone.problem.step.stages) {
    for (std::size_t i = 0; i < stage.facts.outputs.size(); ++i) {
      const int field = zone.fields[at(stage.facts.outputs[i])];
      const StepStage& whole = step.step.stages[at(step.step.written_by[at(field)])];
      const auto place = std::find(whole.facts.outputs.begin(), whole.facts.outputs.end(), field);
      if (place == whole.facts.outputs.end()) return false;
      const int layers_of = whole.layers_of[static_cast<std::size_t>(place - whole.facts.outputs.begin())];
      if (zone.fields[at(stage.layers_of[i])] != layers_of) return false;
      for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
        if (step.boundaries[axis] != Boundary::hold) continue;
        const bool at_low = zone.origin[axis] == 0;
        const bool at_high = zone.origin[axis] + zone.problem.extents.n[axis] == step.extents.n[axis];
        if (at_low && stage.facts.farthest[axis].low != whole.facts.farthest[axis].low) return false;
        if (at_high && stage.facts.farthest[axis].high != whole.facts.farthest[axis].high) return false;
      }
    }
  }
  return true;
}

/// Whether the zone stores nothing but what the whole grid's launches store: a field between stages that nobody reads
/// any more would be left at the end of a step.
bool stores_alike(const Problem& step, const Zone& zone, int steps) {
  const std::vector<int> stored = kernel_outputs(step, steps), outputs = kernel_outputs(zone.problem, steps);
  return std::all_of(outputs.begin(), outputs.end(), [&](int field) {
    return std::find(stored.begin(), stored.end(), zone.fields[at(field)]) != stored.end();
  });
}

/// The zone of these pieces, one an axis, with an update that is simplified for these axes.
Zone make_zone(const Problem& step, int steps, const std::array<Piece, kMaxRank>& pieces, const Axes& no_layer) {
  Zone zone;
  Extents extents = step.extents;
  LayerWidths widths;
  const Box updated = updated_box(step);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const Piece& piece = pieces[axis];
    extents.n[axis] = piece.to - piece.from;
    zone.origin[axis] = piece.from;
    zone.box.low[axis] = std::max(piece.low, updated.low[axis]) - piece.from;
    zone.box.high[axis] = std::min(piece.high, updated.high[axis]) - piece.from;
    widths.low[axis] = piece.layer_low;
    widths.high[axis] = piece.layer_high;
    if (!piece.inside) zone.name += kAxisNames[axis];
  }
  if (zone.name.empty()) zone.name = "inside";
  Simplified simplified(step.stencil, no_layer);
  Stencil stencil = std::move(simplified).run();
  stencil.layers = widths;
  zone.fields = simplified.fields();
  zone.problem = make_problem(std::move(stencil), step.type, step.boundaries, extents, step.pitch, steps, kWholeStep);
  zone.problem.plane = step.plane_cells();
  return zone;
}

/// Where a simpler update would hold other layers at the grid's edges or store more, or where nothing is left of a
/// stage, it is the whole one.
Zone make_zone(const Problem& step, int steps, const std::array<Piece, kMaxRank>& pieces) {
  try {
    Zone zone = make_zone(step, steps, pieces, {pieces[0].inside, pieces[1].inside, pieces[2].inside});
    if (holds_alike(step, zone) && stores_alike(step, zone, steps)) return zone;
  } catch (const Error& error) {
    const bool is_no_stencil =
        error.code() == ErrorCode::malformed_definition || error.code() == ErrorCode::invalid_argument;
    if (!is_no_stencil) throw;
  }
  return make_zone(step, steps, pieces, {});
}

}  // namespace

std::vector<Zone> zones(const Problem& step, int steps) {
  if (!asks_layers(step)) return {};
  const Margins margins = margins_of(step, steps);
  std::array<std::vector<Piece>, kMaxRank> pieces;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) pieces[axis] = pieces_of(step, axis, margins);
  if (pieces[0].size() * pieces[1].size() * pieces[2].size() == 1) return {};
  std::vector<Zone> zones;
  for (const Piece& z : pieces[2]) {
    for (const Piece& y : pieces[1]) {
      for (const Piece& x : pieces[0]) {
        zones.push_back(make_zone(step, steps, {x, y, z}));
      }
    }
  }
  std::erase_if(zones, [](const Zone& zone) { return zone.box.cells() == 0; });
  std::stable_sort(zones.begin(), zones.end(),
                   [](const Zone& a, const Zone& b) { return a.box.cells() > b.box.cells(); });
  return zones;
}

std::vector<Problem> zone_problems(const std::vector<Zone>& zones) {
  std::vector<Problem> problems;
  for (const Zone& zone : zones) {
    const auto same = [&](const Problem& other) {
      return other.extents == zone.problem.extents && stencil_key(other.stencil) == stencil_key(zone.problem.stencil);
    };
    if (std::any_of(problems.begin(), problems.end(), same)) continue;
    problems.push_back(zone.problem);
    problems.back().plane = 0;
  }
  std::stable_sort(problems.begin(), problems.end(),
                   [](const Problem& a, const Problem& b) { return a.extents.cells() > b.extents.cells(); });
  return problems;
}

}  // namespace stencil_tune
