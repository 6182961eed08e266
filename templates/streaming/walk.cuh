// A thread that walks along z keeps, in registers, the cells that its next steps read again.
//
//        z + high   ====  newest plane: own cells of the centre rows are loaded here ...
//           ...     ----
//        z          ++++  rows y-r..y+r and the x halo: loaded when the walk reaches their plane
//           ...     ----
//        z - low    ----  ... and used for the last time here
//
// Which part of a row is loaded at which plane, and how long it is kept, follows from the taps (RowLife). A star keeps
// only its own column; a box keeps whole rows with their halo. After each plane the window moves down by one. These
// register moves disappear where the loop is unrolled (kUnroll).
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// Rows of all inputs, numbered f * kRows + r. Which of them exist, and when they are loaded, is known at compile time.
template <class S, class T>
using AllRows = IndicesBelow<S::kInputs * T::Reads::kRows>;

/// Sources of rows (see WindowLoader) are made anew for each z.
template <class S, class T>
struct Walk {
  using Reads = typename T::Reads;

  Window<S, T, Reads> window;

  /// Before the first step at z: loads everything that earlier steps would have loaded.
  template <class Source, int... kP>
  STENCIL_DEVICE void fill(const Source& rows, Indices<kP...>) {
    (fill_plane<kP>(rows, AllRows<S, T>{}), ...);
  }

  /// The part of that which lies in plane kP of the reach.
  template <int kP, class Source, int... kRow>
  STENCIL_DEVICE void fill_plane(const Source& rows, Indices<kRow...>) {
    (fill_row<kP, kRow>(rows), ...);
  }

  /// What comes into reach at z.
  template <class Source, int... kRow>
  STENCIL_DEVICE void advance_to(const Source& rows, Indices<kRow...>) {
    (advance_row<kRow>(rows), ...);
  }

  /// One plane down.
  template <int... kRow>
  STENCIL_DEVICE void shift(Indices<kRow...>) {
    (shift_row<kRow>(), ...);
  }

 private:
  template <int kP, int kRow, class Source>
  STENCIL_DEVICE void fill_row(const Source& rows) {
    constexpr RowLife kLife = Reads::life(kRow);
    if constexpr (kLife.body.kept_at(kP)) load<kRow, 0, true, 0>(rows, kP);
    if constexpr (kLife.left.kept_at(kP)) load<kRow, kLife.left_cells, false, 0>(rows, kP);
    if constexpr (kLife.right.kept_at(kP)) load<kRow, 0, false, kLife.right_cells>(rows, kP);
  }

  template <int kRow, class Source>
  STENCIL_DEVICE void advance_row(const Source& rows) {
    constexpr RowLife kLife = Reads::life(kRow);
    if constexpr (kLife.body.newest >= 0) load<kRow, 0, true, 0>(rows, kLife.body.newest);
    if constexpr (kLife.left.newest >= 0) load<kRow, kLife.left_cells, false, 0>(rows, kLife.left.newest);
    if constexpr (kLife.right.newest >= 0) load<kRow, 0, false, kLife.right_cells>(rows, kLife.right.newest);
  }

  template <int kRow, int kLeft, bool kBody, int kRight, class Source>
  STENCIL_DEVICE void load(const Source& rows, int p) {
    constexpr int kF = kRow / Reads::kRows, kR = kRow % Reads::kRows;
    rows.template load_row<kLeft, kBody, kRight>(kF, p, kR, window.body(kF, p, kR));
  }

  template <int kRow>
  STENCIL_DEVICE void shift_row() {
    constexpr RowLife kLife = Reads::life(kRow);
    constexpr int kF = kRow / Reads::kRows, kR = kRow % Reads::kRows;
    window.template shift_down<kF, kR, 0, T::kRegisterX, kLife.body.oldest, kLife.body.newest>();
    window.template shift_down<kF, kR, -kLife.left_cells, kLife.left_cells, kLife.left.oldest, kLife.left.newest>();
    window.template shift_down<kF, kR, T::kRegisterX, kLife.right_cells, kLife.right.oldest, kLife.right.newest>();
  }
};

}  // namespace stencil_tune
