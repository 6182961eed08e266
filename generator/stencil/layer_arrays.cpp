#include "generator/stencil/layer_arrays.hpp"

#include "generator/stencil/indices.hpp"

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

bool touches_layers(const Problem& problem) {
  const Stencil& stencil = problem.stencil;
  if (problem.stage == kWholeStep) return !stencil.layer_fields.empty();
  const auto in_layers = [&](int field) { return layer_axis(stencil, field) >= 0; };
  const StageFacts& facts = problem.facts;
  return std::any_of(facts.inputs.begin(), facts.inputs.end(), in_layers) ||
         std::any_of(facts.outputs.begin(), facts.outputs.end(), in_layers);
}

}  // namespace

Problem with_slabs(Problem problem, bool slabs) {
  constexpr std::int64_t kSectorBytes = 32;
  problem.slabs = slabs;
  problem.left_out = {};
  if (!slabs) return problem;
  const LayerWidths widths = problem.stencil.layers.value_or(LayerWidths{});
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const std::int64_t n = problem.extents.n[axis], low = widths.low[axis], high = widths.high[axis];
    const std::int64_t between = std::clamp<std::int64_t>(n - low - high, 0, n - 1);
    const std::int64_t multiple = axis == 0 ? kSectorBytes / static_cast<std::int64_t>(widest_cell_bytes(problem)) : 1;
    const bool is_short = low > 0 && high > 0 && between < kLeastLeftOut;
    problem.left_out[axis] = is_short ? 0 : between / multiple * multiple;
  }
  // Kernels are told where such arrays end behind the cell's place, whatever their update is.
  problem.facts.placed = problem.facts.placed || touches_layers(problem);
  return problem;
}

Problem with_slabs_of(const Problem& step, Problem part) {
  part = with_slabs(std::move(part), step.slabs);
  part.left_out = step.left_out;
  return part;
}

bool has_slabs(const Problem& problem) { return problem.slabs && touches_layers(problem); }

ArrayLayout array_in_layers(const Problem& problem, int axis) {
  ArrayLayout array;
  for (std::size_t a = 0; a < kMaxRank; ++a) array.n[a] = problem.array_cells(a);
  array.row = problem.pitch;
  if (axis >= 0) array.n[at(axis)] -= problem.left_out[at(axis)];
  if (axis == 0) array.row -= problem.left_out[0];
  array.plane = array.row * array.n[1];
  return array;
}

ArrayLayout array_of(const Problem& problem, int field) {
  const Along along = profile_along(problem.stencil, field);
  if (along == 0) return array_in_layers(problem, layer_axis(problem.stencil, field));
  ArrayLayout array;
  for (const int axis : axes_of(along)) array.n[at(axis)] = problem.extents.n[at(axis)];
  array.row = array.n[0];
  array.plane = array.row * array.n[1];
  return array;
}

LayerArray layer_array(const Problem& problem, int axis) {
  const ArrayLayout array = array_in_layers(problem, axis);
  return {axis, slab_cells(problem, at(axis)), {1, array.row, array.plane}};
}

SlabCells slab_cells(const Problem& problem, std::size_t axis) {
  const std::int64_t n = problem.extents.n[axis], left_out = problem.left_out[axis];
  if (left_out == 0) return {.first = 0, .last = n};
  const LayerWidths widths = problem.stencil.layers.value_or(LayerWidths{});
  const std::int64_t low = widths.low[axis], high = widths.high[axis];
  if (low == 0 && high == 0) return {};
  if (low == 0) return {.first = n - high, .last = n, .before = left_out};
  return {.first = 0, .last = low, .left_out = high > 0 ? left_out : SlabCells::kNoHighSlab};
}

std::vector<Box> boxes_in_array(const Problem& problem, int axis, const Box& box) {
  if (axis < 0) return {box};
  const SlabCells cells = slab_cells(problem, at(axis));
  std::vector<Box> boxes;
  const auto add = [&](std::int64_t first, std::int64_t last) {
    Box part = box;
    part.low[at(axis)] = std::max(box.low[at(axis)], first);
    part.high[at(axis)] = std::min(box.high[at(axis)], last);
    if (part.cells() > 0) boxes.push_back(part);
  };
  add(cells.first, cells.last);
  add(cells.last + cells.left_out, problem.extents.n[at(axis)]);
  return boxes;
}

std::int64_t place_in_layers(const Problem& problem, int axis, const std::array<std::int64_t, kMaxRank>& cell) {
  const ArrayLayout array = array_in_layers(problem, axis);
  std::array<std::int64_t, kMaxRank> place = cell;
  if (axis >= 0) {
    const SlabCells cells = slab_cells(problem, at(axis));
    std::int64_t& along = place[at(axis)];
    const bool is_high = along - cells.left_out >= cells.last;
    if (!is_high && (along < cells.first || along >= cells.last)) return -1;
    along -= is_high ? cells.left_out : cells.before;
  }
  return place[2] * array.plane + place[1] * array.row + place[0];
}

std::int64_t place_in_array(const Problem& problem, int field, const std::array<std::int64_t, kMaxRank>& cell) {
  return place_in_layers(problem, layer_axis(problem.stencil, field), cell);
}

}  // namespace stencil_tune
