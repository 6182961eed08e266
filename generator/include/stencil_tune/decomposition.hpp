// A grid split over ranks: who owns which cells, and which halos stand around them.
#pragma once

#include "stencil_tune/grid.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace stencil_tune {

/// Layers of cells at the two ends of an axis.
struct HaloWidth {
  std::int64_t low = 0;   ///< before the first cell
  std::int64_t high = 0;  ///< behind the last

  friend bool operator==(const HaloWidth& a, const HaloWidth& b) { return a.low == b.low && a.high == b.high; }
  friend bool operator!=(const HaloWidth& a, const HaloWidth& b) { return !(a == b); }
};

/// For each axis.
using HaloLayers = std::array<HaloWidth, kMaxRank>;

/// Parts along each axis: their product is the number of ranks.
using Cut = std::array<int, kMaxRank>;

/// -1, 0 or 1 on each axis.
using Direction = std::array<int, kMaxRank>;

std::string to_string(const Cut& cut, int rank);  ///< "2x4" for a grid of two axes

/// Parts of a grid, as many as ranks, numbered with x fastest. Parts of an axis differ by one cell at most, longer ones
/// first. A rank's array holds the cells that it owns and, where a neighbour stands, layers of that one's: its halo.
/// At the ends of an axis that is not periodic there is none.
class Decomposition {
 public:
  /// Throws Error(invalid_argument) for parts that are less than one, more than there are cells, on an axis that the
  /// grid does not have, or thinner than the halo that their neighbours take from them.
  Decomposition(const Extents& grid, const Boundaries& boundaries, const Cut& cut, const HaloLayers& halo);

  const Extents& grid() const noexcept { return grid_; }              ///< the whole
  const Cut& cut() const noexcept { return cut_; }                    ///< parts along each axis
  const HaloLayers& halo() const noexcept { return halo_; }           ///< where there is a neighbour
  int ranks() const noexcept { return cut_[0] * cut_[1] * cut_[2]; }  ///< parts in all

  std::array<int, kMaxRank> part(int rank) const;  ///< which one along each axis, from 0
  Box owned(int rank) const;                       ///< cells of the grid
  /// The rank's array, in cells of the grid; along a periodic axis its ends may lie outside the grid.
  Box array(int rank) const;

  /// The rank in that direction; nothing where the grid ends. Along a periodic axis the last one's neighbour is the
  /// first. Axes that are not cut have none.
  std::optional<int> neighbour(int rank, const Direction& direction) const;

  /// Cells of a field that the rank receives in an exchange of so many layers, of halo() at most.
  std::int64_t halo_cells(int rank, const HaloLayers& layers) const;
  /// The same with halo() layers, of the rank that receives most.
  std::int64_t most_received() const;

 private:
  void check() const;
  std::int64_t start(std::size_t axis, int part) const;

  Extents grid_;
  Boundaries boundaries_;
  Cut cut_;
  HaloLayers halo_;
};

/// The cut for which the rank that receives most receives least; of equal ones that with more parts along the slower
/// axes, whose faces lie together in memory. `may_cut`: axes that parts may be made along.
/// Throws Error(invalid_argument) where no cut leaves every part as thick as the halo.
Decomposition choose_decomposition(const Extents& grid, const Boundaries& boundaries, int ranks, const HaloLayers& halo,
                                   const std::array<bool, kMaxRank>& may_cut = {true, true, true});

}  // namespace stencil_tune
