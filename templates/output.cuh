// Writing a thread's outputs: only cells of the box low..high-1 are ever written, T::kRegisterX neighbours at a time.
#pragma once

#include "stencil_tune/arguments.cuh"
#include "stencil_tune/element.cuh"
#include "stencil_tune/layer_arrays.cuh"

namespace stencil_tune {

template <class S>
struct UpdatedBox {
  using Index = typename S::Index;
  Index low_x, high_x, low_y, high_y, low_z, high_z;
  STENCIL_DEVICE explicit UpdatedBox(const Arguments<S>& a)
      : low_x(Index(a.low[0])), high_x(Index(a.high[0])), low_y(Index(a.low[1])), high_y(Index(a.high[1])),
        low_z(Index(a.low[2])), high_z(Index(a.high[2])) {}
  /// Whether a thread whose outputs begin there leaves, as it has none in the box. Lanes that shuffle stay for their
  /// neighbours.
  template <class T>
  STENCIL_DEVICE bool misses(Index x, Index y) const {
    if constexpr (T::kNeighbours != Neighbours::cache) return false;
    return x + T::kRegisterX <= low_x || x >= high_x || y >= high_y;
  }
  STENCIL_DEVICE bool has_row(Index y, Index z) const { return y >= low_y && y < high_y && z >= low_z && z < high_z; }
};

/// All of them lie in the box.
template <class S, class T>
STENCIL_DEVICE void store_whole_row(typename FieldCells<S>::Output to, const typename S::Value* cells) {
  STENCIL_UNROLL
  for (int i = 0; i < T::kRegisterX; i += T::kVector) store_cells<T::kStore, T::kVector>(to + i, cells + i);
}

/// Stores those cells of a row that lie in the box, one by one.
template <class S, class T>
STENCIL_DEVICE void store_part_of_row(typename FieldCells<S>::Output to, const UpdatedBox<S>& box, typename S::Index x,
                                      const typename S::Value* cells) {
  STENCIL_UNROLL
  for (int i = 0; i < T::kRegisterX; ++i) {
    if (x + i >= box.low_x && x + i < box.high_x) store_cells<T::kStore, 1>(to + i, cells + i);
  }
}

/// Stores a thread's row from x on: whole vectors inside the box at once, at its edges cell by cell.
template <class S, class T>
STENCIL_DEVICE void store_row(typename FieldCells<S>::Output row, const UpdatedBox<S>& box, typename S::Index x,
                              const typename S::Value* cells) {
  constexpr int kVector = T::kVector;
  STENCIL_UNROLL
  for (int i = 0; i < T::kRegisterX; i += kVector) {
    const typename S::Index first = x + i;
    if (first >= box.low_x && first + kVector <= box.high_x) {
      store_cells<T::kStore, kVector>(row + first, cells + i);
    } else if (kVector > 1) {
      STENCIL_UNROLL
      for (int e = 0; e < kVector; ++e) {
        if (first + e >= box.low_x && first + e < box.high_x) store_cells<T::kStore, 1>(row + first + e, cells + i + e);
      }
    }
  }
}

/// The same of a field in layers of kernel axis kAxis, for row (y, z): cells of no layer are not stored.
template <class S, class T, int kAxis, class Index>
STENCIL_DEVICE void store_in_layers(const Arguments<S>& arguments, typename FieldCells<S>::Output array,
                                    const UpdatedBox<S>& box, Index x, Index y, Index z,
                                    const typename S::Value* cells) {
  const LayerArray<S, kAxis> layers(arguments);
  if constexpr (kAxis == 0) {
    const auto row = array + (y * layers.stride_y + z * layers.stride_z);
    STENCIL_UNROLL
    for (int i = 0; i < T::kRegisterX; ++i) {
      const bool is_stored = x + i >= box.low_x && x + i < box.high_x && layers.has(x + i);
      if (is_stored) store_cells<T::kStore, 1>(row + layers.place(x + i), cells + i);
    }
  } else {
    if (!layers.has(kAxis == 1 ? y : z)) return;
    const Index place_y = kAxis == 1 ? layers.place(y) : y, place_z = kAxis == 2 ? layers.place(z) : z;
    store_row<S, T>(array + (place_y * layers.stride_y + place_z * layers.stride_z), box, x, cells);
  }
}

}  // namespace stencil_tune
