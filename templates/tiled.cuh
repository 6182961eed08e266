// tiled: a block brings its input tile to shared memory, waits, and updates the smaller output tile from there.
//
//     1. load    input tile = output tile + halo          all threads, rows of vectors; or (cover = input, the textbook)
//                                                          one cell a thread
//     2. barrier every cell of the tile has arrived
//     3. update  each thread its register tile, reading shared memory, and stores
// The textbook's tiled kernels of rank 1 to 3 and its tiled convolutions are cases of this.
#pragma once

#include "stencil_tune/shared_tile.cuh"

namespace stencil_tune {

/// The rows of the block's tile, for the thread at `place`.
template <class S, class T>
struct TileRows {
  const SharedTile<S, T>& tile;
  const ThreadPlace<S, T>& place;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
    tile.template read_row<kLeft, kBody, kRight>(f, T::kTileBelow + place.z + p - S::kLowZ, place.x,
                                                 place.y + r - S::kLowY, body);
  }

  STENCIL_DEVICE typename S::Value cell(int f, int dx, int dy, int dz) const {
    return tile.cell(f, T::kTileBelow + place.z + dz, place.x + dx, place.y + dy);
  }
};

template <class S, class T>
STENCIL_DEVICE void tiled(const Arguments<S>& arguments) {
  using Index = typename S::Index;

  const TileIndex index = tile_of_block<T>(arguments.tiles);
  if (has_no_tile<T>(arguments, index)) return;
  const Index tile_z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(index.z) * T::kTileZ;
  const SharedTile<S, T> tile(arguments, index);
  const UpdatedBox<S> box(arguments);
  const auto place = ThreadPlace<S, T>::here();
  const InputFields<S, T> in(arguments);

  if constexpr (T::kCover == Cover::input) {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      tile.row(f, thread_z(), thread_y())[thread_x()] =
          in.fields[f].cell(in.fields[f].row(tile.y + place.y, tile_z + place.z), tile.x + place.x);
    }
  } else {
    tile.template load_planes<T::kTilePlanes>(in.fields, 0, tile_z - T::kTileBelow);
  }
  barrier();
  if (!place.computes) return;

  update_tile<S, T>(arguments, box, tile.x + place.x, tile.y + place.y, tile_z + place.z,
                           TileRows<S, T>{tile, place});
}

}  // namespace stencil_tune
