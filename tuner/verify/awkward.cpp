#include "tuner/verify/awkward.hpp"

#include <algorithm>

namespace stencil_tune {
namespace {

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return n > 1;
}

std::int64_t next_prime(std::int64_t n) {
  while (!is_prime(n)) ++n;
  return n;
}

/// Halves the largest extents until the grid is small; odd ones stay odd.
Extents clipped(Extents extents) {
  while (extents.cells() > kMostAwkwardCells) {
    std::int64_t& largest = *std::max_element(extents.n.begin(), extents.n.end());
    largest = largest / 2 | 1;
  }
  return extents;
}

}  // namespace

std::vector<Extents> awkward_extents(const Problem& problem, const std::array<int, kMaxRank>& tile) {
  constexpr std::array<std::int64_t, kMaxRank> kPrimes{37, 23, 19};
  std::vector<Extents> all;
  // A grid with that many cells to update on each axis, at least one.
  const auto add = [&](const auto& updated_cells) {
    Extents extents;
    extents.rank = problem.extents.rank;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(extents.rank); ++axis) {
      extents.n[axis] =
          std::max(least_extent(problem.stencil, axis), updated_cells(axis)) + held_layers(problem, axis).both();
    }
    extents = clipped(extents);
    if (std::find(all.begin(), all.end(), extents) == all.end()) all.push_back(extents);
  };
  add([&](std::size_t axis) { return next_prime(kPrimes[axis]); });
  add([&](std::size_t axis) { return std::int64_t{tile[axis]} + 1; });
  add([&](std::size_t axis) { return std::int64_t{tile[axis]} - 1; });
  add([&](std::size_t axis) { return std::int64_t{tile[axis]} / 2; });
  add([](std::size_t) { return std::int64_t{1}; });
  return all;
}

}  // namespace stencil_tune
