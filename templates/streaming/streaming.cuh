// streaming, planes in registers: a block walks kDepth planes along z; each thread keeps the cells that its next steps
// read again, and takes neighbouring rows from global memory, through the cache, when their plane is current. Loads may
// run kPrefetch planes ahead of their use. No shared memory, no barrier.
//
//        z + high   ====  newest plane: own cells of the centre rows are loaded here ...
//           ...     ----
//        z          ++++  rows y-r..y+r and the x halo: loaded when the walk reaches their plane
//           ...     ----
//        z - low    ----  ... and used for the last time here
//
// Which part of a row is loaded at which plane, and how long it is kept, follows from the taps (T::Reads). A star keeps
// only its own column; a box keeps whole rows with their halo. After each plane the window moves down by one. These
// register moves disappear where the loop is unrolled (kUnroll).
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void streaming(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  using Rows = GlobalRows<S, T, false>;
  using Reads = typename T::Reads;

  const TileIndex tile = tile_of_block<T>(arguments.tiles);
  if (has_no_tile<T>(arguments, tile)) return;
  const Index x = first_x<T>(arguments, tile), y = first_y<T>(arguments, tile);
  const Index first_z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(tile.z) * T::kDepth;
  const UpdatedBox<S> box(arguments);
  if (box.template misses<T>(x, y)) return;

  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);

  Window<S, T, Reads> window;
  const Rows first{in, x, y, first_z};
  unrolled<Reads::kPlanes - 1>([&](auto plane) { Reads::template fill<plane>(first, window.cells); });
#pragma unroll T::kUnroll
  for (int step = 0; step < T::kDepth; ++step) {
    const Index z = first_z + step;
    if (z >= box.high_z) break;
    Reads::advance(Rows{in, x, y, z}, window.cells);
    update_outputs<S, T>(arguments, box, x, y, z, window);
    Reads::shift(window);
  }
}

}  // namespace stencil_tune
