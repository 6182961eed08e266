// The cells that boundary hold keeps, for levels of a temporal block that keep sums and not the planes before.
#pragma once

#include "stencil_tune/temporal/temporal_plane.cuh"

namespace stencil_tune {

/// Which cells of a thread are held. It is at one end of a row at most, and at one end of a column, unless its warp is as
/// high as the tile.
template <class S, class T>
struct HeldPlaces {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Plane = TemporalPlane<S, T>;
  using Value = typename S::Value;

  static constexpr bool kOneWarpHigh = T::kBlockY == 1;
  static constexpr int kLeft = Shape::kHeldLeft, kRight = Shape::kHeldRight;
  static constexpr int kAbove = Shape::kHeldAbove, kBelow = Shape::kHeldBelow;
  static constexpr int kColumns = kLeft > kRight ? kLeft : kRight;
  static constexpr int kHeldRows = kOneWarpHigh ? kAbove + kBelow : kAbove > kBelow ? kAbove : kBelow;
  static constexpr int kLastColumns = Shape::kCells - kColumns;  ///< from this one on they are the row's last
  static constexpr int kLastRows = Shape::kRows - kHeldRows;

  /// Calls visit(place, cell) for each of the plane's. column(j, i): the place of cell i of row j at an end of the rows;
  /// row(j, i): of cell i of held row j.
  template <class OfPlane, class Column, class Row, class Visit>
  STENCIL_DEVICE static void each(const Tile& tile, OfPlane& plane, Column column, Row row, Visit visit) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < kColumns; ++i) {
        auto* place = column(j, i);
        if (i < kLeft && tile.left_edge) visit(place, plane.cells[j][i]);
        if (i >= kColumns - kRight && tile.right_edge) visit(place, plane.cells[j][kLastColumns + i]);
      }
    }
    STENCIL_UNROLL
    for (int j = 0; j < kHeldRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; ++i) {
        auto* place = row(j, i);
        if (j < kAbove && tile.top_edge) visit(place, plane.cells[j][i]);
        if (j >= kHeldRows - kBelow && tile.bottom_edge) visit(place, plane.cells[kLastRows + j][i]);
      }
    }
  }
};

/// Held cells in registers: those of a level's planes that were added but are not complete.
template <class S, class T>
struct RememberedCells : HeldPlaces<S, T> {
  using Places = HeldPlaces<S, T>;
  using typename Places::Plane, typename Places::Shape, typename Places::Tile, typename Places::Value;
  using Places::kAbove, Places::kColumns, Places::kHeldRows, Places::kLastColumns, Places::kLastRows;

  static constexpr int kPlanes = S::kHighZ > 0 ? S::kHighZ : 1;

  struct OfPlane {
    Value columns[Shape::kRows][kColumns > 0 ? kColumns : 1];
    Value rows[kHeldRows > 0 ? kHeldRows : 1][Shape::kCells];
  };
  OfPlane planes[kPlanes];

  /// The plane that is added now.
  STENCIL_DEVICE void remember(const Tile& tile, const Plane& plane) {
    STENCIL_UNROLL
    for (int p = 0; p + 1 < kPlanes; ++p) planes[p] = planes[p + 1];
    OfPlane& newest = planes[kPlanes - 1];
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < kColumns; ++i) {
        newest.columns[j][i] = tile.left_edge ? plane.cells[j][i] : plane.cells[j][kLastColumns + i];
      }
    }
    STENCIL_UNROLL
    for (int j = 0; j < kHeldRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; ++i) {
        newest.rows[j][i] = j < kAbove && tile.top_edge ? plane.cells[j][i] : plane.cells[kLastRows + j][i];
      }
    }
  }

  /// The plane that is complete now.
  STENCIL_DEVICE void restore(const Tile& tile, Plane& plane) const {
    const OfPlane& held = planes[0];
    Places::each(tile, plane, [&](int j, int i) { return &held.columns[j][i]; },
                 [&](int j, int i) { return &held.rows[j][i]; },
                 [](const Value* from, Value& cell) { cell = *from; });
  }
};

/// Held cells in shared memory. No step changes them: what they are in a plane of the input, they are at every level. A
/// thread at an edge of the grid puts its own aside when their plane enters the first level. Each level whose output
/// another one reads takes them when its output of that plane is complete; what the last level leaves there is not
/// stored:
///
///     slot          0       1       2       3       4       three levels of lag 2
///     plane        z-3     z-2     z-1      z      z-4
///                           |               ^ put aside now  |
///                           +-> level 0                      +-> level 1
///
/// No registers are taken from all threads for the few at an edge. A thread alone reads what it wrote, so that nobody waits;
/// but every level's output of theirs does, for some 30 clocks.
template <class S, class T>
struct CellsAside : HeldPlaces<S, T> {
  using Places = HeldPlaces<S, T>;
  using typename Places::Plane, typename Places::Shape, typename Places::Tile, typename Places::Value;
  using Places::kColumns, Places::kHeldRows, Places::kOneWarpHigh;

  static constexpr int kOfColumns = Shape::kRows * kColumns;  ///< cells of a thread at an end of rows ...
  static constexpr int kOfRows = kHeldRows * Shape::kCells;   ///< ... and of columns
  static constexpr int kColumnPlaces = T::kGroups * T::kBlockY * 2 * kOfColumns;
  static constexpr int kSides = kOneWarpHigh ? 1 : 2;  ///< warps with held rows
  static constexpr int kRowPlaces = T::kGroups * kSides * T::kBlockX * kOfRows;
  static constexpr int kSlotCells = kColumnPlaces + kRowPlaces;
  static constexpr int kReadLevels = T::kGroups > 1 ? Shape::kLevels : Shape::kLevels - 1;  ///< by another level
  static constexpr int kSlots = kReadLevels * T::kLag + 1;
  static constexpr int kBytes = kSlots * kSlotCells * static_cast<int>(sizeof(Value));

  Value* columns;  ///< the thread's, in slot 0
  Value* rows;     ///< neighbouring threads' cells stand side by side
  int slot = 0;    ///< cells from slot 0 to that of the newest plane

  STENCIL_DEVICE CellsAside(const Tile& tile, int first_byte)
      : columns(reinterpret_cast<Value*>(shared_memory() + first_byte) +
                ((tile.group * T::kBlockY + thread_y()) * 2 + (tile.right_edge ? 1 : 0)) * kOfColumns),
        rows(reinterpret_cast<Value*>(shared_memory() + first_byte) +
             (kColumnPlaces + (tile.group * kSides + (!kOneWarpHigh && tile.bottom_edge ? 1 : 0)) * (T::kBlockX * kOfRows) +
              thread_x())) {}

  /// Before the first plane they are 0, which boundary zero along z reads.
  STENCIL_DEVICE void start(const Tile& tile) const {
    Plane zeros;
    zeros.fill(Value(0));
    for (int s = 0; s < kSlots; ++s) put(tile, zeros, s * kSlotCells);
  }

  /// plane: enters the first level.
  STENCIL_DEVICE void remember(const Tile& tile, const Plane& plane) {
    slot = slot == (kSlots - 1) * kSlotCells ? 0 : slot + kSlotCells;
    put(tile, plane, slot);
  }

  /// updated: the level's output.
  template <int kLevel>
  STENCIL_DEVICE void restore(const Tile& tile, Plane& updated) const {
    if constexpr (kLevel == kReadLevels) return;
    constexpr int kBehind = (kLevel + 1) * T::kLag * kSlotCells;
    const int at = slot >= kBehind ? slot - kBehind : slot - kBehind + kSlots * kSlotCells;
    each_place(tile, updated, at, [](const Value* from, Value& cell) { cell = *from; });
  }

 private:
  STENCIL_DEVICE void put(const Tile& tile, const Plane& plane, int at) const {
    each_place(tile, plane, at, [](Value* to, const Value& cell) { *to = cell; });
  }

  /// at: cells from slot 0 to the slot that is visited.
  template <class OfPlane, class Visit>
  STENCIL_DEVICE void each_place(const Tile& tile, OfPlane& plane, int at, Visit visit) const {
    Places::each(tile, plane, [&](int j, int i) { return columns + (at + j * kColumns + i); },
                 [&](int j, int i) { return rows + (at + (j * Shape::kCells + i) * T::kBlockX); }, visit);
  }
};

/// Stands in for CellsAside where levels remember held cells.
struct NoCellsAside {
  static constexpr int kBytes = 0;
  template <class Tile>
  STENCIL_DEVICE NoCellsAside(const Tile&, int) {}
};
struct NothingRemembered {};

}  // namespace stencil_tune
