// The rings of rows in shared memory of a systolic block: one before each warp, and one behind the last.
//
//     slots      0 1 | 2 3 | 4 5     kBatch = 2 rows between two barriers, kPrefetch = 2 batches on their way
//     ring 0     read  there in flight   read by warp 0, filled from the grid
//     ring w     read  given             read by warp w, filled by warp w - 1
//     ring W     stored given            filled by the last warp, stored to the grid
//
// Whoever brings rows and stores them (systolic_lines.cuh, systolic_words.cuh) works on the first and the last ring.
#pragma once

#include "stencil_tune/element.cuh"
#include "stencil_tune/systolic/systolic_share.cuh"

namespace stencil_tune {

/// The lane's cells of a row, and those of its neighbours that it reads.
template <class S, class T>
struct SystolicRow {
  using Value = typename S::Value;
  static constexpr int kCells = T::kRegisterX;

  Value cells[S::kLowX + kCells + S::kHighX];

  STENCIL_DEVICE Value& own(int i) { return cells[S::kLowX + i]; }
  STENCIL_DEVICE Value own(int i) const { return cells[S::kLowX + i]; }

  /// A source of cells (see Cells): one row, for whichever plane is asked.
  STENCIL_DEVICE Value cell(int, int x, int, int) const { return cells[S::kLowX + x]; }
};

/// Where rows lie, in bytes from the first of shared memory.
template <class S, class T>
struct SystolicLayout {
  using Shape = SystolicShape<S, T>;

  static constexpr int kCell = static_cast<int>(sizeof(typename S::Value));
  static constexpr int kWide = S::kLowX > S::kHighX ? S::kLowX : S::kHighX;
  static constexpr int kPad =
      (kWide + Shape::kWord - 1) / Shape::kWord * 16;  ///< between rows: lanes at an end read it
  static constexpr int kPitch = kPad + Shape::kWidth * kCell;
  static constexpr int kRing = Shape::kSlots * kPitch;
  static constexpr int kLastRing = Shape::kWarps * kRing;
  static constexpr int kBarrier = static_cast<int>(sizeof(Mbarrier));
  static constexpr int kArrived = kLastRing + kRing + kPad;  ///< mbarriers of the rows that bulk copies bring
  static constexpr int kSplitBarrier = kArrived + (T::kBulkCopies ? Shape::kSlots * kBarrier : 0);
  static constexpr int kBytes = kSplitBarrier + (T::kSplitsBarrier ? kBarrier : 0);
};

/// The rings as the warps use them.
template <class S, class T>
struct SystolicRings {
  using Shape = SystolicShape<S, T>;
  using Layout = SystolicLayout<S, T>;
  using Row = SystolicRow<S, T>;

  const SharedAddress own;  ///< the lane's cells in the first slot of its warp's ring

  STENCIL_DEVICE explicit SystolicRings(int warp)
      : own(shared_place(warp * Layout::kRing + Layout::kPad + thread_x() * Shape::kCells * Layout::kCell)) {
    static_assert(Layout::kBytes <= T::kSharedBytes, "the host plans the shared memory that the kernel lays out");
  }

  STENCIL_DEVICE void take(int slot, Row& row) const {
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) load_shared(cell(slot, i), row.own(i));
    if constexpr (T::kReadsBesideLast) take_sides(slot, row);
  }

  /// The neighbours' cells, of the warp's input.
  STENCIL_DEVICE void take_sides(int slot, Row& row) const {
    STENCIL_UNROLL
    for (int d = 1; d <= S::kLowX; ++d) load_shared(cell(slot, -d), row.own(-d));
    STENCIL_UNROLL
    for (int d = 0; d < S::kHighX; ++d) load_shared(cell(slot, Shape::kCells + d), row.own(Shape::kCells + d));
  }

  /// Gives the row to the next warp, which takes it behind the next barrier.
  STENCIL_DEVICE void give(int slot, const Row& row) const {
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) store_shared(cell(slot_of_given(slot), i) + Layout::kRing, row.own(i));
  }
  STENCIL_DEVICE static int slot_of_given(int slot) {
    return slot + T::kBatch < Shape::kSlots ? slot + T::kBatch : slot + T::kBatch - Shape::kSlots;
  }

 private:
  STENCIL_DEVICE SharedAddress cell(int slot, int i) const { return own + (slot * Layout::kPitch + i * Layout::kCell); }
};

}  // namespace stencil_tune
