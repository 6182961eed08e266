// What a kernel of fused steps has in place of points: nothing.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

struct NoPoints {
  static constexpr bool kAny = false;

  /// From plane z on no step before `end` meets any.
  template <class Index>
  STENCIL_DEVICE static Index plain_end(Index, Index end) {
    return end;
  }
};

}  // namespace stencil_tune
