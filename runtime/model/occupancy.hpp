// How many blocks of a kernel an SM holds at once.
#pragma once

#include "generator/candidates/constraints.hpp"

#include <cstddef>
#include <string_view>

namespace stencil_tune {

/// What a block of a compiled kernel asks of its SM.
struct BlockNeeds {
  int threads = 0;
  int registers = 0;             ///< per thread
  std::size_t shared_bytes = 0;  ///< static + dynamic
};

struct Occupancy {
  int blocks = 0;               ///< resident on one SM; 0: the block does not fit at all
  int warps = 0;                ///< resident on one SM
  double share = 0;             ///< warps over the SM's maximum, 0..1
  std::string_view limited_by;  ///< "threads", "blocks", "registers" or "shared memory"
};

/// By the allocation rules of the CUDA programming guide's occupancy calculator: registers go to warps in units of 256,
/// warps to the four schedulers in equal parts; each block's shared memory is rounded up and, from sm_80 on, 1 KB more
/// is taken by the system.
Occupancy occupancy_of(const Limits& limits, const BlockNeeds& needs);

}  // namespace stencil_tune
