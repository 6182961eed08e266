// What a kernel of fused steps has in place of points: nothing.
#pragma once

namespace stencil_tune {

struct NoPoints {
  static constexpr bool kAny = false;
};

}  // namespace stencil_tune
