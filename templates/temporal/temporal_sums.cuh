// temporal, sums in registers: like temporal.cuh, but a level does not keep the planes that the next sweep reads. It adds
// each plane, once, to the sums of all outputs within its reach (plane_sums.cuh). Lanes and warps then exchange rows of
// one plane, where otherwise they exchange those of all planes in reach.
//
//      z --->
//      level l   sum of z-1   sum of z   [ plane z+1 ]   <-  level l-1
//                     \           \__________/ |
//      level l+1   <-  complete: plane z       starts the sum of z+2
//
// A star reads neighbours only in the output's own plane. Its taps ahead of the output need no rows of other warps, and
// are added a step before the others; every level then lags one plane less.
//
// Held cells, which boundary hold keeps, are never a sum's result. At a tile's edge a thread remembers them or puts them aside
// until their plane is complete (temporal_held_cells.cuh). Whole planes at an end of the walk are read from memory again.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/plane_sums.cuh"
#include "stencil_tune/points/no_points.cuh"
#include "stencil_tune/temporal/temporal_barrier.cuh"
#include "stencil_tune/temporal/temporal_held_cells.cuh"
#include "stencil_tune/temporal/temporal_walk.cuh"

namespace stencil_tune {

/// What sums take of a plane a step before the rest.
template <class S, class T>
struct CellsAhead : Window<S, T, typename T::ReadsAhead> {};
struct NothingAhead {};

/// Points: what sources add and receivers capture (temporal_points.cuh), or none.
template <class S, class T, class Points = NoPoints>
struct SumLevels {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;
  using Constants = typename InputRows<S, T>::Constants;
  using OtherEdges = EdgesOf<S, T>;
  using WarpBarrier = Choose<T::kWarpsWait, StepBarrier<S, T>, NoBarrier>;
  using Sums = PlaneSums<S, T>;
  using Late = Choose<S::kInputs != 1, LateCells<S, T>, NoLateCells>;
  using Remembered = Choose<T::kHeldLoop == HeldLoop::apart, RememberedCells<S, T>, NothingRemembered>;
  using Aside = Choose<T::kHeldLoop == HeldLoop::apart, NoCellsAside, CellsAside<S, T>>;

  /// Taps up to this one are added from the plane whose rows are all published, the later ones from the newest plane.
  static constexpr int kLastSettled = T::kSplitsSums ? 0 : S::kHighZ;

  struct Level {
    Sums sums;
    Plane waiting;  ///< for other warps' rows of it; unused where none are read
    Remembered held;
  };

  Points points;
  const Arguments<S>& arguments;
  const Tile& tile;
  Level levels[Shape::kLevels];
  OtherEdges edges;
  WarpBarrier step_barrier;
  Aside aside;

  /// All planes are 0: what boundary zero reads before the first plane.
  STENCIL_DEVICE SumLevels(const Arguments<S>& a, const Tile& t, const Points& p)
      : points(p), arguments(a), tile(t), edges(a, t), step_barrier(OtherEdges::kEnd),
        aside(t, OtherEdges::kEnd + WarpBarrier::kBytes) {
    static_assert(OtherEdges::kEnd + WarpBarrier::kBytes + Aside::kBytes <= T::kSharedBytes,
                  "the host plans the shared memory that the kernel lays out");
    STENCIL_UNROLL
    for (int l = 0; l < Shape::kLevels; ++l) levels[l].waiting.fill(Value(0));
    clear_held();
    if constexpr (T::kHeldLoop != HeldLoop::apart) aside.start(t);
    if constexpr (T::kExchanges) edges.start(t);
    if constexpr (T::kWarpsWait) step_barrier.start();
  }

  /// After steps without held cells, so that older ones do not stay in registers.
  STENCIL_DEVICE void clear_held() {
    STENCIL_UNROLL
    for (int l = 0; l < Shape::kLevels; ++l) levels[l].held = Remembered{};
  }

  /// Before each step: waits for what other warps publish and pass on.
  STENCIL_DEVICE void begin_step() {
    if constexpr (T::kWarpsWait) step_barrier.await();
    if constexpr (T::kExchanges) edges.await();
  }

  /// plane: plane z of the group's input; comes back as plane z - kLevels * kLag after the group's steps.
  template <Edges kEdges>
  STENCIL_DEVICE void step(Index z, Plane& plane, const Constants& constants) {
    if constexpr (kEdges == Edges::all && S::kBoundaryZ == Boundary::zero) {
      if (z >= tile.nz) plane.fill(Value(0));
    }
    if constexpr (kEdges != Edges::none && T::kHeldLoop != HeldLoop::apart) {
      if (tile.looks_for_held()) aside.remember(tile, plane);
    }
    advance<kEdges>(z, plane, constants, IndicesBelow<Shape::kLevels>{});
    if constexpr (T::kExchanges) edges.next_step();
  }

  /// After the last step: other blocks' rows must have arrived before this one ends.
  STENCIL_DEVICE void leave() {
    if constexpr (T::kCluster > 1) begin_step();
  }

  /// Before the block walks again.
  STENCIL_DEVICE void end_mbarriers() const {
    step_barrier.end_mbarriers();
    edges.end_mbarriers();
  }

 private:
  STENCIL_DEVICE TemporalRows<S, T> rows() const { return {tile, edges}; }

  template <Edges kEdges, int... kLevel>
  STENCIL_DEVICE void advance(Index z, Plane& plane, const Constants& constants, Indices<kLevel...>) {
    (advance_level<kEdges, kLevel>(z - (kLevel + 1) * T::kLag, plane, constants), ...);
  }

  /// newest: enters the level; the level's update of plane z takes its place.
  template <Edges kEdges, int kLevel>
  STENCIL_DEVICE void advance_level(Index z, Plane& newest, const Constants& constants) {
    Level& level = levels[kLevel];
    const Plane settled = T::kExchanges ? level.waiting : newest;
    const Plane added = T::kSplitsSums ? newest : settled;
    Window<S, T, typename Sums::Reads> taps;
    gather<kLevel, T::kExchanges>(settled, taps, IndicesBelow<Sums::Reads::kRows>{});
    [[maybe_unused]] Choose<T::kSplitsSums, CellsAhead<S, T>, NothingAhead> ahead;
    if constexpr (T::kSplitsSums) gather<kLevel, false>(newest, ahead, IndicesBelow<Sums::Reads::kRows>{});
    if constexpr (T::kExchanges) {
      level.waiting = newest;
      edges.template publish<kLevel>(newest);
      if constexpr (T::kReadsRim && kLevel == 0) {
        constexpr bool kZero = kEdges == Edges::all && S::kBoundaryZ == Boundary::zero;
        edges.template publish_rim<kZero>(z + (T::kLag - T::kRimAge));
      }
      if constexpr (T::kCluster > 1 && kLevel == Shape::kLevels - 1) send(IndicesBelow<Shape::kLevels>{});
    }
    if constexpr (T::kWarpsWait && kLevel == Shape::kLevels - 1) step_barrier.arrive(tile.nx < 0);
    if constexpr (kEdges != Edges::none && T::kHeldLoop == HeldLoop::apart && S::kHighZ == 0) {
      level.held.remember(tile, added);
    }
    level.sums.template add_taps<-S::kLowZ, kLastSettled, T::kSplitsSums ? 1 : 0>(taps, arguments.coefficients);
    if constexpr (T::kSplitsSums) {
      level.sums.template add_taps<kLastSettled + 1, S::kHighZ, 0>(ahead, arguments.coefficients);
    }
    Late late;
    if constexpr (S::kInputs > 1) constants.template read<kLevel>(late);
    Plane updated;
    finish(level.sums, late, updated, IndicesBelow<Shape::kRows>{});
    level.sums.next();
    if constexpr (kEdges == Edges::all) hold_plane(z, updated);
    if constexpr (kEdges != Edges::none && T::kHeldLoop == HeldLoop::apart) {
      level.held.restore(tile, updated);
      if constexpr (S::kHighZ > 0) level.held.remember(tile, added);
    }
    if constexpr (kEdges != Edges::none && T::kHeldLoop != HeldLoop::apart) {
      if (tile.looks_for_held()) aside.template restore<kLevel>(tile, updated);
    }
    if constexpr (Points::kAny && kEdges == Edges::all) points.template meet<kLevel>(z, updated);
    newest = updated;
  }

  template <int... kLevel>
  STENCIL_DEVICE void send(Indices<kLevel...>) const {
    if (edges.at_seam()) (edges.template send<kLevel>(levels[kLevel].waiting), ...);
  }

  /// kExchanged: the warps have published their rows of the plane.
  template <int kLevel, bool kExchanged, class Taken, int... kR>
  STENCIL_DEVICE void gather(const Plane& plane, Taken& taken, Indices<kR...>) const {
    (gather_row<kLevel, kExchanged, kR>(plane, taken), ...);
  }
  template <int kLevel, bool kExchanged, int kR, class Taken>
  STENCIL_DEVICE void gather_row(const Plane& plane, Taken& taken) const {
    constexpr RowUse kUse = Taken::Reads::row(T::kAdvanced, 0, kR);
    if constexpr (is_used(kUse)) {
      Value* body = taken.own_cells(T::kAdvanced, 0, kR);
      constexpr int kJ = kR - S::kLowY;
      rows().template take<kLevel, kJ>(plane, T::kLastExchanged, body);
      rows().template fill_halo<kLevel, kJ, kUse.left, kUse.right, kExchanged>(T::kLastExchanged, body);
    }
  }

  template <int... kJ>
  STENCIL_DEVICE void finish(const Sums& sums, const Late& late, Plane& updated, Indices<kJ...>) const {
    (finish_row<kJ>(sums, late, updated), ...);
  }
  template <int kJ>
  STENCIL_DEVICE void finish_row(const Sums& sums, const Late& late, Plane& updated) const {
    Value outputs[S::kOutputs][T::kRegisterX];
    sums.template finish<kJ>(late, arguments.coefficients, outputs);
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) updated.cells[kJ][i] = outputs[0][i];
  }

  /// Under hold, planes beyond the grid stay as they are: only held planes would read them.
  STENCIL_DEVICE void hold_plane(Index z, Plane& updated) const {
    if constexpr (S::kBoundaryZ == Boundary::hold) {
      if (tile.holds_planes_at(z) && z >= 0 && z < tile.nz) {
        STENCIL_UNROLL
        for (int j = 0; j < Shape::kRows; ++j) {
          STENCIL_UNROLL
          for (int i = 0; i < Shape::kCells; ++i) updated.cells[j][i] = input_cell(tile, arguments, i, j, z);
        }
      }
    } else if constexpr (S::kBoundaryZ == Boundary::zero) {
      if (tile.holds_planes_at(z)) updated.fill(Value(0));
    }
  }
};

template <class S, class T, class Kernel>
STENCIL_DEVICE void temporal_sums(const Kernel& arguments) {
  walk_levels<S, T, SumLevels<S, T>>(arguments, NoPoints{});
}

}  // namespace stencil_tune
