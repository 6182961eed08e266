// A ring of planes in shared memory that copies fill ahead of a block's walk along z.
//
//     full[slot]   a phase ends when the plane's bytes are there
//     empty[slot]  a phase ends when every warp has given the slot back
// Rows of the box start on a 32-byte sector (kTileLeft). Cells outside the grid arrive as zeros, which serves hold and
// zero; planes beyond an end of the walk are fetched from where the boundary says, whichever it is.
// Inputs that are late (S::late) have no place in the ring.
#pragma once

#include "stencil_tune/ring_position.cuh"
#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// Place of input f among those in the ring.
template <class S>
STENCIL_DEVICE constexpr int ring_place(int f) {
  int place = 0;
  for (int before = 0; before < f; ++before) place += S::late(before) ? 0 : 1;
  return place;
}

/// The block's shared memory: slots of the inputs' planes, then the barriers.
template <class S, class T>
struct Ring {
  using Storage = typename S::Storage;
  static constexpr int kPlaneCells = T::kTileRows * T::kTilePitch;
  static constexpr int kPlaneBytes = (kPlaneCells * static_cast<int>(sizeof(Storage)) + 127) / 128 * 128;
  static constexpr int kSlotBytes = ring_place<S>(S::kInputs) * kPlaneBytes;

  unsigned char* memory;

  STENCIL_DEVICE Storage* plane(int f, int slot) const {
    return reinterpret_cast<Storage*>(memory + slot * kSlotBytes + ring_place<S>(f) * kPlaneBytes);
  }
  STENCIL_DEVICE CopyBarrier* full(int slot) const {
    return reinterpret_cast<CopyBarrier*>(memory + T::kTilePlanes * kSlotBytes) + slot;
  }
  STENCIL_DEVICE CopyBarrier* empty(int slot) const { return full(slot) + T::kTilePlanes; }
};

/// The thread's warp will not read the slot's plane again.
template <class S, class T>
STENCIL_DEVICE void give_back(const Ring<S, T>& ring, int thread, int slot) {
  fence_copy_engine();
  warp_barrier();
  if (thread % 32 == 0) arrive(ring.empty(slot));
}

/// A source of rows (see WindowLoader): planes in the ring for the thread at (tile_x, tile_y) of the output tile;
/// plane p of its reach lies `p` slots after `lowest`.
template <class S, class T>
struct RingRows {
  const Ring<S, T>& ring;
  int tile_x, tile_y;
  int lowest;

  // Rows of the ring are aligned whatever those in memory are: the widest vector that divides the register tile.
  static constexpr int kMostCells = 16 / static_cast<int>(sizeof(typename S::Storage));
  static constexpr int kVector = T::kRegisterX % kMostCells == 0              ? kMostCells
                                 : kMostCells > 2 && T::kRegisterX % 4 == 0 ? 4
                                 : T::kRegisterX % 2 == 0                     ? 2
                                                                              : 1;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
    const int place = lowest + p % T::kTilePlanes;
    const int slot = place < T::kTilePlanes ? place : place - T::kTilePlanes;
    const typename S::Storage* from =
        ring.plane(f, slot) + (tile_y + r) * T::kTilePitch + T::kTileLeft + tile_x;
    if constexpr (kBody) {
      STENCIL_UNROLL
      for (int i = 0; i < T::kRegisterX; i += kVector) load_cells<LoadHint::cached, kVector>(from + i, body + i);
    }
    if constexpr (kLeft > 0) load_halo<kLeft, (kVector - kLeft % kVector) % kVector>(from - kLeft, body - kLeft);
    if constexpr (kRight > 0) load_halo<kRight, 0>(from + T::kRegisterX, body + T::kRegisterX);
  }

 private:
  /// kCount cells: a single one is cheaper as a scalar, more come as whole vectors from `from` - kSkip on.
  template <int kCount, int kSkip>
  STENCIL_DEVICE static void load_halo(const typename S::Storage* from, typename S::Value* to) {
    if constexpr (kCount == 1) {
      load_cells<LoadHint::cached, 1>(from, to);
      return;
    }
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

/// What a block of the ring kernel works on.
template <class S>
struct RingTile {
  using Index = typename S::Index;
  Index x, y, z;  ///< first output
  int steps;      ///< planes to update; 0: no tile is left

  /// turn: which of the block's tiles.
  template <class T>
  STENCIL_DEVICE static RingTile of_block(const Arguments<S>& arguments, unsigned turn = 0) {
    const TileIndex index = tile_of_block<T>(arguments.tiles, turn);
    RingTile tile{static_cast<Index>(arguments.origin[0]) + static_cast<Index>(index.x) * T::kTileX,
                  static_cast<Index>(arguments.origin[1]) + static_cast<Index>(index.y) * T::kTileY,
                  static_cast<Index>(arguments.origin[2]) + static_cast<Index>(index.z) * T::kDepth, T::kDepth};
    const Index high_z = static_cast<Index>(arguments.high[2]);
    if (high_z - tile.z < T::kDepth) tile.steps = static_cast<int>(high_z - tile.z);
    if (has_no_tile<T>(arguments, index)) tile.steps = 0;
    const auto& tiles = arguments.tiles;
    if (T::kTiles > 1 && tile_number<T>(turn) >= tiles[0] * tiles[1] * tiles[2]) tile.steps = 0;
    return tile;
  }
};

/// The first warp's part: asks for planes z - low, z - low + 1, ... one after the other. A whole warp waits for a free
/// slot, its first thread asks: a thread's own branch around a loop would keep the coefficients of the whole kernel from
/// the uniform registers, and cost a vector register for each.
template <class S, class T>
struct PlaneCopies {
  using Index = typename S::Index;
  using Position = RingPosition<T::kTilePlanes>;
  static constexpr int kBytes =
      ring_place<S>(S::kInputs) * T::kTileRows * T::kTilePitch * static_cast<int>(sizeof(typename S::Storage));

  const CopyArguments<S>& arguments;
  const Ring<S, T>& ring;
  RingTile<S> tile;
  Position position;  ///< where ask_until() goes on
  int next = 0;       ///< with which plane

  /// One thread, before the block's first barrier: asks for the first planes.
  STENCIL_DEVICE void start(int planes) {
    make_barriers();
    ask_until(planes, true);
  }
  STENCIL_DEVICE void make_barriers() const {
    for (int slot = 0; slot < T::kTilePlanes; ++slot) {
      init_copy_barrier(ring.full(slot), 1);
      init_copy_barrier(ring.empty(slot), T::kBlockX * T::kBlockY / 32);
    }
    fence_copy_barriers();
  }

  /// Planes below `end` are asked for; their slots must have been given back, or will be without this thread's doing.
  STENCIL_DEVICE void ask_until(int end, bool asks) {
    const int planes = tile.steps + S::kLowZ + S::kHighZ;
#pragma unroll 1
    for (; next < end && next < planes; ++next) {
      wait_until_free(position);
      if (asks) ask(next, position);
      position.advance();
    }
  }

  /// Until the slot has been given back as often as it was filled; a fresh one is free.
  STENCIL_DEVICE void wait_until_free(Position place) const {
    wait_phase(ring.empty(place.slot), place.parity ^ 1);
  }

  /// Asks for a plane, whose slot must be free.
  STENCIL_DEVICE void ask(int plane, Position place) const {
    arrive_expecting(ring.full(place.slot), kBytes);
    STENCIL_UNROLL
    for (int f = 0; f < S::kInputs; ++f) {
      if (S::late(f)) continue;
      copy_box(&arguments.maps[f], ring.plane(f, place.slot), ring.full(place.slot),
               static_cast<int>(tile.x) - T::kTileLeft, static_cast<int>(tile.y) - S::kLowY, z_of(plane));
    }
  }

 private:
  STENCIL_DEVICE int z_of(int plane) const {
    const Index z = tile.z - S::kLowZ + plane;
    if constexpr (S::kBoundaryZ == Boundary::zero) return static_cast<int>(z);
    return static_cast<int>(inside<S::kBoundaryZ>(z, static_cast<Index>(arguments.plain.n[2])));
  }
};

}  // namespace stencil_tune
