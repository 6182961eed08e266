// What a kernel of fused steps has in place of points: nothing.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

struct NoPoints {
  static constexpr bool kAny = false;
};

/// Levels that meet points know them; the others take no room for them.
template <class Points>
struct MetPoints {
  Points points;
};
template <>
struct MetPoints<NoPoints> {
  STENCIL_DEVICE MetPoints(const NoPoints&) {}
};

}  // namespace stencil_tune
