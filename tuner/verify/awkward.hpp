// Small grids on which kernels go wrong at their edges.
#pragma once

#include "generator/stencil/problem.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace stencil_tune {

inline constexpr std::int64_t kMostAwkwardCells = std::int64_t{1} << 20;

/// For a kernel with this output tile: primes, a cell more and a cell less than a tile, half a tile, and the smallest
/// grid with anything to update. None has more than kMostAwkwardCells cells or fewer than one a tile's axis needs.
std::vector<Extents> awkward_extents(const Problem& problem, const std::array<int, kMaxRank>& tile);

}  // namespace stencil_tune
