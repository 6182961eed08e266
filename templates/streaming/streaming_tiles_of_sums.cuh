// streaming_ring_sums.cuh, which has the picture, for a block that takes several tiles one after the other: planes of
// the next tile are issued while the last of this one are added.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/streaming/edge_cells.cuh"
#include "stencil_tune/plane_sums.cuh"
#include "stencil_tune/streaming/ring.cuh"

namespace stencil_tune {

/// The planes of all the block's tiles, as they are issued one after the other by the first warp. All its lanes count.
template <class S, class T>
struct TileQueue {
  const CopyArguments<S>& arguments;
  const PlanePipeline<S, T>& pipeline;
  BlockTile<S> tile{};  ///< the tile whose planes are issued
  int next = 0;         ///< plane of it that is issued next
  unsigned nth = 0;     ///< which of the block's tiles it is

  /// Before the block's first barrier.
  STENCIL_DEVICE void start(int planes, bool elected) {
    if (elected) pipeline.init_barriers();
    find_tile();
#pragma unroll 1
    for (int slot = 0; slot < planes && has_more(); ++slot) {
      if (elected) issue(slot);
      advance();
    }
  }

  STENCIL_DEVICE bool has_more() const { return tile.steps > 0; }

  STENCIL_DEVICE void issue(int slot) const { pipeline.fill(slot, arguments, tile, next); }

  STENCIL_DEVICE void advance() {
    if (++next < tile.steps + S::kLowZ + S::kHighZ) return;
    next = 0;
    tile.steps = 0;
    ++nth;
    find_tile();
  }

  STENCIL_DEVICE void find_tile() {
#pragma unroll 1
    for (; nth < T::kTiles; ++nth) {
      tile = BlockTile<S>::template of_block<T>(arguments.plain, nth);
      if (has_more()) return;
    }
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming_tiles_of_sums(const CopyArguments<S>& copy_arguments) {
  using Index = typename S::Index;
  using Sums = PlaneSums<S, T>;
  constexpr int kSlots = T::kTilePlanes;
  constexpr int kUnrolled = T::kLoopOfTurns ? Sums::kPeriod : 1;
  const Arguments<S>& arguments = copy_arguments.plain;

  const UpdatedBox<S> box(arguments);
  const PlanePipeline<S, T> pipeline{shared_memory()};
  const int thread = thread_y() * T::kBlockX + thread_x();
  TileQueue<S, T> queue{copy_arguments, pipeline};
  queue.start(kSlots - 1, thread == 0);
  barrier();

  [[maybe_unused]] const Choose<S::kHasLate, InputFields<S, T>, NoFields<S>> in(arguments);
  const int tile_x = thread_x() * T::kRegisterX, tile_y = thread_y() * T::kRegisterY;
  PipelineState<kSlots> newest;                   ///< slot of the plane to add
  PipelineState<kSlots> refilled{kSlots - 1, 0};  ///< slot of the plane that is issued next: the one before
  const bool is_producer = any_in_warp(thread == 0);
#pragma unroll 1
  for (unsigned nth = 0; nth < T::kTiles; ++nth) {
    const BlockTile<S> tile = BlockTile<S>::template of_block<T>(arguments, nth);
    if (tile.steps == 0) continue;
    const Index x = tile.x + tile_x, y = tile.y + tile_y;
    WalkOutput<S, T> output(arguments, box, x, y, tile.z);
    Sums sums;
    Choose<S::kHasLate, LateCells<S, T>, NoLateCells> late;
    if constexpr (S::kHasLate) late.load(in.fields, x, y, tile.z);
    [[maybe_unused]] EdgeCellsOf<S, T> edge(arguments, tile, thread);
    if constexpr (T::kFillsEdges) {
      if (edge.at_edge) {
        wait_phase(pipeline.full(newest.slot), newest.parity);
        edge.copy(pipeline, newest.slot, tile.z - S::kLowZ);
      }
    }
#pragma unroll kUnrolled
    for (int step = -Sums::kReach; step < T::kDepth; ++step) {
      if (step >= tile.steps) break;
      if (is_producer && queue.has_more()) {
        wait_phase(pipeline.empty(refilled.slot), refilled.parity ^ 1);
        if (thread == 0) queue.issue(refilled.slot);
        queue.advance();
      }
      refilled.advance();
      wait_phase(pipeline.full(newest.slot), newest.parity);
      if constexpr (T::kFillsEdges) {
        if (edge.at_edge) {
          edge.finish();
          if (step + 1 < tile.steps) {
            PipelineState<kSlots> next = newest;
            next.advance();
            wait_phase(pipeline.full(next.slot), next.parity);
            edge.copy(pipeline, next.slot, tile.z + step + S::kHighZ + 1);
          }
        }
      }
      sums.add(PipelineRows<S, T>{pipeline, tile_x, tile_y, newest.slot}, arguments.coefficients);
      pipeline.release(thread, newest.slot);
      newest.advance();
      if (step >= 0) {
        output.store(sums, late);
        if constexpr (S::kHasLate) {
          if (step + 1 < tile.steps) late.load(in.fields, x, y, tile.z + step + 1);
        }
      }
      sums.next();
    }
  }
}

}  // namespace stencil_tune
