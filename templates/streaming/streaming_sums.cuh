// streaming, sums in registers: a block walks kDepth planes along z; each thread reads the rows of a plane once, from
// global memory through the cache, and keeps sums of outputs instead of cells (plane_sums.cuh). No shared memory, no
// barrier.
#pragma once

#include "stencil_tune/plane_sums.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void streaming_sums(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  using Sums = PlaneSums<S, T>;

  const TileIndex tile = tile_of_block<T>(arguments.tiles);
  if constexpr (T::kCluster > 1) {
    if (has_no_tile<T>(arguments, tile)) return;
  }
  const Index x = static_cast<Index>(arguments.origin[0]) +
                  (static_cast<Index>(tile.x) * T::kBlockX + thread_x()) * T::kRegisterX;
  const Index y = static_cast<Index>(arguments.origin[1]) +
                  (static_cast<Index>(tile.y) * T::kBlockY + thread_y()) * T::kRegisterY;
  const Index first_z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(tile.z) * T::kDepth;
  const UpdatedBox<S> box(arguments);
  if constexpr (T::kNeighbours == Neighbours::cache) {  // lanes that shuffle stay for their neighbours
    if (x + T::kRegisterX <= box.low_x || x >= box.high_x || y >= box.high_y) return;
  }

  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);

  WalkOutput<S, T> output(arguments, box, x, y, first_z);
  Sums sums;
  // Where no input is late too: without this loop over none of them compilers make another order of the instructions, and
  // kernels were tuned with this one.
  LateCells<S, T> late;
  late.load(in, x, y, first_z);
  constexpr int kUnrolled = T::kLoopOfTurns ? Sums::kPeriod : 1;
#pragma unroll kUnrolled
  for (int step = -Sums::kReach; step < T::kDepth; ++step) {
    const Index z = first_z + step;
    if (z >= box.high_z) break;
    sums.add(GlobalRows<S, T, true>{in, x, y, z + Sums::kReach}, arguments.coefficients);
    if (step >= 0) {
      output.store(sums, late);
      if constexpr (S::kHasLate) {
        if (z + 1 < box.high_z) late.load(in, x, y, z + 1);
      }
    }
    sums.next();
  }
}

}  // namespace stencil_tune
