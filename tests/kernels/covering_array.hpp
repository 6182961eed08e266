// Few rows that hold every pair of values: most faults need no more than two settings to meet.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace stencil_tune {

/// One value index a factor.
using Row = std::vector<int>;
using Legal = std::function<bool(const Row&)>;

/// Legal rows that together hold every pair of values of two factors which some legal row holds.
/// `sizes`: how many values each factor has. Value 0 should be the plainest, which goes with most others: a pair is
/// given up as illegal when `attempts` completions of it were, half of them random, half mostly plain. Deterministic.
std::vector<Row> cover_pairs(std::span<const int> sizes, const Legal& legal, int attempts = 400);

}  // namespace stencil_tune
