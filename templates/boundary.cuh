// How a read beyond an edge is answered: by the cell at an index inside the axis, or by zero; and what steps of fused
// kernels meet there.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

enum class Boundary { hold, zero, clamp, periodic, reflect };

/// Which cells a step of a fused kernel treats apart from those that are simply updated. A plane is a row in 2D.
enum class Edges {
  none,
  cells,  ///< in planes that are updated: cells that hold keeps, and those that read what a boundary answers in x or y
  all,    ///< those, whole planes that hold keeps or that lie outside the grid, and planes with points
};

/// The index inside 0..n-1 that answers for an i less than n beyond an end, found without a division. For an i further away
/// it need not be inside.
template <Boundary kBoundary, class Index>
STENCIL_DEVICE Index inside_once(Index i, Index n) {
  if constexpr (kBoundary == Boundary::periodic) return i < 0 ? i + n : i < n ? i : i - n;
  if constexpr (kBoundary == Boundary::reflect) return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i;
  return i < 0 ? Index(0) : (i >= n ? (n - 1) : i);
}

/// The index inside 0..n-1 that answers for i, or the nearest one. kOnce: as inside_once; for an i further away any inside.
template <Boundary kBoundary, bool kOnce = false, class Index>
STENCIL_DEVICE Index inside(Index i, Index n) {
  if constexpr (kOnce && (kBoundary == Boundary::periodic || kBoundary == Boundary::reflect)) {
    return inside<Boundary::clamp>(inside_once<kBoundary>(i, n), n);
  } else if constexpr (kBoundary == Boundary::periodic) {
    if (i >= 0 && i < n) return i;
    i %= n;
    return i < 0 ? i + n : i;
  } else if constexpr (kBoundary == Boundary::reflect) {
    if (i >= 0 && i < n) return i;
    if (n == 1) return 0;
    const Index period = 2 * (n - 1);
    i %= period;
    if (i < 0) i += period;
    return i < n ? i : period - i;
  } else {
    return i < 0 ? Index(0) : (i >= n ? n - 1 : i);
  }
}

/// True where the boundary is zero and i lies outside.
template <Boundary kBoundary, class Index>
STENCIL_DEVICE bool is_outside(Index i, Index n) {
  if constexpr (kBoundary == Boundary::zero) return i < 0 || i >= n;
  return false;
}

}  // namespace stencil_tune
