#include "runtime/library/rotation.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace stencil_tune {

std::vector<int> buffer_rotation(const Stencil& stencil) {
  if (stencil.rotations.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("stencil '{}' has no rotations, so that its outputs are not its next inputs; launch it step by "
                    "step, or define how its fields rotate",
                    stencil.name));
  }
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

std::vector<LayerCopy> layer_copies(const Stencil& stencil) {
  const std::vector<int> next = buffer_rotation(stencil);
  std::map<int, int> stage_of;  // of each output
  for (std::size_t stage = 0; stage < stencil.stages.size(); ++stage) {
    for (const Update& update : stencil.stages[stage].updates) stage_of[update.output] = static_cast<int>(stage);
  }
  std::vector<LayerCopy> copies;
  std::vector<bool> supplied(next.size(), false);
  for (const Rotation& rotation : stencil.rotations) {
    const auto writer = stage_of.find(rotation.from);
    if (writer == stage_of.end()) continue;
    const int current = rotation.to;
    for (int field = next[static_cast<std::size_t>(current)]; field != current;
         field = next[static_cast<std::size_t>(field)]) {
      if (supplied[static_cast<std::size_t>(field)]) continue;
      supplied[static_cast<std::size_t>(field)] = true;
      copies.push_back({current, field, writer->second});
    }
  }
  return copies;
}

std::vector<CopyRegion> held_regions(const Problem& problem) {
  const Box updated = updated_box(problem);
  const std::size_t cell = size_of(problem.type);
  std::vector<CopyRegion> layers;
  // From the slowest axis to the fastest: each takes whole what the axes before it left.
  Box rest{.low = {0, 0, 0}, .high = problem.extents.n};
  const auto add = [&](const Box& box) {
    if (box.cells() == 0) return;
    CopyRegion region{.row_bytes = static_cast<std::size_t>(problem.pitch) * cell,
                      .plane_rows = static_cast<std::size_t>(problem.extents.n[1])};
    for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
      const std::size_t unit = axis == 0 ? cell : 1;
      region.low[axis] = static_cast<std::size_t>(box.low[axis]) * unit;
      region.extent[axis] = static_cast<std::size_t>(box.high[axis] - box.low[axis]) * unit;
    }
    layers.push_back(region);
  };
  for (const std::size_t axis : {2U, 1U, 0U}) {
    Box below = rest;
    below.high[axis] = updated.low[axis];
    add(below);
    Box above = rest;
    above.low[axis] = std::max(updated.low[axis], updated.high[axis]);
    add(above);
    rest.low[axis] = updated.low[axis];
    rest.high[axis] = updated.high[axis];
  }
  return layers;
}

}  // namespace stencil_tune
