// The rows of a systolic block come in and go out by all of its threads, a word or a cell each.
#pragma once

#include "stencil_tune/systolic/systolic_rings.cuh"

namespace stencil_tune {

template <class S, class T>
struct SystolicWords {
  using Shape = SystolicShape<S, T>;
  using Layout = SystolicLayout<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;

  static constexpr int kWord = Shape::kWord;
  static constexpr int kAhead = T::kPrefetch * T::kBatch;
  static constexpr int kThreadWord = kWord * Shape::kThreads;  ///< cells that all threads move at once
  static constexpr int kRounds = (Shape::kWidth + kThreadWord - 1) / kThreadWord;  ///< until a row is moved

  const Arguments<S>& arguments;
  const SystolicPart<S, T>& part;
  const int thread;

  STENCIL_DEVICE SystolicWords(const Arguments<S>& a, const SystolicPart<S, T>& p, int, int&)
      : arguments(a), part(p), thread(thread_z() * 32 + thread_x()) {}

  STENCIL_DEVICE static void prepare() {}

  STENCIL_DEVICE void start() const {
    STENCIL_UNROLL
    for (int batch = 0; batch < T::kPrefetch; ++batch) copy_batch<Edges::all>(batch * T::kBatch, batch * T::kBatch);
  }
  /// Before the warps meet: the next batch's rows are there as far as this thread brought them.
  STENCIL_DEVICE void close_batch() const { async_wait<T::kPrefetch - 1>(); }
  /// Behind the barrier: asks for rows to come, and stores those that the last warp gave before.
  template <Edges kEdges>
  STENCIL_DEVICE void move_batch(Index row, int slot) const {
    copy_batch<kEdges>(row + kAhead, slot + kAhead < Shape::kSlots ? slot + kAhead : slot + kAhead - Shape::kSlots);
    STENCIL_UNROLL
    for (int k = 0; k < T::kBatch; ++k) store_given<kEdges>(row + k, slot + k);
  }
  STENCIL_DEVICE void await_row(int) const {}
  template <Edges kEdges>
  STENCIL_DEVICE void store_row(Index, int) const {}
  STENCIL_DEVICE void finish() const { async_wait<0>(); }

 private:
  template <Edges kEdges>
  STENCIL_DEVICE void copy_batch(Index row, int slot) const {
    STENCIL_UNROLL
    for (int k = 0; k < T::kBatch; ++k) copy_row<kEdges>(row + k, slot + k);
    async_commit();
  }

  template <Edges kEdges>
  STENCIL_DEVICE void copy_row(Index row, int slot) const {
    const SharedAddress to = shared_place(slot * Layout::kPitch + Layout::kPad);
    const Value* in = part.input(arguments, row);
    if (kEdges == Edges::none || part.whole_words) {
      STENCIL_UNROLL
      for (int n = 0; n < kRounds; ++n) {
        const int i = thread * kWord + n * kThreadWord;
        const bool inside_row = (n + 1) * kThreadWord <= Shape::kWidth || i < Shape::kWidth;
        if (inside_row) async_copy<16>(to + i * Layout::kCell, in + i);
      }
    } else {
#pragma unroll 1
      for (int i = thread; i < Shape::kWidth; i += Shape::kThreads) {
        const Value* from = in + (inside_once<S::kBoundaryX>(part.origin + i, part.nx) - part.origin);
        async_copy<Layout::kCell>(to + i * Layout::kCell, from);
      }
    }
  }

  /// Stores a row from the last ring.
  template <Edges kEdges>
  STENCIL_DEVICE void store_given(Index row, int slot) const {
    const Index z = part.first_row + row - T::kDelay;
    if (z < part.low_z || z >= part.high_z) return;
    const Value* from =
        reinterpret_cast<const Value*>(shared_memory() + Layout::kLastRing + slot * Layout::kPitch + Layout::kPad);
    Value* out = part.output(arguments, z);
    if (kEdges == Edges::none || part.whole_words) {
      STENCIL_UNROLL
      for (int n = 0; n < kRounds; ++n) {
        const int i = thread * kWord + n * kThreadWord;
        if (i >= part.line_low && i < part.line_high) store_cells<T::kStore, kWord>(out + i, from + i);
      }
      if constexpr (kEdges != Edges::none) {
        constexpr int kBefore = 16;  // threads; there are no more than 6 cells at either end that are no whole word
        const int i = thread < kBefore ? part.low + thread : part.line_high + thread - kBefore;
        if (i < (thread < kBefore ? part.line_low : part.high)) store_cells<T::kStore, 1>(out + i, from + i);
      }
    } else {
#pragma unroll 1
      for (int i = thread; i < part.high; i += Shape::kThreads) {
        if (i >= part.low) store_cells<T::kStore, 1>(out + i, from + i);
      }
    }
  }
};

}  // namespace stencil_tune
