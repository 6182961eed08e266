// streaming, sums in registers: a block walks kDepth planes along z; each thread reads the rows of a plane once, from
// global memory through the cache, and keeps sums of outputs instead of cells (plane_sums.cuh). No shared memory, no
// barrier.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/plane_sums.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void streaming_sums(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  using Sums = PlaneSums<S, T>;

  const TileIndex tile = tile_of_block<T>(arguments.tiles);
  if (has_no_tile<T>(arguments, tile)) return;
  const Index x = first_x<T>(arguments, tile), y = first_y<T>(arguments, tile);
  const Index first_z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(tile.z) * T::kDepth;
  const UpdatedBox<S> box(arguments);
  if (box.template misses<T>(x, y)) return;

  const InputFields<S, T> in(arguments);

  WalkOutput<S, T> output(arguments, box, x, y, first_z);
  Sums sums;
  Choose<S::kHasLate, LateCells<S, T>, NoLateCells> late;
  if constexpr (S::kHasLate) late.load(in.fields, x, y, first_z);
  constexpr int kUnrolled = T::kLoopOfTurns ? Sums::kPeriod : 1;
#pragma unroll kUnrolled
  for (int step = -Sums::kReach; step < T::kDepth; ++step) {
    const Index z = first_z + step;
    if (z >= box.high_z) break;
    sums.add(GlobalRows<S, T, true>{in.fields, x, y, z + Sums::kReach}, arguments.coefficients);
    if (step >= 0) {
      output.store(sums, late);
      if constexpr (S::kHasLate) {
        if (z + 1 < box.high_z) late.load(in.fields, x, y, z + 1);
      }
    }
    sums.next();
  }
}

}  // namespace stencil_tune
