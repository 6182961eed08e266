#include "generator/cut/zones.hpp"

#include "generator/cut/halo_need.hpp"
#include "generator/stencil/axis_names.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "stencil_tune/error.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace stencil_tune {
namespace {

constexpr const char* kInside = "inside";
constexpr std::int64_t kSectorBytesOfRow = 32;
constexpr std::int64_t kWarpSize = 32;    // lanes of a row of a tile of fused steps
constexpr std::int64_t kRowsOfTiles = 8;  // tiles of 24, 32, 40 rows span a layer and what is read beside it

using Axes = std::array<bool, kMaxRank>;

/// Whether zones are cut along x. Kernels that read rows from global memory make a layer's few cells of a row slowly.
enum class Rows { whole, cut };

std::int64_t round_down(std::int64_t value, std::int64_t multiple) { return value / multiple * multiple; }
std::int64_t round_up(std::int64_t value, std::int64_t multiple) { return round_down(value + multiple - 1, multiple); }

/// The stencil where no cell that is updated lies in a layer of these axes, and the numbers that its fields have in it;
/// or one of its stages alone.
class Simplified {
 public:
  Simplified(const Stencil& stencil, const Axes& no_layer, std::optional<int> stage = std::nullopt)
      : from_(stencil), no_layer_(no_layer), stage_(stage), folding_(stencil), folded_(stencil.nodes.size(), -1) {}

  Stencil run() && {
    for (std::size_t number = 0; number < from_.stages.size(); ++number) {
      Stage& left = stages_.emplace_back();
      if (stage_ && at(*stage_) != number) continue;
      for (const Update& update : from_.stages[number].updates) {
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
      if (kept_.contains(rotation.from) && !stage_) builder_->rotate(number(rotation.from), number(rotation.to));
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
      bool vanishes = false;  // a factor of what does not exist
      for (std::size_t i = 0; i < at(operand_count(node.op)); ++i) {
        operands[i] = fold(node.operands[i]);
        vanishes = vanishes || (operands[i] != node.operands[i] && operands[i] == folding_.number(0));
      }
      if (node.op == Operation::multiply && vanishes) {
        result = folding_.number(0);
      } else if (node.op == Operation::select && operands[1] == operands[2]) {
        result = operands[1];
      } else {
        result = folding_.apply(node.op, operands[0], operands[1], operands[2]);
      }
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
      if (exists(rotation.from) && !stage_) kept_.insert({rotation.from, rotation.to});
    }
    for (const Hold& hold : from_.holds) {
      if (kept_.contains(hold.field)) kept_.insert(hold.layers_of);
    }
  }

  void declare() {
    for (const int field : kept_) {
      const Along along = profile_along(from_, field);
      const int made =
          along == 0 ? builder_->field(from_.fields[at(field)]) : builder_->profile(from_.fields[at(field)], along);
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
      case Operation::random:
        return builder_->random(node.value, node.index, node.offset);
      default:
        return builder_->read(number(node.index), node.offset);  // a field or a profile
    }
  }

  const Stencil& from_;
  const Axes& no_layer_;
  std::optional<int> stage_;
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
  std::int64_t layer_low = 0, layer_high = 0;  ///< widths of the layers in it
  bool inside = false;                         ///< it lies in none of the axis's layers
};

using Pieces = std::array<Piece, kMaxRank>;

/// An update that is simplified for some axes, and what its zones must see.
struct ZoneUpdate {
  Problem whole;            ///< of the whole grid
  std::vector<int> fields;  ///< for each field of its stencil: its number in the grid's
  HaloLayers read;          ///< how far beyond a zone's cells it reads
};

/// Outputs whose stage holds fewer layers than another are stored beyond a launch's box by as much. For each field,
/// after the step.
std::vector<HaloLayers> stored_beyond(const Problem& step) {
  std::vector<HaloLayers> beyond(step.stencil.fields.size());
  for (const StepStage& stage : step.step.stages) {
    HaloLayers layers{};
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      if (step.boundaries[axis] != Boundary::hold) continue;
      const Reach whole = step.facts.farthest[axis], own = stage.facts.farthest[axis];
      layers[axis] = {std::max(0, own.low - whole.low), std::max(0, whole.high - own.high)};
    }
    for (const int output : stage.facts.outputs) {
      beyond[at(output)] = layers;
      for (const Rotation& rotation : step.stencil.rotations) {
        if (rotation.from == output) beyond[at(rotation.to)] = layers;
      }
    }
  }
  return beyond;
}

ZoneUpdate make_update(const Problem& step, int steps, const Axes& no_layer) {
  Simplified simplified(step.stencil, no_layer);
  Stencil stencil = std::move(simplified).run();
  ZoneUpdate update{
      make_problem(std::move(stencil), step.type, step.boundaries, step.extents, step.pitch, steps, kWholeStep),
      simplified.fields(),
      {}};
  update.read = halo_need(update.whole, steps, stored_beyond(update.whole)).arrays;
  return update;
}

/// How far from its layers the cells of a zone with this update must lie, which is in none of that axis, alike at both
/// ends. What its update needs after the first step it has right if no stage of that step asks for a cell in a layer;
/// and nothing that it stores beyond them may lie in one.
std::int64_t distance_of(const Problem& step, int steps, const ZoneUpdate& update, std::size_t axis) {
  const HaloNeed later = halo_need(update.whole, steps - 1, stored_beyond(update.whole));
  std::vector<HaloLayers> after_first = stored_beyond(step);
  std::int64_t distance = 0;
  for (const HaloLayers& stored : after_first) distance = std::max({distance, stored[axis].low, stored[axis].high});
  std::fill(after_first.begin(), after_first.end(), HaloLayers{});
  for (std::size_t i = 0; i < update.fields.size(); ++i) after_first[at(update.fields[i])] = later.fields[i];
  const HaloWidth asked = halo_need(step, 1, after_first).asked[axis];
  return std::max({distance, asked.low, asked.high});
}

bool asks_layers(const Stencil& stencil, std::size_t axis) {
  return std::any_of(stencil.nodes.begin(), stencil.nodes.end(), [axis](const Node& node) {
    return node.op == Operation::in_layer && node.index == static_cast<int>(axis);
  });
}

/// Whether the error says that nothing is left of a stage.
bool is_no_stencil(const Error& error) {
  return error.code() == ErrorCode::malformed_definition || error.code() == ErrorCode::invalid_argument;
}

std::optional<Stencil> simplified(const Stencil& stencil, const Axes& no_layer) {
  try {
    return Simplified(stencil, no_layer).run();
  } catch (const Error& error) {
    if (!is_no_stencil(error)) throw;
    return std::nullopt;
  }
}

/// The updates of a grid's zones, each made once. Where nothing is left of a stage it is the whole update.
class ZoneUpdates {
 public:
  ZoneUpdates(const Problem& step, int steps) : step_(step), steps_(steps) {}

  const ZoneUpdate& of(const Axes& no_layer) {
    std::optional<ZoneUpdate>& update = made_[4U * no_layer[2] + 2U * no_layer[1] + no_layer[0]];
    if (update) return *update;
    try {
      update = make_update(step_, steps_, no_layer);
    } catch (const Error& error) {
      if (!is_no_stencil(error) || no_layer == Axes{}) throw;
      update = of({});
    }
    return *update;
  }

 private:
  const Problem& step_;
  int steps_;
  std::array<std::optional<ZoneUpdate>, 8> made_;
};

std::int64_t sector_of(const Problem& step, std::size_t axis) {
  return axis == 0 ? kSectorBytesOfRow / static_cast<std::int64_t>(size_of(step.type)) : 1;
}

/// What a zone's problem has of an axis: its cells and what they read, alike at both ends so that one problem serves
/// both.
Piece with_reads(const Problem& step, std::size_t axis, const Piece& piece, const ZoneUpdate& update) {
  const std::int64_t n = step.extents.n[axis], sector = sector_of(step, axis);
  const std::int64_t read = std::max(update.read[axis].low, update.read[axis].high);
  const bool is_x = axis == 0 && step.extents.rank > 1;
  const bool of_any_lane = step.boundaries[axis] == Boundary::hold;  // else a lane has the cells that it reads
  const std::int64_t cells = of_any_lane ? 1 : std::max(1, update.whole.facts.radius[axis]);
  const bool is_in_rows = axis > 0 && step.extents.rank == 3 && !piece.inside;
  const std::int64_t with_both = piece.high - piece.low + (piece.low > 0 ? read : 0) + (piece.high < n ? read : 0);
  const std::int64_t least = is_x ? kWarpSize * cells : is_in_rows ? round_up(with_both, kRowsOfTiles) : 1;
  Piece wide = piece;
  if (piece.low > 0) wide.low = std::max<std::int64_t>(0, round_down(std::min(piece.low - read, n - least), sector));
  if (piece.high < n) wide.high = std::min(n, round_up(std::max(piece.high + read, least), sector));
  return wide;
}

/// One piece where the axis has no layers, or no room between them, and for whole rows along x.
std::vector<Piece> pieces_of(const Problem& step, int steps, ZoneUpdates& updates, std::size_t axis, Rows rows) {
  const std::int64_t n = step.extents.n[axis];
  const LayerWidths widths = step.stencil.layers.value_or(LayerWidths{});
  const std::int64_t low = widths.low[axis], high = widths.high[axis];
  const bool has_layers = asks_layers(step.stencil, axis) && (low > 0 || high > 0);
  const std::vector<Piece> whole{{0, n, low, high, !has_layers}};
  if (!has_layers || (axis == 0 && rows == Rows::whole)) return whole;
  Axes no_layer{};
  no_layer[axis] = true;
  const std::int64_t far = distance_of(step, steps, updates.of(no_layer), axis), sector = sector_of(step, axis);
  const std::int64_t begin = low == 0 ? 0 : round_up(low + far, sector);
  const std::int64_t end = high == 0 ? n : round_down(n - high - far, sector);
  if (begin >= end) return whole;
  const std::vector<Piece> pieces{{begin, end, 0, 0, true}, {0, begin, low, 0, false}, {end, n, 0, high, false}};
  // A zone at one end sees nothing of the other end's layer.
  const ZoneUpdate& update = updates.of({});
  const std::int64_t reach = step.facts.radius[axis];
  const bool room = with_reads(step, axis, pieces[1], update).high + reach < n - high &&
                    with_reads(step, axis, pieces[2], update).low - reach > low;
  if (!room) return whole;
  std::vector<Piece> made{pieces[0]};
  if (low > 0) made.push_back(pieces[1]);
  if (high > 0) made.push_back(pieces[2]);
  return made;
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

/// The zone of these pieces, one an axis.
Zone make_zone(const Problem& step, int steps, const Pieces& pieces, const ZoneUpdate& update) {
  Zone zone;
  Extents extents = step.extents;
  LayerWidths widths;
  const Box updated = updated_box(step);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const Piece& piece = pieces[axis];
    const Piece wide = with_reads(step, axis, piece, update);
    extents.n[axis] = wide.high - wide.low;
    zone.origin[axis] = wide.low;
    zone.box.low[axis] = std::max(piece.low, updated.low[axis]) - wide.low;
    zone.box.high[axis] = std::min(piece.high, updated.high[axis]) - wide.low;
    widths.low[axis] = piece.layer_low;
    widths.high[axis] = piece.layer_high;
    if (!piece.inside) zone.name += kAxisNames[axis];
  }
  if (zone.name.empty()) zone.name = kInside;
  Stencil stencil = update.whole.stencil;
  stencil.layers = widths;
  zone.fields = update.fields;
  zone.problem = make_problem(std::move(stencil), step.type, step.boundaries, extents, step.pitch, steps, kWholeStep);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) zone.problem.whole[axis] = step.array_cells(axis);
  zone.problem.slabs = step.slabs;
  zone.problem.left_out = step.left_out;
  return zone;
}

/// Where a simpler update would hold other layers at the grid's edges or store more, it is the whole one.
Zone make_zone(const Problem& step, int steps, const Pieces& pieces, ZoneUpdates& updates) {
  Zone zone = make_zone(step, steps, pieces, updates.of({pieces[0].inside, pieces[1].inside, pieces[2].inside}));
  if (holds_alike(step, zone) && stores_alike(step, zone, steps)) return zone;
  return make_zone(step, steps, pieces, updates.of({}));
}

std::vector<Zone> make_zones(const Problem& step, int steps, Rows rows) {
  if (!asks_layers(step) || has_storage_types(step)) return {};
  ZoneUpdates updates(step, steps);
  std::array<std::vector<Piece>, kMaxRank> pieces;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) pieces[axis] = pieces_of(step, steps, updates, axis, rows);
  if (pieces[0].size() * pieces[1].size() * pieces[2].size() == 1) return {};
  std::vector<Zone> zones;
  for (const Piece& z : pieces[2]) {
    for (const Piece& y : pieces[1]) {
      for (const Piece& x : pieces[0]) zones.push_back(make_zone(step, steps, {x, y, z}, updates));
    }
  }
  std::erase_if(zones, [](const Zone& zone) { return zone.box.cells() == 0; });
  std::stable_sort(zones.begin(), zones.end(),
                   [](const Zone& a, const Zone& b) { return a.box.cells() > b.box.cells(); });
  return zones;
}

std::vector<Zone> zones_of_stage(const Problem& step, int stage) {
  const Axes everywhere{};
  Simplified alone(step.stencil, everywhere, stage);
  Stencil stencil = std::move(alone).run();
  stencil.boundary = step.stencil.boundary;
  const Problem problem = with_slabs_of(
      step, make_problem(std::move(stencil), step.type, step.boundaries, step.extents, step.pitch, 1, kWholeStep));
  std::vector<Zone> all = make_zones(problem, 1, Rows::whole);
  const auto has_updates = [&](const Zone& zone) {
    Axes no_layer{};
    for (std::size_t axis = 0; axis < kMaxRank; ++axis)
      no_layer[axis] = zone.name.find(kAxisNames[axis]) == std::string::npos;
    return simplified(problem.stencil, no_layer).has_value();
  };
  std::erase_if(all, std::not_fn(has_updates));
  if (all.empty()) {
    all.push_back({kInside, problem, std::vector<int>(problem.stencil.fields.size()), {}, updated_box(problem)});
    std::iota(all.front().fields.begin(), all.front().fields.end(), 0);
  }
  const std::vector<int> fields = alone.fields();
  for (Zone& zone : all) {
    for (int& field : zone.fields) field = fields[at(field)];
  }
  return all;
}

}  // namespace

std::vector<Zone> zones(const Problem& step, int steps) { return make_zones(step, steps, Rows::cut); }

std::vector<std::vector<Zone>> zone_passes(const Problem& step, int steps) {
  const auto stages = static_cast<int>(step.stencil.stages.size());
  std::vector<std::vector<Zone>> passes;
  if (steps != kByStages) {
    passes.push_back(zones(step, steps));
  } else if (stages > 1 && asks_layers(step) && !has_storage_types(step)) {
    for (int stage = 0; stage < stages; ++stage) passes.push_back(zones_of_stage(step, stage));
  }
  const bool has_zones = std::any_of(passes.begin(), passes.end(), [](const auto& zones) { return zones.size() > 1; });
  return has_zones ? passes : std::vector<std::vector<Zone>>();
}

std::optional<ZoneStencil> zone_stencil(const Stencil& stencil, std::string_view key) {
  for (unsigned inside = 1; inside < 8; ++inside) {
    Axes no_layer{};
    bool has_layers = true;
    std::string name;
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      const bool asks = asks_layers(stencil, axis);
      no_layer[axis] = (inside >> axis & 1U) != 0;
      has_layers = has_layers && (!no_layer[axis] || asks);
      if (asks && !no_layer[axis]) name += kAxisNames[axis];
    }
    if (!has_layers) continue;
    std::optional<Stencil> left = simplified(stencil, no_layer);
    if (!left || stencil_key(*left) != key) continue;
    LayerWidths widths = stencil.layers.value_or(LayerWidths{});
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      widths.high[axis] = 0;
      if (no_layer[axis]) widths.low[axis] = 0;
    }
    left->layers = widths;
    return ZoneStencil{name.empty() ? kInside : name, *std::move(left)};
  }
  return std::nullopt;
}

std::vector<Problem> zone_problems(const std::vector<Zone>& zones) {
  std::vector<Problem> problems;
  for (const Zone& zone : zones) {
    const auto same = [&](const Problem& other) {
      return other.extents == zone.problem.extents && stencil_key(other.stencil) == stencil_key(zone.problem.stencil);
    };
    if (std::any_of(problems.begin(), problems.end(), same)) continue;
    problems.push_back(with_slabs(zone.problem, false));
    problems.back().whole = {};
  }
  std::stable_sort(problems.begin(), problems.end(),
                   [](const Problem& a, const Problem& b) { return a.extents.cells() > b.extents.cells(); });
  return problems;
}

}  // namespace stencil_tune
