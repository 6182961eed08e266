// What passes between a temporal block's registers and global memory: input planes and output planes.
#pragma once

#include "stencil_tune/element.cuh"
#include "stencil_tune/temporal_tile.cuh"

namespace stencil_tune {

/// A thread's cells of one plane of the tile.
template <class S, class T>
struct TemporalPlane {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;

  Value cells[Shape::kRows][Shape::kCells];

  STENCIL_DEVICE void fill(Value value) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; ++i) cells[j][i] = value;
    }
  }
  STENCIL_DEVICE static TemporalPlane all(Value value) {
    TemporalPlane plane;
    plane.fill(value);
    return plane;
  }
};

/// The cell of a periodic axis that answers for i. A tile, no larger than the grid, leaves it at one side at most.
template <Boundary kBoundary, class Index>
STENCIL_DEVICE Index wrapped(Index i, Index n) {
  if constexpr (kBoundary != Boundary::periodic) return i;
  return i < 0 ? i + n : i < n ? i : i - n;
}

/// Cell i of the thread's row j as it was before all sweeps, read from memory.
template <class S, class T>
STENCIL_DEVICE typename S::Value input_cell(const TemporalTile<S, T>& tile, const Arguments<S>& a, int i, int j,
                                            typename S::Index z) {
  using Index = typename S::Index;
  const Index x = wrapped<S::kBoundaryX>(tile.x + i, tile.nx);
  const Index y = wrapped<S::kBoundaryY>(tile.y + j, tile.ny);
  if constexpr (S::kBoundaryZ == Boundary::periodic) z = inside<S::kBoundaryZ>(z, tile.nz);
  return widen(a.in[T::kAdvanced][z * static_cast<Index>(a.stride_z) + y * static_cast<Index>(a.stride_y) + x]);
}

/// The warp's rows of one field, copied to kSlots planes of shared memory kPrefetch planes ahead of a walk that is kBehind
/// planes behind the block's. A warp copies just the rows that it reads itself, so that nothing but the warp has to wait.
///
/// Neighbouring lanes copy neighbouring vectors where the tile's rows start on whole ones, elsewhere neighbouring cells. A
/// lane then reads its own cells in words of 16 bytes. With several of them a lane, those of neighbouring lanes lie in the
/// same banks. Where that is so, words swap places, so that eight lanes read eight different parts of 128 bytes:
///
///     two words a lane     word   0 1 2 3 4 5 6 7   8 9 10 11 12 13 14 15   (in rows of 128 bytes)
///                          place  0 1 2 3 4 5 6 7   9 8 11 10 13 12 15 14
///
/// kGroups: of warps that have rings, each kGroupDelay planes behind the one before.
template <class S, class T, int kSlots, int kBehind, int kGroups>
struct PlaneRing {
  using Shape = TemporalShape<S, T>;
  using Storage = typename S::Storage;
  using Value = typename S::Value;
  using Index = typename S::Index;

  static constexpr int kWord = Shape::template word_cells<Storage>();  ///< cells that a lane reads at once
  static constexpr int kWords = Shape::kCells / kWord;                 ///< of a lane's row
  static constexpr bool kSwaps = kWords == 2 || kWords == 4 || kWords == 8;
  static constexpr int kSlotCells = Shape::kRows * Shape::kWidth;
  static constexpr int kWarpCells = kSlots * kSlotCells;
  static constexpr int kBytes = kGroups * T::kBlockY * kWarpCells * static_cast<int>(sizeof(Storage));
  static constexpr bool kStartsBefore = kBehind > 0 || kGroups > 1;  ///< the grid's first plane

  /// Rows and columns of the tile follow each other in memory.
  static constexpr bool kWraps = S::kBoundaryX == Boundary::periodic || S::kBoundaryY == Boundary::periodic;

  const TemporalTile<S, T>& tile;
  const Storage* base;    ///< of the field
  const Storage* cells;   ///< of the first row of plane next_z, where the lane starts to copy
  Index stride_y, stride_z;
  Index next_z;           ///< plane that is copied next
  Storage* from;          ///< the lane's cells of slot 0, but for the order of their words ...
  Storage* to;            ///< ... and where it starts to copy
  int slot = 0;           ///< cells from slot 0 to the one that is filled next: the oldest

  STENCIL_DEVICE PlaneRing(const Arguments<S>& a, const TemporalTile<S, T>& t, const Storage* field, int first_byte)
      : tile(t), base(field), stride_y(static_cast<Index>(a.stride_y)), stride_z(static_cast<Index>(a.stride_z)) {
    const int warp = (kGroups > 1 ? t.group * T::kBlockY : 0) + thread_y();
    Storage* slots = reinterpret_cast<Storage*>(shared_memory() + first_byte) + warp * kWarpCells;
    from = slots + thread_x() * Shape::kCells;
    to = slots + cell_place(first_copied());
    cells = base + (t.y * stride_y + first_column() + first_copied());
  }

  /// The block's walk starts at plane z.
  STENCIL_DEVICE void start(Index z) {
    z -= kBehind + (kGroups > 1 ? tile.group * Shape::kGroupDelay : 0);
    next_z = S::kBoundaryZ == Boundary::periodic ? inside<S::kBoundaryZ>(z, tile.nz) : z;
    cells += next_z * stride_z;
  }

  /// Starts to copy the next plane in place of the oldest. Planes beyond the grid are not copied: nothing reads them.
  STENCIL_DEVICE void copy_next() {
    if (next_z < tile.nz && (!kStartsBefore || next_z >= 0)) {
      if (copies_vectors()) {
        copy_plane<T::kVector>();
      } else {
        copy_plane<1>();
      }
    }
    ++next_z;
    cells += stride_z;
    if (S::kBoundaryZ == Boundary::periodic && next_z == tile.nz) {
      next_z = 0;
      cells -= tile.nz * stride_z;
    }
    slot = slot == kWarpCells - kSlotCells ? 0 : slot + kSlotCells;
  }

  /// Where the lane's cells stand of the plane that was copied kAge planes before the last; kSlots - 1: the oldest.
  template <int kAge>
  STENCIL_DEVICE const Storage* copied() const {
    constexpr int kBack = (kAge + 1) * kSlotCells;
    if constexpr (kAge + 1 == kSlots) {
      return from + slot;
    } else {
      return from + (slot >= kBack ? slot - kBack : slot - kBack + kWarpCells);
    }
  }

  /// Row j of that plane.
  STENCIL_DEVICE void read_row(const Storage* plane, int j, Value* row) const {
    STENCIL_UNROLL
    for (int w = 0; w < kWords; ++w) {
      const int place = kSwaps ? w ^ (thread_x() * kWords / 8 % kWords) : w;  // as word_place
      load_cells<LoadHint::cached, kWord>(plane + (j * Shape::kWidth + place * kWord), row + w * kWord);
    }
  }

 private:
  STENCIL_DEVICE bool copies_vectors() const { return T::kVector > 1 && tile.whole_vectors; }
  STENCIL_DEVICE Index first_column() const { return tile.x - thread_x() * Shape::kCells; }

  /// Of the row, where the lane starts to copy.
  STENCIL_DEVICE int first_copied() const { return thread_x() * (copies_vectors() ? T::kVector : 1); }

  /// Where a word of a row stands.
  STENCIL_DEVICE static int word_place(int word) { return kSwaps ? word ^ (word / 8 % kWords) : word; }
  STENCIL_DEVICE static int cell_place(int cell) { return word_place(cell / kWord) * kWord + cell % kWord; }

  /// Copies of kCopied cells, by neighbouring lanes.
  template <int kCopied>
  STENCIL_DEVICE void copy_plane() const {
    constexpr int kStep = 32 * kCopied;
    // After so many bytes the words are in the same order again.
    constexpr bool kSameOrder = kStep * static_cast<int>(sizeof(Storage)) % (128 * kWords) == 0 || !kSwaps;
    const Storage* row = cells;
    Storage* target = to + slot;
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kWidth; i += kStep) {
        const int first = thread_x() * kCopied;
        const int ahead = kSameOrder ? i : cell_place(first + i) - cell_place(first);
        copy_word<kCopied>(target + ahead, kWraps ? wrapped_cell(j, first + i) : row + i);
      }
      row += stride_y;
      target += Shape::kWidth;
    }
  }

  /// A cell of row j of plane next_z, on the other side of a periodic grid where it is beyond an edge.
  STENCIL_DEVICE const Storage* wrapped_cell(int j, int i) const {
    const Index x = first_column() + i;
    return base + (next_z * stride_z + wrapped<S::kBoundaryY>(tile.y + j, tile.ny) * stride_y +
                   (copies_vectors() ? x : wrapped<S::kBoundaryX>(x, tile.nx)));
  }

  template <int kCopied>
  STENCIL_DEVICE static void copy_word(Storage* target, const Storage* source) {
    constexpr int kBytesCopied = kCopied * static_cast<int>(sizeof(Storage));
    if constexpr (kBytesCopied < 4) {
      *target = *source;
    } else {
      async_copy<kBytesCopied>(target, source);
    }
  }
};

/// The fields that no step changes. Each is read at the cell itself, by level l in the plane that l updates: a ring starts
/// to be read kLag planes behind the group's input, and keeps a plane until the group's last level has used it.
template <class S, class T, int kInput>
struct ConstantRing
    : PlaneRing<S, T, T::kPrefetch + (TemporalShape<S, T>::kLevels - 1) * TemporalShape<S, T>::kLag + 1,
                TemporalShape<S, T>::kLag, T::kGroups> {
  using Shape = TemporalShape<S, T>;
  using Ring = PlaneRing<S, T, T::kPrefetch + (Shape::kLevels - 1) * Shape::kLag + 1, Shape::kLag, T::kGroups>;
  using Ring::Ring;

  /// The plane of the cells that the level completes in this step: row j to to.row(kInput, j).
  template <int kLevel, class Rows>
  STENCIL_DEVICE void read(Rows& to) const {
    const auto* plane = this->template copied<T::kPrefetch + kLevel * Shape::kLag>();
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      this->read_row(plane, j, to.row(kInput, j));
    }
  }
};

/// Which input the constant field of that number is.
template <class T>
STENCIL_DEVICE constexpr int constant_input(int field) {
  return field < T::kAdvanced ? field : field + 1;
}

template <class S, class T, class Fields>
struct ConstantRings;

template <class S, class T, int... kField>
struct ConstantRings<S, T, Indices<kField...>> : ConstantRing<S, T, constant_input<T>(kField)>... {
  template <int kF>
  using Ring = ConstantRing<S, T, constant_input<T>(kF)>;
  static constexpr int kBytes = (0 + ... + Ring<kField>::kBytes);

  STENCIL_DEVICE ConstantRings(const Arguments<S>& a, const TemporalTile<S, T>& t, int first_byte)
      : Ring<kField>(a, t, a.in[constant_input<T>(kField)], first_byte + kField * Ring<kField>::kBytes)... {
    (void)a, (void)t, (void)first_byte;
  }

  STENCIL_DEVICE void start([[maybe_unused]] typename S::Index z) { (Ring<kField>::start(z), ...); }
  STENCIL_DEVICE void copy_next() { (Ring<kField>::copy_next(), ...); }

  template <int kLevel, class Rows>
  STENCIL_DEVICE void read([[maybe_unused]] Rows&& to) const {
    (Ring<kField>::template read<kLevel>(to), ...);
  }
};

/// Planes that a group of warps completes, for the next group: a warp's rows go to the warp with the same rows. Lanes
/// write and read their own cells, word by word: neighbouring lanes' lie side by side.
template <class S, class T>
struct PassedRows {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;

  static constexpr int kWord = Shape::template word_cells<Value>();
  static constexpr int kPlaneCells = Shape::kRows * Shape::kWidth;  ///< of a warp
  static constexpr int kGroupCells = T::kBlockY * 2 * kPlaneCells;  ///< two planes take turns
  static constexpr int kBytes = (T::kGroups - 1) * kGroupCells * static_cast<int>(sizeof(Value));

  Value* to;      ///< the lane's first word of the plane that the step passes on
  int other = 0;  ///< cells to the plane that was passed before

  STENCIL_DEVICE PassedRows(const TemporalTile<S, T>& tile, int first_byte) {
    if constexpr (T::kGroups > 1) {
      to = reinterpret_cast<Value*>(shared_memory() + first_byte) + tile.group * kGroupCells +
           thread_y() * 2 * kPlaneCells + thread_x() * kWord;
      other = kPlaneCells;
      if (!tile.in_first_group) store(before(), TemporalPlane<S, T>::all(Value(0)));
    }
  }

  STENCIL_DEVICE void pass(const TemporalPlane<S, T>& plane) const { store(to, plane); }

  /// What the group before passed in the step before; 0 in the first step.
  STENCIL_DEVICE void take(TemporalPlane<S, T>& plane) const {
    const Value* from = before();
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; i += kWord) {
        load_cells<LoadHint::cached, kWord>(from + (j * Shape::kWidth + i * 32), plane.cells[j] + i);
      }
    }
  }

  STENCIL_DEVICE void next_step() {
    to += other;
    other = -other;
  }

 private:
  STENCIL_DEVICE Value* before() const { return to - kGroupCells + other; }

  STENCIL_DEVICE static void store(Value* place, const TemporalPlane<S, T>& plane) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; i += kWord) {
        store_cells<StoreHint::write_back, kWord>(place + (j * Shape::kWidth + i * 32), plane.cells[j] + i);
      }
    }
  }
};

/// What the block reads from global memory: the field that its steps advance, and those that they leave as they are. The
/// advanced field is the first group's; the others take what the group before them passes on.
template <class S, class T>
struct InputRows {
  using Shape = TemporalShape<S, T>;
  using Advanced = PlaneRing<S, T, T::kPrefetch, 0, 1>;
  using Constants = ConstantRings<S, T, IndicesBelow<S::kInputs - 1>>;
  static constexpr int kBytes = Advanced::kBytes + Constants::kBytes + PassedRows<S, T>::kBytes;

  const TemporalTile<S, T>& tile;
  Advanced advanced;
  Constants constants;
  PassedRows<S, T> passed;

  STENCIL_DEVICE InputRows(const Arguments<S>& a, const TemporalTile<S, T>& t)
      : tile(t), advanced(a, t, a.in[T::kAdvanced], 0), constants(a, t, Advanced::kBytes),
        passed(t, Advanced::kBytes + Constants::kBytes) {}

  STENCIL_DEVICE void start(typename S::Index z) {
    advanced.start(z);
    constants.start(z);
    STENCIL_UNROLL
    for (int p = 0; p < T::kPrefetch; ++p) copy_next();
  }

  /// The advanced field's next plane; the constant fields' planes of this step can be read too.
  STENCIL_DEVICE void take(TemporalPlane<S, T>& plane) {
    async_wait<T::kPrefetch - 1>();
    warp_barrier();
    if (tile.in_first_group) {
      const auto* copied = advanced.template copied<T::kPrefetch - 1>();
      STENCIL_UNROLL
      for (int j = 0; j < Shape::kRows; ++j) advanced.read_row(copied, j, plane.cells[j]);
    } else {
      passed.take(plane);
    }
    warp_barrier();
    copy_next();
  }

 private:
  STENCIL_DEVICE void copy_next() {
    if (tile.in_first_group) advanced.copy_next();
    constants.copy_next();
    async_commit();
  }
};

/// Stores those cells of the thread that belong to the block, plane after plane.
template <class S, class T>
struct OutputRows {
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;
  using Storage = typename S::Storage;
  using Value = typename S::Value;

  const TemporalTile<S, T>& tile;
  Storage* cells;  ///< the thread's first, of the plane that is stored next
  Index stride_y, stride_z;
  bool whole;            ///< each vector is either stored or not
  unsigned rows = 0;     ///< bit j: row j is stored
  unsigned columns = 0;  ///< bit i: cell i of those rows is stored

  STENCIL_DEVICE OutputRows(const Arguments<S>& a, const TemporalTile<S, T>& t)
      : tile(t), cells(a.out[0] + (t.low_z * static_cast<Index>(a.stride_z) + t.y * static_cast<Index>(a.stride_y) + t.x)),
        stride_y(static_cast<Index>(a.stride_y)), stride_z(static_cast<Index>(a.stride_z)), whole(t.whole_vectors) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) rows |= (t.y + j >= t.low_y && t.y + j < t.high_y) ? 1u << j : 0u;
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) columns |= (t.x + i >= t.low_x && t.x + i < t.high_x) ? 1u << i : 0u;
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; i += T::kVector) {
      const unsigned vector = columns >> i & ((1u << T::kVector) - 1);
      whole = whole && (vector == 0 || vector == (1u << T::kVector) - 1);
    }
  }

  STENCIL_DEVICE void store(const TemporalPlane<S, T>& plane) {
    if (whole) {
      store_rows<T::kVector>(cells, plane);
    } else {
      store_rows<1>(cells, plane);
    }
    cells += stride_z;
  }

 private:
  template <int kWord>
  STENCIL_DEVICE void store_rows(Storage* row, const TemporalPlane<S, T>& plane) const {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; i += kWord) {
        if ((rows >> j & columns >> i & 1) != 0) store_cells<T::kStore, kWord>(row + i, plane.cells[j] + i);
      }
      row += stride_y;
    }
  }
};

}  // namespace stencil_tune
