// streaming, a pipeline of planes, sums in registers: TMA copies planes with their halo to shared memory, several
// ahead of the walk. Each thread reads the rows of a plane once and keeps sums of outputs instead of cells (PlaneSums).
//
//     producer: the first warp,        shared memory                       consumer: every warp,
//     each step                                                            each step
//     wait until a slot is empty       slot 0 | plane n     (full) |      wait until the newest plane is full
//     issue the copy of a       --->   slot 1 | in flight          | ---> add it to the sums; release its slot
//     later plane's box                slot 2 | in flight          |      store the outputs that are complete
//
// One plane is in use at a time: few slots are enough, and tiles can be large. After the start no barrier joins all
// threads, which drift apart by up to two steps, but in blocks whose threads write cells beyond an edge (EdgeCells).
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/streaming/streaming_tiles_of_sums.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void streaming_ring_sums(const CopyArguments<S>& copy_arguments) {
  if constexpr (T::kTiles > 1) {
    streaming_tiles_of_sums<S, T>(copy_arguments);
    return;
  }
  using Index = typename S::Index;
  using Sums = PlaneSums<S, T>;
  constexpr int kSlots = T::kTilePlanes;
  const Arguments<S>& arguments = copy_arguments.plain;
  const BlockTile<S> tile = BlockTile<S>::template of_block<T>(arguments);
  if (T::kCluster > 1 && tile.steps == 0) return;
  const int planes = tile.steps + Sums::kReach;
  const PlanePipeline<S, T> pipeline{shared_memory()};
  const int thread = thread_y() * T::kBlockX + thread_x();
  if (thread == 0) {
    pipeline.init_barriers();
#pragma unroll 1
    for (int n = 0; n < kSlots - 1 && n < planes; ++n) pipeline.fill(n, copy_arguments, tile, n);
  }
  barrier();

  const int tile_x = thread_x() * T::kRegisterX, tile_y = thread_y() * T::kRegisterY;
  const Index x = tile.x + tile_x, y = tile.y + tile_y;
  const UpdatedBox<S> box(arguments);
  WalkOutput<S, T> output(arguments, box, x, y, tile.z);
  Sums sums;
  [[maybe_unused]] EdgeCellsOf<S, T> edge(arguments, tile, thread);
  [[maybe_unused]] const Choose<S::kHasLate, InputFields<S, T>, NoFields<S>> in(arguments);
  Choose<S::kHasLate, LateCells<S, T>, NoLateCells> late;
  if constexpr (S::kHasLate) late.load(in.fields, x, y, tile.z);
  int newest = 0, parity = 0;  // slot of the plane to add, and which phase of its mbarriers is the plane's
  if constexpr (T::kFillsEdges) {
    if (edge.at_edge) {
      wait_phase(pipeline.full(newest), parity);
      edge.copy(pipeline, newest, tile.z - S::kLowZ);
    }
  }
  // If one thread branched around the loop, the compiler would keep the coefficients in vector registers.
  const bool is_producer = any_in_warp(thread == 0);
  constexpr int kUnrolled = T::kLoopOfTurns ? Sums::kPeriod : 1;
#pragma unroll kUnrolled
  for (int step = -Sums::kReach; step < T::kDepth; ++step) {
    if (step >= tile.steps) break;
    const int ahead = step + Sums::kReach + kSlots - 1;
    if (is_producer && ahead < planes) {
      const int last = newest > 0 ? newest - 1 : kSlots - 1;  // where the plane before was
      wait_phase(pipeline.empty(last), newest > 0 ? parity : parity ^ 1);
      if (thread == 0) pipeline.fill(last, copy_arguments, tile, ahead);
    }
    wait_phase(pipeline.full(newest), parity);
    if constexpr (T::kFillsEdges) {
      if (edge.at_edge) {
        edge.finish();
        if (step + 1 < tile.steps) {
          const bool is_last = newest + 1 == kSlots;
          wait_phase(pipeline.full(is_last ? 0 : newest + 1), is_last ? parity ^ 1 : parity);
          edge.copy(pipeline, is_last ? 0 : newest + 1, tile.z + step + S::kHighZ + 1);
        }
      }
    }
    sums.add(PlaneRows<S, T>{pipeline, tile_x, tile_y, newest}, arguments.coefficients);
    pipeline.release(thread, newest);
    newest = newest + 1 < kSlots ? newest + 1 : 0;
    if (newest == 0) parity ^= 1;
    if (step >= 0) {
      output.store(sums, late);
      if constexpr (S::kHasLate) {
        if (step + 1 < tile.steps) late.load(in.fields, x, y, tile.z + step + 1);
      }
    }
    sums.next();
  }
}

}  // namespace stencil_tune
