// Where the tile of a block lies, which of its cells steps change, and the argument of resident kernels.
#pragma once

#include "stencil_tune/arguments.cuh"
#include "stencil_tune/boundary.cuh"

namespace stencil_tune {

template <class S>
struct ResidentArguments {
  Arguments<S> plain;
  unsigned long long steps;
};

/// Places low .. high - 1 along an axis.
struct Span {
  int low, high;

  STENCIL_DEVICE bool has(int place) const {
    return static_cast<unsigned>(place - low) < static_cast<unsigned>(high > low ? high - low : 0);
  }
  STENCIL_DEVICE bool meets(int first, int end) const { return (first > low ? first : low) < (end < high ? end : high); }
  STENCIL_DEVICE Span within(int first, int end) const { return {first > low ? first : low, end < high ? end : high}; }
};

/// The tile of a block. Cells are counted along each axis from the first one of the halo ("place"), or of the grid.
template <class S, class T>
struct ResidentTile {
  using Value = typename S::Value;
  using Index = typename S::Index;

  static constexpr int kThreads = T::kBlockX;
  static constexpr int kWidth = T::kTileX + 2 * T::kHaloX, kHeight = T::kTileY + 2 * T::kHaloY;
  static constexpr int kDepth = T::kTileZ + 2 * T::kHaloZ;
  static constexpr int kPlane = kWidth * kHeight, kCells = kPlane * kDepth;
  static constexpr int kTileCells = T::kTileX * T::kTileY * T::kTileZ;

  const Arguments<S>& arguments;
  Index nx, ny, nz;                    ///< cells of the grid
  Index first_x, first_y, first_z;     ///< place 0 in the grid; it may lie before it
  int own_x, own_y, own_z;             ///< cells of the tile that the grid has
  int blocks_x, blocks_y, blocks_z;    ///< the launch's
  Span changed_x, changed_y, changed_z;  ///< what steps change, of the tile and its halo

  STENCIL_DEVICE explicit ResidentTile(const Arguments<S>& a)
      : arguments(a), nx(Index(a.n[0])), ny(Index(a.n[1])), nz(Index(a.n[2])),
        first_x(Index(block_x()) * T::kTileX - T::kHaloX), first_y(Index(block_y()) * T::kTileY - T::kHaloY),
        first_z(Index(block_z()) * T::kTileZ - T::kHaloZ), own_x(own<T::kTileX>(first_x + T::kHaloX, nx)),
        own_y(own<T::kTileY>(first_y + T::kHaloY, ny)), own_z(own<T::kTileZ>(first_z + T::kHaloZ, nz)),
        blocks_x(blocks<T::kTileX>(nx)), blocks_y(blocks<T::kTileY>(ny)), blocks_z(blocks<T::kTileZ>(nz)),
        changed_x(changed<S::kBoundaryX, S::kLowX, S::kHighX>(first_x, nx, kWidth)),
        changed_y(changed<S::kBoundaryY, S::kLowY, S::kHighY>(first_y, ny, kHeight)),
        changed_z(changed<S::kBoundaryZ, S::kLowZ, S::kHighZ>(first_z, nz, kDepth)) {}

  template <int kTile>
  STENCIL_DEVICE static int own(Index first, Index n) { return n - first < kTile ? static_cast<int>(n - first) : kTile; }
  template <int kTile>
  STENCIL_DEVICE static int blocks(Index n) { return static_cast<int>((n + kTile - 1) / kTile); }
  STENCIL_DEVICE int blocks_of_launch() const { return blocks_x * blocks_y * blocks_z; }
  STENCIL_DEVICE unsigned number() const { return (block_z() * blocks_y + block_y()) * blocks_x + block_x(); }

  STENCIL_DEVICE static constexpr int at(int x, int y, int z) { return z * kPlane + y * kWidth + x; }

  /// The cell that stands at the place: under periodic one inside the grid.
  STENCIL_DEVICE Index cell_x(int x) const { return wrapped<S::kBoundaryX>(first_x + x, nx); }
  STENCIL_DEVICE Index cell_y(int y) const { return wrapped<S::kBoundaryY>(first_y + y, ny); }
  STENCIL_DEVICE Index cell_z(int z) const { return wrapped<S::kBoundaryZ>(first_z + z, nz); }
  template <Boundary kBoundary>
  STENCIL_DEVICE static Index wrapped(Index i, Index n) {
    if constexpr (kBoundary == Boundary::periodic) return inside<kBoundary>(i, n);
    return i;
  }

  /// Whether steps change any cell of the tile.
  STENCIL_DEVICE bool changes_any() const {
    return changed_x.meets(T::kHaloX, T::kHaloX + own_x) && changed_y.meets(T::kHaloY, T::kHaloY + own_y) &&
           changed_z.meets(T::kHaloZ, T::kHaloZ + own_z);
  }

 private:
  template <Boundary kBoundary, int kLow, int kHigh>
  STENCIL_DEVICE static Span changed(Index first, Index n, int places) {
    if constexpr (kBoundary == Boundary::periodic) return {0, places};
    const Index low = (kBoundary == Boundary::hold ? kLow : 0) - first;
    const Index high = n - (kBoundary == Boundary::hold ? kHigh : 0) - first;
    return {low < 0 ? 0 : low < places ? static_cast<int>(low) : places,
            high < 0 ? 0 : high < places ? static_cast<int>(high) : places};
  }
};

}  // namespace stencil_tune
