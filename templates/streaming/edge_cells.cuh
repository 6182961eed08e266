// Cells beyond the grid's edges in x and y, which TMA fills with zeros: a frame of kLowX columns on the left of the tile,
// or of what the grid has of it, kHighX on the right, as high as the plane, kLowY rows above and kHighY below. Under clamp,
// periodic and reflect the threads of a block at an edge copy the cells that answer for them over the zeros, with cp.async,
// once the plane has arrived: a step ahead, so that the copies are on their way while the plane before is in use.
//
//     step n:  1. wait     the thread's own copies to plane n have arrived
//              2. barrier  so have all others
//              3. copy     over the zeros of plane n + 1, when TMA has brought it
//              4. use      plane n
#pragma once

#include "stencil_tune/boundary.cuh"
#include "stencil_tune/choose.cuh"
#include "stencil_tune/streaming/ring.cuh"

namespace stencil_tune {

template <class S, class T>
struct EdgeCells {
  using Index = typename S::Index;
  static constexpr int kColumns = S::kLowX + S::kHighX, kInColumns = kColumns * T::kTileRows;
  static constexpr int kCells = kInColumns + (S::kLowY + S::kHighY) * T::kTileX;
  static constexpr int kThreads = T::kBlockX * T::kBlockY;
  static constexpr int kShare = (kCells + kThreads - 1) / kThreads;  ///< cells of one thread
  const Arguments<S>& a;
  bool at_edge;        ///< the block's tile reads beyond the grid
  Index from[kShare];  ///< each cell's value in a plane of the grid; -1: what TMA brings is right
  int to[kShare];      ///< its place in a plane of the pipeline

  /// Finds the thread's share, by columns and rows from the tile's first output on.
  STENCIL_DEVICE EdgeCells(const Arguments<S>& arguments, const BlockTile<S>& tile, int thread) : a(arguments) {
    const Index nx = Index(a.n[0]), ny = Index(a.n[1]);
    at_edge = any_in_warp(tile.x < S::kLowX || tile.x + T::kTileX + S::kHighX > nx || tile.y < S::kLowY ||
                          tile.y + T::kTileY + S::kHighY > ny);
    if (!at_edge) return;
    const int right = nx - tile.x < T::kTileX ? static_cast<int>(nx - tile.x) : T::kTileX;
    const int below = ny - tile.y < T::kTileY ? static_cast<int>(ny - tile.y) : T::kTileY;
    const auto beside = [](int n, int before, int length) { return n - before + (n < before ? 0 : length); };
    STENCIL_UNROLL
    for (int k = 0; k < kShare; ++k) {
      const int number = thread + k * kThreads, in_rows = number - kInColumns;
      const int column = in_rows < 0 ? beside(number % kColumns, S::kLowX, right) : in_rows % T::kTileX;
      const int row = in_rows < 0 ? number / kColumns - S::kLowY : beside(in_rows / T::kTileX, S::kLowY, below);
      const Index x = tile.x + column, y = tile.y + row;
      const bool of_columns = in_rows >= 0 && column >= right;  // beyond a corner each cell is one thread's
      const bool in_reach = number < kCells && !of_columns && y < ny + S::kHighY;
      const bool outside = in_reach && (x < 0 || x >= nx || y < 0 || y >= ny);
      from[k] = Index(-1);
      if (outside && !is_outside<S::kBoundaryX>(x, nx) && !is_outside<S::kBoundaryY>(y, ny)) {
        from[k] = inside_once<S::kBoundaryY>(y, ny) * Index(a.stride_y) + inside_once<S::kBoundaryX>(x, nx);
      }
      to[k] = (row + S::kLowY) * T::kTilePitch + T::kTileLeft + column;
    }
  }

  /// Starts to copy those of plane z of the grid, which has arrived in `slot`.
  STENCIL_DEVICE void copy(const PlanePipeline<S, T>& pipeline, int slot, Index z) const {
    const Index nz = Index(a.n[2]), plane = inside_once<S::kBoundaryZ>(z, nz) * Index(a.stride_z);
    if (is_outside<S::kBoundaryZ>(z, nz)) return;
    STENCIL_UNROLL
    for (int i = 0; i < S::kInputs * kShare; ++i) {
      if ((S::kHasLate && S::is_late(i / kShare)) || from[i % kShare] < 0) continue;
      copy_cell(pipeline.plane(i / kShare, slot) + to[i % kShare], a.in[i / kShare] + (plane + from[i % kShare]));
    }
    async_commit();
  }

  /// All threads' copies to the plane that is used next are there.
  STENCIL_DEVICE void finish() const {
    async_wait<0>();
    barrier();
  }

 private:
  STENCIL_DEVICE static void copy_cell(typename S::Storage* to, const typename S::Storage* from) {
    constexpr int kBytes = static_cast<int>(sizeof(*to));
    if constexpr (kBytes < 4) {
      *to = *from;
    } else {
      async_copy<kBytes>(to, from);
    }
  }
};

/// Stands in where zeros are right beyond all edges.
template <class S>
struct NoEdgeCells {
  STENCIL_DEVICE NoEdgeCells(const Arguments<S>&, const BlockTile<S>&, int) {}
};

template <class S, class T>
using EdgeCellsOf = Choose<T::kFillsEdges, EdgeCells<S, T>, NoEdgeCells<S>>;

}  // namespace stencil_tune
