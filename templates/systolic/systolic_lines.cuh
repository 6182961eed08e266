// The rows of a systolic block come in and go out by bulk copies, each of a whole row, which one lane asks for. One
// warp brings rows, the first one waits for them, and the last one stores what it has completed:
//
//     warp 2       barrier | ask for the rows of the batch that is kPrefetch batches ahead
//     warp 0       wait for the row's mbarrier, take it ... fence what it has read | barrier
//     warp W - 1   give the row to the last ring, fence, store it
//
// Rows are whole words, and so are the tile's cells in them. The cells that are stored may begin or end within a word:
// lanes store those themselves.
#pragma once

#include "stencil_tune/systolic/systolic_rings.cuh"

namespace stencil_tune {

template <class S, class T>
struct SystolicLines {
  using Shape = SystolicShape<S, T>;
  using Layout = SystolicLayout<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;

  static constexpr int kAhead = T::kPrefetch * T::kBatch;
  static constexpr int kAsks = Shape::kWarps > 2 ? 2 : 0;    ///< the warp that asks for rows ...
  static constexpr int kStores = Shape::kWarps - 1;          ///< ... and the one that stores them: of other schedulers
  static constexpr int kStoreDelay = T::kDelay - T::kBatch;  ///< rows from the first warp's to the one that is stored

  const Arguments<S>& arguments;
  const SystolicPart<S, T>& part;
  const int warp;
  int& parity;  ///< that of the mbarriers' phases in this turn of the rings

  STENCIL_DEVICE SystolicLines(const Arguments<S>& a, const SystolicPart<S, T>& p, int w, int& turn)
      : arguments(a), part(p), warp(w), parity(turn) {}

  /// Once a block, before all of its threads meet.
  STENCIL_DEVICE static void prepare() {
    if (thread_x() != 0 || thread_z() != 0) return;
    for (int slot = 0; slot < Shape::kSlots; ++slot) init_mbarrier(arrived(slot), 1);
    fence_mbarrier_init();
  }

  STENCIL_DEVICE void start() const {
    if (warp != kAsks) return;
    for (int row = 0; row < kAhead; ++row) ask(row, row);
  }
  /// Before the warps meet.
  STENCIL_DEVICE void close_batch() const {
    if (warp == 0) fence_async_proxy();
  }
  /// Behind the barrier.
  template <Edges kEdges>
  STENCIL_DEVICE void move_batch(Index row, int slot) const {
    if (warp != kAsks) return;
    STENCIL_UNROLL
    for (int k = 0; k < T::kBatch; ++k) {
      const int to = slot + kAhead + k < Shape::kSlots ? slot + kAhead + k : slot + kAhead + k - Shape::kSlots;
      if (row + kAhead + k < part.rows) ask(row + kAhead + k, to);
    }
  }
  STENCIL_DEVICE void await_row(int slot) {
    if (warp == 0) warp_wait_phase(arrived(slot), parity);
    if (slot == Shape::kSlots - 1) parity ^= 1;
  }

  /// What the last warp gave to `slot`.
  template <Edges kEdges>
  STENCIL_DEVICE void store_row(Index row, int slot) const {
    if (warp != kStores) return;
    const Index z = part.first_row + row - kStoreDelay;
    const bool some = z >= part.low_z && z < part.high_z;
    const int from = Layout::kLastRing + slot * Layout::kPitch + Layout::kPad;
    Value* to = part.output(arguments, z);
    fence_async_proxy();
    warp_barrier();
    if (some && (kEdges == Edges::none || part.line_low < part.line_high)) {
      warp_store_line(to + part.line_low, shared_place(from + part.line_low * Layout::kCell),
                      (part.line_high - part.line_low) * Layout::kCell);
    }
    if constexpr (kEdges != Edges::none) {
      if (some) store_loose_cells(to, from);
    }
    lines_commit();  // a group a row, so that it is known which rows have been read
    // The slots of the next batch have been read when the warps meet before it.
    lines_wait_read<Shape::kSlots - 1 - T::kBatch>();
  }

  STENCIL_DEVICE void finish() const { lines_wait_read<0>(); }

 private:
  STENCIL_DEVICE static Mbarrier* arrived(int slot) {
    return reinterpret_cast<Mbarrier*>(shared_memory() + Layout::kArrived) + slot;
  }

  STENCIL_DEVICE void ask(Index row, int slot) const {
    warp_load_line(shared_place(slot * Layout::kPitch + Layout::kPad), part.input(arguments, row),
                   Shape::kWidth * Layout::kCell, arrived(slot));
  }

  /// Cells before and behind the whole words of a row.
  STENCIL_DEVICE void store_loose_cells(Value* to, int from) const {
    constexpr int kBefore = 16;  // lanes; there are no more than 6 such cells at either end
    const int lane = thread_x();
    const int i = lane < kBefore ? part.low + lane : part.line_high + lane - kBefore;
    if (i < (lane < kBefore ? part.line_low : part.high)) {
      Value cell;
      load_shared(shared_place(from + i * Layout::kCell), cell);
      store_cells<T::kStore, 1>(to + i, &cell);
    }
  }
};

}  // namespace stencil_tune
