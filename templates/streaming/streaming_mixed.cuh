// streaming, planes mixed: only the current plane stands in shared memory, each thread keeps its own cells of the other
// planes in registers (the textbook's register tiling). Reads off the current plane must lie on the walking axis.
//
//     registers of a thread            shared memory
//     z+high  [own cells]  <- loaded
//       ...        |
//     z       [own cells]  -> written -> [ current plane with its halo ]
//       ...        v
//     z-low   [own cells]
//
//     step z:  1. load own cells of plane z+high; write own cells of plane z to the tile, load its halo
//              2. barrier    the current plane is complete
//              3. update plane z, store
//              4. barrier    nobody reads the current plane any more
//              5. every plane moves down by one
#pragma once

#include "stencil_tune/shared_tile.cuh"

namespace stencil_tune {

/// A thread's own cells in all planes, and around them (plane z only) what it read from the tile.
template <class S, class T>
struct Column {
  using Index = typename S::Index;
  using Reads = typename T::Reads;
  static constexpr int kNewest = S::kLowZ + S::kHighZ;
  static constexpr int kCurrent = S::kLowZ;

  Window<S, T, Reads> window;

  STENCIL_DEVICE typename S::Value* own(int f, int p, int j) { return window.own_cells(f, p, j + S::kLowY); }

  /// Own cells of plane z as plane p.
  STENCIL_DEVICE void load(const Field<S, T> (&in)[S::kInputs], int p, Index x, Index y, Index z) {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      STENCIL_UNROLL
      for (int j = 0; j < T::kRegisterY; ++j) {
        if constexpr (T::kCover == Cover::input) {
          *own(f, p, j) = in[f].cell(in[f].row(y, z), x);
        } else {
          in[f].load_body(in[f].row(y + j, z), x, own(f, p, j));
        }
      }
    }
  }

  STENCIL_DEVICE void write_current(const SharedTile<S, T>& tile, const ThreadPlace<S, T>& place) {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      STENCIL_UNROLL
      for (int j = 0; j < T::kRegisterY; ++j) {
        tile.write_body(tile.row(f, 0, T::kTileTop + place.y + j) + T::kTileLeft + place.x, own(f, kCurrent, j));
      }
    }
  }

  /// A source of rows: around the own cells of the current plane those of the tile; other planes are there already.
  struct Surroundings {
    const SharedTile<S, T>& tile;
    const ThreadPlace<S, T>& place;

    template <int kLeft, bool kBody, int kRight>
    STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
      if (p != kCurrent) return;
      const int tile_y = place.y + r - S::kLowY;
      if (r >= S::kLowY && r < S::kLowY + T::kRegisterY) {
        tile.template read_row<kLeft, false, kRight>(f, 0, place.x, tile_y, body);
      } else {
        tile.template read_row<kLeft, kBody, kRight>(f, 0, place.x, tile_y, body);
      }
    }
  };

  STENCIL_DEVICE void shift() {
    unrolled<S::kInputs * T::kRegisterY>([&](auto row) {
      constexpr int kF = row / T::kRegisterY, kR = row % T::kRegisterY + S::kLowY;
      window.template shift_down<kF, kR, 0, T::kRegisterX, 0, kNewest>();
    });
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming_mixed(const Arguments<S>& arguments) {
  using Index = typename S::Index;
  using Thread = Column<S, T>;

  const TileIndex index = tile_of_block<T>(arguments.tiles);
  if (has_no_tile<T>(arguments, index)) return;
  const Index first_z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(index.z) * T::kDepth;
  const SharedTile<S, T> tile(arguments, index);
  const UpdatedBox<S> box(arguments);
  const auto place = ThreadPlace<S, T>::here();
  const Index x = tile.x + place.x;
  const Index y = tile.y + place.y;
  const InputFields<S, T> in(arguments);

  Thread column;
  STENCIL_UNROLL
  for (int p = 0; p < Thread::kNewest; ++p) column.load(in.fields, p, x, y, first_z + (p - S::kLowZ));

#pragma unroll T::kUnroll
  for (int step = 0; step < T::kDepth; ++step) {
    const Index z = first_z + step;
    if (z >= box.high_z) break;
    column.load(in.fields, Thread::kNewest, x, y, z + S::kHighZ);
    column.write_current(tile, place);
    if constexpr (T::kCover == Cover::output) tile.load_halo(in.fields, 0, z);
    barrier();
    if (place.computes) {
      T::Reads::load(typename Thread::Surroundings{tile, place}, column.window.cells);
      update_outputs<S, T>(arguments, box, x, y, z, column.window);
    }
    barrier();
    column.shift();
  }
}

}  // namespace stencil_tune
