// streaming, planes in registers: a block walks kDepth planes along z; what a thread read once it keeps.
//
//        z + high   ====  newest plane: own cells of the centre rows are loaded here ...
//           ...     ----
//        z          ++++  rows y-r..y+r and the x halo: loaded when the walk reaches their plane, through the cache
//           ...     ----
//        z - low    ----  ... and used for the last time here
//
// Which part of which row is loaded at which plane, and how long it stays, follows from the taps (RowLives): a star
// keeps only its own column; a box keeps whole rows with their halo. After each plane the window moves down by one:
// register moves, which disappear where the loop is unrolled (kUnroll). No shared memory, no barrier.
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// The walking thread's window on all inputs.
template <class S, class T>
struct Walk {
  using Index = typename S::Index;
  using Reads = WalkReads<S, T::kRegisterX, T::kRegisterY, T::kNeighbours == Neighbours::shuffle>;
  using Lives = RowLives<Reads>;

  Field<S, T> in[S::kInputs];
  Window<S, T, Reads> window;

  /// Before the first step at z: everything that was loaded at an earlier step, had there been one.
  STENCIL_DEVICE void fill(Index x, Index y, Index z) { fill_rows(x, y, z, AllRows{}); }

  /// What comes into reach at z.
  STENCIL_DEVICE void advance_to(Index x, Index y, Index z) { advance_rows(x, y, z, AllRows{}); }

  /// One plane down.
  STENCIL_DEVICE void shift() { shift_rows(AllRows{}); }

 private:
  // Rows of all inputs, numbered f * kRows + r. Which of them exist, and when they are loaded, is known at compile time.
  using AllRows = IndicesBelow<S::kInputs * Reads::kRows>;

  template <int kRow>
  STENCIL_DEVICE static constexpr RowLife life() {
    constexpr Lives kLives;
    return kLives.life[kRow / Reads::kRows][kRow % Reads::kRows];
  }

  template <int... kRow>
  STENCIL_DEVICE void fill_rows(Index x, Index y, Index z, Indices<kRow...>) {
    (fill_row<kRow>(x, y, z), ...);
  }
  template <int kRow>
  STENCIL_DEVICE void fill_row(Index x, Index y, Index z) {
    constexpr RowLife kLife = life<kRow>();
    STENCIL_UNROLL
    for (int p = kLife.body.oldest; p < kLife.body.newest; ++p) load_body<kRow>(p, x, y, z);
    if constexpr (kLife.left_cells > 0) {
      STENCIL_UNROLL
      for (int p = kLife.left.oldest; p < kLife.left.newest; ++p) load_left<kRow>(p, x, y, z);
    }
    if constexpr (kLife.right_cells > 0) {
      STENCIL_UNROLL
      for (int p = kLife.right.oldest; p < kLife.right.newest; ++p) load_right<kRow>(p, x, y, z);
    }
  }

  template <int... kRow>
  STENCIL_DEVICE void advance_rows(Index x, Index y, Index z, Indices<kRow...>) {
    (advance_row<kRow>(x, y, z), ...);
  }
  template <int kRow>
  STENCIL_DEVICE void advance_row(Index x, Index y, Index z) {
    constexpr RowLife kLife = life<kRow>();
    if constexpr (kLife.body.newest >= 0) load_body<kRow>(kLife.body.newest, x, y, z);
    if constexpr (kLife.left.newest >= 0) load_left<kRow>(kLife.left.newest, x, y, z);
    if constexpr (kLife.right.newest >= 0) load_right<kRow>(kLife.right.newest, x, y, z);
  }

  template <int... kRow>
  STENCIL_DEVICE void shift_rows(Indices<kRow...>) {
    (shift_row<kRow>(), ...);
  }
  template <int kRow>
  STENCIL_DEVICE void shift_row() {
    constexpr RowLife kLife = life<kRow>();
    constexpr int kF = kRow / Reads::kRows, kR = kRow % Reads::kRows;
    window.template shift_down<kF, kR, 0, T::kRegisterX, kLife.body.oldest, kLife.body.newest>();
    window.template shift_down<kF, kR, -kLife.left_cells, kLife.left_cells, kLife.left.oldest, kLife.left.newest>();
    window.template shift_down<kF, kR, T::kRegisterX, kLife.right_cells, kLife.right.oldest, kLife.right.newest>();
  }

  template <int kRow>
  STENCIL_DEVICE auto row(int p, Index y, Index z) const {
    return in[kRow / Reads::kRows].row(y + (kRow % Reads::kRows - S::kLowY), z + (p - S::kLowZ));
  }
  template <int kRow>
  STENCIL_DEVICE typename S::Value* body(int p) {
    return window.body(kRow / Reads::kRows, p, kRow % Reads::kRows);
  }
  template <int kRow>
  STENCIL_DEVICE void load_body(int p, Index x, Index y, Index z) {
    in[kRow / Reads::kRows].load_body(row<kRow>(p, y, z), x, body<kRow>(p));
  }
  template <int kRow>
  STENCIL_DEVICE void load_left(int p, Index x, Index y, Index z) {
    in[kRow / Reads::kRows].template load_left<life<kRow>().left_cells>(row<kRow>(p, y, z), x, body<kRow>(p));
  }
  template <int kRow>
  STENCIL_DEVICE void load_right(int p, Index x, Index y, Index z) {
    in[kRow / Reads::kRows].template load_right<life<kRow>().right_cells>(row<kRow>(p, y, z), x, body<kRow>(p));
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming(const Arguments<S>& arguments) {
  using Index = typename S::Index;

  const TileIndex tile = tile_of_block<T::kOrder>(arguments.tiles);
  const Index x = static_cast<Index>(arguments.origin[0]) +
                  (static_cast<Index>(tile.x) * T::kBlockX + thread_x()) * T::kRegisterX;
  const Index y = static_cast<Index>(arguments.origin[1]) +
                  (static_cast<Index>(tile.y) * T::kBlockY + thread_y()) * T::kRegisterY;
  const Index first_z = static_cast<Index>(arguments.origin[2]) + static_cast<Index>(tile.z) * T::kDepth;
  const UpdatedBox<S> box(arguments);
  if constexpr (T::kNeighbours == Neighbours::cache) {
    if (x >= box.high_x || y >= box.high_y) return;
  }

  Walk<S, T> walk;
  STENCIL_UNROLL
  for (int f = 0; f < S::kInputs; ++f) walk.in[f] = input_field<S, T>(arguments, f);
  walk.fill(x, y, first_z);

#pragma unroll T::kUnroll
  for (int step = 0; step < T::kDepth; ++step) {
    const Index z = first_z + step;
    if (z >= box.high_z) break;
    walk.advance_to(x, y, z);
    TileUpdate<S, T, decltype(walk.window)>{arguments, box, x, y, z, walk.window}.run();
    walk.shift();
  }
}

}  // namespace stencil_tune
