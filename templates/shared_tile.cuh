// A tile of the inputs in shared memory, with its halo.
//
// Planes of kTileRows rows of kTilePitch cells, input after input. The output tile's first cell stands at row
// kTileTop, column kTileLeft; kTileLeft and kTilePitch are multiples of kVector, so that vectors stay aligned.
//
//     kTileLeft
//     |<---->|
//     +------+------------------+------+   ^
//     |      |  halo            |      |   | kTileTop rows
//     +------+------------------+------+   v
//     | halo |  output tile     | halo |
//     +------+------------------+------+
//     |      |  halo            |      |
//     +------+------------------+------+
#pragma once

#include "stencil_tune/window.cuh"

namespace stencil_tune {

template <class S, class T>
struct SharedTile {
  using Value = typename S::Value;
  using Index = typename S::Index;

  static constexpr int kThreads = T::kBlockX * T::kBlockY * T::kBlockZ;
  static constexpr int kPlaneCells = T::kTileRows * T::kTilePitch;
  static constexpr int kInputCells = T::kTilePlanes * kPlaneCells;

  Value* cells;
  Index x, y;  ///< the output tile's first cell in the grid

  STENCIL_DEVICE SharedTile(const Arguments<S>& a, const TileIndex& index)
      : cells(reinterpret_cast<Value*>(shared_memory())),
        x(static_cast<Index>(a.origin[0]) + static_cast<Index>(index.x) * T::kTileX),
        y(static_cast<Index>(a.origin[1]) + static_cast<Index>(index.y) * T::kTileY) {}

  STENCIL_DEVICE Value* row(int f, int plane, int r) const {
    return cells + f * kInputCells + plane * kPlaneCells + r * T::kTilePitch;
  }

  STENCIL_DEVICE static int thread_number() {
    return (thread_z() * T::kBlockY + thread_y()) * T::kBlockX + thread_x();
  }

  /// All threads together load `kPlanes` planes from grid plane z on into the tile's planes from `first` on.
  template <int kPlanes>
  STENCIL_DEVICE void load_planes(const Field<S, T> (&in)[S::kInputs], int first, Index z) const {
    constexpr int kVectors = T::kTilePitch / T::kVector;
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      for (int i = thread_number(); i < kPlanes * T::kTileRows * kVectors; i += kThreads) {
        const int r = i / kVectors;
        const int column = i % kVectors * T::kVector;
        load_vector(in[f], f, first + r / T::kTileRows, r % T::kTileRows, column, z + r / T::kTileRows);
      }
    }
  }

  /// Only the cells around the output tile, of one plane.
  STENCIL_DEVICE void load_halo(const Field<S, T> (&in)[S::kInputs], int plane, Index z) const {
    constexpr int kVectors = T::kTilePitch / T::kVector;
    constexpr int kOuterRows = T::kTileRows - T::kTileY;
    constexpr int kSideVectors = (T::kTilePitch - T::kTileX) / T::kVector;
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      for (int i = thread_number(); i < kOuterRows * kVectors; i += kThreads) {
        const int r = i / kVectors;
        load_vector(in[f], f, plane, r < T::kTileTop ? r : r + T::kTileY, i % kVectors * T::kVector, z);
      }
      if constexpr (kSideVectors > 0) {
        for (int i = thread_number(); i < T::kTileY * kSideVectors; i += kThreads) {
          const int column = i % kSideVectors * T::kVector;
          load_vector(in[f], f, plane, T::kTileTop + i / kSideVectors,
                      column < T::kTileLeft ? column : column + T::kTileX, z);
        }
      }
    }
  }

  /// The thread's cells of a row, with kLeft and kRight cells of its halo. The row is (column x of the output tile) +
  /// tile_x, tile_y rows from the output tile's first (negative or beyond it too), plane `plane` of the tile.
  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void read_row(int f, int plane, int tile_x, int tile_y, Value* body) const {
    const Value* from = row(f, plane, T::kTileTop + tile_y) + T::kTileLeft + tile_x;
    if constexpr (kBody) read_body(from, body);
    STENCIL_UNROLL
    for (int i = 1; i <= kLeft; ++i) body[-i] = from[-i];
    STENCIL_UNROLL
    for (int i = 0; i < kRight; ++i) body[T::kRegisterX + i] = from[T::kRegisterX + i];
  }

  /// One cell, addressed like read_row's.
  STENCIL_DEVICE Value cell(int f, int plane, int tile_x, int tile_y) const {
    return row(f, plane, T::kTileTop + tile_y)[T::kTileLeft + tile_x];
  }

  STENCIL_DEVICE static void read_body(const Value* from, Value* body) {
    constexpr int kMost = 16 / static_cast<int>(sizeof(Value));
    constexpr int kCells = T::kVector < kMost ? T::kVector : kMost;
    STENCIL_UNROLL
    for (int i = 0; i < T::kRegisterX; i += kCells) load_cells<LoadHint::cached, kCells>(from + i, body + i);
  }

  STENCIL_DEVICE static void write_body(Value* to, const Value* body) {
    constexpr int kMost = 16 / static_cast<int>(sizeof(Value));
    constexpr int kCells = T::kVector < kMost ? T::kVector : kMost;
    STENCIL_UNROLL
    for (int i = 0; i < T::kRegisterX; i += kCells) store_cells<StoreHint::write_back, kCells>(to + i, body + i);
  }

 private:
  STENCIL_DEVICE void load_vector(const Field<S, T>& in, int f, int plane, int r, int column, Index z) const {
    Value loaded[T::kVector];
    in.vector(in.row(y + (r - T::kTileTop), z), x + (column - T::kTileLeft), loaded);
    STENCIL_UNROLL
    for (int i = 0; i < T::kVector; ++i) row(f, plane, r)[column + i] = loaded[i];
  }
};

/// Where a thread stands in its block's tile. cover = output: at its register tile. cover = input: at the cell it
/// loads; the outermost threads only load.
template <class S, class T>
struct ThreadPlace {
  int x, y, z;     ///< first output, relative to the output tile
  bool computes;

  STENCIL_DEVICE static ThreadPlace here() {
    if constexpr (T::kCover == Cover::output) {
      return {thread_x() * T::kRegisterX, thread_y() * T::kRegisterY, thread_z() * T::kRegisterZ, true};
    }
    const ThreadPlace place{thread_x() - S::kLowX, thread_y() - S::kLowY, thread_z() - T::kTileBelow, true};
    const bool inside = place.x >= 0 && place.x < T::kTileX && place.y >= 0 && place.y < T::kTileY && place.z >= 0 &&
                        place.z < T::kTileZ;
    return {place.x, place.y, place.z, inside};
  }
};

}  // namespace stencil_tune
