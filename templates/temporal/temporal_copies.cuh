// What copies the rows that a warp of a temporal block reads from global to shared memory: its lanes, or TMA.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/element.cuh"
#include "stencil_tune/layer_arrays.cuh"
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

/// Which cells of a warp's rows the array of an input has, that is one of a field in layers of axis kLayers. The others are
/// not copied: nobody uses what stands in their place.
template <class S, class T, int kLayers>
struct CellsInLayers {
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;

  LayerArray<S, kLayers> array;
  unsigned copied = ~0u;  ///< bit j for row j, bit w for the lane's word w of each row

  STENCIL_DEVICE explicit CellsInLayers(const Arguments<S>& a) : array(a) {}

  static STENCIL_DEVICE Index stride_y(const Arguments<S>& a) { return LayerArray<S, kLayers>(a).stride_y; }
  static STENCIL_DEVICE Index stride_z(const Arguments<S>& a) { return LayerArray<S, kLayers>(a).stride_z; }

  /// x: where the lane begins to copy words of kCopied cells; y: its first row.
  template <int kCopied>
  STENCIL_DEVICE void find([[maybe_unused]] Index x, [[maybe_unused]] Index y) {
    constexpr int kWords = (Shape::kWarpWidth + 32 * kCopied - 1) / (32 * kCopied);
    static_assert(kWords <= 32 && Shape::kRows <= 32, "rows and words have a bit each");
    unsigned bits = 0;
    if constexpr (kLayers == 0) {
      STENCIL_UNROLL
      for (int w = 0; w < kWords; ++w) {
        bits |= array.template has_some<kCopied>(x + w * 32 * kCopied) ? 1u << w : 0u;
      }
    }
    if constexpr (kLayers == 1) {
      STENCIL_UNROLL
      for (int j = 0; j < Shape::kRows; ++j) bits |= array.has_some(y + j) ? 1u << j : 0u;
    }
    copied = shuffle_from(bits, Shape::lane());  // as SystemOutput's
  }
  STENCIL_DEVICE bool has_plane(Index z) const { return kLayers != 2 || array.has_some(z); }
  STENCIL_DEVICE bool has_row(int j) const { return kLayers != 1 || (copied >> j & 1) != 0; }
  STENCIL_DEVICE bool has_word(int w) const { return kLayers != 0 || (copied >> w & 1) != 0; }

  /// Where a cell along an axis stands; another cell's where the array does not have it.
  template <int kAxis, int kVector = 1>
  STENCIL_DEVICE Index place(Index cell) const {
    if constexpr (kAxis == kLayers) return array.template place<kVector>(cell);
    return cell;
  }

  /// The array's place of a cell that the tile names: for TMA, whose map begins with the array's first cells.
  template <int kAxis>
  STENCIL_DEVICE Index from_first(Index cell) const {
    constexpr int kTogether = kAxis == 0 ? 16 / static_cast<int>(sizeof(typename S::Storage)) : 1;
    return kAxis == kLayers ? cell - array.first / kTogether * kTogether : cell;
  }
};

/// An array of the whole grid has all cells.
template <class S>
struct AllCells {
  using Index = typename S::Index;

  STENCIL_DEVICE explicit AllCells(const Arguments<S>&) {}

  static STENCIL_DEVICE Index stride_y(const Arguments<S>& a) { return static_cast<Index>(a.stride_y); }
  static STENCIL_DEVICE Index stride_z(const Arguments<S>& a) { return static_cast<Index>(a.stride_z); }
  template <int kCopied>
  STENCIL_DEVICE void find(Index, Index) {}
  STENCIL_DEVICE static constexpr bool has_plane(Index) { return true; }
  STENCIL_DEVICE static constexpr bool has_row(int) { return true; }
  STENCIL_DEVICE static constexpr bool has_word(int) { return true; }
  template <int kAxis, int kVector = 1>
  STENCIL_DEVICE static Index place(Index cell) {
    return cell;
  }
  template <int kAxis>
  STENCIL_DEVICE static Index from_first(Index cell) {
    return cell;
  }
};

/// kLayers: the axis in whose layers the input is, or -1.
template <class S, class T, int kLayers>
using CopiedCells = Choose<T::kSlabs && (kLayers >= 0), CellsInLayers<S, T, kLayers>, AllCells<S>>;

/// A warp's rows of one plane after the other, copied by its lanes with cp.async. Neighbouring lanes copy neighbouring
/// vectors where the tile's rows start on whole ones, elsewhere neighbouring cells. A lane then reads its own cells in
/// words of 16 bytes. With several words a lane, eight lanes would conflict in the same banks. There the words are
/// swizzled, so that eight lanes read eight different parts of 128 bytes, unless TMA brings other warps' rows:
///
///     two words a lane     word   0 1 2 3 4 5 6 7   8 9 10 11 12 13 14 15   (in rows of 128 bytes)
///                          place  0 1 2 3 4 5 6 7   9 8 11 10 13 12 15 14
template <class S, class T, class Storage, int kLayers>
struct LaneCopies : CopiedCells<S, T, kLayers> {
  using Array = CopiedCells<S, T, kLayers>;
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
      : Array(a), tile(t), cells(reinterpret_cast<const Storage*>(a.in[input]) + (wrapped<S::kBoundaryY>(t.y, t.ny) * Array::stride_y(a) + first_column() +
                                      first_copied())),
        stride_y(Array::stride_y(a)), stride_z(Array::stride_z(a)) {
    if constexpr (kWrapsX) {
      x = wrapped<S::kBoundaryX>(first_column() + first_copied(), t.nx);
      cells += x - (first_column() + first_copied());
    }
    if constexpr (kWrapsY) y = wrapped<S::kBoundaryY>(t.y, t.ny);
    if (copies_vectors()) {
      Array::template find<T::kVector>(first_column() + first_copied(), t.y);
    } else {
      Array::template find<1>(first_column() + first_copied(), t.y);
    }
  }

  /// Cells from where a warp's rows stand to where the lane starts to copy.
  STENCIL_DEVICE int first_place() const { return cell_place(first_copied()); }

  STENCIL_DEVICE void move_by(Index planes) { cells += planes * stride_z; }

  /// Starts to copy plane z of the grid. to: first_place() after where the warp's rows of it are to stand.
  STENCIL_DEVICE void copy([[maybe_unused]] Index z, Storage* to, Mbarrier*) const {
    if (!Array::has_plane(z)) return;
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
        if (!Array::has_row(j) || !Array::has_word(i / kStep)) continue;
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
template <class S, class T, class Storage, int kLayers>
struct TmaCopies : CopiedCells<S, T, kLayers> {
  using Array = CopiedCells<S, T, kLayers>;
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;

  static constexpr int kWord = Shape::template word_cells<Storage>();
  static constexpr int kWords = Shape::kCells / kWord;
  static constexpr bool kAlwaysArrive = true;

  const TensorMap* map;
  int x, y;  ///< the warp's first cell

  STENCIL_DEVICE TmaCopies(const Arguments<S>& a, const TemporalTile<S, T>& t, int input, const TensorMap* maps)
      : Array(a), map(maps + input),
        x(static_cast<int>(
            Array::template from_first<0>(wrapped<S::kBoundaryX>(t.x - Shape::lane() * Shape::kCells, t.nx)))),
        y(static_cast<int>(Array::template from_first<1>(wrapped<S::kBoundaryY>(t.y, t.ny)))) {}

  STENCIL_DEVICE int first_place() const { return 0; }
  STENCIL_DEVICE void move_by(Index) {}
  STENCIL_DEVICE void copy(Index z, Storage* to, Mbarrier* arrived) const {
    constexpr int kBytes = Shape::kRows * Shape::kWarpWidth * static_cast<int>(sizeof(Storage));
    warp_copy_box(map, to, kBytes, arrived, x, y, static_cast<int>(Array::template from_first<2>(z)));
  }
  STENCIL_DEVICE static int place_of_own(int w) { return w; }
};

/// TmaCopies on a periodic grid. Where the grid ends within a warp's rows, the lanes copy them, to where TMA would.
template <class S, class T, class Storage, int kLayers>
struct PeriodicCopies : TmaCopies<S, T, Storage, kLayers> {
  using Lanes = LaneCopies<S, T, Storage, kLayers>;
  using Tma = TmaCopies<S, T, Storage, kLayers>;
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

/// Storage: the cells of the field that is copied. kLayers: the axis in whose layers it is, or -1.
template <class S, class T, class Storage, int kLayers>
using CopiesOf =
    Choose<T::kCopiedByTma,
           Choose<S::kBoundaryX == Boundary::periodic || S::kBoundaryY == Boundary::periodic,
                  PeriodicCopies<S, T, Storage, kLayers>, TmaCopies<S, T, Storage, kLayers>>,
           LaneCopies<S, T, Storage, kLayers>>;
template <class S, class T>
using ArrivalsOf =
    Choose<T::kCopiedByTma,
           Choose<S::kBoundaryX == Boundary::periodic || S::kBoundaryY == Boundary::periodic, PeriodicArrivals<S, T>,
                  TmaArrivals<S, T>>,
           LaneArrivals<S, T>>;

}  // namespace stencil_tune
