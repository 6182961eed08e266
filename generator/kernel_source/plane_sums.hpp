// The text of an update that is carried out plane by plane: each plane, once it is there, adds what it has to the
// sums of all outputs that read it, and is then done with (generator/stencil/rewriting/sum_parts.hpp).
#pragma once

#include "generator/kernel_source/update_text.hpp"
#include "generator/stencil/problem.hpp"

#include <string>

namespace stencil_tune {

/// `kSums`, and the functions `add_plane` and `finish` that templates/plane_sums.cuh calls: members of the generated
/// stencil. `axes` says which kernel axis each grid axis becomes; planes are stacked along z.
std::string plane_sums_text(const Problem& problem, const AxisMap& axes);

}  // namespace stencil_tune
