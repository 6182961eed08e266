// The kernel's one parameter, which the host packs member by member, and which tile of the grid a block works on. Axes
// are x (contiguous), y, z; a 2D grid's second axis is the z of kernels that walk along z. S: the stencil.
#pragma once

#include "stencil_tune/element.cuh"
#include "stencil_tune/tile_grid.cuh"
#include "stencil_tune/tuning.cuh"

namespace stencil_tune {

template <class S>
struct Arguments {
  const typename S::Storage* in[S::kInputs];
  typename S::Storage* out[S::kOutputs];
  long long low[3];     ///< first cell to update, per axis
  long long high[3];    ///< one past the last
  long long origin[3];  ///< where the first tile's outputs begin; x is aligned down to a 128-byte line
  long long n[3];       ///< extents of the grid
  long long stride_y;   ///< cells from one row to the next
  long long stride_z;   ///< cells from one plane to the next
  unsigned tiles[3];    ///< tiles along each axis, or clusters' tiles, where blocks form clusters
  unsigned reserved;
  typename S::Value coefficients[S::kCoefficients > 0 ? S::kCoefficients : 1];
};

/// What points to the cells of the arrays: typed_cells.cuh has that of fields that are stored in several types.
template <class S, class Storage = typename S::Storage>
struct FieldCells {
  using Input = const Storage*;
  using Output = Storage*;
  template <int kInput>
  using InputCell = Storage;

  STENCIL_DEVICE static Input input(const Arguments<S>& a, int f) { return a.in[f]; }
  STENCIL_DEVICE static Output output(const Arguments<S>& a, int o) { return a.out[o]; }
  STENCIL_DEVICE static Input profile(long long address, int) { return reinterpret_cast<Input>(address); }
};

/// The cells of an input whose number is a constant.
template <int kInput, class S>
STENCIL_DEVICE const typename FieldCells<S>::template InputCell<kInput>* input_cells(const Arguments<S>& a) {
  return reinterpret_cast<const typename FieldCells<S>::template InputCell<kInput>*>(a.in[kInput]);
}

/// For kernels whose planes TMA copies.
template <class S>
struct CopyArguments {
  TensorMap maps[S::kInputs];
  Arguments<S> plain;
};

struct TileIndex {
  unsigned x, y, z;
};

/// The number of the nth tile of a block, or of its cluster.
template <class T>
STENCIL_DEVICE unsigned tile_number([[maybe_unused]] unsigned nth) {
  if constexpr (T::kTiles == 1) return block_x() / T::kCluster;
  // The tiles of one block are as far apart as there are clusters: tiles that are updated at one time lie together.
  return block_x() / T::kCluster + nth * (blocks_in_x() / T::kCluster);
}

/// Where the tile, or the cluster of tiles, of that number lies.
template <class T>
STENCIL_DEVICE TileIndex unfold(unsigned block, [[maybe_unused]] const unsigned (&tiles)[3]) {
  if constexpr (T::kOrder == BlockOrder::natural) {
    return {block % tiles[0], block / tiles[0] % tiles[1], block / tiles[0] / tiles[1]};
  }
  if constexpr (T::kOrder == BlockOrder::z_first) {
    const unsigned column = block / tiles[2];
    return {column % tiles[0], column / tiles[0], block % tiles[2]};
  }
  constexpr unsigned kStrip = T::kOrder == BlockOrder::raster ? 8 : 32;  // tile rows that share halos in L2
  const unsigned strip = block / (tiles[0] * kStrip * tiles[2]);
  const unsigned first_row = strip * kStrip;
  const unsigned rows = tiles[1] - first_row < kStrip ? tiles[1] - first_row : kStrip;
  const unsigned within = block - strip * (tiles[0] * kStrip * tiles[2]);
  return {within % tiles[0], first_row + within / tiles[0] % rows, within / (tiles[0] * rows)};
}

/// The tile of the block: the hardware's block index says it, unless tiles are numbered along x alone. nth: see
/// tile_number().
template <class T>
STENCIL_DEVICE TileIndex tile_of_block([[maybe_unused]] const unsigned (&tiles)[3], [[maybe_unused]] unsigned nth = 0) {
  constexpr bool kNumbered = T::kOrder != BlockOrder::natural || T::kTiles > 1;
  if constexpr (!kNumbered && T::kCluster == 1) return {block_x(), block_y(), block_z()};
  if constexpr (T::kCluster == 1 || T::kClusterAxis < 0) {
    if constexpr (!kNumbered) return {block_x() / T::kCluster, block_y(), block_z()};
    return unfold<T>(tile_number<T>(nth), tiles);
  } else {
    TileIndex tile{block_x() / T::kCluster, block_y(), block_z()};
    if constexpr (kNumbered) tile = unfold<T>(tile_number<T>(nth), tiles);
    // T::kCluster blocks that follow each other in x are a cluster. Their tiles lie one after the other along an axis. A
    // cluster runs in one GPC, near one half of L2: what neighbouring tiles both read crosses from the other half once.
    const unsigned rank = block_x() % T::kCluster;
    if constexpr (T::kClusterAxis == 0) tile.x = tile.x * T::kCluster + rank;
    if constexpr (T::kClusterAxis == 1) tile.y = tile.y * T::kCluster + rank;
    if constexpr (T::kClusterAxis == 2) tile.z = tile.z * T::kCluster + rank;
    return tile;
  }
}

/// Whether the last cluster on its axis has no tile left for this block.
template <class T, class S>
STENCIL_DEVICE bool has_no_tile([[maybe_unused]] const Arguments<S>& a, [[maybe_unused]] const TileIndex& tile) {
  if constexpr (T::kCluster == 1 || T::kClusterAxis < 0) return false;
  if constexpr (T::kClusterAxis == 0) return a.origin[0] + static_cast<long long>(tile.x) * T::kTileX >= a.high[0];
  if constexpr (T::kClusterAxis == 1) return a.origin[1] + static_cast<long long>(tile.y) * T::kTileY >= a.high[1];
  return a.origin[2] + static_cast<long long>(tile.z) * T::kTileZ >= a.high[2];
}

/// Where the thread's outputs begin along x, and along y.
template <class T, class S>
STENCIL_DEVICE typename S::Index first_x(const Arguments<S>& a, const TileIndex& tile) {
  using Index = typename S::Index;
  return Index(a.origin[0]) + (Index(tile.x) * T::kBlockX + thread_x()) * T::kRegisterX;
}
template <class T, class S>
STENCIL_DEVICE typename S::Index first_y(const Arguments<S>& a, const TileIndex& tile) {
  using Index = typename S::Index;
  return Index(a.origin[1]) + (Index(tile.y) * T::kBlockY + thread_y()) * T::kRegisterY;
}

/// The nth of the tiles that a block updates.
template <class S>
struct BlockTile {
  using Index = typename S::Index;
  Index x, y, z;  ///< first output
  int steps;      ///< planes to update; 0: no tile is left
  template <class T>
  STENCIL_DEVICE static BlockTile of_block(const Arguments<S>& a, unsigned nth = 0) {
    const TileIndex index = tile_of_block<T>(a.tiles, nth);
    BlockTile tile{Index(a.origin[0]) + Index(index.x) * T::kTileX, Index(a.origin[1]) + Index(index.y) * T::kTileY,
                   Index(a.origin[2]) + Index(index.z) * T::kDepth, T::kDepth};
    if (Index(a.high[2]) - tile.z < T::kDepth) tile.steps = static_cast<int>(Index(a.high[2]) - tile.z);
    if (has_no_tile<T>(a, index)) tile.steps = 0;
    if constexpr (T::kTiles > 1) {
      const auto& tiles = a.tiles;
      if (tile_number<T>(nth) >= tiles[0] * tiles[1] * tiles[2]) tile.steps = 0;
    }
    return tile;
  }
};

}  // namespace stencil_tune
