// The rings of rows in shared memory of a systolic block: one before each warp, and one behind the last.
//
//     slots      0 1 | 2 3 | 4 5     kBatch = 2 rows between two barriers, kPrefetch = 2 batches on their way
//     ring 0     read  there in flight   read by warp 0, filled by all threads from the grid
//     ring w     read  given             read by warp w, filled by warp w - 1
//     ring W     stored given            filled by the last warp, stored to the grid by all threads
#pragma once

#include "stencil_tune/element.cuh"
#include "stencil_tune/systolic/systolic_share.cuh"

namespace stencil_tune {

/// What rows may meet.
enum class Rows {
  plain,     ///< nothing: all cells around are inside the grid and none is held; rows are whole words
  at_sides,  ///< the grid's first or last columns
  any,       ///< those, and whole rows that hold keeps or that lie outside the grid
};

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

template <class S, class T>
struct SystolicRings {
  using Shape = SystolicShape<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Row = SystolicRow<S, T>;

  static constexpr int kWide = S::kLowX > S::kHighX ? S::kLowX : S::kHighX;
  static constexpr int kWord = Shape::kWord;
  static constexpr int kPad = (kWide + kWord - 1) / kWord * kWord;  ///< cells between rows, which lanes at an end read
  static constexpr int kPitch = kPad + Shape::kWidth;
  static constexpr int kRing = Shape::kSlots * kPitch;  ///< cells
  static constexpr int kBytes = ((Shape::kWarps + 1) * kRing + kPad) * static_cast<int>(sizeof(Value));
  static constexpr int kThreadWord = kWord * Shape::kThreads;  ///< cells that all threads move at once
  static constexpr int kRounds = (Shape::kWidth + kThreadWord - 1) / kThreadWord;  ///< until a row is moved

  const SystolicPart<S, T>& part;
  const Value* in;  ///< the tile's first cell of the row that is copied next
  Value* out;       ///< ... and of the row that is stored next
  const Index stride;
  const int warp;
  const int at;  ///< the thread's first word in a row
  Index copied;  ///< the row that is copied next
  Index stored;  ///< ... and stored
  Value* own;    ///< the lane's cells in the first slot of its warp's ring

  STENCIL_DEVICE SystolicRings(const Arguments<S>& a, const SystolicPart<S, T>& p)
      : part(p),
        stride(static_cast<Index>(a.stride_z)),
        warp(thread_z()),
        at((thread_z() * 32 + thread_x()) * kWord),
        copied(p.first_row),
        stored(p.first_row - T::kDelay),
        own(cells() + thread_z() * kRing + kPad + thread_x() * Shape::kCells) {
    static_assert(kBytes <= T::kSharedBytes, "the host plans the shared memory that the kernel lays out");
    if constexpr (S::kBoundaryZ == Boundary::periodic) copied = inside<Boundary::periodic>(copied, part.nz);
    in = a.in[T::kAdvanced] + (copied * a.stride_z + part.origin);
    out = a.out[0] + (stored * a.stride_z + part.origin);
  }

  STENCIL_DEVICE void start() {
    STENCIL_UNROLL
    for (int batch = 0; batch < T::kPrefetch; ++batch) copy_batch<Rows::any>(batch * T::kBatch);
  }

  /// Before the next kBatch rows: waits for them and for what other warps give, asks for rows to come, and stores those
  /// that the last warp gave before.
  template <Rows kRows>
  STENCIL_DEVICE void begin_batch(int slot) {
    async_wait<T::kPrefetch - 1>();
    barrier();
    constexpr int kAhead = T::kPrefetch * T::kBatch;
    copy_batch<kRows>(slot + kAhead < Shape::kSlots ? slot + kAhead : slot + kAhead - Shape::kSlots);
    STENCIL_UNROLL
    for (int k = 0; k < T::kBatch; ++k) store_row<kRows>(slot + k);
  }

  STENCIL_DEVICE void take(int slot, Row& row) const {
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) row.own(i) = own[slot * kPitch + i];
    if constexpr (T::kReadsBesideLast) take_sides(slot, row);
  }

  /// The neighbours' cells, of the warp's input.
  STENCIL_DEVICE void take_sides(int slot, Row& row) const {
    STENCIL_UNROLL
    for (int d = 1; d <= S::kLowX; ++d) row.own(-d) = own[slot * kPitch - d];
    STENCIL_UNROLL
    for (int d = 0; d < S::kHighX; ++d) row.own(Shape::kCells + d) = own[slot * kPitch + Shape::kCells + d];
  }

  /// To the next warp, which takes it behind the next barrier.
  STENCIL_DEVICE void give(int slot, const Row& row) const {
    const int to = slot + T::kBatch < Shape::kSlots ? slot + T::kBatch : slot + T::kBatch - Shape::kSlots;
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) own[kRing + to * kPitch + i] = row.own(i);
  }

  /// Before the rings serve another run of rows.
  STENCIL_DEVICE void leave() {
    async_wait<0>();
    barrier();
  }

 private:
  STENCIL_DEVICE static Value* cells() { return reinterpret_cast<Value*>(shared_memory()); }

  template <Rows kRows>
  STENCIL_DEVICE void copy_batch(int slot) {
    STENCIL_UNROLL
    for (int k = 0; k < T::kBatch; ++k) copy_row<kRows>(slot + k);
    async_commit();
  }

  /// None where the grid has none.
  template <Rows kRows>
  STENCIL_DEVICE void copy_row(int slot) {
    Value* to = cells() + slot * kPitch + kPad;
    const bool some = S::kBoundaryZ == Boundary::periodic || copied < part.nz;
    if (kRows == Rows::plain || part.whole_words) {
      STENCIL_UNROLL
      for (int n = 0; n < kRounds; ++n) {
        const bool inside_row = (n + 1) * kThreadWord <= Shape::kWidth || at + n * kThreadWord < Shape::kWidth;
        if (some && inside_row) async_copy<16>(to + at + n * kThreadWord, in + at + n * kThreadWord);
      }
    } else if (some) {
      copy_cells(to, in - part.origin);
    }
    ++copied;
    in += stride;
    if constexpr (S::kBoundaryZ == Boundary::periodic) {
      if (copied == part.nz) copied = 0, in -= part.nz * stride;
    }
  }
  STENCIL_DEVICE void copy_cells(Value* to, const Value* row) const {
#pragma unroll 1
    for (int i = at / kWord; i < Shape::kWidth; i += Shape::kThreads) {
      async_copy<static_cast<int>(sizeof(Value))>(to + i, row + inside<S::kBoundaryX>(part.origin + i, part.nx));
    }
  }

  /// From the last ring.
  template <Rows kRows>
  STENCIL_DEVICE void store_row(int slot) {
    const Value* from = cells() + Shape::kWarps * kRing + slot * kPitch + kPad;
    const bool some = stored >= part.low_z && stored < part.high_z;
    const int low = static_cast<int>(part.low_x - part.origin), high = static_cast<int>(part.high_x - part.origin);
    if (kRows == Rows::plain || part.whole_rows) {
      STENCIL_UNROLL
      for (int n = 0; n < kRounds; ++n) {
        const int i = at + n * kThreadWord;
        if (some && i >= low && i < high) store_cells<T::kStore, kWord>(out + i, from + i);
      }
    } else if (some) {
#pragma unroll 1
      for (int i = at / kWord; i < high; i += Shape::kThreads) {
        if (i >= low) store_cells<T::kStore, 1>(out + i, from + i);
      }
    }
    ++stored;
    out += stride;
  }
};

}  // namespace stencil_tune
