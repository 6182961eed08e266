// The levels of a temporal block: the planes each of them keeps, and how one step updates them all.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/points/no_points.cuh"
#include "stencil_tune/temporal/temporal_barrier.cuh"
#include "stencil_tune/temporal/temporal_kept.cuh"
#include "stencil_tune/temporal/temporal_place.cuh"
#include "stencil_tune/temporal/temporal_rows.cuh"
#include "stencil_tune/window.cuh"

namespace stencil_tune {

/// Points: what sources add and receivers capture (temporal_points.cuh), or none.
template <class S, class T, class Points = NoPoints>
struct Levels {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;
  using Constants = typename InputRows<S, T>::Constants;
  using OtherEdges = EdgesOf<S, T>;
  using WarpBarrier = Choose<T::kWarpsWait, StepBarrier<S, T>, NoBarrier>;
  using Reads = typename T::Reads;
  using Registers = Window<S, T, Reads>;

  Points points;
  const Arguments<S>& arguments;
  const Tile& tile;
  OtherEdges edges;
  WarpBarrier step_barrier;
  AxisReads<S, T> axis_reads;
  KeptPlanes<S, T> kept;

  STENCIL_DEVICE Levels(const Arguments<S>& a, const Tile& t, const Points& p)
      : points(p), arguments(a), tile(t), edges(a, t), step_barrier(OtherEdges::kEnd), axis_reads(a, t) {
    static_assert(OtherEdges::kEnd + WarpBarrier::kBytes <= T::kSharedBytes,
                  "the host plans the shared memory that the kernel lays out");
    if constexpr (T::kExchanges) edges.start(t);
    if constexpr (T::kWarpsWait) step_barrier.start();
  }

  /// After steps without held cells.
  STENCIL_DEVICE void clear_held() {}

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
    Registers window;
    gather<kEdges, kLevel>(newest, z, window, IndicesBelow<Shape::kPlanes * Reads::kRows>{});
    if constexpr (S::kInputs > 1) constants.template read<kLevel>(CentreRows{window});
    if constexpr (T::kExchanges) {
      edges.template publish<kLevel>(exchanged_next<kLevel>(newest));
      if constexpr (T::kReadsRim && kLevel == 0) {
        constexpr bool kZero = kEdges == Edges::all && S::kBoundaryZ == Boundary::zero;
        edges.template publish_rim<kZero>(z + (T::kLag - T::kRimAge));
      }
      if constexpr (T::kCluster > 1 && kLevel == Shape::kLevels - 1) {
        send(exchanged_next<kLevel>(newest), IndicesBelow<Shape::kLevels>{});
      }
    }
    if constexpr (T::kWarpsWait && kLevel == Shape::kLevels - 1) step_barrier.arrive(tile.nx < 0);
    Plane updated;
    update<kLevel>(z, window, updated, AllCells{});
    if constexpr (kEdges == Edges::all) {
      hold_plane(plane_in_reach<kLevel, S::kLowZ>(newest), z, updated);
    }
    if (kEdges != Edges::none && tile.looks_for_held()) {
      hold_cells(plane_in_reach<kLevel, S::kLowZ>(newest), updated, AllCells{});
    }
    if constexpr (Points::kAny && kEdges == Edges::all) points.template meet<kLevel>(z, updated);
    kept.template push<kLevel>(newest);
    newest = updated;
  }

  /// The plane whose rows other warps read in the next step.
  template <int kLevel>
  STENCIL_DEVICE const Plane& exchanged_next(const Plane& newest) const {
    return plane_in_reach<kLevel, T::kLastExchanged + 1>(newest);
  }

  /// last: what the last level publishes; the others have pushed theirs already.
  template <int... kLevel>
  STENCIL_DEVICE void send(const Plane& last, Indices<kLevel...>) const {
    if (!edges.at_seam()) return;
    (send_level<kLevel>(last), ...);
  }

  template <int kLevel>
  STENCIL_DEVICE void send_level(const Plane& last) const {
    if constexpr (kLevel < Shape::kLevels - 1) {
      edges.template send<kLevel>(kept.template plane<kLevel, T::kLastExchanged>());
    } else {
      edges.template send<kLevel>(last);
    }
  }

  /// The centre of a window, row by row.
  struct CentreRows {
    Registers& window;
    STENCIL_DEVICE Value* row(int f, int j) const { return window.own_cells(f, S::kLowZ, S::kLowY + j); }
  };

  using AllCells = IndicesBelow<Shape::kRows * Shape::kCells>;

  template <Edges kEdges, int kLevel, int... kRow>
  STENCIL_DEVICE void gather(const Plane& newest, Index z, Registers& window, Indices<kRow...>) {
    (gather_row<kEdges, kLevel, kRow / Reads::kRows, kRow % Reads::kRows>(newest, z, window), ...);
  }

  /// Row kR of plane kP of the reach, with as much of its halo as is read.
  template <Edges kEdges, int kLevel, int kP, int kR>
  STENCIL_DEVICE void gather_row(const Plane& newest, Index z, Registers& window) {
    constexpr RowUse kUse = Reads::row(T::kAdvanced, kP, kR);
    if constexpr (is_used(kUse)) {
      Value* body = window.own_cells(T::kAdvanced, kP, kR);
      constexpr int kJ = kR - S::kLowY;
      constexpr bool kExchanged = kP >= T::kFirstExchanged && kP <= T::kLastExchanged;
      if constexpr (kEdges == Edges::all && Shape::kMapsPlanes && kP != S::kLowZ) {
        const int p = mapped<kP>(z);
        rows().template take<kLevel, kJ>(mapped_plane<kLevel>(newest, p, IndicesBelow<T::kKept>{}), p, body);
        rows().template fill_halo<kLevel, kJ, kUse.left, kUse.right, kExchanged>(p, body);
      } else {
        rows().template take<kLevel, kJ>(plane_in_reach<kLevel, kP>(newest), kP, body);
        rows().template fill_halo<kLevel, kJ, kUse.left, kUse.right, kExchanged>(kP, body);
      }
    }
  }

  template <int kLevel, int kP>
  STENCIL_DEVICE const Plane& plane_in_reach(const Plane& newest) const {
    if constexpr (kP < T::kKept) {
      return kept.template plane<kLevel, kP>();
    } else {
      return newest;
    }
  }

  /// The plane of the reach that the boundary reads in place of plane kP around z. Where z itself lies outside, any
  /// plane is right: the result is never used.
  template <int kP>
  STENCIL_DEVICE int mapped(Index z) const {
    const Index p = inside_once<S::kBoundaryZ>(z + (kP - S::kLowZ), tile.nz) - z + S::kLowZ;
    return static_cast<int>(p < 0 ? 0 : p < Shape::kPlanes ? p : Shape::kPlanes - 1);
  }

  /// Plane p of the reach, where p is known only at run time: cell by cell, for no register has a run-time index.
  template <int kLevel, int... kP>
  STENCIL_DEVICE Plane mapped_plane(const Plane& newest, int p, Indices<kP...>) const {
    Plane plane = newest;
    (take_if(p == kP, kept.template plane<kLevel, kP>(), plane), ...);
    return plane;
  }
  STENCIL_DEVICE static void take_if(bool taken, const Plane& from, Plane& to) {
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; ++i) to.cells[j][i] = taken ? from.cells[j][i] : to.cells[j][i];
    }
  }

  template <int kLevel, int... kCell>
  STENCIL_DEVICE void update(Index z, const Registers& window, Plane& updated, Indices<kCell...>) const {
    z = plane_of<S>(z, tile.nz);
    const auto reads = axis_reads.in_plane(z);
    (update_cell<kLevel, kCell % Shape::kCells, kCell / Shape::kCells>(z, reads, window, updated), ...);
  }
  template <int kLevel, int kI, int kJ, class Kept>
  STENCIL_DEVICE void update_cell([[maybe_unused]] Index z, [[maybe_unused]] const Kept& reads,
                                  const Registers& window, Plane& updated) const {
    Value cell[1];
    if constexpr (T::kPlaced) {
      const int ahead = tile.group * Shape::kLevels + kLevel;
      S::update(placed<kI, kJ>(Cells<S, Registers, kI, kJ, 0>{window}, arguments, tile, reads, z, ahead),
                arguments.coefficients, cell);
    } else {
      S::update(Cells<S, Registers, kI, kJ, 0>{window}, arguments.coefficients, cell);
    }
    updated.cells[kJ][kI] = cell[0];
  }

  template <int... kCell>
  STENCIL_DEVICE void hold_cells(const Plane& before, Plane& updated, Indices<kCell...>) const {
    (hold_cell<kCell % Shape::kCells, kCell / Shape::kCells>(before, updated), ...);
  }
  template <int kI, int kJ>
  STENCIL_DEVICE void hold_cell(const Plane& before, Plane& updated) const {
    if (tile.template holds<kI, kJ>()) updated.cells[kJ][kI] = before.cells[kJ][kI];
  }

  /// Planes that boundary hold keeps, and under zero the planes beyond the grid.
  STENCIL_DEVICE void hold_plane(const Plane& before, Index z, Plane& updated) const {
    if constexpr (S::kBoundaryZ == Boundary::hold) {
      if (tile.holds_planes_at(z)) updated = before;
    } else if constexpr (S::kBoundaryZ == Boundary::zero) {
      if (tile.holds_planes_at(z)) updated.fill(Value(0));
    }
  }
};

}  // namespace stencil_tune
