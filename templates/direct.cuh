// direct: every thread reads what it needs from global memory and leaves sharing to the caches.
//
//     block = kBlockX x kBlockY x kBlockZ threads          thread = kRegisterX x kRegisterY x kRegisterZ outputs
//     +------+------+------+                               +--+--+--+--+
//     | t0   | t1   | t2   | ...  along x, then y, then z  |o0|o1|o2|o3|  one or more vectors of kVector cells
//     +------+------+------+                               +--+--+--+--+
//
// 1. load: each row the register tile reads, once: own cells as vectors, the cells left and right of them as scalars,
//    vectors, or from the neighbouring lanes (kNeighbours).
// 2. update all outputs from registers.   3. store.
// No shared memory, no barrier. With a register tile of 1 x 1 x 1 this is the textbook's basic kernel.
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void direct(const Arguments<S>& arguments) {
  using Index = typename S::Index;

  const TileIndex tile = tile_of_block<T>(arguments.tiles);
  if (has_no_tile<T>(arguments, tile)) return;
  const Index x = first_x<T>(arguments, tile), y = first_y<T>(arguments, tile);
  const Index z = static_cast<Index>(arguments.origin[2]) +
                  (static_cast<Index>(tile.z) * T::kBlockZ + thread_z()) * T::kRegisterZ;
  const UpdatedBox<S> box(arguments);
  if constexpr (T::kNeighbours == Neighbours::cache) {
    if (box.template misses<T>(x, y) || z >= box.high_z) return;
  }

  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);

  update_tile<S, T>(arguments, box, x, y, z, GlobalRows<S, T, true>{in, x, y, z});
}

}  // namespace stencil_tune
