// streaming, planes in a ring that the block's threads fill, sums in registers: like streaming_ring_sums.cuh, but the
// planes come by asynchronous copies of one vector each (cp.async, sm_80+), which serve every boundary and rows of any
// pitch.
//
//     step n:  1. wait     the thread's own copies of plane n have arrived
//              2. barrier  so have everybody's, and nobody adds plane n - 1 any more
//              3. copy     plane n + kSlots - 1 into the slot of plane n - 1; vectors that an edge of the grid cuts or
//                          leaves outside are written cell by cell instead, as the boundary says
//              4. add      plane n to the sums; store the outputs that are complete
#pragma once

#include "stencil_tune/plane_sums.cuh"
#include "stencil_tune/ring.cuh"

namespace stencil_tune {

/// A thread's share of the copies.
template <class S, class T>
struct ThreadCopies {
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Storage = typename S::Storage;

  // The columns of a row that are read, as whole vectors around the output tile.
  static constexpr int kLeft = (S::kLowX + T::kVector - 1) / T::kVector;
  static constexpr int kVectors = kLeft + T::kTileX / T::kVector + (S::kHighX + T::kVector - 1) / T::kVector;
  static constexpr int kCopies = kVectors * T::kTileRows;
  static constexpr int kThreads = T::kBlockX * T::kBlockY;

  const Ring<S, T>& ring;
  const RingTile<S>& tile;
  const Field<S, T> (&in)[S::kInputs];
  int thread;

  /// Starts to copy plane z of every input in the ring; the copies are a group of their own.
  STENCIL_DEVICE void start(int slot, Index z) const {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      if (S::late(f)) continue;
      for (int i = thread; i < kCopies; i += kThreads) copy_vector(f, slot, z, i / kVectors, i % kVectors);
    }
  }

 private:
  STENCIL_DEVICE void copy_vector(int f, int slot, Index z, int r, int column) const {
    constexpr int kVector = T::kVector;
    const int offset = (column - kLeft) * kVector;
    Storage* const to = ring.plane(f, slot) + r * T::kTilePitch + T::kTileLeft + offset;
    const Index x = tile.x + offset;
    const auto row = in[f].row(tile.y + (r - S::kLowY), z);
    if (!row.outside && x >= 0 && x + kVector <= in[f].nx) {
      async_copy<kVector * static_cast<int>(sizeof(Storage))>(to, row.cells + x);
      return;
    }
    STENCIL_UNROLL
    for (int e = 0; e < kVector; ++e) narrow(in[f].cell(row, x + e), to[e]);
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming_copied_sums(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  using Sums = PlaneSums<S, T>;
  constexpr int kSlots = T::kTilePlanes;

  const RingTile<S> tile = RingTile<S>::template of_block<T>(arguments);
  const UpdatedBox<S> box(arguments);
  const Ring<S, T> ring{shared_memory()};
  const int tile_x = thread_x() * T::kRegisterX, tile_y = thread_y() * T::kRegisterY;
  const Index x = tile.x + tile_x, y = tile.y + tile_y;
  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);

  const ThreadCopies<S, T> copies{ring, tile, in, thread_y() * T::kBlockX + thread_x()};
  const Index lowest = tile.z - S::kLowZ;  // plane n = 0
  const int planes = tile.steps + Sums::kReach;
#pragma unroll 1
  for (int n = 0; n < kSlots - 1; ++n) {
    if (n < planes) copies.start(n, lowest + n);
    async_commit();
  }

  const WalkOutput<S, T> output(arguments, box, x, y);
  Sums sums;
  LateCells<S, T> late;
  late.load(in, x, y, tile.z);
  int newest = 0, refilled = kSlots - 1;  // slots of planes n and n - 1
#pragma unroll Sums::kTurn
  for (int step = -Sums::kReach; step < T::kDepth; ++step) {
    if (step >= tile.steps) break;
    async_wait<kSlots - 2>();
    barrier();
    const int ahead = step + Sums::kReach + kSlots - 1;
    if (ahead < planes) copies.start(refilled, lowest + ahead);
    async_commit();  // an empty group too: waits count groups
    sums.add(RingRows<S, T>{ring, tile_x, tile_y, newest}, arguments.coefficients);
    refilled = newest;
    newest = newest + 1 < kSlots ? newest + 1 : 0;
    if (step >= 0) {
      output.store(sums, late, tile.z + step);
      if (step + 1 < tile.steps) late.load(in, x, y, tile.z + step + 1);
    }
    sums.next();
  }
}

}  // namespace stencil_tune
