// streaming, planes in a ring, sums in registers: copies bring planes with their halo to shared memory, several ahead of
// the walk; each thread reads the rows of a plane once and keeps sums of outputs instead of cells (plane_sums.cuh).
//
//     the first warp, each step         shared memory                       every warp, each step
//     wait until a slot is free         slot 0 | plane n     (full) |       wait until the newest plane is full
//     ask for a plane further on  --->  slot 1 | on its way         | --->  add it to the sums; give its slot back
//                                       slot 2 | on its way         |       store the outputs that are complete
//
// One plane is in use at a time, so that the ring is short and tiles can be large. No barrier joins all threads after
// the start: warps drift apart by up to two steps. Blocks at an edge whose boundary is clamp, periodic or reflect do have
// one a plane: their threads write the cells beyond the edge (edge_cells.cuh).
#pragma once

#include "stencil_tune/edge_cells.cuh"
#include "stencil_tune/plane_sums.cuh"
#include "stencil_tune/ring.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void streaming_ring_sums(const CopyArguments<S>& copy_arguments) {
  using Index = typename S::Index;
  using Sums = PlaneSums<S, T>;
  constexpr int kSlots = T::kTilePlanes;
  const Arguments<S>& arguments = copy_arguments.plain;

  const RingTile<S> tile = RingTile<S>::template of_block<T>(arguments);
  if (T::kCluster > 1 && tile.steps == 0) return;
  const UpdatedBox<S> box(arguments);
  const Ring<S, T> ring{shared_memory()};
  PlaneCopies<S, T> copies{copy_arguments, ring, tile, {}};
  const int thread = thread_y() * T::kBlockX + thread_x();
  if (thread == 0) copies.start(kSlots - 1);
  barrier();

  const int tile_x = thread_x() * T::kRegisterX, tile_y = thread_y() * T::kRegisterY;
  const Index x = tile.x + tile_x, y = tile.y + tile_y;
  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);

  WalkOutput<S, T> output(arguments, box, x, y, tile.z);
  Sums sums;
  LateCells<S, T> late;
  late.load(in, x, y, tile.z);
  RingPosition<kSlots> newest;                ///< the plane to add
  RingPosition<kSlots> refilled{kSlots - 1, 0};  ///< the slot of the plane before, and whose turn it is there
  const bool copies_planes = any_in_warp(thread == 0);
  EdgeCells<S, T> edge;
  const bool at_edge = EdgeCells<S, T>::kNeeded && any_in_warp(EdgeCells<S, T>::are_needed(tile, in[0]));
  if (at_edge) {
    edge.find(tile, in[0], thread);
    edge.load(in, tile.z - S::kLowZ);
  }
  constexpr int kUnrolled = T::kLoopOfTurns ? Sums::kTurn : 1;
#pragma unroll kUnrolled
  for (int step = -Sums::kReach; step < T::kDepth; ++step) {
    if (step >= tile.steps) break;
    if (copies_planes && step + kSlots - 1 < tile.steps) {
      copies.wait_until_free(refilled);
      if (thread == 0) copies.ask(step + Sums::kReach + kSlots - 1, refilled);
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

}  // namespace stencil_tune
