// The parameter of a launch, complete.
#pragma once

#include "generator/source.hpp"
#include "runtime/driver.hpp"

namespace stencil_tune {

/// pack_arguments() with the tensor maps, where the candidate has any, encoded by the driver.
std::vector<std::byte> launch_arguments(Driver& driver, const Problem& problem, const Box& box, const Tuning& tuning,
                                        std::span<const std::uint64_t> inputs, std::span<const std::uint64_t> outputs,
                                        std::span<const double> coefficients);

}  // namespace stencil_tune
