// The cells that a temporal block stores in global memory.
#pragma once

#include "stencil_tune/temporal/temporal_plane.cuh"

namespace stencil_tune {

/// Stores those cells of the thread that belong to the block, plane after plane.
template <class S, class T>
struct OutputRows {
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;
  using Cells = typename FieldCells<S>::Output;
  using Value = typename S::Value;

  const TemporalTile<S, T>& tile;
  Cells cells;  ///< the thread's first, of the plane that is stored next
  Index stride_y, stride_z;
  bool whole;            ///< each vector is either stored or not
  unsigned rows = 0;     ///< bit j: row j is stored
  unsigned columns = 0;  ///< bit i: cell i of those rows is stored

  STENCIL_DEVICE OutputRows(const Arguments<S>& a, const TemporalTile<S, T>& t)
      : tile(t), cells(FieldCells<S>::output(a, 0) + (t.low_z * static_cast<Index>(a.stride_z) + t.y * static_cast<Index>(a.stride_y) + t.x)),
        stride_y(static_cast<Index>(a.stride_y)), stride_z(static_cast<Index>(a.stride_z)), whole(t.whole_vectors) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) rows |= (t.y + j >= t.low_y && t.y + j < t.high_y) ? 1u << j : 0u;
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) columns |= (t.x + i >= t.low_x && t.x + i < t.high_x) ? 1u << i : 0u;
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; i += T::kVector) {
      const unsigned vector = columns >> i & ((1u << T::kVector) - 1);
      whole = whole && (vector == 0 || vector == (1u << T::kVector) - 1);
    }
  }

  STENCIL_DEVICE void store(const TemporalPlane<S, T>& plane) {
    if (whole) {
      store_rows<T::kVector>(cells, plane);
    } else {
      store_rows<1>(cells, plane);
    }
    cells += stride_z;
  }

 private:
  template <int kWord>
  STENCIL_DEVICE void store_rows(Cells row, const TemporalPlane<S, T>& plane) const {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; i += kWord) {
        if ((rows >> j & columns >> i & 1) != 0) store_cells<T::kStore, kWord>(row + i, plane.cells[j] + i);
      }
      row += stride_y;
    }
  }
};

}  // namespace stencil_tune
