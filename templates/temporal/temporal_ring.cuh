// Planes of the fields that a temporal block reads, copied to shared memory ahead of its walk.
#pragma once

#include "stencil_tune/temporal/temporal_copies.cuh"

namespace stencil_tune {

/// The warp's rows of one field, copied to kSlots planes of shared memory kPrefetch planes ahead of a walk that is kBehind
/// planes behind the block's. Only rows that the warp itself reads are copied for it, so that nothing but the warp has to
/// wait.
///
/// kGroups: of warps that have rings, each kGroupDelay planes behind the one before.
template <class S, class T, int kInput, int kSlots, int kBehind, int kGroups>
struct PlaneRing {
  using Shape = TemporalShape<S, T>;
  using Storage = typename S::Storage;
  using Value = typename S::Value;
  using Index = typename S::Index;
  using Copies = typename CopiesBy<S, T, T::kCopiedByTma>::Copies;

  static constexpr int kSlotCells = Shape::kRows * Shape::kWarpWidth;
  static constexpr int kSlotBytes = kSlotCells * static_cast<int>(sizeof(Storage));
  static constexpr int kWarpCells = kSlots * kSlotCells;
  static constexpr int kBytes = kGroups * Shape::kWarps * kSlots * kSlotBytes;
  static constexpr bool kStartsBefore = kBehind > 0 || kGroups > 1;  ///< the grid's first plane

  const TemporalTile<S, T>& tile;
  Copies copies;
  Index next_z;   ///< plane that is copied next
  Storage* from;  ///< the lane's cells of slot 0, but for the order of their words ...
  Storage* to;    ///< ... and where the lane copies to
  int slot = 0;   ///< cells from slot 0 to the one that is filled next: the oldest

  STENCIL_DEVICE PlaneRing(const Arguments<S>& a, const TemporalTile<S, T>& t, const TensorMap* maps, int first_byte)
      : tile(t), copies(a, t, kInput, maps) {
    const int warp = (kGroups > 1 ? t.group * Shape::kWarps : 0) + Shape::warp();
    Storage* slots = reinterpret_cast<Storage*>(shared_memory() + first_byte) + warp * kWarpCells;
    from = slots + Shape::lane() * Shape::kCells;
    to = slots + copies.first_place();
  }

  /// The block's walk starts at plane z.
  STENCIL_DEVICE void start(Index z) {
    z -= kBehind + (kGroups > 1 ? tile.group * Shape::kGroupDelay : 0);
    next_z = S::kBoundaryZ == Boundary::periodic ? inside<S::kBoundaryZ>(z, tile.nz) : z;
    copies.move_by(next_z);
  }

  /// Starts to copy the next plane in place of the oldest. Nothing that counts reads planes beyond the grid.
  STENCIL_DEVICE void copy_next(CopyBarrier* arrived) {
    const bool in_grid = next_z < tile.nz && (!kStartsBefore || next_z >= 0);
    if (in_grid || Copies::kAlwaysArrive) copies.copy(next_z, to + slot, arrived);
    ++next_z;
    copies.move_by(1);
    if (S::kBoundaryZ == Boundary::periodic && next_z == tile.nz) {
      next_z = 0;
      copies.move_by(-tile.nz);
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
    constexpr int kWord = Copies::kWord;
    STENCIL_UNROLL
    for (int w = 0; w < Copies::kWords; ++w) {
      load_cells<LoadHint::cached, kWord>(plane + (j * Shape::kWarpWidth + Copies::place_of_own(w) * kWord), row + w * kWord);
    }
  }
};

/// A field that no step changes. It is read at the cell itself, by level l in the plane that l updates: a ring starts to
/// be read kLag planes behind the group's input, and keeps a plane until the group's last level has used it.
template <class S, class T, int kInput>
struct ConstantRing
    : PlaneRing<S, T, kInput, T::kPrefetch + (TemporalShape<S, T>::kLevels - 1) * TemporalShape<S, T>::kLag + 1,
                TemporalShape<S, T>::kLag, T::kGroups> {
  using Shape = TemporalShape<S, T>;
  using Ring = PlaneRing<S, T, kInput, T::kPrefetch + (Shape::kLevels - 1) * Shape::kLag + 1, Shape::kLag, T::kGroups>;
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

  STENCIL_DEVICE ConstantRings(const Arguments<S>& a, const TemporalTile<S, T>& t, const TensorMap* maps, int first_byte)
      : Ring<kField>(a, t, maps, first_byte + kField * Ring<kField>::kBytes)... {
    (void)a, (void)t, (void)maps, (void)first_byte;
  }

  STENCIL_DEVICE void start([[maybe_unused]] typename S::Index z) { (Ring<kField>::start(z), ...); }
  STENCIL_DEVICE void copy_next([[maybe_unused]] CopyBarrier* arrived) { (Ring<kField>::copy_next(arrived), ...); }

  template <int kLevel, class Rows>
  STENCIL_DEVICE void read([[maybe_unused]] Rows&& to) const {
    (Ring<kField>::template read<kLevel>(to), ...);
  }
};

}  // namespace stencil_tune
