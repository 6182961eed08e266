#include "generator/stencil/problem.hpp"

#include "generator/stencil/linear.hpp"
#include "generator/stencil/sum_parts.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
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
  for (const Update& update : problem.stencil.stages[static_cast<std::size_t>(problem.stage)].updates) {
    roots.push_back(update.expression);
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

}  // namespace

Problem make_problem(Stencil stencil, ElementType type, const Boundaries& boundaries, const Extents& extents,
                     std::int64_t pitch, int steps, int stage) {
  Problem problem;
  problem.facts = analyse(stencil, stage);
  problem.stencil = std::move(stencil);
  problem.stage = stage;
  problem.type = type;
  problem.boundaries = boundaries;
  problem.extents = extents;
  problem.pitch = pitch == 0 ? extents.n[0] : pitch;
  problem.steps = steps;
  check(problem);
  check_constants(problem);
  problem.sums = count_sums(problem);
  return problem;
}

HeldLayers held_layers(const Problem& problem, std::size_t axis) {
  if (problem.boundaries[axis] != Boundary::hold) return {};
  return {-problem.facts.farthest[axis].low, problem.facts.farthest[axis].high};
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
  const auto& [inputs, outputs] = std::tie(problem.facts.inputs, problem.facts.outputs);
  const auto& rotations = problem.stencil.rotations;
  // With more rotations an older state is wanted too: that of one step ago.
  if (problem.stencil.stages.size() != 1 || outputs.size() != 1 || rotations.size() != 1) return {};
  const auto found = std::find(inputs.begin(), inputs.end(), rotations.front().to);
  if (rotations.front().from != outputs.front() || found == inputs.end()) return {};
  return static_cast<std::size_t>(found - inputs.begin());
}

bool advances_one_field(const Problem& problem) {
  const auto advanced = advanced_input(problem);
  return advanced && std::all_of(problem.facts.taps.begin(), problem.facts.taps.end(), [&](const Tap& tap) {
           return tap.field == problem.facts.inputs[*advanced] || tap.offset == Offset{0, 0, 0};
         });
}

double minimal_traffic_bytes(const Problem& problem) {
  const double reads = static_cast<double>(problem.facts.inputs.size()) * static_cast<double>(problem.extents.cells());
  const double writes =
      static_cast<double>(problem.facts.outputs.size()) * static_cast<double>(updated_box(problem).cells());
  return (reads + writes) * static_cast<double>(size_of(problem.type));
}

}  // namespace stencil_tune
