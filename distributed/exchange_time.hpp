// How long an exchange of halos takes between the ranks that there are: measured, whatever joins them.
#pragma once

#include "distributed/exchange_plan.hpp"
#include "runtime/cuda/driver.hpp"
#include "stencil_tune/communicator.hpp"

#include <cstddef>

namespace stencil_tune {

/// The time of one rank's exchange with its neighbours; packing is left out.
struct ExchangeTime {
  double latency_s = 0;  ///< time of an exchange that brings next to nothing
  double s_per_byte = 0;

  double of(double bytes) const { return latency_s + bytes * s_per_byte; }
};

/// The larger of what a rank sends and receives.
double bytes_of(const ExchangePlan& plan, std::size_t cell_bytes);

/// Collective: makes some exchanges to the same neighbours as the plan's, small ones and those of its size, but 16 MiB
/// a message at most, for which it allocates memory meanwhile. Throws Error(exceeds_device_memory) on all ranks.
ExchangeTime time_exchange(Driver& driver, Communicator& ranks, const ExchangePlan& plan, std::size_t cell_bytes);

}  // namespace stencil_tune
