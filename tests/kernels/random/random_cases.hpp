// Random problems x random legal candidates x awkward grids.
#pragma once

#include "tuner/executor/host_check.hpp"

#include <cstdint>
#include <string>

namespace stencil_tune {

struct RandomCase {
  HostCase host_case;
  Problem planned;           ///< what the candidate was drawn for: a small grid or a large one
  std::string architecture;  ///< the one whose limits it keeps: "sm_90"
};

/// The case of this seed, the same every time: a stencil, element type, boundary on each axis and grid that it is tuned
/// for, a candidate from their space (families take equal turns), and up to three grids that it is legal on: fewer
/// cells than the reach, a cell more and a cell less than tiles, primes; rows dense or padded.
RandomCase random_case(std::uint64_t seed);

/// The same of whole steps of a random system alone, one case in five of random_case().
RandomCase random_system_case(std::uint64_t seed);

/// For messages: what was checked, and the stencil as a definition.
std::string describe(const RandomCase& random_case);

}  // namespace stencil_tune
