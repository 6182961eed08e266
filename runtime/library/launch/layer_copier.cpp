#include "runtime/library/launch/layer_copier.hpp"

#include "generator/stencil/layer_arrays.hpp"
#include "runtime/library/launch/box_parts.hpp"

#include <algorithm>
#include <utility>

namespace stencil_tune {
namespace {

/// The box's cells in an array of a field in layers of the axis, or of one of the whole grid (-1).
CellRows rows_at(const Problem& grid, const void* array, std::size_t cell_bytes, int axis, const Box& box) {
  const ArrayLayout layout = array_in_layers(grid, axis);
  const auto ahead = static_cast<std::size_t>(place_in_layers(grid, axis, box.low)) * cell_bytes;
  return {reinterpret_cast<std::uintptr_t>(array) + ahead, layout.row, layout.plane};
}

}  // namespace

std::vector<Box> held_boxes(const Problem& problem) {
  return around({.low = {0, 0, 0}, .high = problem.extents.n}, updated_box(problem));
}

LayerCopier::LayerCopier(std::vector<BoxCopier> copiers, std::span<const Problem> stages)
    : copiers_(std::move(copiers)) {
  if (!stages.empty()) grid_ = stages.front();
  for (const Problem& stage : stages) layers_.push_back(held_boxes(stage));
}

bool LayerCopier::any() const {
  return std::any_of(layers_.begin(), layers_.end(), [](const auto& boxes) { return !boxes.empty(); });
}

void LayerCopier::prepare() {
  if (!any()) return;
  for (BoxCopier& copier : copiers_) copier.prepare();
}

void LayerCopier::copy(std::uint64_t context, std::span<const Copy> copies, CUstream_st* stream) const {
  for (const BoxCopier& copier : copiers_) {
    std::vector<BoxCopy> boxes;
    for (const Copy& copy : copies) {
      const std::size_t cell_bytes = size_of(storage_of(grid_, copy.from_field));
      if (cell_bytes != copier.cell_bytes()) continue;
      const int from_axis = layer_axis(grid_.stencil, copy.from_field),
                to_axis = layer_axis(grid_.stencil, copy.to_field);
      for (const Box& held : layers_[copy.stage]) {
        for (const Box& box : boxes_in_array(grid_, std::max(from_axis, to_axis), held)) {
          boxes.push_back({rows_at(grid_, copy.from, cell_bytes, from_axis, box),
                           rows_at(grid_, copy.to, cell_bytes, to_axis, box), extent_of(box)});
        }
      }
    }
    copier.copy(context, boxes, stream);
  }
}

}  // namespace stencil_tune
