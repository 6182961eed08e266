#include "runtime/library/launch/rotation.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace stencil_tune {

std::vector<int> buffer_rotation(const Stencil& stencil) {
  std::vector<int> next(stencil.fields.size());
  std::iota(next.begin(), next.end(), 0);
  std::vector<bool> given(next.size(), false);  // the field's buffer went to another field
  std::vector<bool> taken(next.size(), false);  // the field has got another buffer
  for (const Rotation& rotation : stencil.rotations) {
    next[static_cast<std::size_t>(rotation.to)] = rotation.from;
    given[static_cast<std::size_t>(rotation.from)] = true;
    taken[static_cast<std::size_t>(rotation.to)] = true;
  }
  // Displaced buffers, in order, to the fields left without one: as many of these as of those.
  std::size_t displaced = 0;
  for (std::size_t field = 0; field < next.size(); ++field) {
    if (!given[field] || taken[field]) continue;
    while (given[displaced] || !taken[displaced]) ++displaced;
    next[field] = static_cast<int>(displaced++);
  }
  return next;
}

std::vector<LayerCopy> layer_copies(const Problem& problem, const LaunchBuffers& buffers) {
  const std::vector<int> classes = layer_classes(problem, buffers);
  std::vector<LayerCopy> copies;
  std::vector<bool> supplied(classes.size(), false);
  for (std::size_t stage = 0; stage < problem.step.stages.size(); ++stage) {
    for (const int current : problem.step.stages[stage].layers_of) {
      for (std::size_t place = 0; place < classes.size(); ++place) {
        const bool takes_turns = classes[place] == classes[static_cast<std::size_t>(current)];
        if (!takes_turns || static_cast<int>(place) == current || supplied[place]) continue;
        supplied[place] = true;
        copies.push_back({current, static_cast<int>(place), static_cast<int>(stage)});
      }
    }
  }
  return copies;
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

CopyRegion whole_field(const Problem& problem) {
  const std::size_t cell = size_of(problem.type);
  CopyRegion region{.row_bytes = static_cast<std::size_t>(problem.pitch) * cell,
                    .plane_rows = static_cast<std::size_t>(problem.extents.n[1])};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    region.extent[axis] = static_cast<std::size_t>(problem.extents.n[axis]) * (axis == 0 ? cell : 1);
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
