// streaming, a pipeline of planes: TMA copies planes with their halo to shared memory, several ahead of the walk. Each
// thread keeps its own column in registers, loads what comes into reach, and reads neighbouring rows from the pipeline.
//
//     producer: the first warp,        shared memory                       consumer: every warp,
//     each step                                                            each step
//     acquire a slot                   slot 0 | plane n     (full) |      wait until the newest plane is full
//     expect bytes, issue the   --->   slot 1 | plane n + 1 (full) | ---> load what comes into reach, update, store
//     copy of a later plane's box      slot 2 | in flight          |      release the plane it never reads again
//
// After the start no barrier joins all threads: warps drift apart by up to two steps. A warp for the copies alone costs
// more than it gains: registers are allocated for four warps at a time.
#pragma once

#include "stencil_tune/streaming/ring.cuh"

namespace stencil_tune {

/// Issues the copies of the tile's planes, one after the other. The whole first warp waits for a slot, its first thread
/// issues.
template <class S, class T>
struct PlaneProducer {
  const CopyArguments<S>& arguments;
  const PlanePipeline<S, T>& pipeline;
  BlockTile<S> tile;
  PipelineState<T::kTilePlanes> state{};  ///< slot of the plane that is issued next ...
  int next = 0;                           ///< ... and the plane's number

  /// The planes below `end`. Waits for slots that are not released yet: this warp must have released its share.
  STENCIL_DEVICE void issue_until(int end, bool elected) {
    const int planes = tile.steps + S::kLowZ + S::kHighZ;
#pragma unroll 1
    for (; next < end && next < planes; ++next) {
      wait_phase(pipeline.empty(state.slot), state.parity ^ 1);
      if (elected) pipeline.fill(state.slot, arguments, tile, next);
      state.advance();
    }
  }
};

/// One thread's walk along the pipeline.
template <class S, class T>
struct PipelineWalk {
  static constexpr int kSlots = T::kTilePlanes;

  const PlanePipeline<S, T>& pipeline;
  PlaneProducer<S, T>& producer;
  int thread, tile_x, tile_y;
  Window<S, T, typename T::Reads> window;
  PipelineState<kSlots> newest;   ///< next plane to wait for
  int lowest, oldest;             ///< slots of plane z - low, and of the next plane to release
  bool in_first_warp;

  STENCIL_DEVICE PipelineRows<S, T> rows() const { return {pipeline, tile_x, tile_y, lowest}; }
  STENCIL_DEVICE void issue_until(int end) {
    if (in_first_warp) producer.issue_until(end, thread == 0);
  }

  STENCIL_DEVICE void wait_for_newest() {
    wait_phase(pipeline.full(newest.slot), newest.parity);
    newest.advance();
  }

  STENCIL_DEVICE void release_oldest() {
    pipeline.release(thread, oldest);
    oldest = oldest + 1 < kSlots ? oldest + 1 : 0;
  }

  /// Takes planes z - low .. z + high - 1, before the first step, and releases those below kFirstLoaded. From then on
  /// each step releases one more.
  STENCIL_DEVICE void fill() {
    unrolled<S::kLowZ + S::kHighZ>([&](auto plane) {
      constexpr bool kReleased = plane < T::kFirstLoaded;
      issue_until(kSlots + (kReleased ? plane : T::kFirstLoaded) - 1);
      wait_for_newest();
      T::Reads::template fill<plane>(rows(), window.cells);
      if constexpr (kReleased) release_oldest();
    });
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming_ring(const CopyArguments<S>& copy_arguments) {
  const Arguments<S>& arguments = copy_arguments.plain;
  const BlockTile<S> tile = BlockTile<S>::template of_block<T>(arguments);
  if (T::kCluster > 1 && tile.steps == 0) return;
  const UpdatedBox<S> box(arguments);
  const PlanePipeline<S, T> pipeline{shared_memory()};
  PlaneProducer<S, T> producer{copy_arguments, pipeline, tile};
  const int thread = thread_y() * T::kBlockX + thread_x();
  if (thread == 0) {
    pipeline.init_barriers();
    producer.issue_until(T::kTilePlanes, true);
  }
  barrier();

  PipelineWalk<S, T> walk{pipeline, producer, thread, thread_x() * T::kRegisterX, thread_y() * T::kRegisterY,
                          {},       {},       0,      0,                          any_in_warp(thread == 0)};
  walk.fill();
#pragma unroll T::kUnroll
  for (int step = 0; step < T::kDepth; ++step) {
    if (step >= tile.steps) break;
    // Slower warps may not have released the slot of one step ago yet; that of two steps ago they nearly always have.
    walk.issue_until(step - 1 + T::kFirstLoaded + T::kTilePlanes);
    walk.wait_for_newest();
    T::Reads::advance(walk.rows(), walk.window.cells);
    update_outputs<S, T>(arguments, box, tile.x + walk.tile_x, tile.y + walk.tile_y, tile.z + step, walk.window);
    walk.release_oldest();  // only now: the compiler may then read rows as it needs them
    T::Reads::shift(walk.window);
    walk.lowest = walk.lowest + 1 < T::kTilePlanes ? walk.lowest + 1 : 0;
  }
}

}  // namespace stencil_tune
