// Cells beyond the grid's edges in x and y, which TMA fills with zeros. Under clamp, periodic and reflect the threads
// of a block at an edge read the boundary's values from global memory, one plane ahead. Once the plane has arrived they
// write them over the zeros. Corners belong to the columns.
//
//     columns   kLowX |<---------- tile ---------->| kHighX
//               +-----+----------------------------+-----+
//     kLowY     |     |        rows above          |     |    a block has at most this frame of cells outside the grid;
//               |left +----------------------------+right|    where the grid ends within the tile, the right and lower
//               |     |                            |     |    parts begin there
//               |     +----------------------------+     |
//     kHighY    |     |        rows below          |     |
//               +-----+----------------------------+-----+
#pragma once

#include "stencil_tune/boundary.cuh"
#include "stencil_tune/streaming/ring.cuh"

namespace stencil_tune {

template <class S>
struct InputArrays {
  using Index = typename S::Index;
  const typename S::Storage* cells[S::kInputs];
  Index nx, ny, nz, stride_y, stride_z;

  STENCIL_DEVICE explicit InputArrays(const Arguments<S>& a)
      : nx(Index(a.n[0])), ny(Index(a.n[1])), nz(Index(a.n[2])),
        stride_y(Index(a.stride_y)), stride_z(Index(a.stride_z)) {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) cells[f] = a.in[f];
  }
};

template <class S, class T>
struct EdgeCells {
  using Index = typename S::Index;
  using Storage = typename S::Storage;

  static constexpr int kColumns = S::kLowX + S::kHighX, kSideCells = kColumns * T::kTileRows;
  static constexpr int kCells = kSideCells + (S::kLowY + S::kHighY) * T::kTileX;
  static constexpr int kThreads = T::kBlockX * T::kBlockY;
  static constexpr int kShare = (kCells + kThreads - 1) / kThreads;  ///< cells of one thread

  Index from[kShare];  ///< each cell's value in a plane of the grid; -1: zero is right
  int to[kShare];      ///< its place in a plane of the pipeline
  Storage cells[S::kInputs][kShare];

  STENCIL_DEVICE static constexpr bool answered_by_zeros(Boundary boundary) {
    return boundary == Boundary::hold || boundary == Boundary::zero;
  }

  /// Whether the block reads beyond an edge.
  STENCIL_DEVICE static bool are_needed(const BlockTile<S>& tile, const InputArrays<S>& in) {
    return tile.x < S::kLowX || tile.x + T::kTileX + S::kHighX > in.nx || tile.y < S::kLowY ||
           tile.y + T::kTileY + S::kHighY > in.ny;
  }

  /// The thread's share of the block's frame.
  STENCIL_DEVICE void find(const BlockTile<S>& tile, const InputArrays<S>& in, int thread) {
    const int right = in.nx - tile.x < T::kTileX ? static_cast<int>(in.nx - tile.x) : T::kTileX;
    const int below = in.ny - tile.y < T::kTileY ? static_cast<int>(in.ny - tile.y) : T::kTileY;
    STENCIL_UNROLL
    for (int k = 0; k < kShare; ++k) {
      const int number = thread + k * kThreads;
      int column, row;  // from the tile's first output on
      if (number < kSideCells) {
        const int place = number % kColumns;
        column = place < S::kLowX ? place - S::kLowX : right + place - S::kLowX;
        row = number / kColumns - S::kLowY;
      } else {
        const int place = (number - kSideCells) / T::kTileX;
        column = (number - kSideCells) % T::kTileX;
        row = place < S::kLowY ? place - S::kLowY : below + place - S::kLowY;
      }
      const Index x = tile.x + column, y = tile.y + row;
      const bool outside_x = x < 0 || x >= in.nx, outside_y = y < 0 || y >= in.ny;
      const bool by_zeros = (outside_x && answered_by_zeros(S::kBoundaryX)) ||
                            (outside_y && answered_by_zeros(S::kBoundaryY)) || (!outside_x && !outside_y);
      const bool mine = number < kSideCells || (number < kCells && column < right);
      from[k] = Index(-1);
      if (mine && !by_zeros) from[k] = inside<S::kBoundaryY>(y, in.ny) * in.stride_y + inside<S::kBoundaryX>(x, in.nx);
      to[k] = (row + S::kLowY) * T::kTilePitch + T::kTileLeft + column;
    }
  }

  /// Reads the values for plane z.
  STENCIL_DEVICE void load(const InputArrays<S>& in, Index z) {
    const Index plane = inside<S::kBoundaryZ>(z, in.nz) * in.stride_z;
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      STENCIL_UNROLL
      for (int k = 0; k < kShare; ++k) {
        if ((S::kHasLate && S::is_late(f)) || from[k] < 0) continue;
        if constexpr (S::kBoundaryZ == Boundary::zero) {
          cells[f][k] = is_outside<S::kBoundaryZ>(z, in.nz) ? Storage{} : in.cells[f][plane + from[k]];
        } else {
          cells[f][k] = in.cells[f][plane + from[k]];
        }
      }
    }
  }

  /// Writes them to the plane in `stage`. A barrier must follow before any thread reads it.
  STENCIL_DEVICE void write(const PlanePipeline<S, T>& pipeline, int stage) const {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      if (S::kHasLate && S::is_late(f)) continue;
      STENCIL_UNROLL
      for (int k = 0; k < kShare; ++k) {
        if (from[k] >= 0) pipeline.plane(f, stage)[to[k]] = cells[f][k];
      }
    }
    fence_async_proxy();
  }
};

/// Where zeros are right beyond all edges.
template <class S>
struct NoEdgeCells {

};

template <class S, class T, bool kNeeded>
struct EdgeCellsOf {
  using Type = NoEdgeCells<S>;
};
template <class S, class T>
struct EdgeCellsOf<S, T, true> {
  using Type = EdgeCells<S, T>;
};

}  // namespace stencil_tune
