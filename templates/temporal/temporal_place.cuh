// What the update of a fused level reads where it asks for the cell's place: which cell it is, and in which step.
#pragma once

#include "stencil_tune/temporal/temporal_copies.cuh"
#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// As PlacedCells, for the cell (kI, kJ) of a thread. Tiles of a periodic grid reach beyond its edges: a cell there is one
/// of the other side, and has the coordinates of that one. L: the level's stage; S: what the arguments are of.
template <class S, class T, class L, class Source, int kI, int kJ>
struct FusedCells {
  using Value = typename S::Value;
  using Index = typename S::Index;

  Cells<L, Source, kI, kJ, 0> cells;
  const Arguments<S>& arguments;
  const TemporalTile<S, T>& tile;
  Index z;    ///< the plane that the level updates; outside the grid its value is never used
  int ahead;  ///< steps that the levels before have made

  STENCIL_DEVICE Value operator()(int f, int dx, int dy, int dz) const { return cells(f, dx, dy, dz); }

  /// On an axis of the kernel, of the cell that far along it.
  STENCIL_DEVICE Value coordinate(int axis, int offset) const {
    const long long index = axis == 0   ? wrapped<S::kBoundaryX>(tile.x + kI, tile.nx)
                            : axis == 1 ? wrapped<S::kBoundaryY>(tile.y + kJ, tile.ny)
                                        : inside<S::kBoundaryZ>(z, tile.nz);
    return static_cast<Value>(place_number<S>(arguments.coefficients, axis) + index + offset);
  }
  STENCIL_DEVICE Value step() const {
    return static_cast<Value>(place_number<S>(arguments.coefficients, 3) + ahead);
  }
};

}  // namespace stencil_tune
