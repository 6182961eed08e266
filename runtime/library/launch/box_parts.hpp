// Boxes that make up what is left of another.
#pragma once

#include "stencil_tune/grid.hpp"

#include <vector>

namespace stencil_tune {

/// The cells of `outer` that are not in `inner`, which lies in it or is empty: at most six boxes, the widest along the
/// slowest axis.
std::vector<Box> around(const Box& outer, const Box& inner);

/// The cells that are in both.
Box intersection(const Box& a, const Box& b);

}  // namespace stencil_tune
