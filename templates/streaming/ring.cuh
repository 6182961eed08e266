// A pipeline of planes in shared memory, filled ahead of a block's walk along z. Behind them two mbarriers a slot:
//     full[slot]   a phase ends when the plane's bytes have arrived
//     empty[slot]  a phase ends when every warp has released the slot
// Cells outside the grid arrive as zeros, which is right under hold and zero; planes beyond an end of the walk come
// from the plane that the boundary names. Late inputs (S::is_late) have no place in a slot.
#pragma once

#include "stencil_tune/ring_position.cuh"
#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// Place of input f among those in a slot, in which late ones have none.
template <class S>
STENCIL_DEVICE constexpr int place_in_slot(int f) {
  int place = 0;
  for (int before = 0; before < f; ++before) place += S::is_late(before) ? 0 : 1;
  return place;
}

template <class S, class T>
struct PlanePipeline {
  using Storage = typename S::Storage;
  unsigned char* memory;
  STENCIL_DEVICE Storage* plane(int f, int slot) const {
    if constexpr (S::kHasLate) f = place_in_slot<S>(f);
    return reinterpret_cast<Storage*>(memory + slot * T::kSlotBytes + f * T::kPlaneBytes);
  }
  STENCIL_DEVICE Mbarrier* full(int slot) const { return reinterpret_cast<Mbarrier*>(memory + T::kBarriersAt) + slot; }
  STENCIL_DEVICE Mbarrier* empty(int slot) const { return full(slot) + T::kTilePlanes; }

  /// One thread, before the block's first barrier.
  STENCIL_DEVICE void init_barriers() const {
    for (int slot = 0; slot < T::kTilePlanes; ++slot) {
      init_mbarrier(full(slot), 1);
      init_mbarrier(empty(slot), T::kBlockX * T::kBlockY / 32);
    }
    fence_mbarrier_init();
  }

  /// One thread starts to copy a plane of the tile, counted from its lowest, to a slot that every warp has released.
  STENCIL_DEVICE void fill(int slot, const CopyArguments<S>& arguments, const BlockTile<S>& tile, int plane) const {
    arrive_expect_tx(full(slot), T::kCopiedBytes);
    auto z = tile.z - S::kLowZ + plane;
    if constexpr (S::kBoundaryZ != Boundary::zero) z = inside_once<S::kBoundaryZ>(z, decltype(z)(arguments.plain.n[2]));
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      if (S::kHasLate && S::is_late(f)) continue;
      copy_box(&arguments.maps[f], this->plane(f, slot), full(slot), static_cast<int>(tile.x) - T::kTileLeft,
               static_cast<int>(tile.y) - S::kLowY, static_cast<int>(z));
    }
  }

  /// The thread's warp will not read the slot's plane again.
  STENCIL_DEVICE void release(int thread, int slot) const {
    fence_async_proxy();
    warp_barrier();
    if (thread % 32 == 0) arrive(empty(slot));
  }
};

/// A source of rows for the thread at (tile_x, tile_y) of the tile: those of the plane in `slot`.
template <class S, class T>
struct PlaneRows {
  const PlanePipeline<S, T>& pipeline;
  int tile_x, tile_y, slot;
  static constexpr int kVector = T::kSlotVector;
  static constexpr bool kSingles = S::kLowX <= 1 && S::kHighX <= 1;
  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int, int r, typename S::Value* body) const {
    const auto* from = pipeline.plane(f, slot) + (tile_y + r) * T::kTilePitch + T::kTileLeft + tile_x;
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

/// A source of rows: plane p of the thread's reach is p slots after `lowest`. Kernels that read one plane at a time, and
/// could do with PlaneRows, have it where they were tuned with it.
template <class S, class T>
struct PipelineRows {
  const PlanePipeline<S, T>& pipeline;
  int tile_x, tile_y, lowest;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
    const int place = lowest + p % T::kTilePlanes;
    const int slot = place < T::kTilePlanes ? place : place - T::kTilePlanes;
    PlaneRows<S, T>{pipeline, tile_x, tile_y, slot}.template load_row<kLeft, kBody, kRight>(f, p, r, body);
  }
};

}  // namespace stencil_tune
