// A pipeline of planes in shared memory, filled ahead of a block's walk along z. Each stage has two mbarriers:
//
//     full[stage]   a phase ends when the plane's bytes have arrived
//     empty[stage]  a phase ends when every warp has released the stage
// The stages stand in front. Cells outside the grid arrive as zeros, which is right under hold and zero; planes beyond
// an end of the walk come from the plane that the boundary names. Late inputs (S::is_late) have no place here.
#pragma once

#include "stencil_tune/ring_position.cuh"
#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// Place of input f among those in a stage, in which late ones have none.
template <class S>
STENCIL_DEVICE constexpr int place_in_stage(int f) {
  int place = 0;
  for (int before = 0; before < f; ++before) place += S::is_late(before) ? 0 : 1;
  return place;
}

template <class S, class T>
struct PlanePipeline {
  using Storage = typename S::Storage;
  unsigned char* memory;

  STENCIL_DEVICE Storage* plane(int f, int stage) const {
    if constexpr (S::kHasLate) f = place_in_stage<S>(f);
    return reinterpret_cast<Storage*>(memory + stage * T::kStageBytes + f * T::kPlaneBytes);
  }
  STENCIL_DEVICE Mbarrier* full(int stage) const { return reinterpret_cast<Mbarrier*>(memory + T::kBarriersAt) + stage; }
  STENCIL_DEVICE Mbarrier* empty(int stage) const { return full(stage) + T::kTilePlanes; }

  /// The thread's warp releases the stage: it will not read its plane again.
  STENCIL_DEVICE void release(int thread, int stage) const {
    fence_async_proxy();
    warp_barrier();
    if (thread % 32 == 0) arrive(empty(stage));
  }
};

/// A source of rows for the thread at (tile_x, tile_y) of the tile. Plane p of its reach is p stages after `lowest`.
template <class S, class T>
struct PipelineRows {
  const PlanePipeline<S, T>& pipeline;
  int tile_x, tile_y, lowest;
  static constexpr int kVector = T::kStageVector;
  static constexpr bool kSingles = S::kLowX <= 1 && S::kHighX <= 1;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
    const int place = lowest + p % T::kTilePlanes;
    const int stage = place < T::kTilePlanes ? place : place - T::kTilePlanes;
    const auto* from = pipeline.plane(f, stage) + (tile_y + r) * T::kTilePitch + T::kTileLeft + tile_x;
    if constexpr (kBody) {
      STENCIL_UNROLL
      for (int i = 0; i < T::kRegisterX; i += kVector) load_cells<LoadHint::cached, kVector>(from + i, body + i);
    }
    if constexpr (kSingles) {
      if constexpr (kLeft > 0) load_cells<LoadHint::cached, 1>(from - 1, body - 1);
      if constexpr (kRight > 0) load_cells<LoadHint::cached, 1>(from + T::kRegisterX, body + T::kRegisterX);
    } else {
      if constexpr (kLeft > 0) load_halo<kLeft, (kVector - kLeft % kVector) % kVector>(from - kLeft, body - kLeft);
      if constexpr (kRight > 0) load_halo<kRight, 0>(from + T::kRegisterX, body + T::kRegisterX);
    }
  }

  template <int kCount, int kSkip>
  STENCIL_DEVICE static void load_halo(const typename S::Storage* from, typename S::Value* to) {
    if constexpr (kCount == 1) {
      load_cells<LoadHint::cached, 1>(from, to);
      return;
    }
    // A single cell is cheaper as a scalar, more come as whole vectors from `from` - kSkip on.
    constexpr int kVectors = (kCount + kVector - 1) / kVector;
    typename S::Value cells[kVectors * kVector];
    STENCIL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      load_cells<LoadHint::cached, kVector>(from - kSkip + v * kVector, cells + v * kVector);
    }
    STENCIL_UNROLL
    for (int i = 0; i < kCount; ++i) to[i] = cells[kSkip + i];
  }
};

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
    const Index high_z = static_cast<Index>(a.high[2]);
    if (high_z - tile.z < T::kDepth) tile.steps = static_cast<int>(high_z - tile.z);
    if (has_no_tile<T>(a, index)) tile.steps = 0;
    if constexpr (T::kTiles > 1) {
      const auto& tiles = a.tiles;
      if (tile_number<T>(nth) >= tiles[0] * tiles[1] * tiles[2]) tile.steps = 0;
    }
    return tile;
  }
};

/// The producer, which is the first warp, issues the copies of planes z - low, z - low + 1, ... one after the other:
/// the whole warp acquires a stage, its first thread issues. If one thread branched around the loop, the compiler would
/// keep the coefficients of the whole kernel in vector registers instead of uniform ones.
template <class S, class T>
struct PlaneProducer {
  using Index = typename S::Index;
  using State = PipelineState<T::kTilePlanes>;

  const CopyArguments<S>& arguments;
  const PlanePipeline<S, T>& pipeline;
  BlockTile<S> tile;

  /// One thread, before the block's first barrier.
  STENCIL_DEVICE void init_barriers() const {
    for (int stage = 0; stage < T::kTilePlanes; ++stage) {
      init_mbarrier(pipeline.full(stage), 1);
      init_mbarrier(pipeline.empty(stage), T::kBlockX * T::kBlockY / 32);
    }
    fence_mbarrier_init();
  }

  /// Waits until every warp has released what the stage held before; a fresh stage is free.
  STENCIL_DEVICE void acquire(State to) const { wait_phase(pipeline.empty(to.stage), to.parity ^ 1); }

  STENCIL_DEVICE void issue(int plane, State to) const {
    arrive_expect_tx(pipeline.full(to.stage), T::kCopiedBytes);
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      if (S::kHasLate && S::is_late(f)) continue;
      copy_box(&arguments.maps[f], pipeline.plane(f, to.stage), pipeline.full(to.stage),
               static_cast<int>(tile.x) - T::kTileLeft, static_cast<int>(tile.y) - S::kLowY, z_of(plane));
    }
  }

  STENCIL_DEVICE int z_of(int plane) const {
    if constexpr (S::kBoundaryZ == Boundary::zero) return static_cast<int>(tile.z) - S::kLowZ + plane;
    return static_cast<int>(inside<S::kBoundaryZ>(tile.z - S::kLowZ + plane, Index(arguments.plain.n[2])));
  }
};

}  // namespace stencil_tune
