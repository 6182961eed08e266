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
  static constexpr int kWords = Shape::kWidth / kWord;                            ///< of a row
  static constexpr int kRounds = (kWords + Shape::kThreads - 1) / Shape::kThreads;     ///< words of a thread
  static constexpr int kCellRounds = (Shape::kWidth + Shape::kThreads - 1) / Shape::kThreads;

  const SystolicPart<S, T>& part;
  const Value* in;
  Value* out;
  Index stride;
  int warp;
  Value* own;  ///< the lane's cells in the first slot of its warp's ring

  STENCIL_DEVICE SystolicRings(const Arguments<S>& a, const SystolicPart<S, T>& p)
      : part(p), in(a.in[T::kAdvanced]), out(a.out[0]), stride(static_cast<Index>(a.stride_z)), warp(thread_z()),
        own(cells() + warp * kRing + kPad + thread_x() * Shape::kCells) {
    static_assert(kBytes <= T::kSharedBytes, "the host plans the shared memory that the kernel lays out");
  }

  STENCIL_DEVICE void start() {
    STENCIL_UNROLL
    for (int batch = 0; batch < T::kPrefetch; ++batch) copy_batch(batch * T::kBatch, batch * T::kBatch);
  }

  /// Before rows row .. row + kBatch - 1 of the first warp: waits for them and for what other warps give, asks for rows
  /// to come, and stores those that the last warp gave before.
  STENCIL_DEVICE void begin_batch(Index row, int slot) {
    async_wait<T::kPrefetch - 1>();
    barrier();
    constexpr int kAhead = T::kPrefetch * T::kBatch;
    copy_batch(row + kAhead, slot + kAhead < Shape::kSlots ? slot + kAhead : slot + kAhead - Shape::kSlots);
    STENCIL_UNROLL
    for (int k = 0; k < T::kBatch; ++k) store_row(part.first_row + row + k - T::kDelay, slot + k);
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
  STENCIL_DEVICE static int thread() { return thread_z() * 32 + thread_x(); }

  STENCIL_DEVICE void copy_batch(Index row, int slot) {
    STENCIL_UNROLL
    for (int k = 0; k < T::kBatch; ++k) copy_row(part.first_row + row + k, slot + k);
    async_commit();
  }

  /// Row z of the grid; none where there is none.
  STENCIL_DEVICE void copy_row(Index z, int slot) {
    if constexpr (S::kBoundaryZ == Boundary::periodic) {
      z = inside<Boundary::periodic>(z, part.nz);
    } else {
      z = z < part.nz ? z : part.nz - 1;
    }
    const Value* from = in + (z * stride + part.origin);
    Value* to = cells() + slot * kPitch + kPad;
    if (part.whole_words) {
      copy_words<kWord, kRounds>(from, to);
    } else if constexpr (S::kBoundaryX == Boundary::periodic) {
      copy_wrapped(in + z * stride, to);
    } else {
      copy_words<1, kCellRounds>(from, to);
    }
  }

  template <int kCells, int kTimes>
  STENCIL_DEVICE static void copy_words(const Value* from, Value* to) {
    STENCIL_UNROLL
    for (int n = 0; n < kTimes; ++n) {
      const int at = (thread() + n * Shape::kThreads) * kCells;
      if (at < Shape::kWidth) async_copy<kCells * static_cast<int>(sizeof(Value))>(to + at, from + at);
    }
  }
  STENCIL_DEVICE void copy_wrapped(const Value* row, Value* to) const {
    STENCIL_UNROLL
    for (int n = 0; n < kCellRounds; ++n) {
      const int at = thread() + n * Shape::kThreads;
      const Index x = inside<Boundary::periodic>(part.origin + at, part.nx);
      if (at < Shape::kWidth) async_copy<static_cast<int>(sizeof(Value))>(to + at, row + x);
    }
  }

  /// Row z of the grid, from the last ring.
  STENCIL_DEVICE void store_row(Index z, int slot) const {
    const Value* from = cells() + Shape::kWarps * kRing + slot * kPitch + kPad;
    Value* to = out + (z * stride + part.origin);
    const bool stored = z >= part.low_z && z < part.high_z;
    const int low = static_cast<int>(part.low_x - part.origin), high = static_cast<int>(part.high_x - part.origin);
    if (part.whole_words) {
      STENCIL_UNROLL
      for (int n = 0; n < kRounds; ++n) {
        const int at = (thread() + n * Shape::kThreads) * kWord;
        if (stored && at >= low && at + kWord <= high) store_cells<T::kStore, kWord>(to + at, from + at);
        store_rest(to, from, at, low, high, stored);
      }
    } else {
      STENCIL_UNROLL
      for (int n = 0; n < kCellRounds; ++n) {
        const int at = thread() + n * Shape::kThreads;
        if (stored && at >= low && at < high) store_cells<T::kStore, 1>(to + at, from + at);
      }
    }
  }

  /// The cells of a word of which not all are stored.
  STENCIL_DEVICE static void store_rest(Value* to, const Value* from, int at, int low, int high, bool stored) {
    const bool some = stored && at < high && at + kWord > low && (at < low || at + kWord > high);
    STENCIL_UNROLL
    for (int i = 0; i < kWord; ++i) {
      if (some && at + i >= low && at + i < high) store_cells<T::kStore, 1>(to + at + i, from + at + i);
    }
  }
};

}  // namespace stencil_tune
