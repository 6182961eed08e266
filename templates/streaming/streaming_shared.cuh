// streaming, planes shared: all planes in reach stand in shared memory; the block walks kDepth planes along z
// (the textbook's thread coarsening).
//
//     slots of the ring   | z-low | ... | z | ... | z+high |        one plane with its halo each
//     step z:  1. load plane z+high over the plane that was last needed one step ago
//              2. barrier    the new plane has arrived
//              3. update plane z from all slots, store
//              4. barrier    nobody reads the oldest plane any more
#pragma once

#include "stencil_tune/shared_tile.cuh"

namespace stencil_tune {

template <class S, class T>
STENCIL_DEVICE void load_ring_plane(const SharedTile<S, T>& tile, const Field<S, T> (&in)[S::kInputs],
                                    const ThreadPlace<S, T>& place, int slot, typename S::Index z) {
  if constexpr (T::kCover == Cover::input) {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      tile.row(f, slot, thread_y())[thread_x()] = in[f].cell(in[f].row(tile.y + place.y, z), tile.x + place.x);
    }
  } else {
    tile.template load_planes<1>(in, slot, z);
  }
}

/// The rows of the planes in the ring, for the thread at `place`.
template <class S, class T>
struct SlotRows {
  const SharedTile<S, T>& tile;
  const ThreadPlace<S, T>& place;
  int oldest;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
    tile.template read_row<kLeft, kBody, kRight>(f, slot_of(p), place.x, place.y + r - S::kLowY, body);
  }

  STENCIL_DEVICE typename S::Value cell(int f, int dx, int dy, int dz) const {
    return tile.cell(f, slot_of(dz + S::kLowZ), place.x + dx, place.y + dy);
  }

  STENCIL_DEVICE int slot_of(int p) const { return oldest + p < T::kTilePlanes ? oldest + p : oldest + p - T::kTilePlanes; }
};

template <class S, class T>
STENCIL_DEVICE void streaming_shared(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  constexpr int kSlots = T::kTilePlanes;

  const TileIndex index = tile_of_block<T>(arguments.tiles);
  if (has_no_tile<T>(arguments, index)) return;
  const Index first_z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(index.z) * T::kDepth;
  const SharedTile<S, T> tile(arguments, index);
  const UpdatedBox<S> box(arguments);
  const auto place = ThreadPlace<S, T>::here();
  const InputFields<S, T> in(arguments);

  for (int p = 0; p + 1 < kSlots; ++p) load_ring_plane(tile, in.fields, place, p, first_z + (p - S::kLowZ));

  int oldest = 0;  // slot of plane z - low
  for (int step = 0; step < T::kDepth; ++step) {
    const Index z = first_z + step;
    if (z >= box.high_z) break;
    load_ring_plane(tile, in.fields, place, oldest == 0 ? kSlots - 1 : oldest - 1, z + S::kHighZ);
    barrier();
    if (place.computes) {
      update_tile<S, T>(arguments, box, tile.x + place.x, tile.y + place.y, z,
                               SlotRows<S, T>{tile, place, oldest});
    }
    barrier();
    oldest = oldest + 1 < kSlots ? oldest + 1 : 0;
  }
}

}  // namespace stencil_tune
