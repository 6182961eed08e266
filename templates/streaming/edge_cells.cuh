// Cells beyond the grid's edges in x and y, which TMA fills with zeros. Under clamp, periodic and reflect the threads
// of a block at an edge read the boundary's values from global memory, one plane ahead. Once the plane has arrived they
// write them over the zeros.
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

#include "stencil_tune/field.cuh"
#include "stencil_tune/streaming/ring.cuh"

namespace stencil_tune {

template <class S, class T>
struct EdgeCells {
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Storage = typename S::Storage;

  STENCIL_DEVICE static constexpr bool answered_by_zeros(Boundary boundary) {
    return boundary == Boundary::hold || boundary == Boundary::zero;
  }

  static constexpr int kSideCells = (S::kLowX + S::kHighX) * T::kTileRows;
  static constexpr int kCells = kSideCells + (S::kLowY + S::kHighY) * T::kTileX;
  static constexpr int kThreads = T::kBlockX * T::kBlockY;
  static constexpr int kShare = (kCells + kThreads - 1) / kThreads;  ///< cells of one thread

  Index from[kShare];  ///< each cell's value in a plane of the grid; -1: zero is right
  int to[kShare];      ///< its place in a plane of the pipeline
  Storage cells[S::kInputs][kShare];

  /// Whether the block reads beyond an edge.
  STENCIL_DEVICE static bool are_needed(const BlockTile<S>& tile, const Field<S, T>& in) {
    return tile.x < S::kLowX || tile.x + T::kTileX + S::kHighX > in.nx || tile.y < S::kLowY ||
           tile.y + T::kTileY + S::kHighY > in.ny;
  }

  /// The thread's share of the block's frame.
  STENCIL_DEVICE void find(const BlockTile<S>& tile, const Field<S, T>& in, int thread) {
    const int right = in.nx - tile.x < T::kTileX ? static_cast<int>(in.nx - tile.x) : T::kTileX;
    const int below = in.ny - tile.y < T::kTileY ? static_cast<int>(in.ny - tile.y) : T::kTileY;
    STENCIL_UNROLL
    for (int k = 0; k < kShare; ++k) {
      const Place place = place_of(thread + k * kThreads, right, below);
      const Index x = tile.x + place.x, y = tile.y + place.y;
      const bool outside_x = x < 0 || x >= in.nx, outside_y = y < 0 || y >= in.ny;
      const bool by_zeros = (outside_x && answered_by_zeros(S::kBoundaryX)) ||
                            (outside_y && answered_by_zeros(S::kBoundaryY)) || (!outside_x && !outside_y);
      const int number = thread + k * kThreads;
      // Corners belong to the columns, which are as high as the box.
      const bool mine = number < kSideCells || (number < kCells && place.x < right);
      from[k] = mine && !by_zeros ? inside<S::kBoundaryY>(y, in.ny) * in.stride_y + inside<S::kBoundaryX>(x, in.nx) : Index(-1);
      to[k] = (place.y + S::kLowY) * T::kTilePitch + T::kTileLeft + place.x;
    }
  }

  /// Reads the values for plane z.
  STENCIL_DEVICE void load(const Field<S, T> (&in)[S::kInputs], Index z) {
    const Index plane = inside<S::kBoundaryZ>(z, in[0].nz) * in[0].stride_z;
    const bool zero = is_outside<S::kBoundaryZ>(z, in[0].nz);
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      STENCIL_UNROLL
      for (int k = 0; k < kShare; ++k) {
        if (S::late(f) || from[k] < 0) continue;
        cells[f][k] = zero ? Storage{} : in[f].base[plane + from[k]];
      }
    }
  }

  /// Writes them to the plane in `stage`. A barrier must follow before any thread reads it.
  STENCIL_DEVICE void write(const PlanePipeline<S, T>& pipeline, int stage) const {
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      STENCIL_UNROLL
      for (int k = 0; k < kShare; ++k) {
        if (!S::late(f) && from[k] >= 0) pipeline.plane(f, stage)[to[k]] = cells[f][k];
      }
    }
    fence_async_proxy();
  }

 private:
  /// From the tile's first output on.
  struct Place {
    int x, y;
  };

  /// Cell of the frame; the right and lower parts begin at columns `right`, rows `below`.
  STENCIL_DEVICE static Place place_of(int number, int right, int below) {
    constexpr int kColumns = S::kLowX + S::kHighX > 0 ? S::kLowX + S::kHighX : 1;
    if (number < kSideCells) {
      const int column = number % kColumns;
      return {column < S::kLowX ? column - S::kLowX : right + column - S::kLowX, number / kColumns - S::kLowY};
    }
    const int row = (number - kSideCells) / T::kTileX;
    return {(number - kSideCells) % T::kTileX, row < S::kLowY ? row - S::kLowY : below + row - S::kLowY};
  }
};

/// Where zeros are right beyond all edges.
struct NoEdgeCells {};

template <class S, class T, bool kNeeded>
struct EdgeCellsOf {
  using Type = NoEdgeCells;
};
template <class S, class T>
struct EdgeCellsOf<S, T, true> {
  using Type = EdgeCells<S, T>;
};

}  // namespace stencil_tune
