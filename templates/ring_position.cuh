// The position of plane n = 0, 1, 2, ... in a pipeline of stages that are filled and released round after round: its
// stage, and the parity of the rounds before, which is the phase of the stage's mbarriers.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

template <int kStages>
struct PipelineState {
  int stage = 0, parity = 0;
  STENCIL_DEVICE void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace stencil_tune
