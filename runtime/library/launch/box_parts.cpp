#include "runtime/library/launch/box_parts.hpp"

#include <algorithm>

namespace stencil_tune {

std::vector<Box> around(const Box& outer, const Box& inner) {
  std::vector<Box> parts;
  const auto add = [&](const Box& box) {
    if (box.cells() > 0) parts.push_back(box);
  };
  // From the slowest axis to the fastest: each takes whole what the axes before it left.
  Box rest = outer;
  for (const std::size_t axis : {2U, 1U, 0U}) {
    Box below = rest;
    below.high[axis] = inner.low[axis];
    add(below);
    Box above = rest;
    above.low[axis] = std::max(inner.low[axis], inner.high[axis]);
    add(above);
    rest.low[axis] = inner.low[axis];
    rest.high[axis] = inner.high[axis];
  }
  return parts;
}

Box intersection(const Box& a, const Box& b) {
  Box both = a;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    both.low[axis] = std::max(a.low[axis], b.low[axis]);
    both.high[axis] = std::min(a.high[axis], b.high[axis]);
  }
  return both;
}

}  // namespace stencil_tune
