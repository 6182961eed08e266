// Published rows of a system with those of rims among them: the input's rows above and below the tile, for each field
// whose rows level 0 reads of other warps (temporal_rim.cuh).
#pragma once

#include "stencil_tune/system/system_input.cuh"
#include "stencil_tune/system/system_rows.cuh"
#include "stencil_tune/temporal/temporal_rim.cuh"

namespace stencil_tune {

template <class S, class T>
struct RimsOfLevel {
  using L = LevelOf<S, 0>;

  STENCIL_DEVICE static constexpr int count() {
    int rims = 0;
    for (int f = 0; f < L::kIn; ++f) rims += L::kFields[f].exchanges() ? 1 : 0;
    return rims;
  }
};

/// The rim of field kF, none where no rows of it are read.
template <class S, class T, int kF, class L = LevelOf<S, 0>>
using RimOfField = RimRows<S, T, S::kStateInputs[kF].input, L::kFields[kF].rows_before, L::kFields[kF].rows_after,
                           RimsOfLevel<S, T>::count()>;

template <class S, class T, class Fields>
struct RimmedRows;
template <class S, class T, int... kField>
struct RimmedRows<S, T, Indices<kField...>> : PublishedRows<S, T> {
  using Base = PublishedRows<S, T>;
  using Shape = TemporalShape<S, T>;
  using L = LevelOf<S, 0>;
  using Index = typename S::Index;

  template <int kF>
  struct Rim : RimOfField<S, T, kF> {
    using RimOfField<S, T, kF>::RimOfField;
  };
  struct Rims : Rim<kField>... {
    STENCIL_DEVICE Rims(const Arguments<S>& a, const TemporalTile<S, T>& t, int first_byte, RimSides sides)
        : Rim<kField>(a, t, first_byte + bytes_before(kField), sides)... {}
  };

  STENCIL_DEVICE static constexpr int bytes_before(int field) {
    return (0 + ... + (kField < field ? Rim<kField>::kBytes : 0));
  }
  static constexpr int kBytes = Base::kBytes + bytes_before(L::kIn);
  static constexpr int kSlots = T::kPrefetch + 1;

  const RimSides sides;
  const Rims rims;
  int slot = 0;  ///< slot of the rims whose planes are published next

  STENCIL_DEVICE RimmedRows(const Arguments<S>& a, const TemporalTile<S, T>& t, int first_byte)
      : Base(a, t, first_byte), sides(Shape::warp() == 0 && !t.top_edge, Shape::warp() == Shape::kWarps - 1 && !t.bottom_edge),
        rims(a, t, first_byte + Base::kBytes, sides) {}

  STENCIL_DEVICE void start(const TemporalTile<S, T>& tile) {
    Base::start(tile);
    if (!sides.above && !sides.below) return;
    for (int s = 0; s < kSlots; ++s) (copy_first<kField>(tile.first_plane() - L::kDelay + s, s), ...);
  }

  /// Publishes field kF's rim rows of the plane whose own rows the warp publishes in the step in which level 0 updates
  /// plane z. kZero: planes beyond the grid are 0.
  template <int kF, bool kZero>
  STENCIL_DEVICE void publish_rim(Index z) {
    if (!sides.above && !sides.below) return;
    constexpr LevelField kOf = L::kFields[kF];
    constexpr int kAbove = Base::template place_of<kOf.row, kOf.rows_before, kOf.rows_after, -kOf.rows_before>();
    constexpr int kBelow = Base::template place_of<kOf.row, kOf.rows_before, kOf.rows_after, Shape::kRows>();
    auto* to = Base::own + Base::next();
    static_cast<const Rim<kF>&>(rims).template publish<kZero, Base>(z + kOf.published(), slot,
                                                                    to - Base::kWarpCells + kAbove * Base::kRowCells,
                                                                    to + Base::kWarpCells + kBelow * Base::kRowCells);
    if constexpr (kF == last_published()) slot = slot == kSlots - 1 ? 0 : slot + 1;
  }

 private:
  template <int kF>
  STENCIL_DEVICE void copy_first(Index z, int to_slot) const {
    if constexpr (L::kFields[kF].exchanges()) {
      static_cast<const Rim<kF>&>(rims).copy(z + L::kFields[kF].published(), to_slot);
    }
  }

  /// Rows that the step itself reads are published before those that the next one does.
  STENCIL_DEVICE static constexpr int last_published() {
    int last = -1;
    bool for_next = false;
    for (int f = 0; f < L::kIn; ++f) {
      const bool its_for_next = L::kFields[f].last < L::kFields[f].newest;
      if (!L::kFields[f].exchanges() || (for_next && !its_for_next)) continue;
      last = f;
      for_next = its_for_next;
    }
    return last;
  }
};

}  // namespace stencil_tune
