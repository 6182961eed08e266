// How fast GPUs exchange halos, and pack them.
#pragma once

#include "bench/scaling/gpu_ranks.hpp"
#include "runtime/cuda/driver.hpp"

#include <cstddef>

namespace bench {

struct MeasuredLinks {
  double node_gbs = 0;         ///< 1e9 bytes/s that a GPU sends while it receives as much: large messages
  double node_latency_us = 0;  ///< what an exchange of 1 MiB takes beyond its bytes at that rate
  double copy_gbs = 0;         ///< 1e9 bytes/s that a plain copy on the first GPU reads and writes
};

/// Each rank sends to the next one, and the last to the first. large: bytes of a large message.
MeasuredLinks measure_links(Ranks& ranks, stencil_tune::Driver& driver, std::size_t large = std::size_t{256} << 20);

}  // namespace bench
