// Reading an input field in global memory: whole rows of a register tile, or a few cells, boundaries included.
#pragma once

#include "stencil_tune/arguments.cuh"
#include "stencil_tune/boundary.cuh"
#include "stencil_tune/choose.cuh"
#include "stencil_tune/layer_arrays.cuh"
#include "stencil_tune/tuning.cuh"

namespace stencil_tune {

/// An input's array where some are of fields in layers. Field asks for places behind `if constexpr`: from a function that
/// hands other cells on as they are, compilers make other machine code of kernels that were tuned.
template <class S>
struct ArrayInLayers {
  using Cells = typename FieldCells<S>::Input;
  using Index = typename S::Index;

  Cells base;
  int layers;                 ///< the kernel's axis in whose layers the input exists; -1: none
  CellsInArray<Index> along;  ///< cells along it

  STENCIL_DEVICE Cells operator+(Index cells) const { return base + cells; }

  /// Where a cell along an axis stands; kVector: the first of as many.
  template <int kAxis, int kVector = 1>
  STENCIL_DEVICE Index place(Index cell) const {
    return layers == kAxis ? along.template place<kVector>(cell) : cell;
  }
};

/// Addresses are always inside the array: indices beyond an edge are first mapped by the boundary. Vector loads are
/// aligned, so only whole vectors can lie beyond an edge; those are redirected to the nearest one in the row, and the
/// cells that matter are then patched one by one (never under hold, where they are not used).
template <class S, class T>
struct Field {
  using Cells = typename FieldCells<S>::Input;
  using Value = typename S::Value;
  using Index = typename S::Index;

  static constexpr int kBody = T::kRegisterX, kVector = T::kVector;
  static constexpr bool kPatchX = S::kBoundaryX != Boundary::hold;
  static constexpr bool kZeroRows = S::kBoundaryY == Boundary::zero || S::kBoundaryZ == Boundary::zero;

  Choose<T::kSlabs, ArrayInLayers<S>, Cells> base;
  Index nx, ny, nz, stride_y, stride_z;

  struct Row {
    Cells cells;
    bool outside;  ///< boundary zero and the row lies beyond an edge: all its cells are 0
  };

  STENCIL_DEVICE Row row(Index y, Index z) const {
    Index inside_y = T::kInsideY ? y : inside<S::kBoundaryY, T::kTurnsOnce>(y, ny);
    Index inside_z = T::kInsideZ ? z : inside<S::kBoundaryZ, T::kTurnsOnce>(z, nz);
    if constexpr (T::kSlabs) {
      inside_y = base.template place<1>(inside_y);
      inside_z = base.template place<2>(inside_z);
    }
    const Cells cells = base + (inside_y * stride_y + inside_z * stride_z);
    if constexpr (kZeroRows) return {cells, is_outside<S::kBoundaryY>(y, ny) || is_outside<S::kBoundaryZ>(z, nz)};
    return {cells, false};
  }

  /// One cell of a row, any x.
  STENCIL_DEVICE Value cell(const Row& row, Index x) const {
    if constexpr (kZeroRows) {
      if (row.outside) return Value(0);
    }
    if constexpr (S::kBoundaryX == Boundary::zero) {
      if (is_outside<S::kBoundaryX>(x, nx)) return Value(0);
    }
    Value value;
    Index inside_x = T::kInsideX ? x : inside<S::kBoundaryX, T::kTurnsOnce>(x, nx);
    if constexpr (T::kSlabs) inside_x = base.template place<0>(inside_x);
    load_cells<T::kLoad, 1>(row.cells + inside_x, &value);
    return value;
  }

  /// kVector neighbouring cells from x, a multiple of kVector (negative or beyond the row too).
  template <bool kAlone = false>
  STENCIL_DEVICE void vector(const Row& row, Index x, Value* to) const {
    if constexpr (kVector == 1) {
      to[0] = cell(row, x);
    } else {
      const Index last = (nx - 1) / kVector * kVector;
      Index readable = x < 0 ? Index(0) : (x > last ? last : x);
      if constexpr (kZeroRows) {
        if (row.outside) {
          STENCIL_UNROLL
          for (int i = 0; i < kVector; ++i) to[i] = Value(0);
          return;
        }
      }
      if constexpr (T::kSlabs) readable = base.template place<0, kVector>(readable);
      stencil_tune::load_cells<T::kLoad, kVector>(row.cells + readable, to);
      if constexpr (kPatchX && !kAlone) {
        if (x < 0 || x + kVector > nx) {
          STENCIL_UNROLL
          for (int i = 0; i < kVector; ++i) {
            if (x + i < 0 || x + i >= nx) to[i] = cell(row, x + i);
          }
        }
      }
    }
  }

  /// The thread's own kBody cells from x on. kAlone: no output reads cells of the row beside its own.
  template <bool kAlone = false>
  STENCIL_DEVICE void load_body(const Row& row, Index x, Value* body) const {
    STENCIL_UNROLL
    for (int i = 0; i < kBody; i += kVector) vector<kAlone>(row, x + i, body + i);
  }

  /// kCount cells before the body, which starts at body[0] = x: fills body[-kCount .. -1].
  /// With shuffles the lane before hands over its own cells (boundary already applied); the first lane has none.
  template <int kCount>
  STENCIL_DEVICE void load_left(const Row& row, Index x, Value* body) const {
    if constexpr (T::kNeighbours == Neighbours::shuffle) {
      STENCIL_UNROLL
      for (int i = 1; i <= kCount; ++i) body[-i] = shuffle_up(body[kBody - i], 1, kLanesInRow);
      if (thread_x() % kLanesInRow != 0) return;
    }
    constexpr int kPadded = kHaloVectors<kCount> * kVector;
    load_outside<kCount, kPadded - kCount>(row, x - kCount, body - kCount);
  }

  /// kCount cells after the body: fills body[kBody .. kBody + kCount - 1].
  template <int kCount>
  STENCIL_DEVICE void load_right(const Row& row, Index x, Value* body) const {
    if constexpr (T::kNeighbours == Neighbours::shuffle) {
      STENCIL_UNROLL
      for (int i = 0; i < kCount; ++i) body[kBody + i] = shuffle_down(body[i], 1, kLanesInRow);
      if (thread_x() % kLanesInRow != kLanesInRow - 1) return;
    }
    load_outside<kCount, 0>(row, x + kBody, body + kBody);
  }

 private:
  static constexpr int kLanesInRow = T::kBlockX < 32 ? T::kBlockX : 32;

  template <int kCount>
  static constexpr int kHaloVectors = (kCount + kVector - 1) / kVector;

  /// Cells x .. x + kCount - 1.
  template <int kCount, int kSkip>
  STENCIL_DEVICE void load_outside(const Row& row, Index x, Value* to) const {
    constexpr bool kIsSingle = S::kLowX <= 1 && S::kHighX <= 1;  // whatever row it is
    if constexpr (kVector == 1 || kIsSingle || kCount == 1) {
      STENCIL_UNROLL
      for (int i = 0; i < kCount; ++i) to[i] = cell(row, x + i);
    } else {
      // A single cell is cheaper as a scalar load; more come as whole vectors, of which the first kSkip are not wanted.
      Value cells[kHaloVectors<kCount> * kVector];
      STENCIL_UNROLL
      for (int v = 0; v < kHaloVectors<kCount>; ++v) vector(row, x - kSkip + v * kVector, cells + v * kVector);
      STENCIL_UNROLL
      for (int i = 0; i < kCount; ++i) to[i] = cells[kSkip + i];
    }
  }
};

}  // namespace stencil_tune
