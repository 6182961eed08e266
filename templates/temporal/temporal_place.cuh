// Where the cells of fused levels are.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/placed_cells.cuh"
#include "stencil_tune/temporal/temporal_copies.cuh"

namespace stencil_tune {

/// A periodic grid's tiles reach beyond its edges: a cell there is one of the other side, and has the place of that one.
template <int kI, class S, class T>
STENCIL_DEVICE typename S::Index column_of(const TemporalTile<S, T>& tile) {
  return wrapped<S::kBoundaryX>(tile.x + kI, tile.nx);
}
template <int kJ, class S, class T>
STENCIL_DEVICE typename S::Index row_of(const TemporalTile<S, T>& tile) {
  return wrapped<S::kBoundaryY>(tile.y + kJ, tile.ny);
}

/// What the updates of a thread's cells read along each axis (S::kAxisReads): those along x and y once, for its cells keep
/// their columns and rows while it walks along z, those along z once a plane. Registers: an entry for each column, each row.
template <class S, class T>
class KeptAxisReads {
  static constexpr int kCount = S::kAxisReadCount > 0 ? S::kAxisReadCount : 1;

 public:
  STENCIL_DEVICE KeptAxisReads(const Arguments<S>& a, const TemporalTile<S, T>& tile) : arguments_(a) {
    keep_all(tile, IndicesBelow<S::kAxisReadCount>{});
  }

  /// What cells in a plane read.
  struct InPlane {
    const KeptAxisReads& kept;
    typename S::Value entries[kCount];
  };
  STENCIL_DEVICE InPlane in_plane(typename S::Index z) const {
    InPlane plane{*this, {}};
    read_all(z, plane, IndicesBelow<S::kAxisReadCount>{});
    return plane;
  }

  /// What cell (kI, kJ) of the thread reads in a plane.
  template <int kI, int kJ>
  struct Of {
    static constexpr bool kAny = true;
    const InPlane& plane;

    template <int kProfile, int kAxis, int kOffset>
    STENCIL_DEVICE typename S::Value read() const {
      constexpr int kNumber = number_of(kProfile, kAxis, kOffset);
      if constexpr (kAxis == 2) return plane.entries[kNumber];
      return plane.kept.entries_[kNumber][kAxis == 0 ? kI : kJ];
    }
  };

 private:
  using Shape = TemporalShape<S, T>;
  static constexpr int kMost = Shape::kCells > Shape::kRows ? Shape::kCells : Shape::kRows;

  STENCIL_DEVICE static constexpr int number_of(int profile, int axis, int offset) {
    int number = 0;
    while (S::kAxisReads[number].profile != profile || S::kAxisReads[number].axis != axis ||
           S::kAxisReads[number].offset != offset) {
      ++number;
    }
    return number;
  }

  template <int kRead>
  STENCIL_DEVICE typename S::Value read(typename S::Index cell) const {
    constexpr AxisRead kOf = S::kAxisReads[kRead];
    return PlaceArguments<S>{arguments_}.template read<kOf.profile, kOf.axis>(cell + kOf.offset);
  }

  template <int... kRead>
  STENCIL_DEVICE void keep_all(const TemporalTile<S, T>& tile, Indices<kRead...>) {
    (keep<kRead>(tile, IndicesBelow<S::kAxisReads[kRead].axis == 0 ? Shape::kCells : Shape::kRows>{}), ...);
  }
  template <int kRead, int... kAt>
  STENCIL_DEVICE void keep(const TemporalTile<S, T>& tile, Indices<kAt...>) {
    constexpr int kAxis = S::kAxisReads[kRead].axis;
    if constexpr (kAxis == 0) ((entries_[kRead][kAt] = read<kRead>(column_of<kAt>(tile))), ...);
    if constexpr (kAxis == 1) ((entries_[kRead][kAt] = read<kRead>(row_of<kAt>(tile))), ...);
  }

  template <int... kRead>
  STENCIL_DEVICE void read_all(typename S::Index z, InPlane& plane, Indices<kRead...>) const {
    (read_in_plane<kRead>(z, plane), ...);
  }
  template <int kRead>
  STENCIL_DEVICE void read_in_plane(typename S::Index z, InPlane& plane) const {
    if constexpr (S::kAxisReads[kRead].axis == 2) plane.entries[kRead] = read<kRead>(z);
  }

  const Arguments<S>& arguments_;
  typename S::Value entries_[kCount][kMost];
};

/// Updates that ask for no place have none.
struct NoAxisReads {
  template <class A, class Tile>
  STENCIL_DEVICE NoAxisReads(const A&, const Tile&) {}
  template <class Index>
  STENCIL_DEVICE NoAxisReads in_plane(Index) const {
    return *this;
  }
};
template <class S, class T>
using AxisReads = Choose<T::kPlaced, KeptAxisReads<S, T>, NoAxisReads>;

/// Cell (kI, kJ) of the thread in plane z, `ahead` steps after the launch's first.
template <int kI, int kJ, class S, class T, class Source, class InPlane>
STENCIL_DEVICE auto placed(const Source& cells, const Arguments<S>& a, const TemporalTile<S, T>& tile,
                           const InPlane& reads, typename S::Index z, int ahead) {
  using Kept = typename KeptAxisReads<S, T>::template Of<kI, kJ>;
  return PlacedCells<S, Source, Kept>{cells, a, column_of<kI>(tile), row_of<kJ>(tile), z, ahead, Kept{reads}};
}

/// The plane that answers for one beyond a periodic grid's ends.
template <class S>
STENCIL_DEVICE typename S::Index plane_of(typename S::Index z, typename S::Index nz) {
  return S::kBoundaryZ == Boundary::periodic ? inside<S::kBoundaryZ>(z, nz) : z;
}

}  // namespace stencil_tune
