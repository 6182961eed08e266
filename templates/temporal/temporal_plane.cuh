// A thread's part of a plane of a temporal tile: in registers, and in shared memory, where the thread itself or one of
// another group reads it again.
#pragma once

#include "stencil_tune/element.cuh"
#include "stencil_tune/temporal/temporal_tile.cuh"

namespace stencil_tune {

/// A row, copied hundreds of times in a kernel of fused steps: compilers take longer to unroll as many loops.
template <class Value, int... kI>
STENCIL_DEVICE void copy_cells(const Value* from, Value* to, Indices<kI...>) {
  ((to[kI] = from[kI]), ...);
}

/// A thread's cells of one plane of the tile.
template <class S, class T>
struct TemporalPlane {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;

  Value cells[Shape::kRows][Shape::kCells];

  STENCIL_DEVICE void fill(Value value) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; ++i) cells[j][i] = value;
    }
  }
  STENCIL_DEVICE static TemporalPlane all(Value value) {
    TemporalPlane plane;
    plane.fill(value);
    return plane;
  }
};

/// A warp's plane in shared memory. Lanes write and read their own cells, word by word: neighbouring lanes' lie side by
/// side.
template <class S, class T>
struct WarpPlane {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;

  static constexpr int kWord = Shape::template word_cells<Value>();
  static constexpr int kPlaneCells = Shape::kRows * Shape::kWarpWidth;

  /// The lane's first word of the plane that stands there.
  STENCIL_DEVICE static Value* first_word(Value* plane) { return plane + Shape::lane() * kWord; }

  STENCIL_DEVICE static void store(Value* first_word, const Plane& plane) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; i += kWord) {
        store_cells<StoreHint::write_back, kWord>(first_word + (j * Shape::kWarpWidth + i * 32), plane.cells[j] + i);
      }
    }
  }

  STENCIL_DEVICE static void load(const Value* first_word, Plane& plane) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; i += kWord) {
        load_cells<LoadHint::cached, kWord>(first_word + (j * Shape::kWarpWidth + i * 32), plane.cells[j] + i);
      }
    }
  }
};

}  // namespace stencil_tune
