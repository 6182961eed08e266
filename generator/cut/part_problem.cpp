#include "generator/cut/part_problem.hpp"

#include <algorithm>
#include <utility>

namespace stencil_tune {

PartForm form_of_part(const Problem& whole, const Cut& cut) {
  PartForm form{whole.stencil, whole.boundaries};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cut[axis] == 1 || form.boundaries[axis] != Boundary::periodic) continue;
    form.boundaries[axis] = Boundary::hold;
    form.stencil.boundary[axis].reset();  // what a definition says of the axis is of the whole grid's edges
    for (const UnsaidLayers& unsaid : whole.step.unsaid) {
      form.stencil.holds.push_back({unsaid.field, unsaid.candidates.front()});  // any: halos answer for these too
    }
  }
  return form;
}

Lengths layers_held(const Problem& problem) {
  Lengths held{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(problem.extents.rank); ++axis) {
    held[axis] = held_layers(problem, axis).both();
  }
  return held;
}

Lengths layers_held_in_arrays(const Problem& whole, const Decomposition& grid) {
  PartForm form = form_of_part(whole, grid.cut());
  return layers_held(make_problem(std::move(form.stencil), whole.type, form.boundaries, grid.grid(), 0, 1, kWholeStep));
}

double cells_updated(const Lengths& lengths, const Lengths& held) {
  double cells = 1;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    cells *= static_cast<double>(std::max<std::int64_t>(0, lengths[axis] - held[axis]));
  }
  return cells;
}

Lengths lengths_of(const Box& box) {
  Lengths lengths{};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) lengths[axis] = box.high[axis] - box.low[axis];
  return lengths;
}

}  // namespace stencil_tune
