// A thread that walks along z keeps, in registers, the cells that its next steps read again.
//
//        z + high   ====  newest plane: own cells of the centre rows are loaded here ...
//           ...     ----
//        z          ++++  rows y-r..y+r and the x halo: loaded when the walk reaches their plane
//           ...     ----
//        z - low    ----  ... and used for the last time here
//
// Which part of a row is loaded at which plane, and how long it is kept, follows from the taps: the generator writes
// it as functions of T::Reads. A star keeps only its own column; a box keeps whole rows with their halo. After each plane
// the window moves down by one. These register moves disappear where the loop is unrolled (kUnroll).
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// Loads parts of rows from a source of rows (see load_window).
template <class Source, class Window>
struct RowLoader {
  const Source& from;
  Window& window;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load(int f, int p, int r) const {
    from.template load_row<kLeft, kBody, kRight>(f, p, r, window.body(f, p, r));
  }
};

/// Sources of rows are made anew for each z.
template <class S, class T>
struct Walk {
  using Reads = typename T::Reads;

  Window<S, T, Reads> window;

  /// Before the first step at z: loads what earlier steps would have loaded from plane kP of the reach.
  template <int kP, class Source>
  STENCIL_DEVICE void fill_plane(const Source& rows) {
    Reads::template fill<kP>(RowLoader<Source, decltype(window)>{rows, window});
  }

  /// What comes into reach at z.
  template <class Source>
  STENCIL_DEVICE void advance_to(const Source& rows) {
    Reads::advance(RowLoader<Source, decltype(window)>{rows, window});
  }

  /// One plane down.
  STENCIL_DEVICE void shift() { Reads::shift(window); }
};

}  // namespace stencil_tune
