#include "stencil_tune/decomposition.hpp"

#include "generator/stencil/axis_names.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

/// Parts along the slower axes count most.
bool cuts_slower_axes(const Cut& a, const Cut& b) {
  return std::lexicographical_compare(b.rbegin(), b.rend(), a.rbegin(), a.rend());
}

std::vector<Cut> cuts_into(int ranks) {
  std::vector<Cut> cuts;
  for (int x = 1; x <= ranks; ++x) {
    if (ranks % x != 0) continue;
    for (int y = 1; y <= ranks / x; ++y) {
      if (ranks / x % y == 0) cuts.push_back({x, y, ranks / x / y});
    }
  }
  return cuts;
}

/// Parts along an axis that its cells and its halo allow.
bool fits(const Extents& grid, const Cut& cut, const HaloLayers& halo, const std::array<bool, kMaxRank>& may_cut) {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cut[axis] == 1) continue;
    const std::int64_t least = std::max<std::int64_t>({1, halo[axis].low, halo[axis].high});
    if (!may_cut[axis] || grid.n[axis] / cut[axis] < least) return false;
  }
  return true;
}

}  // namespace

std::string to_string(const Cut& cut, int rank) {
  std::string text = std::to_string(cut[0]);
  for (std::size_t axis = 1; axis < static_cast<std::size_t>(rank); ++axis) text += "x" + std::to_string(cut[axis]);
  return text;
}

Decomposition::Decomposition(const Extents& grid, const Boundaries& boundaries, const Cut& cut, const HaloLayers& halo)
    : grid_(grid), boundaries_(boundaries), cut_(cut), halo_(halo) {
  check();
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (cut_[axis] == 1) halo_[axis] = {};
  }
}

void Decomposition::check() const {
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    const int parts = cut_[axis];
    if (parts < 1 || parts > grid_.n[axis]) {
      refuse(fmt::format("{} parts along {} of a grid of {}: from 1 to {} are possible", parts, kAxisNames[axis],
                         to_string(grid_), grid_.n[axis]));
    }
    const std::int64_t thinnest = grid_.n[axis] / parts;
    const std::int64_t thickest_halo = std::max(halo_[axis].low, halo_[axis].high);
    if (parts > 1 && thinnest < thickest_halo) {
      refuse(
          fmt::format("{} parts along {} of a grid of {} have {} cells, and their neighbours take {} layers of them "
                      "in one exchange: cut into fewer parts, or exchange more often",
                      parts, kAxisNames[axis], to_string(grid_), thinnest, thickest_halo));
    }
  }
}

std::array<int, kMaxRank> Decomposition::part(int rank) const {
  return {rank % cut_[0], rank / cut_[0] % cut_[1], rank / cut_[0] / cut_[1]};
}

/// The first `n % parts` parts have one cell more.
std::int64_t Decomposition::start(std::size_t axis, int part) const {
  const std::int64_t parts = cut_[axis];
  return part * (grid_.n[axis] / parts) + std::min<std::int64_t>(part, grid_.n[axis] % parts);
}

Box Decomposition::owned(int rank) const {
  const std::array<int, kMaxRank> at = part(rank);
  Box box;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    box.low[axis] = start(axis, at[axis]);
    box.high[axis] = start(axis, at[axis] + 1);
  }
  return box;
}

Box Decomposition::array(int rank) const {
  Box box = owned(rank);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    Direction direction{0, 0, 0};
    direction[axis] = -1;
    if (neighbour(rank, direction)) box.low[axis] -= halo_[axis].low;
    direction[axis] = 1;
    if (neighbour(rank, direction)) box.high[axis] += halo_[axis].high;
  }
  return box;
}

std::optional<int> Decomposition::neighbour(int rank, const Direction& direction) const {
  std::array<int, kMaxRank> at = part(rank);
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    if (direction[axis] == 0) continue;
    const int parts = cut_[axis];
    if (parts == 1) return std::nullopt;
    at[axis] += direction[axis];
    if (boundaries_[axis] == Boundary::periodic) at[axis] = (at[axis] + parts) % parts;
    if (at[axis] < 0 || at[axis] >= parts) return std::nullopt;
  }
  return (at[2] * cut_[1] + at[1]) * cut_[0] + at[0];
}

std::int64_t Decomposition::halo_cells(int rank, const HaloLayers& layers) const {
  const Box own = owned(rank);
  const Box whole = array(rank);
  Box reached = own;
  for (std::size_t axis = 0; axis < kMaxRank; ++axis) {
    reached.low[axis] -= std::min(layers[axis].low, own.low[axis] - whole.low[axis]);
    reached.high[axis] += std::min(layers[axis].high, whole.high[axis] - own.high[axis]);
  }
  return reached.cells() - own.cells();
}

/// Longer parts come first, and all but the first and the last have two neighbours: along no axis does a part receive
/// more than the first or the second one.
std::int64_t Decomposition::most_received() const {
  std::int64_t most = 0;
  for (int z = 0; z < std::min(2, cut_[2]); ++z) {
    for (int y = 0; y < std::min(2, cut_[1]); ++y) {
      for (int x = 0; x < std::min(2, cut_[0]); ++x) {
        most = std::max(most, halo_cells((z * cut_[1] + y) * cut_[0] + x, halo_));
      }
    }
  }
  return most;
}

Decomposition choose_decomposition(const Extents& grid, const Boundaries& boundaries, int ranks, const HaloLayers& halo,
                                   const std::array<bool, kMaxRank>& may_cut) {
  if (ranks < 1) refuse(fmt::format("a grid for {} ranks: at least one is needed", ranks));
  std::optional<Decomposition> best;
  std::int64_t least = 0;
  for (const Cut& cut : cuts_into(ranks)) {
    if (!fits(grid, cut, halo, may_cut)) continue;
    Decomposition parts(grid, boundaries, cut, halo);
    const std::int64_t received = parts.most_received();
    if (!best || received < least || (received == least && cuts_slower_axes(cut, best->cut()))) {
      best = std::move(parts);
      least = received;
    }
  }
  if (best) return *best;
  std::string layers, uncut;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(grid.rank); ++axis) {
    layers += fmt::format("{}{}", axis > 0 ? "x" : "", std::max(halo[axis].low, halo[axis].high));
    if (!may_cut[axis]) uncut += fmt::format("{}{}", uncut.empty() ? "" : ", ", kAxisNames[axis]);
  }
  if (!uncut.empty()) uncut = fmt::format(", none across {}, where its stencil asks for a cell's place", uncut);
  refuse(fmt::format(
      "a grid of {} cannot be cut into {} parts, each as thick as the halo of {} cells{}: take fewer ranks, "
      "or exchange more often",
      to_string(grid), ranks, layers, uncut));
}

}  // namespace stencil_tune
