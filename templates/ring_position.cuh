// A place that goes round a ring.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

/// A position in the sequence of planes n = 0, 1, 2, ...: its slot, and how often the ring has gone round (parity).
template <int kSlots>
struct RingPosition {
  int slot = 0;
  int parity = 0;

  STENCIL_DEVICE void advance() {
    if (++slot == kSlots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

}  // namespace stencil_tune
