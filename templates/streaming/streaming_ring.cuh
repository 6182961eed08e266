// streaming, planes in a ring: the copy engine brings planes with their halo to shared memory, several ahead of the
// walk; each thread keeps its own column in registers (walk.cuh) and reads neighbouring rows from the ring.
//
//     the first warp, each step         shared memory                       every warp, each step
//     wait until a slot is free         slot 0 | plane n     (full) |       wait until the newest plane is full
//     expect bytes, ask for the   --->  slot 1 | plane n + 1 (full) | --->  load what comes into reach, update, store
//     box of a plane further on         slot 2 | on its way         |       give back the plane it never reads again
//
// No barrier joins all threads after the start: warps drift apart by up to two steps. (A warp of its own for the copies
// costs more than it brings: registers are handed out to four warps at a time.)
#pragma once

#include "stencil_tune/streaming/ring.cuh"
#include "stencil_tune/streaming/walk.cuh"

namespace stencil_tune {

/// One thread's walk along the ring.
template <class S, class T>
struct RingWalk {
  static constexpr int kSlots = T::kTilePlanes;

  const Ring<S, T>& ring;
  PlaneCopies<S, T>& copies;
  int thread, tile_x, tile_y;
  Walk<S, T, 0> walk;
  RingPosition<kSlots> newest;  ///< next plane to wait for
  int lowest;                   ///< slot of plane z - low
  int oldest;                   ///< slot of the next plane to give back
  bool in_first_warp;

  STENCIL_DEVICE RingRows<S, T> rows() const { return {ring, tile_x, tile_y, lowest}; }

  STENCIL_DEVICE void ask_until(int end) {
    if (in_first_warp) copies.ask_until(end, thread == 0);
  }

  STENCIL_DEVICE void wait_for_newest() {
    wait_phase(ring.full(newest.slot), newest.parity);
    newest.advance();
  }

  /// This warp will not read the oldest plane again.
  STENCIL_DEVICE void give_back() {
    stencil_tune::give_back(ring, thread, oldest);
    oldest = oldest + 1 < kSlots ? oldest + 1 : 0;
  }

  /// Planes z - low .. z + high - 1, before the first step. Planes below kFirstLoaded are then done with; from then on
  /// each step finishes one more.
  template <int... kP>
  STENCIL_DEVICE void fill(Indices<kP...>) {
    (fill_plane<kP>(), ...);
  }

 private:
  template <int kP>
  STENCIL_DEVICE void fill_plane() {
    ask_until(kSlots + (kP < T::kFirstLoaded ? kP : T::kFirstLoaded) - 1);
    wait_for_newest();
    walk.template fill_plane<kP>(rows());
    if constexpr (kP < T::kFirstLoaded) give_back();
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming_ring(const CopyArguments<S>& copy_arguments) {
  constexpr int kSlots = T::kTilePlanes;
  const Arguments<S>& arguments = copy_arguments.plain;

  const RingTile<S> tile = RingTile<S>::template of_block<T>(arguments);
  if (T::kCluster > 1 && tile.steps == 0) return;
  const UpdatedBox<S> box(arguments);
  const Ring<S, T> ring{shared_memory()};
  PlaneCopies<S, T> copies{copy_arguments, ring, tile, {}};
  const int thread = thread_y() * T::kBlockX + thread_x();
  if (thread == 0) copies.start(kSlots);
  barrier();

  RingWalk<S, T> walk{ring, copies, thread, thread_x() * T::kRegisterX, thread_y() * T::kRegisterY, {}, {}, 0, 0, any_in_warp(thread == 0)};
  walk.fill(IndicesBelow<S::kLowZ + S::kHighZ>{});
#pragma unroll T::kUnroll
  for (int step = 0; step < T::kDepth; ++step) {
    if (step >= tile.steps) break;
    // Slots given back one step ago may still be in use by slower warps; those of two steps ago hardly are.
    walk.ask_until(step - 1 + T::kFirstLoaded + kSlots);
    walk.wait_for_newest();
    walk.walk.advance_to(walk.rows());
    TileUpdate<S, T, decltype(walk.walk.window)>{
        arguments,     box, tile.x + walk.tile_x, tile.y + walk.tile_y, tile.z + step,
        walk.walk.window}
        .run();
    walk.give_back();  // only now: the compiler may then read rows as it needs them
    walk.walk.shift();
    walk.lowest = walk.lowest + 1 < kSlots ? walk.lowest + 1 : 0;
  }
}

}  // namespace stencil_tune
