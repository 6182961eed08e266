// systolic: many fused steps of a linear 2D stencil, as a pipeline of equal warps. All warps of a block have the same
// columns, and each has as many levels as its registers hold. Rows pass from warp to warp through shared memory.
//
//   row z of the grid --> ring 0 | warp 0: levels 0 .. L-1 | ring 1 | warp 1: levels L .. 2L-1 | ring 2 | ... --> grid
//        whole rows, by bulk copies or by all threads                                           whole rows, likewise
//
//   a warp, one row:   take the row from the ring before
//                      complete one row of each level: one multiply-add a cell of a star, for the rest is in the sum
//                      give the last level's row to the ring behind
//                      add the rows of all levels to the sums of later rows (the other taps; neighbours by shuffle)
//
//   lane               kRegisterX cells of a row. An odd number keeps a warp's accesses free of bank conflicts.
//   level              sums of the rows in reach (see plane_sums.cuh), and no more
//
// One barrier for kBatch rows (systolic_barrier.cuh): behind it lies all that warps have put into the rings' slots
// before it. A slot that is read between two barriers is written again behind the second one. All warps run the same
// code: no thread branches, so that the compiler keeps the coefficients in uniform registers. The loop's body has as
// many rows as a ring has slots, so that slots are constants; or it has one row (step). With more coefficients
// than uniform registers, two rows of a body would share some of them, kept in registers of the threads.
//
// The blocks share the rows of all tiles out (systolic_share.cuh): one block an SM is one wave on every grid.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/systolic/systolic_barrier.cuh"
#include "stencil_tune/systolic/systolic_levels.cuh"
#include "stencil_tune/systolic/systolic_lines.cuh"
#include "stencil_tune/systolic/systolic_words.cuh"

namespace stencil_tune {

template <class S, class T>
struct SystolicWalk {
  using Shape = SystolicShape<S, T>;
  using Index = typename S::Index;
  using Row = SystolicRow<S, T>;
  using Rings = SystolicRings<S, T>;
  using Feed = Choose<T::kBulkCopies, SystolicLines<S, T>, SystolicWords<S, T>>;  ///< brings rows and stores them

  const SystolicPart<S, T>& part;
  const int warp;
  Rings rings;
  Feed feed;
  SystolicBarrier<S, T>& batches;
  SystolicLevels<S, T> levels;

  STENCIL_DEVICE SystolicWalk(const Arguments<S>& a, const SystolicPart<S, T>& p, int w, int& parity,
                              SystolicBarrier<S, T>& b)
      : part(p), warp(w), rings(w), feed(a, p, w, parity), batches(b), levels(a, p) {}

  /// First and last come rows that hold keeps or that lie outside the grid; for some level, one by one. The rows
  /// between are plain, and where they meet no edge they are whole words. The loop of rows at the ends stands there once
  /// for both: with a copy of it before and one behind the loops of plain rows, these spill.
  STENCIL_DEVICE void run() {
    feed.start();
    if constexpr (T::kSplitsBarrier) meet();
    Index row = 0;
#pragma unroll 1
    for (int end = 0; end < 2; ++end) {
      row = walk_rows<Edges::all>(row, end == 0 ? part.first_plain : part.rows);
      if (end == 0) {
        row = part.holds_cells || !part.whole_rows ? walk<Edges::cells>(row, part.last_plain)
                                                   : walk<Edges::none>(row, part.last_plain);
      }
    }
    feed.finish();
    meet();
  }

 private:
  STENCIL_DEVICE void meet() const {
    feed.close_batch();
    barrier();
  }

  template <Edges kEdges>
  STENCIL_DEVICE Index walk(Index row, Index end) {
    if constexpr (T::kLoopOfTurns) return walk_turns<kEdges>(row, end);
    return walk_rows<kEdges>(row, end);
  }
  /// Both end with whole turns of the rings.
  template <Edges kEdges>
  STENCIL_DEVICE Index walk_rows(Index row, Index end) {
    int slot = 0;
#pragma unroll 1
    for (; row < end; ++row) {
      step<kEdges>(row, slot);
      slot = slot == Shape::kSlots - 1 ? 0 : slot + 1;
    }
    return row;
  }
  template <Edges kEdges>
  STENCIL_DEVICE Index walk_turns(Index row, Index end) {
#pragma unroll 1
    for (; row < end; row += Shape::kSlots) {
      STENCIL_UNROLL
      for (int slot = 0; slot < Shape::kSlots; ++slot) step<kEdges>(row + slot, slot);
    }
    return row;
  }

  /// row: counted from the part's first one, at the first warp.
  template <Edges kEdges>
  STENCIL_DEVICE void step(Index row, int slot) {
    if (slot % T::kBatch == 0) {
      if constexpr (!T::kSplitsBarrier) feed.close_batch();
      batches.await();
      feed.template move_batch<kEdges>(row, slot);
    }
    const Index z = part.first_row + row - warp * Shape::kHandOver;
    Row rows[Shape::kLevels + 1];
    feed.await_row(slot);
    rings.take(slot, rows[0]);
    levels.template complete<kEdges>(z, rows);
    rings.give(slot, rows[Shape::kLevels]);
    if constexpr (!T::kReadsBesideLast) rings.take_sides(slot, rows[0]);
    feed.template store_row<kEdges>(row, Rings::slot_of_given(slot));
    if (T::kSplitsBarrier && slot % T::kBatch == T::kBatch - 1) {
      feed.close_batch();
      batches.arrive();
    }
    levels.template add<kEdges>(z, rows);
  }
};

template <class S, class T>
STENCIL_DEVICE void systolic(const Arguments<S>& arguments) {
  using Walk = SystolicWalk<S, T>;
  const int warp = shuffle_from(thread_z(), 0);  // the compiler knows it to be the same in all lanes
  int parity = 0;
  SystolicBarrier<S, T> batches;
  Walk::Feed::prepare();
  batches.prepare();
  barrier();
  SystolicShare<S, T> share(arguments);
#pragma unroll 1
  while (share.next()) {
    const SystolicPart<S, T> part(arguments, share);
    Walk(arguments, part, warp, parity, batches).run();
  }
}

}  // namespace stencil_tune
