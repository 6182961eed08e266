// The cells that boundary hold keeps, for levels of a temporal block that keep sums and not the planes before.
#pragma once

#include "stencil_tune/temporal/temporal_plane.cuh"

namespace stencil_tune {

/// No step changes held cells: what they are in a plane of the input, they are at every level. A thread at an edge of the
/// grid puts its own aside when their plane enters the first level. Each level whose output another one reads takes them
/// when its output of that plane is complete; what the last level leaves there is not stored:
///
///     slot          0       1       2       3       4       three levels of lag 2
///     plane        z-3     z-2     z-1      z      z-4
///                           |               ^ put aside now  |
///                           +-> level 0                      +-> level 1
///
/// They stand in shared memory: registers would be taken from all threads for the few at an edge. A thread alone reads what
/// it wrote, so that nobody waits. It is at one end of a row at most, and at one end of a column, unless its warp is as
/// high as the tile.
template <class S, class T>
struct HeldCells {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Plane = TemporalPlane<S, T>;
  using Value = typename S::Value;

  static constexpr int kLeft = Shape::kHeldLeft, kRight = Shape::kHeldRight;
  static constexpr int kAbove = Shape::kHeldAbove, kBelow = Shape::kHeldBelow;
  static constexpr bool kOneWarpHigh = T::kBlockY == 1;
  static constexpr int kColumns = kLeft > kRight ? kLeft : kRight;
  static constexpr int kRows = kOneWarpHigh ? kAbove + kBelow : kAbove > kBelow ? kAbove : kBelow;
  static constexpr int kLastColumns = Shape::kCells - kColumns;  ///< from this one on they are the row's last
  static constexpr int kLastRows = Shape::kRows - kRows;

  static constexpr int kOfColumns = Shape::kRows * kColumns;     ///< cells of a thread at an end of rows ...
  static constexpr int kOfRows = kRows * Shape::kCells;          ///< ... and of columns
  static constexpr int kColumnPlaces = T::kGroups * T::kBlockY * 2 * kOfColumns;
  static constexpr int kRowPlaces = T::kGroups * (kOneWarpHigh ? 1 : 2) * T::kBlockX * kOfRows;
  static constexpr int kSlotCells = kColumnPlaces + kRowPlaces;
  static constexpr int kReadLevels = T::kGroups > 1 ? Shape::kLevels : Shape::kLevels - 1;  ///< by another level
  static constexpr int kSlots = kReadLevels * T::kLag + 1;
  static constexpr int kBytes = kSlots * kSlotCells * static_cast<int>(sizeof(Value));

  Value* columns;  ///< the thread's, in slot 0
  Value* rows;     ///< neighbouring threads' cells stand side by side
  int slot = 0;    ///< cells from slot 0 to that of the newest plane

  STENCIL_DEVICE HeldCells(const Tile& tile, int first_byte)
      : columns(reinterpret_cast<Value*>(shared_memory() + first_byte) +
                ((tile.group * T::kBlockY + thread_y()) * 2 + (tile.right_edge ? 1 : 0)) * kOfColumns),
        rows(reinterpret_cast<Value*>(shared_memory() + first_byte) +
             (kColumnPlaces + (tile.group * 2 + (tile.bottom_edge ? 1 : 0)) * (kOneWarpHigh ? 0 : T::kBlockX * kOfRows) +
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
    each_place(tile, [&](const Value* from, Value& cell) { cell = *from; }, updated, at);
  }

 private:
  STENCIL_DEVICE void put(const Tile& tile, const Plane& plane, int at) const {
    each_place(tile, [&](Value* to, const Value& cell) { *to = cell; }, plane, at);
  }

  /// Calls visit(place in the slot that starts at cell `at`, cell of the plane) for the thread's held cells.
  template <class Visit, class OfPlane>
  STENCIL_DEVICE void each_place(const Tile& tile, Visit visit, OfPlane& plane, int at) const {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < kColumns; ++i) {
        Value* place = columns + (at + j * kColumns + i);
        if (i < kLeft && tile.left_edge) visit(place, plane.cells[j][i]);
        if (i >= kColumns - kRight && tile.right_edge) visit(place, plane.cells[j][kLastColumns + i]);
      }
    }
    STENCIL_UNROLL
    for (int j = 0; j < kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; ++i) {
        Value* place = rows + (at + (j * Shape::kCells + i) * T::kBlockX);
        if (j < kAbove && tile.top_edge) visit(place, plane.cells[j][i]);
        if (j >= kRows - kBelow && tile.bottom_edge) visit(place, plane.cells[kLastRows + j][i]);
      }
    }
  }
};

}  // namespace stencil_tune
