// The input of a group of warps of a temporal block: planes from global memory, or from the group before it.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/temporal/temporal_plane.cuh"
#include "stencil_tune/temporal/temporal_ring.cuh"

namespace stencil_tune {

/// Planes that a group of warps completes, for the next group: a warp's rows go to the warp with the same cells. The next
/// group takes the oldest plane, whose slot is filled next.
template <class S, class T>
struct PassedRows {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;
  using Memory = WarpPlane<S, T>;

  static constexpr int kPlanes = T::kHandOver + 1;  ///< slots
  static constexpr int kWarpCells = kPlanes * Memory::kPlaneCells;
  static constexpr int kGroupCells = Shape::kWarps * kWarpCells;
  static constexpr int kBytes = (T::kGroups - 1) * kGroupCells * static_cast<int>(sizeof(Value));

  Value* to;      ///< the lane's first word of the plane that the step passes on
  int ahead = 0;  ///< cells to the plane that the next step passes on
  int slot = 0;   ///< slot of the plane that the step passes on

  STENCIL_DEVICE PassedRows(const TemporalTile<S, T>& tile, int first_byte) {
    if constexpr (T::kGroups > 1) {
      to = Memory::first_word(reinterpret_cast<Value*>(shared_memory() + first_byte) + tile.group * kGroupCells +
                              Shape::warp() * kWarpCells);
      ahead = Memory::kPlaneCells;
      if (tile.in_first_group) return;
      STENCIL_UNROLL
      for (int p = 1; p < kPlanes; ++p) {
        Memory::store(to + (p * Memory::kPlaneCells - kGroupCells), TemporalPlane<S, T>::all(Value(0)));
      }
    }
  }

  STENCIL_DEVICE void pass(const TemporalPlane<S, T>& plane) const { Memory::store(to, plane); }

  /// What the group before passed kHandOver steps before; 0 in the first ones.
  STENCIL_DEVICE void take(TemporalPlane<S, T>& plane) const { Memory::load(to - kGroupCells + ahead, plane); }

  STENCIL_DEVICE void next_step() {
    to += ahead;
    if constexpr (kPlanes == 2) {
      ahead = -ahead;
    } else {
      slot = slot == kPlanes - 1 ? 0 : slot + 1;
      ahead = slot == kPlanes - 1 ? -slot * Memory::kPlaneCells : Memory::kPlaneCells;
    }
  }
};

/// The block's input: the field that its steps advance, and the constant fields. The first group reads the advanced
/// field from memory; the other groups take what the group before them passes on.
template <class S, class T>
struct InputRows {
  using Shape = TemporalShape<S, T>;
  using Advanced = InputPipeline<S, T, T::kAdvanced, T::kPrefetch, 0, 1>;
  using Constants = 
      Choose<S::kInputs != 1, ConstantPipelines<S, T, IndicesBelow<S::kInputs - 1>>, NoConstants<S, T>>;
  using Arrivals = ArrivalsOf<S, T>;
  static constexpr int kPassed = Advanced::kBytes + Constants::kBytes;  ///< bytes before what groups pass on
  static constexpr int kArrivals = kPassed + PassedRows<S, T>::kBytes;
  static constexpr int kBytes = kArrivals + Arrivals::kBytes;

  const TemporalTile<S, T>& tile;
  Advanced advanced;
  Constants constants;
  PassedRows<S, T> passed;
  Arrivals arrivals;

  STENCIL_DEVICE InputRows(const Arguments<S>& a, const TemporalTile<S, T>& t, const TensorMap* maps)
      : tile(t), advanced(a, t, maps, 0), constants(a, t, maps, Advanced::kBytes), passed(t, kPassed),
        arrivals(t, kArrivals) {}

  STENCIL_DEVICE void start(typename S::Index z) {
    arrivals.start((tile.in_first_group ? 1 : 0) + S::kInputs - 1);
    advanced.start(z);
    if constexpr (S::kInputs > 1) constants.start(z);
    STENCIL_UNROLL
    for (int p = 0; p < T::kPrefetch; ++p) copy_next();
  }

  /// The advanced field's next plane. From now on the constant fields' planes of this step can be read too.
  STENCIL_DEVICE void take(TemporalPlane<S, T>& plane) {
    arrivals.await();
    if (tile.in_first_group) {
      const auto* copied = advanced.template copied<T::kPrefetch - 1>();
      STENCIL_UNROLL
      for (int j = 0; j < Shape::kRows; ++j) advanced.read_row(copied, j, plane.cells[j]);
    } else {
      passed.take(plane);
    }
    arrivals.release();
    copy_next();
  }

  /// After the last step.
  STENCIL_DEVICE void leave() { arrivals.leave(); }

  /// Before the block walks again.
  STENCIL_DEVICE void end_mbarriers() { arrivals.end_mbarriers(); }

 private:
  STENCIL_DEVICE void copy_next() {
    Mbarrier* arrived = arrivals.open();
    if (tile.in_first_group) advanced.copy_next(arrived);
    if constexpr (S::kInputs > 1) constants.copy_next(arrived);
    arrivals.close();
  }
};

}  // namespace stencil_tune
