#include "generator/cut/part_problem.hpp"

namespace stencil_tune {

PartForm form_of_part(const Problem& whole, const Cut& cut) {
  PartForm form{whole.stencil, whole.boundaries};
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cut[axis] == 1 || form.boundaries[axis] != Boundary::periodic) continue;
    form.boundaries[axis] = Boundary::hold;
    form.stencil.boundary[axis].reset();  // what a definition says of the axis is of the whole grid's edges
  }
  return form;
}

}  // namespace stencil_tune
