// Which rows of the input a thread reads: seen from its first output, row r of plane p, both counted from the lowest in
// reach. Tables of them come with the generated tuning (T::Reads).
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

/// Indices 0..N-1 as template arguments, for loops whose index decides which code exists.
template <int... kIndices>
struct Indices {};
template <class First, class Second>
struct Joined;
template <int... kFirst, int... kSecond>
struct Joined<Indices<kFirst...>, Indices<kSecond...>> {
  using Type = Indices<kFirst..., (static_cast<int>(sizeof...(kFirst)) + kSecond)...>;
};
/// Halved, not counted down: a compiler instantiates no more than 200 within each other.
template <int kCount>
struct Below : Joined<typename Below<kCount / 2>::Type, typename Below<kCount - kCount / 2>::Type> {};
// clang-format off
template <> struct Below<0> { using Type = Indices<>; };
template <> struct Below<1> { using Type = Indices<0>; };
// clang-format on
template <int kCount>
using IndicesBelow = typename Below<kCount>::Type;

/// The part of one row that is read.
struct RowUse {
  int left;   ///< cells before the thread's own
  int body;   ///< its own cells: all of them, or 0
  int right;  ///< cells after them
  int at;     ///< where its own stand in the thread's window: those before and after them are there too
};

STENCIL_DEVICE constexpr bool is_used(const RowUse& use) { return use.left + use.body + use.right > 0; }

/// While a thread walks along z, a plane first enters its reach at the highest plane offset and leaves at the lowest.
/// Part of a row is loaded once, when the highest plane that reads it comes up, and kept until the lowest has been used.
struct Lifetime {
  int newest = -1;  ///< plane p at which it is loaded; -1: never
  int oldest = 0;   ///< last plane p at which it is read

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

// For levels of a system: the same tables, derived from their taps by the compiler.

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

/// Every row that a tile of kX x kY x kZ outputs reads.
/// kBodyForHalo: neighbours hand their own cells over as this thread's halo, so a row with a halo needs its body too.
template <class S, int kX, int kY, int kZ, bool kBodyForHalo>
struct TileTable {
  static constexpr int kInputs = S::kInputs;
  static constexpr int kPlanes = kZ + S::kLowZ + S::kHighZ;
  static constexpr int kRows = kY + S::kLowY + S::kHighY;

  RowUse use[kInputs][kPlanes][kRows];
  int cells;  ///< of the window

  STENCIL_DEVICE constexpr TileTable() : use{}, cells(0) {
    for (int f = 0; f < kInputs; ++f) {
      for (int p = 0; p < kPlanes; ++p) {
        for (int r = 0; r < kRows; ++r) add(taps_of_row(f, p, r), use[f][p][r]);
      }
    }
  }

  STENCIL_DEVICE constexpr void add(Range range, RowUse& row) {
    if (is_empty(range)) return;
    const bool body = kBodyForHalo || (range.low < kX && range.high > -kX);
    row = {range.low < 0 ? -range.low : 0, body ? kX : 0, range.high > 0 ? range.high : 0, cells};
    row.at += row.left;
    cells += row.left + kX + row.right;
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

template <class S, int kX, int kY, int kZ, bool kBodyForHalo>
struct TileReads : TileTable<S, kX, kY, kZ, kBodyForHalo> {
  using Table = TileTable<S, kX, kY, kZ, kBodyForHalo>;
  static constexpr int kCells = Computed<Table>::kTable.cells;

  STENCIL_DEVICE static constexpr RowUse row(int f, int p, int r) {
    constexpr Table kTable = Computed<Table>::kTable;
    return kTable.use[f][p][r];
  }
};

}  // namespace stencil_tune
