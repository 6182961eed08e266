// Pipelines of the fields that a temporal block reads: planes copied to shared memory ahead of its walk.
#pragma once

#include "stencil_tune/temporal/temporal_copies.cuh"

namespace stencil_tune {

/// A warp's pipeline of one field: its rows, copied to kSlots planes of shared memory, kPrefetch planes ahead of a
/// walk that is kBehind planes behind the block's. A warp copies only rows that it reads itself, so that it waits for
/// no other.
///
/// kGroups: groups of warps that have such pipelines, each kGroupDelay planes behind the one before.
template <class S, class T, int kInput, int kSlots, int kBehind, int kGroups>
struct InputPipeline {
  using Shape = TemporalShape<S, T>;
  using Storage = typename FieldCells<S>::template InputCell<kInput>;
  using Value = typename S::Value;
  using Index = typename S::Index;
  using Copies = CopiesOf<S, T, Storage, layers_of_input<S, T>(kInput)>;

  static constexpr int kSlotCells = Shape::kRows * Shape::kWarpWidth;
  static constexpr int kSlotBytes = kSlotCells * static_cast<int>(sizeof(Storage));
  static constexpr int kWarpCells = kSlots * kSlotCells;
  static constexpr int kBytes = kGroups * Shape::kWarps * kSlots * kSlotBytes;
  static constexpr bool kStartsBefore = kBehind > 0 || kGroups > 1;  ///< may start before the grid's first plane

  const TemporalTile<S, T>& tile;
  Copies copies;
  Index next_z;   ///< plane that is copied next
  Storage* from;  ///< the lane's cells of slot 0, but for the order of their words ...
  Storage* to;    ///< ... and where the lane copies to
  int slot = 0;   ///< cells from slot 0 to the one that is filled next: the oldest

  STENCIL_DEVICE InputPipeline(const Arguments<S>& a, const TemporalTile<S, T>& t, const TensorMap* maps,
                               int first_byte)
      : tile(t), copies(a, t, kInput, maps) {
    const int warp = (kGroups > 1 ? t.group * Shape::kWarps : 0) + Shape::warp();
    Storage* slots = reinterpret_cast<Storage*>(shared_memory() + first_byte) + warp * kWarpCells;
    from = slots + Shape::lane() * Shape::kCells;
    to = slots + copies.first_place();
  }

  /// The block's walk starts at plane z.
  STENCIL_DEVICE void start(Index z) {
    z -= kBehind + (kGroups > 1 ? tile.group * T::kGroupDelay : 0);
    next_z = S::kBoundaryZ == Boundary::periodic ? inside<S::kBoundaryZ>(z, tile.nz) : z;
    copies.move_by(next_z);
  }

  /// Starts to copy the next plane over the oldest. No cell that is stored depends on planes beyond the grid.
  STENCIL_DEVICE void copy_next(Mbarrier* arrived) {
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

/// A constant field, which no step changes. It is read at the cell itself, by level l in the plane that l updates.
/// Reading starts kLag planes behind the group's input; a plane stays until the group's last level has used it.
template <class S, class T, int kInput>
struct ConstantPipeline
    : InputPipeline<S, T, kInput, T::kPrefetch + (TemporalShape<S, T>::kLevels - 1) * T::kLag + 1,
                T::kLag, T::kGroups> {
  using Shape = TemporalShape<S, T>;
  using Pipeline =
      InputPipeline<S, T, kInput, T::kPrefetch + (Shape::kLevels - 1) * T::kLag + 1, T::kLag, T::kGroups>;
  using Pipeline::Pipeline;

  /// The plane of the cells that the level completes in this step: row j to to.row(kInput, j).
  template <int kLevel, class Rows>
  STENCIL_DEVICE void read(Rows& to) const {
    const auto* plane = this->template copied<T::kPrefetch + kLevel * T::kLag>();
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
struct ConstantPipelines;

template <class S, class T, int... kField>
struct ConstantPipelines<S, T, Indices<kField...>> : ConstantPipeline<S, T, constant_input<T>(kField)>... {
  template <int kF>
  using Pipeline = ConstantPipeline<S, T, constant_input<T>(kF)>;
  static constexpr int kBytes = (0 + ... + Pipeline<kField>::kBytes);

  /// Bytes of the pipelines before that one.
  STENCIL_DEVICE static constexpr int bytes_before(int field) {
    return (0 + ... + (kField < field ? Pipeline<kField>::kBytes : 0));
  }

  STENCIL_DEVICE ConstantPipelines(const Arguments<S>& a, const TemporalTile<S, T>& t, const TensorMap* maps,
                                   int first_byte)
      : Pipeline<kField>(a, t, maps, first_byte + bytes_before(kField))... {}

  STENCIL_DEVICE void start(typename S::Index z) { (Pipeline<kField>::start(z), ...); }
  STENCIL_DEVICE void copy_next(Mbarrier* arrived) { (Pipeline<kField>::copy_next(arrived), ...); }

  template <int kLevel, class Rows>
  STENCIL_DEVICE void read(Rows&& to) const {
    (Pipeline<kField>::template read<kLevel>(to), ...);
  }
};

/// Stands in where a stencil reads the advanced field alone.
template <class S, class T>
struct NoConstants {
  static constexpr int kBytes = 0;
  STENCIL_DEVICE NoConstants(const Arguments<S>&, const TemporalTile<S, T>&, const TensorMap*, int) {}
};

}  // namespace stencil_tune
