// streaming, planes in registers: a block walks kDepth planes along z; each thread keeps its own cells of the planes in
// reach (walk.cuh) and takes neighbouring rows from global memory, through the cache, when their plane is current.
// Loads may run kPrefetch planes ahead of their use. No shared memory, no barrier.
#pragma once

#include "stencil_tune/streaming/walk.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void streaming(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  using Rows = GlobalRows<S, T>;

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

  Walk<S, T> walk;
  const Rows first{in, x, y, first_z};
  unrolled<T::Reads::kPlanes - 1>([&](auto plane) { walk.template fill_plane<plane>(first); });
#pragma unroll T::kUnroll
  for (int step = 0; step < T::kDepth; ++step) {
    const Index z = first_z + step;
    if (z >= box.high_z) break;
    walk.advance_to(Rows{in, x, y, z});
    update_outputs<S, T>(arguments, box, x, y, z, walk.window);
    walk.shift();
  }
}

}  // namespace stencil_tune
