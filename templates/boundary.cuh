// How a read beyond an edge is answered: by the cell at an index inside the axis, or by zero.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

enum class Boundary { hold, zero, clamp, periodic, reflect };

/// The index inside 0..n-1 that answers for i; under hold and zero the nearest, so that the address is readable.
template <Boundary kBoundary, class Index>
STENCIL_DEVICE Index inside(Index i, Index n) {
  if constexpr (kBoundary == Boundary::periodic) {
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

/// The same without a division, for an i that is less than n beyond an end. Further away it need not be inside.
template <Boundary kBoundary, class Index>
STENCIL_DEVICE Index inside_once(Index i, Index n) {
  if constexpr (kBoundary == Boundary::periodic) return i < 0 ? i + n : i < n ? i : i - n;
  if constexpr (kBoundary == Boundary::reflect) return i < 0 ? -i : i < n ? i : 2 * (n - 1) - i;
  return inside<kBoundary>(i, n);
}

/// The same for reads of one sweep, without a division by kernels for axes that are longer than the sweep reaches beyond
/// their ends (T::kTurnsOnce). A thread that stores nothing may read further away: some index inside answers.
template <class T, Boundary kBoundary, class Index>
STENCIL_DEVICE Index inside_for(Index i, Index n) {
  constexpr bool kTurns = kBoundary == Boundary::periodic || kBoundary == Boundary::reflect;
  if constexpr (kTurns && T::kTurnsOnce) {
    return inside<Boundary::clamp>(inside_once<kBoundary>(i, n), n);
  } else {
    return inside<kBoundary>(i, n);
  }
}

/// True where the boundary is zero and i lies outside.
template <Boundary kBoundary, class Index>
STENCIL_DEVICE bool is_outside(Index i, Index n) {
  if constexpr (kBoundary == Boundary::zero) return i < 0 || i >= n;
  return false;
}

}  // namespace stencil_tune
