// Ranks that go on together, or fail together.
#pragma once

#include "stencil_tune/communicator.hpp"
#include "stencil_tune/error.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace stencil_tune {

/// Does the work on each rank, and throws on all where it threw on some: what the first of them did, and its number.
void agree(Communicator& ranks, const std::function<void()>& work);

/// Each rank's number.
std::vector<std::int64_t> gather_numbers(Communicator& ranks, std::int64_t mine);

/// The largest of the ranks' numbers.
double largest(Communicator& ranks, double mine);

}  // namespace stencil_tune
