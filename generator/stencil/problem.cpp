#include "generator/stencil/problem.hpp"

#include "generator/stencil/axis_names.hpp"
#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "generator/stencil/rewriting/linear.hpp"
#include "generator/stencil/rewriting/shared_parts.hpp"
#include "generator/stencil/rewriting/sum_parts.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace stencil_tune {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

void check(const Problem& problem) {
  const Extents& extents = problem.extents;
  if (extents.rank != problem.stencil.rank) {
    reject(fmt::format("stencil '{}' has rank {}, the grid {} has rank {}; give {} extents", problem.stencil.name,
                       problem.stencil.rank, to_string(extents), extents.rank, problem.stencil.rank));
  }
  for (int axis = 0; axis < kMaxRank; ++axis) {
    const std::int64_t n = extents.n[static_cast<std::size_t>(axis)];
    if (n < 1 || (axis >= extents.rank && n != 1)) {
      reject(fmt::format("extent {} on axis {} of a grid of rank {}", n, axis, extents.rank));
    }
  }
  if (problem.pitch < extents.n[0]) {
    reject(fmt::format("pitch {} is less than the {} cells of a row", problem.pitch, extents.n[0]));
  }
  constexpr std::int64_t kMaxCells = std::numeric_limits<std::int64_t>::max() / 16;
  if (problem.pitch > kMaxCells / extents.n[1] / extents.n[2]) {
    reject(fmt::format("grid {} with pitch {}: the number of cells does not fit in 64 bits", to_string(extents),
                       problem.pitch));
  }
  if (problem.steps < 1) reject(fmt::format("steps {}: at least one step is needed", problem.steps));
}

/// A constant that the compute type rounds to 0 or infinity, or keeps few digits of, is another one.
void check_constants(const Problem& problem) {
  const bool wide = problem.type == ElementType::f64;
  const double least = wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const double most = wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  std::vector<NodeId> roots;
  const std::vector<Stage>& stages = problem.stencil.stages;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    if (problem.stage != kWholeStep && stage != static_cast<std::size_t>(problem.stage)) continue;
    for (const Update& update : stages[stage].updates) roots.push_back(update.expression);
  }
  for (const LinearTap& tap : problem.facts.linear_taps) {
    if (tap.weight >= 0) roots.push_back(tap.weight);
  }
  const std::vector<bool> used = reachable(problem.stencil, roots);
  for (std::size_t id = 0; id < used.size(); ++id) {
    const Node& node = problem.stencil.nodes[id];
    if (!used[id] || node.op != Operation::number || node.value == 0) continue;
    if (std::fabs(node.value) >= least && std::fabs(node.value) <= most) continue;
    reject(fmt::format(
        "stencil '{}' computes with the constant {:.6g}, as written or made of others; {} computes in {}, whose normal "
        "numbers lie between {:.3g} and {:.3g}: use f64 or scale the fields",
        problem.stencil.name, node.value, name(problem.type), wide ? "f64" : "f32", least, most));
  }
}

/// What the definition says of an axis is part of the equation: the problem may say the same, or nothing (hold).
void take_boundaries(Problem& problem) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.stencil.rank); ++axis) {
    const std::optional<Boundary>& defined = problem.stencil.boundary[axis];
    if (!defined || problem.boundaries[axis] == *defined) continue;
    if (problem.boundaries[axis] != Boundary::hold) {
      reject(fmt::format("stencil '{}' says what lies beyond the edges in {} itself; leave the boundary {} away",
                         problem.stencil.name, kAxisNames[axis], name(problem.boundaries[axis])));
    }
    problem.boundaries[axis] = *defined;
  }
  for (std::vector<Node>* nodes : {&problem.stencil.nodes, &problem.stencil.written.nodes}) {
    for (Node& node : *nodes) {
      if (node.op != Operation::outside) continue;
      node.value = problem.boundaries[static_cast<std::size_t>(node.index)] == Boundary::zero ? 1 : 0;
    }
  }
}

std::int64_t farthest_read(const Stencil& stencil, std::size_t axis) {
  std::int64_t farthest = 0;
  for (const Node& node : stencil.nodes) {
    const bool asks = node.op == Operation::in_layer && node.index == static_cast<int>(axis);
    if (asks) farthest = std::max<std::int64_t>(farthest, std::abs(node.offset[axis]));
  }
  return farthest;
}

void check_layers(const Problem& problem) {
  const Stencil& stencil = problem.stencil;
  if (!stencil.layers) {
    if (!asks_layers(problem)) return;
    reject(fmt::format("stencil '{}' has layers at the ends of axes: say how many cells they have (--layer 20)",
                       stencil.name));
  }
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(stencil.rank); ++axis) {
    const std::int64_t low = stencil.layers->low[axis], high = stencil.layers->high[axis];
    if (low == 0 && high == 0) continue;
    if (low < 0 || high < 0) reject(fmt::format("layers of {} and {} cells along {}", low, high, kAxisNames[axis]));
    if (problem.boundaries[axis] == Boundary::periodic) {
      reject(fmt::format("layers along {}, which is periodic and has no ends: --layer {}=0 leaves them away",
                         kAxisNames[axis], kAxisNames[axis]));
    }
    const std::int64_t least = farthest_read(stencil, axis) + 1;
    const bool too_thin = (low > 0 && low < least) || (high > 0 && high < least);
    if (problem.boundaries[axis] == Boundary::reflect && too_thin) {
      reject(
          fmt::format("layers of {} and {} cells along {}, whose boundary reflects what lies {} cells within: they "
                      "need {} cells",
                      low, high, kAxisNames[axis], least - 1, least));
    }
  }
}

void check_edges(const Problem& problem) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.stencil.rank); ++axis) {
    const std::int64_t least = least_extent(problem.stencil, axis);
    if (problem.extents.n[axis] >= least) continue;
    reject(fmt::format(
        "stencil '{}' reads {} cells beyond an edge in {}, where its boundary mirrors once: {} needs {} "
        "cells along {}",
        problem.stencil.name, least - 1, kAxisNames[axis], to_string(problem.extents), least, kAxisNames[axis]));
  }
}

/// An intermediate that is read where nobody writes it needs a word of the definition.
void check_intermediates(const Problem& problem) {
  const std::vector<std::string>& fields = problem.stencil.fields;
  for (const UnsaidLayers& unsaid : problem.step.unsaid) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.stencil.rank); ++axis) {
      if (!unsaid.axes[axis] || problem.boundaries[axis] != Boundary::hold) continue;
      std::vector<std::string> names;
      for (const int field : unsaid.candidates) names.push_back(fields[at(field)]);
      reject(fmt::format(
          "stencil '{}' reads field '{}' at the edges in {}, where boundary hold keeps stage {} from writing it: the "
          "definition has to say whose held layers it has. Add [hold] {} = \"{}\"{}",
          problem.stencil.name, fields[at(unsaid.field)], kAxisNames[axis], unsaid.stage, fields[at(unsaid.field)],
          names.empty() ? "u" : names.front(),
          names.size() > 1 ? fmt::format(" (or another of {})", fmt::join(names, ", ")) : ""));
    }
  }
}

std::array<Reach, kMaxRank> stage_reach(const StageFacts& stage) {
  std::array<Reach, kMaxRank> reach{};
  for (const Tap& tap : stage.taps) {
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      reach[axis] = {std::min(reach[axis].low, tap.offset[axis]), std::max(reach[axis].high, tap.offset[axis])};
    }
  }
  return reach;
}

std::vector<int> state_and_constants(const StepFacts& step) {
  std::vector<int> fields;
  std::merge(step.state.begin(), step.state.end(), step.constants.begin(), step.constants.end(),
             std::back_inserter(fields));
  return fields;
}

/// What Problem::facts says of a whole step.
StageFacts facts_of_step(const StepFacts& step) {
  StageFacts facts;
  std::array<Reach, kMaxRank> reach{};
  facts.star = true;
  for (const StepStage& stage : step.stages) {
    const std::array<Reach, kMaxRank> more = stage_reach(stage.facts);
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      reach[axis] = {reach[axis].low + more[axis].low, reach[axis].high + more[axis].high};
      const Reach& farthest = stage.facts.farthest[axis];
      facts.farthest[axis] = {std::min(facts.farthest[axis].low, farthest.low),
                              std::max(facts.farthest[axis].high, farthest.high)};
      facts.radius[axis] = std::max(facts.radius[axis], stage.facts.radius[axis]);
    }
    facts.taps.insert(facts.taps.end(), stage.facts.taps.begin(), stage.facts.taps.end());
    facts.operations += stage.facts.operations;
    facts.star = facts.star && stage.facts.star;
    facts.placed = facts.placed || stage.facts.placed;
    facts.asks_place = facts.asks_place || stage.facts.asks_place;
  }
  std::sort(facts.taps.begin(), facts.taps.end(), comes_before);
  facts.taps.erase(std::unique(facts.taps.begin(), facts.taps.end()), facts.taps.end());
  facts.inputs = state_and_constants(step);
  facts.reach.assign(facts.inputs.size(), reach);
  facts.outputs = stored_fields(step, 1);
  return facts;
}

}  // namespace

Problem make_problem(Stencil stencil, ElementType type, const Boundaries& boundaries, const Extents& extents,
                     std::int64_t pitch, int steps, int stage) {
  Problem problem;
  if (stage == kWholeStep && stencil.stages.size() == 1) stage = 0;
  problem.step = analyse_step(stencil);
  problem.facts = stage == kWholeStep ? facts_of_step(problem.step) : analyse(stencil, stage);
  problem.stencil = std::move(stencil);
  problem.stage = stage;
  problem.type = type;
  problem.boundaries = boundaries;
  problem.extents = extents;
  problem.pitch = pitch == 0 ? extents.n[0] : pitch;
  problem.steps = steps;
  take_boundaries(problem);
  check(problem);
  check_edges(problem);
  check_layers(problem);
  check_intermediates(problem);
  check_constants(problem);
  problem.sums = stage == kWholeStep ? 0 : count_sums(problem);
  if (is_whole_step(problem) && problem.step.obstacle.empty()) problem.parts_once = with_parts_once(problem.stencil);
  return problem;
}

std::size_t Problem::field_bytes() const noexcept {
  return static_cast<std::size_t>(allocated_cells()) * widest_cell_bytes(*this);
}

ElementType storage_of(const Problem& problem, int field) noexcept {
  return storage_of(problem.stencil, field, problem.type);
}

bool has_storage_types(const Problem& problem) noexcept {
  const std::vector<FieldStorage>& storages = problem.stencil.storages;
  return std::any_of(storages.begin(), storages.end(),
                     [&](const FieldStorage& storage) { return storage.type != problem.type; });
}

std::size_t widest_cell_bytes(const Problem& problem) noexcept {
  std::size_t widest = 1;
  for (int field = 0; field < static_cast<int>(problem.stencil.fields.size()); ++field) {
    widest = std::max(widest, size_of(storage_of(problem, field)));
  }
  return widest;
}

std::int64_t least_extent(const Stencil& stencil, std::size_t axis) {
  std::int64_t least = 1;
  for (const Node& node : stencil.nodes) {
    const bool asks = node.op == Operation::before || node.op == Operation::after;
    if (!asks || node.index != static_cast<int>(axis)) continue;
    least = std::max<std::int64_t>(least, std::abs(node.offset[axis]) + 1);
  }
  return least;
}

HeldLayers held_layers(const Problem& problem, std::size_t axis) {
  if (problem.boundaries[axis] != Boundary::hold) return {};
  return {-problem.facts.farthest[axis].low, problem.facts.farthest[axis].high};
}

bool is_whole_step(const Problem& problem) { return problem.stage == kWholeStep || problem.stencil.stages.size() == 1; }

namespace {

/// Those of the whole grid.
std::vector<int> grid_inputs(const Problem& problem, int steps) {
  if (problem.stage != kWholeStep && steps == 1) return problem.facts.inputs;
  std::vector<int> fields = state_and_constants(problem.step);
  const auto axes = problem.boundaries.begin();
  if (std::count(axes, axes + problem.extents.rank, Boundary::hold) > 0) {
    fields.insert(fields.end(), problem.step.layers.begin(), problem.step.layers.end());
  }
  return fields;
}

}  // namespace

std::vector<int> kernel_inputs(const Problem& problem, int steps) {
  std::vector<int> fields = grid_inputs(problem, steps);
  if (!problem.facts.placed) return fields;
  for (const Profile& profile : problem.stencil.profiles) fields.push_back(profile.field);
  return fields;
}

bool asks_layers(const Problem& problem) {
  const auto& nodes = problem.stencil.nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.op == Operation::in_layer; });
}

std::array<BetweenLayers, kMaxRank> between_layers(const Problem& problem) {
  std::array<BetweenLayers, kMaxRank> between;
  const LayerWidths widths = problem.stencil.layers.value_or(LayerWidths{});
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (widths.low[axis] > 0) between[axis].low = widths.low[axis];
    if (widths.high[axis] > 0) between[axis].high = problem.extents.n[axis] - widths.high[axis];
  }
  return between;
}

std::int64_t cells_of_field(const Problem& problem, int field) {
  const Along along = profile_along(problem.stencil, field);
  return along == kAlongTime ? kCheckedSteps : array_of(problem, field).cells();
}

std::vector<std::int64_t> profile_rows(const Problem& problem) {
  std::vector<std::int64_t> rows;
  for (const Profile& profile : problem.stencil.profiles) {
    const std::vector<int> axes = axes_of(profile.along);
    if (axes.size() == 2) rows.push_back(problem.array_cells(at(axes.front())));
  }
  return rows;
}

std::vector<int> kernel_outputs(const Problem& problem, int steps) {
  return is_whole_step(problem) ? stored_fields(problem.step, steps) : problem.facts.outputs;
}

Box updated_box(const Problem& problem) {
  Box box;
  box.high = problem.extents.n;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.extents.rank); ++axis) {
    const HeldLayers held = held_layers(problem, axis);
    box.low[axis] = std::min(held.low, box.high[axis]);
    box.high[axis] = std::max(box.low[axis], box.high[axis] - held.high);
  }
  return box;
}

std::optional<std::size_t> advanced_input(const Problem& problem) {
  const StepFacts& step = problem.step;
  const std::vector<int>& inputs = problem.facts.inputs;
  // With more left in memory an older state is wanted too: that of one step ago.
  if (step.stages.size() != 1 || step.state.size() != 1 || step.left.size() != 1) return {};
  const auto found = std::find(inputs.begin(), inputs.end(), step.state.front());
  return static_cast<std::size_t>(found - inputs.begin());
}

bool advances_one_field(const Problem& problem) {
  const auto advanced = advanced_input(problem);
  return advanced && std::all_of(problem.facts.taps.begin(), problem.facts.taps.end(), [&](const Tap& tap) {
           return tap.field == problem.facts.inputs[*advanced] || tap.offset == Offset{0, 0, 0};
         });
}

double minimal_traffic_bytes(const Problem& problem) {
  const auto bytes_of = [&](const std::vector<int>& fields) {
    std::size_t bytes = 0;
    for (const int field : fields) bytes += size_of(storage_of(problem, field));
    return static_cast<double>(bytes);
  };
  return bytes_of(problem.facts.inputs) * static_cast<double>(problem.extents.cells()) +
         bytes_of(problem.facts.outputs) * static_cast<double>(updated_box(problem).cells());
}

}  // namespace stencil_tune
