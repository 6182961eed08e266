// streaming, a pipeline that the block's threads fill, sums in registers: like streaming_ring_sums.cuh, but the planes
// are copied by cp.async (sm_80+), one vector each. That serves every boundary, and rows of any pitch.
//
//     step n:  1. wait     the thread's own copies of plane n have arrived
//              2. barrier  so have all others, and no thread reads plane n - 1 any more
//              3. copy     plane n + kSlots - 1 into the slot of plane n - 1
//              4. add      plane n to the sums; store the outputs that are complete
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/plane_sums.cuh"
#include "stencil_tune/streaming/ring.cuh"

namespace stencil_tune {

/// A thread's share of the copies: every kBlockX-th vector of every kBlockY-th row, the same in all planes.
template <class S, class T>
struct ThreadCopies {
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Storage = typename S::Storage;

  static constexpr int kVector = T::kVector;
  // The columns of a row that are read, in whole vectors around the output tile.
  static constexpr int kLeft = (S::kLowX + kVector - 1) / kVector;
  static constexpr int kVectors = kLeft + T::kTileX / kVector + (S::kHighX + kVector - 1) / kVector;
  static constexpr int kEach = (kVectors + T::kBlockX - 1) / T::kBlockX;  ///< vectors of a row that a thread copies
  static constexpr int kApart = T::kBlockX * kVector;                     ///< cells between two of them

  const PlanePipeline<S, T>& pipeline;
  const Field<S, T> (&in)[S::kInputs];
  Index x, y;          ///< the thread's first cell in the grid ...
  int first;           ///< ... and in a plane of the pipeline
  unsigned whole = 0;  ///< bit i: vector i of the thread's rows lies inside the grid and is copied
  bool plain;          ///< all rows of the block lie inside the grid, and no output reads a cut vector

  STENCIL_DEVICE ThreadCopies(const PlanePipeline<S, T>& p, const BlockTile<S>& tile,
                              const Field<S, T> (&fields)[S::kInputs])
      : pipeline(p), in(fields) {
    const Index left = tile.x - kLeft * kVector, right = left + kVectors * kVector;
    const Index top = tile.y - S::kLowY;
    const Index nx = in[0].nx;
    x = left + thread_x() * kVector;
    y = top + thread_y();
    first = thread_y() * T::kTilePitch + T::kTileLeft + (thread_x() - kLeft) * kVector;
    STENCIL_UNROLL
    for (int i = 0; i < kEach; ++i) {
      const Index column = x + i * kApart;
      if (column >= 0 && column + kVector <= nx) whole |= 1u << i;
    }
    const bool beyond = left < 0 || right > nx;
    const bool cut = right > nx && nx % kVector != 0;
    plain = top >= 0 && top + T::kTileRows <= in[0].ny && !(S::kBoundaryX == Boundary::hold ? cut : beyond);
  }

  /// Starts to copy plane z of every input to the slot. The caller commits the copies as one group.
  STENCIL_DEVICE void start(int slot, Index z) const {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      if (S::kHasLate && S::is_late(f)) continue;
      Storage* const to = pipeline.plane(f, slot) + first;
      const auto row = in[f].row(y, z);
      if (plain && !row.outside) {
        copy_plain_rows(to, row.cells + x, in[f].stride_y);
      } else {
        copy_rows(to, in[f], z);
      }
    }
  }

 private:
  STENCIL_DEVICE void copy_plain_rows(Storage* to, const Storage* from, Index stride_y) const {
    STENCIL_UNROLL
    for (int j = 0; j < T::kTileRows; j += T::kBlockY) {
      if (j + T::kBlockY > T::kTileRows && j + thread_y() >= T::kTileRows) break;
      STENCIL_UNROLL
      for (int i = 0; i < kEach; ++i) {
        if (has(i) && is_whole(i)) copy(to + i * kApart, from + i * kApart);
      }
      to += T::kBlockY * T::kTilePitch;
      from += T::kBlockY * stride_y;
    }
  }

  /// The same at an edge of the grid: vectors that are not whole are written cell by cell, as the boundary says.
  STENCIL_DEVICE void copy_rows(Storage* to, const Field<S, T>& field, Index z) const {
#pragma unroll 1
    for (int j = thread_y(); j < T::kTileRows; j += T::kBlockY) {
      const auto row = field.row(y - thread_y() + j, z);
      STENCIL_UNROLL
      for (int i = 0; i < kEach; ++i) {
        if (!has(i)) continue;
        const Index column = x + i * kApart;
        if (is_whole(i) && !row.outside) {
          copy(to + i * kApart, row.cells + column);
        } else if (S::kBoundaryX != Boundary::hold || row.outside || (column >= 0 && column < field.nx)) {
          STENCIL_UNROLL
          for (int e = 0; e < kVector; ++e) to[i * kApart + e] = field.cell(row, column + e);
        }
      }
      to += T::kBlockY * T::kTilePitch;
    }
  }

  STENCIL_DEVICE static bool has(int i) {
    return (i + 1) * T::kBlockX <= kVectors || i * T::kBlockX + thread_x() < kVectors;
  }
  STENCIL_DEVICE bool is_whole(int i) const { return (whole >> i & 1) != 0; }
  STENCIL_DEVICE static void copy(Storage* to, const Storage* from) {
    async_copy<kVector * static_cast<int>(sizeof(Storage))>(to, from);
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming_copied_sums(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  using Sums = PlaneSums<S, T>;
  constexpr int kSlots = T::kTilePlanes;

  const BlockTile<S> tile = BlockTile<S>::template of_block<T>(arguments);
  if (T::kCluster > 1 && tile.steps == 0) return;
  const UpdatedBox<S> box(arguments);
  const PlanePipeline<S, T> pipeline{shared_memory()};
  const int tile_x = thread_x() * T::kRegisterX, tile_y = thread_y() * T::kRegisterY;
  const Index x = tile.x + tile_x, y = tile.y + tile_y;
  const InputFields<S, T> in(arguments);

  const ThreadCopies<S, T> copies(pipeline, tile, in.fields);
  const Index lowest = tile.z - S::kLowZ;  // plane n = 0
  const int planes = tile.steps + Sums::kReach;
#pragma unroll 1
  for (int n = 0; n < kSlots - 1; ++n) {
    if (n < planes) copies.start(n, lowest + n);
    async_commit();
  }

  WalkOutput<S, T> output(arguments, box, x, y, tile.z);
  Sums sums;
  Choose<S::kHasLate, LateCells<S, T>, NoLateCells> late;
  if constexpr (S::kHasLate) late.load(in.fields, x, y, tile.z);
  int newest = 0, refilled = kSlots - 1;  // slots of planes n and n - 1
  constexpr int kUnrolled = T::kLoopOfTurns ? Sums::kPeriod : 1;
#pragma unroll kUnrolled
  for (int step = -Sums::kReach; step < T::kDepth; ++step) {
    if (step >= tile.steps) break;
    async_wait<kSlots - 2>();
    barrier();
    const int ahead = step + Sums::kReach + kSlots - 1;
    if (ahead < planes) copies.start(refilled, lowest + ahead);
    async_commit();  // an empty group too: waits count groups
    sums.add(PipelineRows<S, T>{pipeline, tile_x, tile_y, newest}, arguments.coefficients);
    refilled = newest;
    newest = newest + 1 < kSlots ? newest + 1 : 0;
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
