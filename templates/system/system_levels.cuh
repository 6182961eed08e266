// The levels of a system's fused steps: the planes each of them keeps, and how it makes one state of another.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/points/no_points.cuh"
#include "stencil_tune/system/system_input.cuh"
#include "stencil_tune/system/system_rim.cuh"
#include "stencil_tune/temporal/temporal_barrier.cuh"
#include "stencil_tune/temporal/temporal_place.cuh"
#include "stencil_tune/window.cuh"

namespace stencil_tune {

inline constexpr int kNoLayers = -1000000;

template <class L>
STENCIL_DEVICE constexpr int most_kept() {
  int most = 1;
  for (int f = 0; f < L::kIn; ++f) {
    const int kept = L::kFields[f].below + L::kFields[f].newest;
    if (kept > most) most = kept;
  }
  return most;
}

/// The planes that a level keeps from step to step, the oldest first: of field f those from kFields[f].below below the
/// plane that the level updates up to the newest but one.
template <class S, class T, int kLevel>
struct LevelPlanes {
  using L = LevelOf<S, kLevel>;
  TemporalPlane<S, T> planes[L::kIn][most_kept<L>()];
};

template <class S, class T, class Levels>
struct AllLevelPlanes;
template <class S, class T, int... kLevel>
struct AllLevelPlanes<S, T, Indices<kLevel...>> : LevelPlanes<S, T, kLevel>... {
  template <int kL>
  STENCIL_DEVICE LevelPlanes<S, T, kL>& of() {
    return *this;
  }
  /// All planes are 0: what boundary zero reads before the first plane.
  STENCIL_DEVICE void clear() { (clear_level<kLevel>(), ...); }

 private:
  template <int kL>
  STENCIL_DEVICE void clear_level() {
    using L = LevelOf<S, kL>;
    STENCIL_UNROLL
    for (int f = 0; f < L::kIn; ++f) {
      STENCIL_UNROLL
      for (int p = 0; p < most_kept<L>(); ++p) of<kL>().planes[f][p].fill(typename S::Value(0));
    }
  }
};

/// Points: what sources add and receivers capture (system_points.cuh), or none.
template <class S, class T, class Points>
struct SystemLevels {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;
  using Input = SystemInput<S, T>;
  using Constants = typename Input::Constants;
  using Published = 
      Choose<T::kReadsRim, RimmedRows<S, T, IndicesBelow<LevelOf<S, 0>::kIn>>, PublishedRows<S, T>>;

  // Whether the boundary answers for cells beyond the grid with those of the tile, or with zeros: of columns, of rows, of
  // planes, which are zeros when they arrive.
  static constexpr bool kAnswersColumns = S::kBoundaryX != Boundary::hold && S::kBoundaryX != Boundary::periodic;
  static constexpr bool kAnswersRows = S::kBoundaryY != Boundary::hold && S::kBoundaryY != Boundary::periodic;
  template <Edges kEdges>
  static constexpr bool kZeros = kEdges == Edges::all && S::kBoundaryZ == Boundary::zero;
  static constexpr bool kAnswersPlanes = S::kBoundaryZ == Boundary::clamp || S::kBoundaryZ == Boundary::reflect;

  static constexpr int kPublishedFrom = Input::kBytes;
  static constexpr int kBarrierFrom = kPublishedFrom + Published::kBytes;

  Points points;
  const Arguments<S>& arguments;
  const Tile& tile;
  const SystemOutput<S, T>& output;
  Published published;
  StepBarrier<S, T> step_barrier;
  AxisReads<S, T> axis_reads;
  AllLevelPlanes<S, T, IndicesBelow<S::kLevels>> kept;
  int at_work = S::kLevels;  ///< levels in which the warp has rows that are right

  STENCIL_DEVICE SystemLevels(const Arguments<S>& a, const Tile& t, const SystemOutput<S, T>& o, const Points& p)
      : points(p), arguments(a), tile(t), output(o), published(a, t, kPublishedFrom), step_barrier(kBarrierFrom), axis_reads(a, t) {
    static_assert(kBarrierFrom + StepBarrier<S, T>::kBytes == T::kSharedBytes,
                  "the host plans the shared memory that the kernel lays out");
    if constexpr (Shape::kExchangesRows) published.start(t);
    step_barrier.start();
    kept.clear();
    if constexpr (T::kEdgeWarpsRest) find_levels_at_work(IndicesBelow<S::kLevels>{});
  }

  /// After steps without held cells.
  STENCIL_DEVICE void clear_held() {}

  /// Before each step: waits for what other warps publish.
  STENCIL_DEVICE void begin_step() { step_barrier.await(); }

  /// Plane z of the input goes through all levels; what leaves the last one is stored.
  template <Edges kEdges>
  STENCIL_DEVICE void step(Index z, SystemState<S, T, Input::kState>& state, Input& input) {
    if constexpr (kZeros<kEdges>) {
      clear_outside(z, state, IndicesBelow<Input::kState>{});
    }
    advance<kEdges, 0>(z, state, input);
    if constexpr (Shape::kExchangesRows) published.next_step();
  }

 private:
  template <int... kLevel>
  STENCIL_DEVICE void find_levels_at_work(Indices<kLevel...>) {
    // The compiler then knows that lanes agree, and keeps coefficients in uniform registers.
    at_work = shuffle_from((0 + ... + (works<kLevel>() ? 1 : 0)), 0);
  }
  template <int kLevel>
  STENCIL_DEVICE bool works() const {
    using L = LevelOf<S, kLevel>;
    const int first = Shape::warp() * Shape::kRows;
    const bool wrong_above = tile.low_y > 0 && first + Shape::kRows <= L::kWrongAbove;
    const bool wrong_below = tile.high_y < tile.ny && first >= Shape::kHeight - L::kWrongBelow;
    return !wrong_above && !wrong_below;
  }

  /// Planes beyond the grid.
  template <class State, int... kF>
  STENCIL_DEVICE void clear_outside(Index z, State& state, Indices<kF...>) const {
    (clear_field<S::kStateInputs[kF].behind>(z, state.fields[kF]), ...);
  }
  template <int kBehind>
  STENCIL_DEVICE void clear_field(Index z, Plane& plane) const {
    if (z - kBehind < 0 || z - kBehind >= tile.nz) plane.fill(Value(0));
  }

  template <Edges kEdges, int kLevel, class State>
  STENCIL_DEVICE void advance(Index z, State& newest, Input& input) {
    if constexpr (kLevel == S::kLevels) {
      constexpr bool kPlain = kEdges != Edges::all;
      output.template store<kPlain && !T::kFillsPlain, kPlain>(z - T::kDelay, newest);
    } else {
      using L = LevelOf<S, kLevel>;
      SystemState<S, T, L::kOut> leaving;
      advance_level<kEdges, kLevel>(z - L::kDelay, newest, leaving, input.constants);
      advance<kEdges, kLevel + 1>(z, leaving, input);
    }
  }

  /// z: the plane that the level updates.
  template <Edges kEdges, int kLevel, class L = LevelOf<S, kLevel>>
  STENCIL_DEVICE void advance_level(Index z, SystemState<S, T, L::kIn>& newest,
                                    SystemState<S, T, L::kOut>& leaving, const Constants& constants) {
    using Fields = IndicesBelow<L::kIn>;
    publish_now<kEdges, kLevel>(z, newest, Fields{});
    SystemState<S, T, L::kOutputs> updated;
    if constexpr (T::kEdgeWarpsRest) {
      publish_for_next<kEdges, kLevel>(z, newest, Fields{});  // resting warps too: others read their rows, right or wrong
      if (kLevel < at_work) {
        update_level<kEdges, kLevel>(z, newest, updated, constants);
      } else {
        STENCIL_UNROLL
        for (int o = 0; o < L::kOutputs; ++o) updated.fields[o].fill(Value(0));
      }
      if constexpr (kLevel == S::kLevels - 1) step_barrier.arrive();
    } else {
      update_level<kEdges, kLevel>(z, newest, updated, constants);
    }
    if constexpr (Points::kAny && kEdges == Edges::all) {
      const auto met = points.rounds(z);
      points.template add_to<L>(met, updated);
      leave<kLevel>(newest, updated, leaving, IndicesBelow<L::kOut>{});
      points.template capture_of<L>(met, z, leaving);
    } else {
      leave<kLevel>(newest, updated, leaving, IndicesBelow<L::kOut>{});
    }
    keep<kLevel>(newest, Fields{});
  }

  template <Edges kEdges, int kLevel, class L = LevelOf<S, kLevel>>
  STENCIL_DEVICE void update_level(Index z, SystemState<S, T, L::kIn>& newest,
                                   SystemState<S, T, L::kOutputs>& updated, const Constants& constants) {
    using Reads = typename L::Reads;
    if constexpr (kEdges == Edges::all && kAnswersPlanes) answer_planes<kLevel>(z, newest, IndicesBelow<L::kIn>{});
    Window<L, T, Reads> window;
    gather<kEdges, kLevel, Reads>(newest, z, window, constants, typename Reads::Used{});
    if constexpr (!T::kEdgeWarpsRest) {
      publish_for_next<kEdges, kLevel>(z, newest, IndicesBelow<L::kIn>{});
      if constexpr (kLevel == S::kLevels - 1) step_barrier.arrive();
    }
    update<kLevel>(z, window, updated, IndicesBelow<Shape::kRows * Shape::kCells>{});
    if constexpr (kEdges != Edges::none) hold<kEdges, kLevel>(newest, z, updated, IndicesBelow<L::kOutputs>{});
  }

  // ---- planes -------------------------------------------------------------------------------------------------------

  /// The plane of field kF that is kOffset planes above the one that the level updates.
  template <int kLevel, int kF, int kOffset, class State, class L = LevelOf<S, kLevel>>
  STENCIL_DEVICE auto& plane(State& newest) {
    if constexpr (kOffset == L::kFields[kF].newest) {
      return newest.fields[kF];
    } else {
      return kept.template of<kLevel>().planes[kF][L::kFields[kF].below + kOffset];
    }
  }

  template <int kLevel, class State, int... kF>
  STENCIL_DEVICE void keep(const State& newest, Indices<kF...>) {
    (keep_field<kLevel, kF>(newest.fields[kF]), ...);
  }
  template <int kLevel, int kF>
  STENCIL_DEVICE void keep_field(const Plane& newest) {
    using L = LevelOf<S, kLevel>;
    constexpr int kCount = L::kFields[kF].below + L::kFields[kF].newest;
    auto& planes = kept.template of<kLevel>().planes[kF];
    STENCIL_UNROLL
    for (int p = 0; p + 1 < kCount; ++p) planes[p] = planes[p + 1];
    if constexpr (kCount > 0) planes[kCount - 1] = newest;
  }

  // ---- planes beyond the grid, where clamp and reflect answer with planes inside -------------------------------------

  /// Puts the planes that answer in the place of those beyond the grid. Nothing else asks for these.
  template <int kLevel, class State, int... kF>
  STENCIL_DEVICE void answer_planes(Index z, State& newest, Indices<kF...>) {
    (answer_field<kLevel, kF>(z, newest,
                              IndicesBelow<LevelOf<S, kLevel>::kFields[kF].below + LevelOf<S, kLevel>::kFields[kF].newest + 1>{}),
     ...);
  }
  template <int kLevel, int kF, class State, int... kP>
  STENCIL_DEVICE void answer_field(Index z, State& newest, Indices<kP...> planes) {
    (answer_plane<kLevel, kF, kP - LevelOf<S, kLevel>::kFields[kF].below>(z, newest, planes), ...);
  }
  template <int kLevel, int kF, int kOffset, class State, int... kP>
  STENCIL_DEVICE void answer_plane(Index z, State& newest, Indices<kP...>) {
    if constexpr (kOffset != 0) {
      if (z + kOffset >= 0 && z + kOffset < tile.nz) return;
      const int offset = answering<kLevel, kF, kOffset>(z);
      (answer_with<kLevel, kF, kOffset, kP - LevelOf<S, kLevel>::kFields[kF].below>(offset, newest), ...);
    }
  }
  /// No register has an offset that is known only at run time: each plane is asked whether it is the one.
  template <int kLevel, int kF, int kOffset, int kBy, class State>
  STENCIL_DEVICE void answer_with(int offset, State& newest) {
    if constexpr (kBy != kOffset) {
      if (offset == kBy) plane<kLevel, kF, kOffset>(newest) = plane<kLevel, kF, kBy>(newest);
    }
  }

  /// The offset of the plane that answers for the one at kOffset. Where z itself lies outside, any is right: the result is
  /// never used.
  template <int kLevel, int kF, int kOffset>
  STENCIL_DEVICE int answering(Index z) const {
    constexpr LevelField kField = LevelOf<S, kLevel>::kFields[kF];
    const Index offset = inside_once<S::kBoundaryZ>(z + kOffset, tile.nz) - z;
    return static_cast<int>(offset < -kField.below ? -kField.below : offset > kField.newest ? kField.newest : offset);
  }

  // ---- rows of other warps ------------------------------------------------------------------------------------------

  /// Rows of planes that this very step reads first: the warps meet before they go on.
  template <Edges kEdges, int kLevel, class State, int... kF>
  STENCIL_DEVICE void publish_now(Index z, const State& newest, Indices<kF...>) {
    using L = LevelOf<S, kLevel>;
    (publish_newest<kEdges, kLevel, kF>(z, newest), ...);
    if constexpr (((L::kFields[kF].exchanges() && L::kFields[kF].last == L::kFields[kF].newest) || ...)) barrier();
  }
  template <Edges kEdges, int kLevel, int kF, class State>
  STENCIL_DEVICE void publish_newest(Index z, const State& newest) {
    constexpr LevelField kField = LevelOf<S, kLevel>::kFields[kF];
    if constexpr (kField.exchanges() && kField.last == kField.newest) {
      published.template publish<kField.row, kField.rows_before, kField.rows_after>(newest.fields[kF]);
      if constexpr (T::kReadsRim && kLevel == 0) published.template publish_rim<kF, kZeros<kEdges>>(z);
    }
  }

  /// Rows of planes that the next step reads first.
  template <Edges kEdges, int kLevel, class State, int... kF>
  STENCIL_DEVICE void publish_for_next(Index z, const State& newest, Indices<kF...>) {
    (publish_field<kEdges, kLevel, kF>(z, newest), ...);
  }
  template <Edges kEdges, int kLevel, int kF, class State>
  STENCIL_DEVICE void publish_field(Index z, const State& newest) {
    constexpr LevelField kField = LevelOf<S, kLevel>::kFields[kF];
    if constexpr (kField.exchanges() && kField.last < kField.newest) {
      published.template publish<kField.row, kField.rows_before, kField.rows_after>(
          plane<kLevel, kF, kField.last + 1>(newest));
      if constexpr (T::kReadsRim && kLevel == 0) published.template publish_rim<kF, kZeros<kEdges>>(z);
    }
  }

  // ---- what the update reads ----------------------------------------------------------------------------------------

  template <Edges kEdges, int kLevel, class Reads, class Registers, class State, int... kRow>
  STENCIL_DEVICE void gather(const State& newest, Index z, Registers& window, const Constants& constants,
                             Indices<kRow...>) {
    (gather_row<kEdges, kLevel, Reads, kRow / Reads::kRows / Reads::kPlanes, kRow / Reads::kRows % Reads::kPlanes,
                kRow % Reads::kRows>(newest, z, window, constants),
     ...);
  }

  /// Row kR of plane kP of the reach, of input kInput of the stage.
  template <Edges kEdges, int kLevel, class Reads, int kInput, int kP, int kR, class Registers, class State>
  STENCIL_DEVICE void gather_row(const State& newest, Index z, Registers& window, const Constants& constants) {
    using L = LevelOf<S, kLevel>;
    constexpr RowUse kUse = Reads::row(kInput, kP, kR);
    constexpr int kPlace = L::kPlaces[kInput];
    Value* body = window.own_cells(kInput, kP, kR);
    if constexpr (kPlace < 0) {
      constants.template read_row<-1 - kPlace, kLevel, L::kDelay>(kR - L::kLowY, arguments.coefficients, body);
    } else {
      constexpr int kOffset = kP - L::kLowZ, kJ = kR - L::kLowY;
      take<kEdges, kLevel, kPlace, kOffset, kJ>(newest, z, body);
      SystemRows<S, T>{tile}.template fill_halo<kUse.left, kUse.right>(body);
      if constexpr (kEdges != Edges::none && kAnswersColumns) answer_row_ends<S, kUse.left, kUse.right>(tile, body);
    }
  }

  /// Row kJ of field kF, kOffset planes above the one that the level updates.
  template <Edges kEdges, int kLevel, int kF, int kOffset, int kJ, class State>
  STENCIL_DEVICE void take(const State& newest, Index z, Value* body) {
    const Plane& from = plane<kLevel, kF, kOffset>(newest);
    if constexpr (kEdges == Edges::all && kAnswersPlanes) {
      take_row<kEdges, kLevel, kF, kJ>(from, answering<kLevel, kF, kOffset>(z), body);
    } else {
      take_row<kEdges, kLevel, kF, kJ>(from, kOffset, body);
    }
  }

  template <Edges kEdges, int kLevel, int kF, int kJ>
  STENCIL_DEVICE void take_row(const Plane& from, int offset, Value* body) const {
    if constexpr (kJ >= 0 && kJ < Shape::kRows) {
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; ++i) body[i] = from.cells[kJ][i];
    } else {
      if constexpr (kEdges != Edges::none && kAnswersRows) {
        if (SystemRows<S, T>{tile}.template take_beyond<kJ>(from, body)) return;
      }
      using L = LevelOf<S, kLevel>;
      constexpr LevelField kField = L::kFields[kF];
      const int of = offset < kField.first ? kField.first : offset > kField.last ? kField.last : offset;
      published.template read<kField.row, kField.rows_before, kField.rows_after, kJ>(kField.published() - of, body);
    }
  }

  // ---- what leaves --------------------------------------------------------------------------------------------------

  template <int kLevel, class Registers, class State, int... kCell>
  STENCIL_DEVICE void update(Index z, const Registers& window, State& updated, Indices<kCell...>) const {
    z = plane_of<S>(z, tile.nz);
    const auto reads = axis_reads.in_plane(z);
    (update_cell<kLevel, kCell % Shape::kCells, kCell / Shape::kCells>(z, reads, window, updated), ...);
  }
  template <int kLevel, int kI, int kJ, class Reads, class Registers, class State>
  STENCIL_DEVICE void update_cell([[maybe_unused]] Index z, [[maybe_unused]] const Reads& reads,
                                  const Registers& window, State& updated) const {
    using L = LevelOf<S, kLevel>;
    Value outputs[L::kOutputs];
    if constexpr (T::kPlaced) {
      L::update(placed<kI, kJ>(Cells<L, Registers, kI, kJ, 0>{window}, arguments, tile, reads, z, L::kStep),
                arguments.coefficients, outputs);
    } else {
      L::update(Cells<L, Registers, kI, kJ, 0>{window}, arguments.coefficients, outputs);
    }
    STENCIL_UNROLL
    for (int o = 0; o < L::kOutputs; ++o) updated.fields[o].cells[kJ][kI] = outputs[o];
  }

  template <Edges kEdges, int kLevel, class State, class Updated, int... kO>
  STENCIL_DEVICE void hold(const State& newest, Index z, Updated& updated, Indices<kO...>) {
    (hold_output<kEdges, kLevel, kO>(newest, z, updated.fields[kO]), ...);
  }

  /// Cells and planes that boundary hold keeps, and under zero the planes beyond the grid.
  template <Edges kEdges, int kLevel, int kO, class State>
  STENCIL_DEVICE void hold_output(const State& newest, Index z, Plane& updated) {
    using L = LevelOf<S, kLevel>;
    constexpr HeldLayers kHeld = L::kHeld;
    constexpr int kLayers = L::kLayers[kO];
    bool whole_plane = false;
    if constexpr (kEdges == Edges::all && S::kBoundaryZ == Boundary::hold) {
      whole_plane = tile.holds_plane(kHeld, z);
    }
    if constexpr (kLayers != kNoLayers) {
      Plane before;
      if constexpr (kLayers >= 0) {
        before = plane<kLevel, kLayers, 0>(newest);
      } else if (whole_plane || tile.at_edge) {
        read_layers<-1 - kLayers>(z, before);
      }
      hold_cells<kLevel>(whole_plane, before, updated, IndicesBelow<Shape::kRows * Shape::kCells>{});
    }
    // After the layers: there is nothing of these in memory beyond the grid.
    if constexpr (kZeros<kEdges>) {
      if (z < 0 || z >= tile.nz) updated.fill(Value(0));
    }
  }

  template <int kLevel, int... kCell>
  STENCIL_DEVICE void hold_cells(bool whole_plane, const Plane& before, Plane& updated, Indices<kCell...>) const {
    (hold_cell<kLevel, kCell % Shape::kCells, kCell / Shape::kCells>(whole_plane, before, updated), ...);
  }
  template <int kLevel, int kI, int kJ>
  STENCIL_DEVICE void hold_cell(bool whole_plane, const Plane& before, Plane& updated) const {
    constexpr HeldLayers kHeld = LevelOf<S, kLevel>::kHeld;
    if constexpr (kHeld.low_x > Shape::kCells || kHeld.high_x > Shape::kCells) {
      whole_plane = whole_plane || tile.template holds_in_row<kI>(kHeld);
    }
    if (whole_plane || tile.template holds<kI, kJ>(kHeld)) updated.cells[kJ][kI] = before.cells[kJ][kI];
  }

  /// Held layers of an input that is no part of the state, from memory.
  template <int kInput>
  STENCIL_DEVICE void read_layers(Index z, Plane& to) const {
    if constexpr (S::kBoundaryZ == Boundary::periodic) z = inside<S::kBoundaryZ>(z, tile.nz);
    if (z < 0 || z >= tile.nz) return;
    constexpr int kInLayers = layers_of_input<S, T>(kInput);
    using Array = CopiedCells<S, T, kInLayers>;
    const Array array(arguments);
    if (!array.has_plane(z)) return;
    STENCIL_UNROLL
    for (int j = 0; j < Shape::kRows; ++j) {
      const Index y = wrapped<S::kBoundaryY>(tile.y + j, tile.ny);
      const auto* row = input_cells<kInput>(arguments) + (array.template place<2>(z) * Array::stride_z(arguments) +
                                                          array.template place<1>(y) * Array::stride_y(arguments));
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; ++i) {
        to.cells[j][i] = row[array.template place<0>(wrapped<S::kBoundaryX>(tile.x + i, tile.nx))];
      }
    }
  }

  template <int kLevel, class State, class Updated, class Leaving, int... kO>
  STENCIL_DEVICE void leave(const State& newest, const Updated& updated, Leaving& leaving, Indices<kO...>) {
    (leave_field<kLevel, kO>(newest, updated, leaving.fields[kO]), ...);
  }
  template <int kLevel, int kO, class State, class Updated>
  STENCIL_DEVICE void leave_field(const State& newest, const Updated& updated, Plane& leaving) {
    constexpr int kSource = LevelOf<S, kLevel>::kSources[kO];
    if constexpr (kSource >= 0) {
      leaving = updated.fields[kSource];
    } else {
      leaving = plane<kLevel, -1 - kSource, 0>(newest);
    }
  }
};

}  // namespace stencil_tune
