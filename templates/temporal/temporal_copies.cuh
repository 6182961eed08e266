// What copies the rows that a warp of a temporal block reads from global to shared memory: its lanes, or TMA.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/element.cuh"
#include "stencil_tune/ring_position.cuh"
#include "stencil_tune/temporal/temporal_tile.cuh"

namespace stencil_tune {

/// Cell i of the thread's row j as it was before all sweeps, read from memory.
template <class S, class T>
STENCIL_DEVICE typename S::Value input_cell(const TemporalTile<S, T>& tile, const Arguments<S>& a, int i, int j,
                                            typename S::Index z) {
  using Index = typename S::Index;
  const Index x = wrapped<S::kBoundaryX>(tile.x + i, tile.nx);
  const Index y = wrapped<S::kBoundaryY>(tile.y + j, tile.ny);
  if constexpr (S::kBoundaryZ == Boundary::periodic) z = inside<S::kBoundaryZ>(z, tile.nz);
  return input_cells<T::kAdvanced>(a)[z * static_cast<Index>(a.stride_z) + y * static_cast<Index>(a.stride_y) + x];
}

/// Both types of kernel arguments have the plain ones; those for TMA have tensor maps too.
template <class S>
STENCIL_DEVICE const Arguments<S>& plain(const Arguments<S>& arguments) {
  return arguments;
}
template <class S>
STENCIL_DEVICE const Arguments<S>& plain(const CopyArguments<S>& arguments) {
  return arguments.plain;
}
template <class S>
STENCIL_DEVICE const TensorMap* tensor_maps(const Arguments<S>&) {
  return nullptr;
}
template <class S>
STENCIL_DEVICE const TensorMap* tensor_maps(const CopyArguments<S>& arguments) {
  return arguments.maps;
}

/// A warp's rows of one plane after the other, copied by its lanes with cp.async. Neighbouring lanes copy neighbouring
/// vectors where the tile's rows start on whole ones, elsewhere neighbouring cells. A lane then reads its own cells in
/// words of 16 bytes. With several words a lane, eight lanes would conflict in the same banks. There the words are
/// swizzled, so that eight lanes read eight different parts of 128 bytes, unless TMA brings other warps' rows:
///
///     two words a lane     word   0 1 2 3 4 5 6 7   8 9 10 11 12 13 14 15   (in rows of 128 bytes)
///                          place  0 1 2 3 4 5 6 7   9 8 11 10 13 12 15 14
template <class S, class T, class Storage>
struct LaneCopies {
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;

  static constexpr int kWord = Shape::template word_cells<Storage>();  ///< cells that a lane reads at once
  static constexpr int kWords = Shape::kCells / kWord;                 ///< words of a lane's row
  static constexpr bool kSwaps = !T::kCopiedByTma && (kWords == 2 || kWords == 4 || kWords == 8);

  static constexpr bool kAlwaysArrive = false;  ///< planes beyond the grid are copied too

  /// Where a periodic grid ends within the warp's rows, they go on at its other side.
  static constexpr bool kWrapsX = S::kBoundaryX == Boundary::periodic, kWrapsY = S::kBoundaryY == Boundary::periodic;

  const TemporalTile<S, T>& tile;
  const Storage* cells;  ///< where the lane starts to copy: in the first row of the plane that is copied next
  Index stride_y, stride_z;
  Index x = 0, y = 0;  ///< that cell's place in a grid that is periodic along the axis

  STENCIL_DEVICE LaneCopies(const Arguments<S>& a, const TemporalTile<S, T>& t, int input, const TensorMap*)
      : tile(t), cells(reinterpret_cast<const Storage*>(a.in[input]) + (wrapped<S::kBoundaryY>(t.y, t.ny) * static_cast<Index>(a.stride_y) + first_column() +
                                      first_copied())),
        stride_y(static_cast<Index>(a.stride_y)), stride_z(static_cast<Index>(a.stride_z)) {
    if constexpr (kWrapsX) {
      x = wrapped<S::kBoundaryX>(first_column() + first_copied(), t.nx);
      cells += x - (first_column() + first_copied());
    }
    if constexpr (kWrapsY) y = wrapped<S::kBoundaryY>(t.y, t.ny);
  }

  /// Cells from where a warp's rows stand to where the lane starts to copy.
  STENCIL_DEVICE int first_place() const { return cell_place(first_copied()); }

  STENCIL_DEVICE void move_by(Index planes) { cells += planes * stride_z; }

  /// Starts to copy plane z of the grid. to: first_place() after where the warp's rows of it are to stand.
  STENCIL_DEVICE void copy(Index, Storage* to, Mbarrier*) const {
    if (copies_vectors()) {
      copy_plane<T::kVector>(to);
    } else {
      copy_plane<1>(to);
    }
  }

  /// Where word w of the lane's cells stands among them.
  STENCIL_DEVICE static int place_of_own(int w) {
    return kSwaps ? w ^ (Shape::lane() * kWords / 8 % kWords) : w;  // as word_place
  }

 private:
  STENCIL_DEVICE bool copies_vectors() const { return T::kVector > 1 && tile.whole_vectors; }
  STENCIL_DEVICE Index first_column() const { return tile.x - Shape::lane() * Shape::kCells; }

  /// The cell of the row where the lane starts to copy.
  STENCIL_DEVICE int first_copied() const { return Shape::lane() * (copies_vectors() ? T::kVector : 1); }

  /// Where a word of a row stands.
  STENCIL_DEVICE static int word_place(int word) { return kSwaps ? word ^ (word / 8 % kWords) : word; }
  STENCIL_DEVICE static int cell_place(int cell) { return word_place(cell / kWord) * kWord + cell % kWord; }

  /// Copies of kCopied cells, by neighbouring lanes.
  template <int kCopied>
  STENCIL_DEVICE void copy_plane(Storage* target) const {
    constexpr int kStep = 32 * kCopied;
    // After so many bytes the words are in the same order again.
    constexpr bool kSameOrder = kStep * static_cast<int>(sizeof(Storage)) % (128 * kWords) == 0 || !kSwaps;
    const Storage* row = cells;
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      if (kWrapsY && y + j == tile.ny) row -= tile.ny * stride_y;
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kWarpWidth; i += kStep) {
        const int first = Shape::lane() * kCopied;
        const int ahead = kSameOrder ? i : cell_place(first + i) - cell_place(first);
        copy_word<kCopied>(target + ahead, row + (kWrapsX && x + i >= tile.nx ? i - tile.nx : i));
      }
      row += stride_y;
      target += Shape::kWarpWidth;
    }
  }

  template <int kCopied>
  STENCIL_DEVICE static void copy_word(Storage* target, const Storage* source) {
    constexpr int kBytesCopied = kCopied * static_cast<int>(sizeof(Storage));
    if constexpr (kCopied == 1 && kBytesCopied < 4) {
      *target = *source;
    } else if constexpr (kBytesCopied < 4) {
      using Bytes = typename Word<kBytesCopied>::Type;
      *reinterpret_cast<Bytes*>(target) = *reinterpret_cast<const Bytes*>(source);
    } else {
      async_copy<kBytesCopied>(target, source);
    }
  }
};

/// The same, copied by TMA: one copy a plane, whose cells stand in the order of the grid. Planes beyond the grid arrive
/// as zeros, so that every step brings the same number of bytes.
template <class S, class T, class Storage>
struct TmaCopies {
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;

  static constexpr int kWord = Shape::template word_cells<Storage>();
  static constexpr int kWords = Shape::kCells / kWord;
  static constexpr bool kAlwaysArrive = true;

  const TensorMap* map;
  int x, y;  ///< the warp's first cell

  STENCIL_DEVICE TmaCopies(const Arguments<S>&, const TemporalTile<S, T>& t, int input, const TensorMap* maps)
      : map(maps + input), x(static_cast<int>(wrapped<S::kBoundaryX>(t.x - Shape::lane() * Shape::kCells, t.nx))),
        y(static_cast<int>(wrapped<S::kBoundaryY>(t.y, t.ny))) {}

  STENCIL_DEVICE int first_place() const { return 0; }
  STENCIL_DEVICE void move_by(Index) {}
  STENCIL_DEVICE void copy(Index z, Storage* to, Mbarrier* arrived) const {
    constexpr int kBytes = Shape::kRows * Shape::kWarpWidth * static_cast<int>(sizeof(Storage));
    warp_copy_box(map, to, kBytes, arrived, x, y, static_cast<int>(z));
  }
  STENCIL_DEVICE static int place_of_own(int w) { return w; }
};

/// TmaCopies on a periodic grid. Where the grid ends within a warp's rows, the lanes copy them, to where TMA would.
template <class S, class T, class Storage>
struct PeriodicCopies : TmaCopies<S, T, Storage> {
  using Lanes = LaneCopies<S, T, Storage>;
  using Tma = TmaCopies<S, T, Storage>;
  using Index = typename S::Index;

  Lanes lanes;

  STENCIL_DEVICE PeriodicCopies(const Arguments<S>& a, const TemporalTile<S, T>& t, int input, const TensorMap* maps)
      : Tma(a, t, input, maps), lanes(a, t, input, nullptr) {}

  STENCIL_DEVICE void copy(Index z, Storage* to, Mbarrier* arrived) const {
    if (!lanes.tile.grid_ends_within) {
      Tma::copy(z, to, arrived);
    } else if (z >= 0 && z < lanes.tile.nz) {
      Lanes plane = lanes; // those of plane 0: nothing moves them
      plane.move_by(z);
      plane.copy(z, to + lanes.first_place(), nullptr);
    }
  }
};

/// How a warp knows that its planes have arrived. Here each lane waits for its own cp.async groups, one group a step.
template <class S, class T>
struct LaneArrivals {
  static constexpr int kBytes = 0;  ///< bytes of shared memory

  STENCIL_DEVICE LaneArrivals(const TemporalTile<S, T>&, int) {}

  /// planes: how many are copied for the warp in each step.
  STENCIL_DEVICE void start(int) {}

  /// Around the copies of a step.
  STENCIL_DEVICE Mbarrier* open() const { return nullptr; }
  STENCIL_DEVICE void close() { async_commit(); }

  /// Waits until the oldest step's planes have arrived, for all lanes.
  STENCIL_DEVICE void await() const {
    async_wait<T::kPrefetch - 1>();
    warp_barrier();
  }
  /// Consumer release: all lanes have read the slot that is filled next.
  STENCIL_DEVICE void release() const { warp_barrier(); }

  /// After the last step: no copy may arrive when the block's shared memory is another's.
  STENCIL_DEVICE void leave() {}

  /// Before the block walks again.
  STENCIL_DEVICE void end_mbarriers() {}
};

/// The same for TMA: each warp has kPrefetch mbarriers, one after the other, and each counts the bytes of a step's
/// copies.
template <class S, class T>
struct TmaArrivals {
  using Shape = TemporalShape<S, T>;

  static constexpr int kBarriers = T::kGroups * Shape::kWarps * T::kPrefetch;
  static constexpr int kBytes = (kBarriers * static_cast<int>(sizeof(Mbarrier)) + 15) / 16 * 16;

  Mbarrier* barriers;                        ///< the warp's
  PipelineState<T::kPrefetch> oldest{0, 1};  ///< awaited next; no copy is issued yet
  bool copies = true;                        ///< some planes; otherwise there is nothing to wait for

  STENCIL_DEVICE TmaArrivals(const TemporalTile<S, T>& tile, int first_byte)
      : barriers(reinterpret_cast<Mbarrier*>(shared_memory() + first_byte) +
                 (tile.group * Shape::kWarps + Shape::warp()) * T::kPrefetch) {}

  STENCIL_DEVICE void start(int planes) {
    copies = planes > 0;
    if (copies && Shape::lane() == 0) {
      for (int b = 0; b < T::kPrefetch; ++b) init_mbarrier(barriers + b, planes);
      fence_mbarrier_init();
    }
    warp_barrier();
  }

  STENCIL_DEVICE Mbarrier* open() const { return barriers + oldest.slot; }
  STENCIL_DEVICE void close() { oldest.advance(); }

  STENCIL_DEVICE void await() const {
    if (copies) warp_wait_phase(barriers + oldest.slot, oldest.parity);
  }
  STENCIL_DEVICE void release() const {
    if (!copies) return;
    fence_async_proxy();
    warp_barrier();
  }
  STENCIL_DEVICE void leave() {
    for (int p = 0; p < T::kPrefetch; ++p) {
      await();
      close();
    }
  }
  STENCIL_DEVICE void end_mbarriers() const {
    if (!copies) return;
    fence_async_proxy();
    if (Shape::lane() != 0) return;
    for (int b = 0; b < T::kPrefetch; ++b) end_mbarrier(barriers + b);
  }
};

/// Serves both warps whose rows the lanes copy and warps whose rows TMA copies. All initialise their mbarriers:
/// racecheck (CUDA 13.0) takes an initialisation that a warp skips for a write, to where a register happens to point.
template <class S, class T>
struct PeriodicArrivals : TmaArrivals<S, T> {
  using Tma = TmaArrivals<S, T>;

  LaneArrivals<S, T> lanes;
  const bool by_lanes;

  STENCIL_DEVICE PeriodicArrivals(const TemporalTile<S, T>& tile, int first_byte)
      : Tma(tile, first_byte), lanes(tile, first_byte), by_lanes(tile.grid_ends_within) {}

  STENCIL_DEVICE void close() {
    Tma::close();
    if (by_lanes) lanes.close();
  }
  STENCIL_DEVICE void await() const {
    if (by_lanes) {
      lanes.await();
    } else {
      Tma::await();
    }
  }
  STENCIL_DEVICE void release() const {
    if (by_lanes) {
      lanes.release();
    } else {
      Tma::release();
    }
  }
  STENCIL_DEVICE void leave() {
    if (!by_lanes) Tma::leave();
  }
};

/// Storage: the cells of the field that is copied.
template <class S, class T, class Storage>
using CopiesOf =
    Choose<T::kCopiedByTma,
           Choose<S::kBoundaryX == Boundary::periodic || S::kBoundaryY == Boundary::periodic,
                  PeriodicCopies<S, T, Storage>, TmaCopies<S, T, Storage>>,
           LaneCopies<S, T, Storage>>;
template <class S, class T>
using ArrivalsOf =
    Choose<T::kCopiedByTma,
           Choose<S::kBoundaryX == Boundary::periodic || S::kBoundaryY == Boundary::periodic, PeriodicArrivals<S, T>,
                  TmaArrivals<S, T>>,
           LaneArrivals<S, T>>;

}  // namespace stencil_tune
