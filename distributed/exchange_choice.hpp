// How many steps ranks make between two exchanges.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/communicator.hpp"
#include "stencil_tune/distributed.hpp"

namespace stencil_tune {

struct ExchangeChoice {
  int fused_steps = 1;   ///< steps of a launch, at most
  int per_exchange = 1;  ///< steps
};

/// Collective. As many steps as each rank's kernel fuses for its part, and parts allow halos for. Other numbers, and
/// kernels that fuse fewer steps, take their place where they are clearly faster by what is known of them and by what
/// an exchange takes, which is measured. The slowest rank counts, so that all choose alike. Where no rate is known, or
/// halos travel beside launches, nothing is measured.
ExchangeChoice choose_exchange(Library& library, Communicator& ranks, const Request& request, const Problem& whole,
                               const DistributedOptions& options);

}  // namespace stencil_tune
