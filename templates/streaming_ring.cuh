// streaming, planes in a ring: the copy engine brings planes with their halo to shared memory, several ahead of the
// walk; each thread keeps its own column in registers (walk.cuh) and reads neighbouring rows from the ring.
//
//     thread 0, each step               shared memory                       every warp, each step
//     wait until a slot is free         slot 0 | plane n     (full) |       wait until the newest plane is full
//     expect bytes, ask for the   --->  slot 1 | plane n + 1 (full) | --->  load what comes into reach, update, store
//     box of a plane further on         slot 2 | on its way         |       give back the plane it never reads again
//
//     full[slot]   a phase ends when the plane's bytes are there
//     empty[slot]  a phase ends when every warp has given the slot back
// No barrier joins all threads after the start: warps drift apart by up to two steps. (A warp of its own for the copies
// costs more than it brings: registers are handed out to four warps at a time.)
//
// Rows of the box start on a 32-byte sector (kTileLeft). Cells outside the grid
// arrive as zeros, which serves hold and zero; planes beyond an end of the walk are fetched from where the boundary
// says, whichever it is.
#pragma once

#include "stencil_tune/walk.cuh"

namespace stencil_tune {

/// The block's shared memory: slots of all inputs' planes, then the barriers.
template <class S, class T>
struct Ring {
  using Storage = typename S::Storage;
  static constexpr int kPlaneCells = T::kTileRows * T::kTilePitch;
  static constexpr int kPlaneBytes = (kPlaneCells * static_cast<int>(sizeof(Storage)) + 127) / 128 * 128;
  static constexpr int kSlotBytes = S::kInputs * kPlaneBytes;

  unsigned char* memory;

  STENCIL_DEVICE Storage* plane(int f, int slot) const {
    return reinterpret_cast<Storage*>(memory + slot * kSlotBytes + f * kPlaneBytes);
  }
  STENCIL_DEVICE CopyBarrier* full(int slot) const {
    return reinterpret_cast<CopyBarrier*>(memory + T::kTilePlanes * kSlotBytes) + slot;
  }
  STENCIL_DEVICE CopyBarrier* empty(int slot) const { return full(slot) + T::kTilePlanes; }
};

/// A position in the sequence of planes n = 0, 1, 2, ...: its slot, and how often the ring has gone round (parity).
template <int kSlots>
struct RingPosition {
  int slot = 0;
  int parity = 0;

  STENCIL_DEVICE void advance() {
    if (++slot == kSlots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

/// A WindowLoader source: rows of the planes in the ring for the thread at (tile_x, tile_y) of the output tile;
/// plane p of its reach lies `p` slots after `lowest`.
template <class S, class T>
struct RingRows {
  const Ring<S, T>& ring;
  int tile_x, tile_y;
  int lowest;

  template <int kLeft, bool kBody, int kRight>
  STENCIL_DEVICE void load_row(int f, int p, int r, typename S::Value* body) const {
    constexpr int kVector = T::kVector;
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
  /// kCount cells from `from` on, as whole vectors whose first kSkip cells are not wanted; or from the next lanes.
  template <int kCount, int kSkip>
  STENCIL_DEVICE static void load_halo(const typename S::Storage* from, typename S::Value* to) {
    constexpr int kVector = T::kVector;
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
  int steps;      ///< planes to update
};

/// Thread 0's part: asks for planes z - low, z - low + 1, ... one after the other.
template <class S, class T>
struct PlaneCopies {
  using Index = typename S::Index;
  static constexpr int kBytes =
      S::kInputs * T::kTileRows * T::kTilePitch * static_cast<int>(sizeof(typename S::Storage));

  const CopyArguments<S>& arguments;
  const Ring<S, T>& ring;
  const RingTile<S>& tile;
  RingPosition<T::kTilePlanes> position;
  int next = 0;  ///< plane to ask for

  /// Planes below `end` are asked for; their slots must have been given back, or will be without this thread's doing.
  STENCIL_DEVICE void ask_until(int end) {
    const int planes = tile.steps + S::kLowZ + S::kHighZ;
    for (; next < end && next < planes; ++next) {
      if (next >= T::kTilePlanes) wait_phase(ring.empty(position.slot), position.parity ^ 1);
      arrive_expecting(ring.full(position.slot), kBytes);
      STENCIL_UNROLL
      for (int f = 0; f < S::kInputs; ++f) {
        copy_box(&arguments.maps[f], ring.plane(f, position.slot), ring.full(position.slot),
                 static_cast<int>(tile.x) - T::kTileLeft, static_cast<int>(tile.y) - S::kLowY, plane_z());
      }
      position.advance();
    }
  }

 private:
  STENCIL_DEVICE int plane_z() const {
    const Index z = tile.z - S::kLowZ + next;
    if constexpr (S::kBoundaryZ == Boundary::zero) return static_cast<int>(z);
    return static_cast<int>(inside<S::kBoundaryZ>(z, static_cast<Index>(arguments.plain.n[2])));
  }
};

/// One thread's walk along the ring.
template <class S, class T>
struct RingWalk {
  static constexpr int kSlots = T::kTilePlanes;

  const Ring<S, T>& ring;
  PlaneCopies<S, T>& copies;
  int thread, tile_x, tile_y;
  Walk<S, T, 0> walk;
  RingPosition<kSlots> newest;  ///< next plane to wait for
  int lowest;                   ///< slot of plane z - low
  int oldest;                   ///< slot of the next plane to give back

  STENCIL_DEVICE RingRows<S, T> rows() const { return {ring, tile_x, tile_y, lowest}; }

  STENCIL_DEVICE void wait_for_newest() {
    wait_phase(ring.full(newest.slot), newest.parity);
    newest.advance();
  }

  /// This warp will not read the oldest plane again.
  STENCIL_DEVICE void give_back() {
    warp_barrier();
    if (thread % 32 == 0) arrive(ring.empty(oldest));
    oldest = oldest + 1 < kSlots ? oldest + 1 : 0;
  }

  /// Planes z - low .. z + high - 1, before the first step. Planes below kFirstLoaded are then done with; from then on
  /// each step finishes one more.
  template <int... kP>
  STENCIL_DEVICE void fill(Indices<kP...>) {
    (fill_plane<kP>(), ...);
  }

 private:
  template <int kP>
  STENCIL_DEVICE void fill_plane() {
    if (thread == 0) copies.ask_until(kSlots + (kP < T::kFirstLoaded ? kP : T::kFirstLoaded) - 1);
    wait_for_newest();
    walk.template fill_plane<kP>(rows());
    if constexpr (kP < T::kFirstLoaded) give_back();
  }
};

template <class S, class T>
STENCIL_DEVICE void streaming_ring(const CopyArguments<S>& copy_arguments) {
  using Index = typename S::Index;
  constexpr int kSlots = T::kTilePlanes;
  const Arguments<S>& arguments = copy_arguments.plain;

  const TileIndex index = tile_of_block<T::kOrder>(arguments.tiles);
  RingTile<S> tile{static_cast<Index>(arguments.origin[0]) + static_cast<Index>(index.x) * T::kTileX,
                   static_cast<Index>(arguments.origin[1]) + static_cast<Index>(index.y) * T::kTileY,
                   static_cast<Index>(arguments.origin[2]) + static_cast<Index>(index.z) * T::kDepth, T::kDepth};
  const UpdatedBox<S> box(arguments);
  if (box.high_z - tile.z < T::kDepth) tile.steps = static_cast<int>(box.high_z - tile.z);

  const Ring<S, T> ring{shared_memory()};
  PlaneCopies<S, T> copies{copy_arguments, ring, tile, {}};
  const int thread = thread_y() * T::kBlockX + thread_x();
  if (thread == 0) {
    for (int slot = 0; slot < kSlots; ++slot) {
      init_copy_barrier(ring.full(slot), 1);
      init_copy_barrier(ring.empty(slot), T::kBlockX * T::kBlockY / 32);
    }
    fence_copy_barriers();
    copies.ask_until(kSlots);
  }
  barrier();

  RingWalk<S, T> walk{ring, copies, thread, thread_x() * T::kRegisterX, thread_y() * T::kRegisterY, {}, {}, 0, 0};
  walk.fill(IndicesBelow<S::kLowZ + S::kHighZ>{});
#pragma unroll T::kUnroll
  for (int step = 0; step < T::kDepth; ++step) {
    if (step >= tile.steps) break;
    // Slots given back one step ago may still be in use by slower warps; those of two steps ago hardly are.
    if (thread == 0) copies.ask_until(step - 1 + T::kFirstLoaded + kSlots);
    walk.wait_for_newest();
    walk.walk.advance_to(walk.rows());
    TileUpdate<S, T, decltype(walk.walk.window)>{
        arguments,     box, tile.x + walk.tile_x, tile.y + walk.tile_y, tile.z + step,
        walk.walk.window}
        .run();
    walk.give_back();  // only now: the compiler may then read rows as it needs them
    walk.walk.shift();
    walk.lowest = walk.lowest + 1 < kSlots ? walk.lowest + 1 : 0;
  }
}

}  // namespace stencil_tune
