// What a kernel of fused steps has in place of points: nothing.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

struct NoPoints {
  static constexpr bool kAny = false;
};

}  // namespace stencil_tune
