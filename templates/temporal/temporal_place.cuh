// Where the cells of fused levels are.
#pragma once

#include "stencil_tune/placed_cells.cuh"
#include "stencil_tune/temporal/temporal_copies.cuh"

namespace stencil_tune {

/// Cell (kI, kJ) of the thread in plane z, `ahead` steps after the launch's first. Tiles of a periodic grid reach beyond its
/// edges: a cell there is one of the other side, and has the place of that one.
template <int kI, int kJ, class S, class T, class Source>
STENCIL_DEVICE PlacedCells<S, Source> placed(const Source& cells, const Arguments<S>& a, const TemporalTile<S, T>& tile,
                                             typename S::Index z, int ahead) {
  return {cells,
          a,
          wrapped<S::kBoundaryX>(tile.x + kI, tile.nx),
          wrapped<S::kBoundaryY>(tile.y + kJ, tile.ny),
          S::kBoundaryZ == Boundary::periodic ? inside<S::kBoundaryZ>(z, tile.nz) : z,
          ahead};
}

}  // namespace stencil_tune
