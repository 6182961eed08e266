// streaming, planes in a ring, sums in registers: copies bring planes with their halo to shared memory, several ahead of
// the walk; each thread reads the rows of a plane once and keeps sums of outputs instead of cells (plane_sums.cuh).
//
//     the first warp, each step         shared memory                       every warp, each step
//     wait until a slot is free         slot 0 | plane n     (full) |       wait until the newest plane is full
//     ask for a plane further on  --->  slot 1 | on its way         | --->  add it to the sums; give its slot back
//                                       slot 2 | on its way         |       store the outputs that are complete
//
// One plane is in use at a time, so that the ring is short and tiles can be large. A block may take several tiles: the
// planes of the next one are asked for while the last of this one are added. No barrier joins all threads after the
// start: warps drift apart by up to two steps. Blocks at an edge whose boundary is clamp, periodic or reflect do have one
// a plane: their threads write the cells beyond the edge (edge_cells.cuh).
#pragma once

#include "stencil_tune/streaming/edge_cells.cuh"
#include "stencil_tune/plane_sums.cuh"
#include "stencil_tune/streaming/ring.cuh"

namespace stencil_tune {

/// Asks for the planes of all the block's tiles, one after the other: after the start the first warp alone, whose lanes all
/// keep count.
template <class S, class T>
struct QueuedCopies {
  PlaneCopies<S, T> copies;  ///< of the tile that is asked for
  int next = 0;              ///< plane of it
  unsigned turn = 0;

  /// Before the block's first barrier.
  STENCIL_DEVICE void start(int planes, bool asks) {
    if (asks) copies.make_barriers();
    settle();
#pragma unroll 1
    for (int slot = 0; slot < planes && has_more(); ++slot) {
      if (asks) copies.ask(next, {slot, 0});
      advance();
    }
  }

  STENCIL_DEVICE bool has_more() const { return copies.tile.steps > 0; }

  STENCIL_DEVICE void advance() {
    if (++next < copies.tile.steps + S::kLowZ + S::kHighZ) return;
    next = 0;
    copies.tile.steps = 0;
    if constexpr (T::kTiles > 1) {
      ++turn;
      settle();
    }
  }

 private:
  /// On the first tile from `turn` on that is there.
  STENCIL_DEVICE void settle() {
#pragma unroll 1
    for (; turn < T::kTiles; ++turn) {
      copies.tile = RingTile<S>::template of_block<T>(copies.arguments.plain, turn);
      if (has_more()) return;
    }
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming_ring_sums(const CopyArguments<S>& copy_arguments) {
  using Index = typename S::Index;
  using Sums = PlaneSums<S, T>;
  constexpr int kSlots = T::kTilePlanes;
  constexpr int kUnrolled = T::kLoopOfTurns ? Sums::kTurn : 1;
  const Arguments<S>& arguments = copy_arguments.plain;

  const UpdatedBox<S> box(arguments);
  const Ring<S, T> ring{shared_memory()};
  const int thread = thread_y() * T::kBlockX + thread_x();
  QueuedCopies<S, T> copies{{copy_arguments, ring, {}, {}}};
  copies.start(kSlots - 1, thread == 0);
  barrier();

  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);
  const int tile_x = thread_x() * T::kRegisterX, tile_y = thread_y() * T::kRegisterY;
  RingPosition<kSlots> newest;                   ///< the plane to add
  RingPosition<kSlots> refilled{kSlots - 1, 0};  ///< the slot of the plane before, and whose turn it is there
  const bool copies_planes = any_in_warp(thread == 0);
#pragma unroll 1
  for (unsigned turn = 0; turn < T::kTiles; ++turn) {
    const RingTile<S> tile = RingTile<S>::template of_block<T>(arguments, turn);
    if (T::kCluster * T::kTiles > 1 && tile.steps == 0) continue;
    const Index x = tile.x + tile_x, y = tile.y + tile_y;
    WalkOutput<S, T> output(arguments, box, x, y, tile.z);
    Sums sums;
    LateCells<S, T> late;
    late.load(in, x, y, tile.z);
    EdgeCells<S, T> edge;
    const bool at_edge = EdgeCells<S, T>::kNeeded && any_in_warp(EdgeCells<S, T>::are_needed(tile, in[0]));
    if (at_edge) {
      edge.find(tile, in[0], thread);
      edge.load(in, tile.z - S::kLowZ);
    }
#pragma unroll kUnrolled
    for (int step = -Sums::kReach; step < T::kDepth; ++step) {
      if (step >= tile.steps) break;
      if (copies_planes && copies.has_more()) {
        copies.copies.wait_until_free(refilled);
        if (thread == 0) copies.copies.ask(copies.next, refilled);
        copies.advance();
      }
      refilled.advance();
      wait_phase(ring.full(newest.slot), newest.parity);
      if (at_edge) {
        edge.write(ring, newest.slot);
        barrier();
        edge.load(in, tile.z + step + S::kHighZ + 1);
      }
      sums.add(RingRows<S, T>{ring, tile_x, tile_y, newest.slot}, arguments.coefficients);
      give_back(ring, thread, newest.slot);
      newest.advance();
      if (step >= 0) {
        output.store(sums, late);
        if (step + 1 < tile.steps) late.load(in, x, y, tile.z + step + 1);
      }
      sums.next();
    }
  }
}

}  // namespace stencil_tune
