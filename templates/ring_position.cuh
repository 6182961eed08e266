// The position of plane n = 0, 1, 2, ... in a pipeline of slots that are filled and released round after round: its
// slot, and the parity of the rounds before, which is the phase of the slot's mbarriers.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

template <int kSlots>
struct PipelineState {
  int slot = 0, parity = 0;
  STENCIL_DEVICE void advance() {
    if (++slot == kSlots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

}  // namespace stencil_tune
