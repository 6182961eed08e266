#include "runtime/library/launch/rotation.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/layer_arrays.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace stencil_tune {

std::vector<int> buffer_rotation(const Stencil& stencil) {
  std::vector<int> next(stencil.fields.size());
  std::iota(next.begin(), next.end(), 0);
  std::vector<int> becomes = next;
  for (const Rotation& rotation : stencil.rotations) {
    next[at(rotation.to)] = rotation.from;
    becomes[at(rotation.from)] = rotation.to;
  }
  for (int field = 0; field < static_cast<int>(next.size()); ++field) {
    if (becomes[at(field)] == field || next[at(field)] != field) continue;
    int last = field;
    while (becomes[at(last)] != last) last = becomes[at(last)];
    next[at(field)] = last;
  }
  return next;
}

std::vector<HeldOutput> held_outputs(const Problem& step, const std::vector<int>& stored,
                                     const std::vector<int>& places) {
  std::vector<HeldOutput> held;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const int field = stored[i];
    const int layers_of = step.step.layers_at[at(field)];
    if (places[i] == layers_of) continue;
    const Intermediate* between = find_intermediate(step.step, field);
    held.push_back({places[i], layers_of, at(step.step.written_by[at(field)]), between != nullptr,
                    between != nullptr && between->follows});
  }
  return held;
}

std::vector<int> carried_layers(const Problem& step, RunLayers layers) {
  std::vector<int> carried = step.step.layers_at;
  if (layers == RunLayers::differ) std::iota(carried.begin(), carried.end(), 0);
  return carried;
}

std::vector<bool> fields_that_count(const Problem& problem) {
  std::vector<bool> counts(problem.stencil.fields.size(), false);
  std::vector<bool> moves(counts.size(), false);
  for (const int field : kernel_inputs(problem, 2)) counts[static_cast<std::size_t>(field)] = true;
  for (const Rotation& rotation : problem.stencil.rotations) {
    moves[static_cast<std::size_t>(rotation.from)] = true;
    counts[static_cast<std::size_t>(rotation.to)] = true;
  }
  for (const LeftField& left : problem.step.left) {
    const auto field = static_cast<std::size_t>(left.field);
    if (!moves[field]) counts[field] = true;
  }
  return counts;
}

CopyRegion whole_field(const Problem& problem, int field) {
  const std::size_t cell = size_of(storage_of(problem, field));
  const ArrayLayout array = array_of(problem, field);
  CopyRegion region{.row_bytes = static_cast<std::size_t>(array.row) * cell,
                    .plane_rows = static_cast<std::size_t>(array.n[1])};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    region.extent[axis] = static_cast<std::size_t>(array.n[axis]) * (axis == 0 ? cell : 1);
  }
  return region;
}

void require_next_step(const Problem& problem) {
  const bool writes_state = std::any_of(problem.step.left.begin(), problem.step.left.end(), [&](const LeftField& left) {
    return std::count(problem.step.state.begin(), problem.step.state.end(), left.field) > 0;
  });
  if (!problem.stencil.rotations.empty() || writes_state) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("stencil '{}' has no rotations, so that its outputs are not its next inputs; launch it step by "
                  "step, or define how its fields rotate",
                  problem.stencil.name));
}

}  // namespace stencil_tune
