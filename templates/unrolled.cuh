// Loops whose index is a constant, also as a template's argument: body(kFirst), body(kFirst + 1), ... for kCount of
// them. Halved, not counted down: a compiler instantiates no more than 200 within each other.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

template <int kValue>
struct Constant {
  STENCIL_DEVICE constexpr operator int() const { return kValue; }
};

template <int kCount, int kFirst = 0, class Body>
STENCIL_DEVICE void unrolled(const Body& body) {
  if constexpr (kCount == 1) body(Constant<kFirst>{});
  if constexpr (kCount > 1) {
    unrolled<kCount / 2, kFirst>(body);
    unrolled<kCount - kCount / 2, kFirst + kCount / 2>(body);
  }
}

}  // namespace stencil_tune
