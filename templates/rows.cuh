// Which rows of the input a thread's register tile reads, derived from the stencil's taps at compile time.
//
// A thread computes kX x kY x kZ outputs. Seen from its first output, it reads rows (plane p, row r): p counts from the
// lowest plane in reach, r from the lowest row in reach. Of each row it reads columns: `left` cells before its own kX
// cells, its own cells ("body"), `right` cells after them.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

/// Indices 0..N-1 as template arguments, for loops whose index decides which code exists.
template <int... kIndices>
struct Indices {};
template <int kCount, int... kRest>
struct CountDown : CountDown<kCount - 1, kCount - 1, kRest...> {};
template <int... kAll>
struct CountDown<0, kAll...> {
  using Type = Indices<kAll...>;
};
template <int kCount>
using IndicesBelow = typename CountDown<kCount>::Type;

/// A table that is computed once, by the compiler: Computed<Table>::kTable.
template <class Table>
struct Computed {
  static constexpr Table kTable{};
};

/// x offsets low..high; empty when low > high.
struct Range {
  int low;
  int high;
};

STENCIL_DEVICE constexpr bool is_empty(Range range) { return range.low > range.high; }

STENCIL_DEVICE constexpr Range hull(Range a, Range b) {
  if (is_empty(a)) return b;
  if (is_empty(b)) return a;
  return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/// The part of one row that is read.
struct RowUse {
  int left;   ///< cells before the body
  int right;  ///< cells after it
  bool body;
};

/// body_for_halo: neighbours hand their own cells over as this thread's halo, so a row with a halo needs its body too.
STENCIL_DEVICE constexpr RowUse row_use(Range range, int body_cells, bool body_for_halo) {
  if (is_empty(range)) return {0, 0, false};
  return {range.low < 0 ? -range.low : 0, range.high > 0 ? range.high : 0,
          body_for_halo || (range.low < body_cells && range.high > -body_cells)};
}

STENCIL_DEVICE constexpr bool is_used(const RowUse& use) { return use.body || use.left > 0 || use.right > 0; }

/// Every row that a tile of kX x kY x kZ outputs reads, and where its cells stand in a thread's registers.
/// kAhead: planes above those, which a walk loads early.
template <class S, int kX, int kY, int kZ, bool kBodyForHalo = false, int kAhead = 0>
struct TileReads {
  static constexpr int kInputs = S::kInputs;
  static constexpr int kPlanes = kZ + S::kLowZ + S::kHighZ + kAhead;
  static constexpr int kRows = kY + S::kLowY + S::kHighY;

  RowUse use[kInputs][kPlanes][kRows];

  STENCIL_DEVICE constexpr TileReads() : use{} {
    for (int f = 0; f < kInputs; ++f) {
      for (int p = 0; p < kPlanes; ++p) {
        for (int r = 0; r < kRows; ++r) use[f][p][r] = row_use(taps_of_row(f, p, r), kX, kBodyForHalo);
      }
    }
  }

  /// Taps of all outputs of the tile that fall into row (p, r) of input f.
  STENCIL_DEVICE static constexpr Range taps_of_row(int f, int p, int r) {
    Range range{1, 0};
    for (int k = 0; k < kZ; ++k) {
      for (int j = 0; j < kY; ++j) range = hull(range, S::taps(f, r - S::kLowY - j, p - S::kLowZ - k));
    }
    return range;
  }
};

/// The same for a thread that walks along z with one plane of outputs at a time. What is read at two planes is kept at
/// all planes between them, at each as wide as at the widest. It is also there in the kAhead planes above them, since
/// it is loaded that many planes before its first use.
template <class S, int kX, int kY, bool kBodyForHalo, int kAhead = 0>
struct WalkReads : TileReads<S, kX, kY, 1, kBodyForHalo, kAhead> {
  using Tile = TileReads<S, kX, kY, 1, kBodyForHalo, kAhead>;

  STENCIL_DEVICE constexpr WalkReads() {
    for (int f = 0; f < Tile::kInputs; ++f) {
      for (int r = 0; r < Tile::kRows; ++r) {
        for (int p = 0; p < Tile::kPlanes; ++p) keep(f, p, r);
        for (int p = Tile::kPlanes - 1; p > 0; --p) load_early(f, p, r);
      }
    }
  }

 private:
  STENCIL_DEVICE constexpr void keep(int f, int p, int r) {
    RowUse below{0, 0, false}, above{0, 0, false};
    for (int q = 0; q <= p; ++q) below = larger(below, this->use[f][q][r]);
    for (int q = p; q < Tile::kPlanes; ++q) above = larger(above, this->use[f][q][r]);
    const RowUse widest = larger(below, above);
    this->use[f][p][r] = {below.left > 0 && above.left > 0 ? widest.left : 0,
                          below.right > 0 && above.right > 0 ? widest.right : 0, below.body && above.body};
  }
  STENCIL_DEVICE constexpr void load_early(int f, int p, int r) {
    for (int ahead = 1; ahead <= kAhead && ahead <= p; ++ahead) {
      this->use[f][p][r] = larger(this->use[f][p][r], this->use[f][p - ahead][r]);
    }
  }
  STENCIL_DEVICE static constexpr RowUse larger(const RowUse& a, const RowUse& b) {
    return {a.left > b.left ? a.left : b.left, a.right > b.right ? a.right : b.right, a.body || b.body};
  }
};

/// Where the cells of all rows are in the window, one row after the other. The own cells of row (f, p, r) begin at
/// at(f, p, r), with its left halo before and its right halo after them.
template <class Reads, int kX>
struct CellPlaces {
  int body[Reads::kInputs][Reads::kPlanes][Reads::kRows];
  int count;

  STENCIL_DEVICE constexpr CellPlaces() : body{}, count(0) {
    for (int f = 0; f < Reads::kInputs; ++f) {
      for (int p = 0; p < Reads::kPlanes; ++p) {
        for (int r = 0; r < Reads::kRows; ++r) {
          const RowUse use = Computed<Reads>::kTable.use[f][p][r];
          body[f][p][r] = count + use.left;
          count += use.left + use.right + (is_used(use) ? kX : 0);
        }
      }
    }
  }

  STENCIL_DEVICE static constexpr int at(int f, int p, int r) {
    constexpr CellPlaces kPlaces = Computed<CellPlaces>::kTable;
    return kPlaces.body[f][p][r];
  }
  STENCIL_DEVICE static constexpr int total() { return Computed<CellPlaces>::kTable.count; }
};

/// While a thread walks along z, a plane first enters its reach at the highest plane offset and leaves at the lowest.
/// Part of a row is loaded once, when the highest plane that reads it comes up, and kept until the lowest has been used.
struct Lifetime {
  int newest = -1;  ///< plane p at which it is loaded; -1: never
  int oldest = 0;   ///< last plane p at which it is read

  STENCIL_DEVICE constexpr void extend_down_to(int p) {
    if (newest < 0) newest = p;
    oldest = p;
  }
  STENCIL_DEVICE constexpr bool kept_at(int p) const { return oldest <= p && p < newest; }
};

/// One row of the walking thread's window: how much of it is kept, and from which plane to which.
struct RowLife {
  Lifetime body;
  Lifetime left;
  Lifetime right;
  int left_cells = 0;
  int right_cells = 0;
};

template <class Reads>
struct RowLives {
  RowLife life[Reads::kInputs][Reads::kRows];

  STENCIL_DEVICE constexpr RowLives() : life{} {
    for (int f = 0; f < Reads::kInputs; ++f) {
      for (int r = 0; r < Reads::kRows; ++r) {
        for (int p = Reads::kPlanes - 1; p >= 0; --p) add(life[f][r], Computed<Reads>::kTable.use[f][p][r], p);
      }
    }
  }

  STENCIL_DEVICE static constexpr void add(RowLife& row, const RowUse& use, int p) {
    if (use.body) row.body.extend_down_to(p);
    if (use.left > 0) row.left.extend_down_to(p);
    if (use.right > 0) row.right.extend_down_to(p);
    if (use.left > row.left_cells) row.left_cells = use.left;
    if (use.right > row.right_cells) row.right_cells = use.right;
  }
};

}  // namespace stencil_tune
