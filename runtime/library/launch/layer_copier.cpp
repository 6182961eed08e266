#include "runtime/library/launch/layer_copier.hpp"

#include "runtime/library/launch/box_parts.hpp"

#include <algorithm>
#include <utility>

namespace stencil_tune {

std::vector<Box> held_boxes(const Problem& problem) {
  return around({.low = {0, 0, 0}, .high = problem.extents.n}, updated_box(problem));
}

LayerCopier::LayerCopier(std::vector<BoxCopier> copiers, std::span<const Problem> stages)
    : copiers_(std::move(copiers)) {
  for (const Problem& stage : stages) {
    row_ = stage.pitch;
    plane_ = stage.pitch * stage.extents.n[1];
    layers_.push_back(held_boxes(stage));
  }
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
      if (copy.cell_bytes != copier.cell_bytes()) continue;
      const CellRows from{reinterpret_cast<std::uintptr_t>(copy.from), row_, plane_};
      const CellRows to{reinterpret_cast<std::uintptr_t>(copy.to), row_, plane_};
      for (const Box& box : layers_[copy.stage]) {
        boxes.push_back({from.at(box.low, copy.cell_bytes), to.at(box.low, copy.cell_bytes), extent_of(box)});
      }
    }
    copier.copy(context, boxes, stream);
  }
}

}  // namespace stencil_tune
