// tiled: a block brings its input tile to shared memory, waits, and updates the smaller output tile from there.
//
//     1. load    input tile = output tile + halo          all threads, rows of vectors; or (cover = input, the textbook)
//                                                          one cell a thread
//     2. barrier every cell of the tile has arrived
//     3. update  each thread its register tile, reading shared memory (halo = cache: what lies outside the output tile
//                comes from global memory), and stores
// The textbook's tiled kernels of rank 1 to 3 and its tiled convolutions are cases of this.
#pragma once

#include "stencil_tune/shared_tile.cuh"

namespace stencil_tune {

/// A WindowLoader source: rows of the block's tile, for the thread at `place`.
template <class S, class T>
struct TileRows {
  const SharedTile<S, T>& tile;
  const Field<S, T> (&in)[S::kInputs];
  const ThreadPlace<S, T>& place;
  typename S::Index tile_z;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
    const int z = place.z + p - S::kLowZ;
    const int plane = T::kTileBelow + z;
    tile.template read_row<kLeft, kBody, kRight>(in[f], f, plane, plane >= 0 && plane < T::kTilePlanes, place.x,
                                                 place.y + r - S::kLowY, tile_z + z, body);
  }

  STENCIL_DEVICE typename S::Value cell(int f, int dx, int dy, int dz) const {
    const int z = place.z + dz;
    const int plane = T::kTileBelow + z;
    return tile.cell(in[f], f, plane, plane >= 0 && plane < T::kTilePlanes, place.x + dx, place.y + dy, tile_z + z);
  }
};

template <class S, class T>
STENCIL_DEVICE void tiled(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  using Reads = TileReads<S, T::kRegisterX, T::kRegisterY, T::kRegisterZ>;

  const TileIndex index = tile_of_block<T>(arguments.tiles);
  if (has_no_tile<T>(arguments, index)) return;
  const Index tile_z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(index.z) * T::kTileZ;
  const SharedTile<S, T> tile{reinterpret_cast<typename S::Value*>(shared_memory()),
                              static_cast<Index>(arguments.origin[0]) + static_cast<Index>(index.x) * T::kTileX,
                              static_cast<Index>(arguments.origin[1]) + static_cast<Index>(index.y) * T::kTileY};
  const UpdatedBox<S> box(arguments);
  const auto place = ThreadPlace<S, T>::here();
  Field<S, T> in[S::kInputs];
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) in[f] = input_field<S, T>(arguments, f);

  if constexpr (T::kCover == Cover::input) {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      tile.row(f, thread_z(), thread_y())[thread_x()] =
          in[f].cell(in[f].row(tile.y + place.y, tile_z + place.z), tile.x + place.x);
    }
  } else {
    tile.template load_planes<T::kTilePlanes>(in, 0, tile_z - T::kTileBelow);
  }
  barrier();
  if (!place.computes) return;

  update_tile<S, T, Reads>(arguments, box, tile.x + place.x, tile.y + place.y, tile_z + place.z,
                           TileRows<S, T>{tile, in, place, tile_z});
}

}  // namespace stencil_tune
