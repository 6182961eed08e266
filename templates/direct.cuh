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
  if constexpr (T::kCluster > 1) {
    if (has_no_tile<T>(arguments, tile)) return;
  }
  const Index x = static_cast<Index>(arguments.origin[0]) +
                  (static_cast<Index>(tile.x) * T::kBlockX + thread_x()) * T::kRegisterX;
  const Index y = static_cast<Index>(arguments.origin[1]) +
                  (static_cast<Index>(tile.y) * T::kBlockY + thread_y()) * T::kRegisterY;
  const Index z = static_cast<Index>(arguments.origin[2]) +
                  (static_cast<Index>(tile.z) * T::kBlockZ + thread_z()) * T::kRegisterZ;
  const UpdatedBox<S> box(arguments);
  if constexpr (T::kNeighbours == Neighbours::cache) {  // lanes that shuffle stay for their neighbours
    if (x + T::kRegisterX <= box.low_x || x >= box.high_x || y >= box.high_y || z >= box.high_z) return;
  }

  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);

  update_tile<S, T>(arguments, box, x, y, z, GlobalRows<S, T, true>{in, x, y, z});
}

}  // namespace stencil_tune
