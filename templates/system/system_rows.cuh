// Rows of a system's levels: those at the edges of a warp, which pass through shared memory, and what lies beyond the
// thread's own cells.
#pragma once

#include "stencil_tune/system/system_tile.cuh"
#include "stencil_tune/temporal/temporal_plane.cuh"

namespace stencil_tune {

/// Level kLevel of step S, a stage of one of the steps (its reach, taps and update are those of a stage):
///  - kIn, kOut: fields of the state that enters, that leaves
///  - kDelay: planes that the level works behind the block's input
///  - kFields: a LevelField for each field that enters
///  - kPlaces: for each input of the stage its place in the state that enters, or -1 - the number of a constant
///  - kSources: for each field that leaves, the stage's output that it is, or -1 - the place of a field that enters
///  - kLayers: for each output the place of the field whose held layers it keeps, or -1 - the input that has them in
///    memory; kNoLayers where nobody reads them
///  - kHeld: the layers that the stage's outputs keep
///  - kWrongAbove, kWrongBelow, where warps rest: rows at a tile's edges that are wrong after the level
///  - kStep: steps that the levels before have made, where updates ask for the cell's place
template <class S, int kLevel>
using LevelOf = typename S::template LevelAt<kLevel>;

/// A field of the state that enters a level: what the level keeps of it, and what it reads of other warps.
struct LevelField {
  int below;        ///< planes kept below the one that the level updates
  int newest;       ///< the plane that enters, counted from the one that the level updates
  int rows_before;  ///< rows of the warp above that are read, its last ones ...
  int rows_after;   ///< ... and of the warp below, its first ones ...
  int first, last;  ///< ... in those planes, counted from the one that the level updates
  int row;          ///< place of the first published row among those of a warp

  STENCIL_DEVICE constexpr bool exchanges() const { return rows_before + rows_after > 0; }
  /// The newest plane whose rows are published, counted from the one that the level updates.
  STENCIL_DEVICE constexpr int published() const { return last == newest ? last : last + 1; }
};

/// Published rows of all warps. A plane's are published in the step before the first that reads them, or in that step
/// itself, before warps meet within the level. They stay as long as they are read, and there is one slot more than
/// planes in use: who publishes the next ones overwrites what all have read before they last met.
template <class S, class T>
struct PublishedRows {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;

  static constexpr int kWord = Shape::template word_cells<Value>();
  static constexpr int kRowCells = Shape::kWarpWidth;  ///< word 0 of all lanes, word 1 of all lanes, ...
  static constexpr int kWarpCells = T::kExchangedRows * kRowCells;
  static constexpr int kRims = T::kReadsRim ? 1 : 0;  ///< above the first warp's rows and below the last one's
  static constexpr int kSlotCells = (Shape::kWarps + 2 * kRims) * kWarpCells;
  static constexpr int kBytes = T::kExchangeSlots * kSlotCells * static_cast<int>(sizeof(Value));

  Value* own;          ///< the lane's first word in slot 0
  const Value* above;  ///< the warp above's, or its own where there is none
  const Value* below;
  int slot = 0;  ///< cells from slot 0 to the one that the step before published

  STENCIL_DEVICE PublishedRows(const Arguments<S>&, const TemporalTile<S, T>&, int first_byte) {
    const int warp = Shape::warp();
    own = reinterpret_cast<Value*>(shared_memory() + first_byte) + ((kRims + warp) * kWarpCells + Shape::lane() * kWord);
    above = T::kReadsRim || warp > 0 ? own - kWarpCells : own;
    below = T::kReadsRim || warp < Shape::kWarps - 1 ? own + kWarpCells : own;
  }

  /// Clears all cells, so that no thread reads a cell before it was written. All threads call it.
  STENCIL_DEVICE void start(const TemporalTile<S, T>&) const {
    clear(own);
    if constexpr (T::kReadsRim) {
      if (Shape::warp() == 0) clear(own - kWarpCells);
      if (Shape::warp() == Shape::kWarps - 1) clear(own + kWarpCells);
    }
    barrier();
  }

  STENCIL_DEVICE void next_step() { slot = next(); }

  /// The plane's rows that other warps read: its first ones, then its last ones, or all where those overlap.
  template <int kRow, int kBefore, int kAfter>
  STENCIL_DEVICE void publish(const Plane& plane) const {
    Value* to = own + (next() + kRow * kRowCells);
    if constexpr (kBefore + kAfter > Shape::kRows) {
      store_rows<0, Shape::kRows>(to, plane);
    } else {
      store_rows<0, kAfter>(to, plane);
      store_rows<Shape::kRows - kBefore, kBefore>(to + kAfter * kRowCells, plane);
    }
  }

  /// Among a warp's rows, of row kJ, beyond the own ones of the warp that reads it.
  template <int kRow, int kBefore, int kAfter, int kJ>
  STENCIL_DEVICE static constexpr int place_of() {
    constexpr int kRows = kBefore + kAfter < Shape::kRows ? kBefore + kAfter : Shape::kRows;
    return kJ < 0 ? kRow + kRows + kJ : kRow + kJ - Shape::kRows;
  }

  /// Row kJ, beyond the warp's own, of the plane that was published `age` steps before the step's own publication.
  template <int kRow, int kBefore, int kAfter, int kJ>
  STENCIL_DEVICE void read(int age, Value* row) const {
    const Value* from = (kJ < 0 ? above : below) + (slot_of(age) + place_of<kRow, kBefore, kAfter, kJ>() * kRowCells);
    STENCIL_UNROLL
    for (int w = 0; w < Shape::kCells / kWord; ++w) {
      load_cells<LoadHint::cached, kWord>(from + w * 32 * kWord, row + w * kWord);
    }
  }

  STENCIL_DEVICE static void store(Value* to, const Value* cells) {
    STENCIL_UNROLL
    for (int w = 0; w < Shape::kCells / kWord; ++w) {
      store_cells<StoreHint::write_back, kWord>(to + w * 32 * kWord, cells + w * kWord);
    }
  }

  /// Two slots alternate, written so that the compiler sees an even number of steps end where it began.
  STENCIL_DEVICE int next() const {
    if constexpr (T::kExchangeSlots == 2) return kSlotCells - slot;
    return slot == (T::kExchangeSlots - 1) * kSlotCells ? 0 : slot + kSlotCells;
  }

 private:
  STENCIL_DEVICE static void clear(Value* warp_rows) {
    const Value zeros[Shape::kCells] = {};
    for (int s = 0; s < T::kExchangeSlots; ++s) {
      for (int r = 0; r < T::kExchangedRows; ++r) store(warp_rows + (s * kSlotCells + r * kRowCells), zeros);
    }
  }

  /// Cells from slot 0 to the one that was published `age` steps before the step's own publication.
  STENCIL_DEVICE int slot_of(int age) const {
    const int back = next() - age * kSlotCells;
    return back >= 0 ? back : back + T::kExchangeSlots * kSlotCells;
  }

  template <int kFirst, int kCount>
  STENCIL_DEVICE static void store_rows([[maybe_unused]] Value* to, [[maybe_unused]] const Plane& plane) {
    if constexpr (kCount > 0) {
      STENCIL_UNROLL
      for (int r = 0; r < kCount; ++r) store(to + r * kRowCells, plane.cells[kFirst + r]);
    }
  }
};

/// Cells beyond the thread's own in rows of the tile: its neighbours', or beyond the grid what the boundary says.
template <class S, class T>
struct SystemRows {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;

  const TemporalTile<S, T>& tile;

  /// Whether row kJ of the plane is beyond the grid; then the row that answers for it.
  template <int kJ>
  STENCIL_DEVICE bool take_beyond(const Plane& plane, Value* body) const {
    if (!(kJ < 0 ? tile.top_edge : tile.bottom_edge)) return false;
    constexpr int kLast = Shape::kRows - 1;
    constexpr int kNearest = kJ < 0 ? 0 : kLast;
    constexpr int kMirrored = kJ < 0 ? (-kJ < kLast ? -kJ : kLast) : (2 * kLast - kJ > 0 ? 2 * kLast - kJ : 0);
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) {
      body[i] = S::kBoundaryY == Boundary::zero
                    ? Value(0)
                    : plane.cells[S::kBoundaryY == Boundary::reflect ? kMirrored : kNearest][i];
    }
    return true;
  }

  /// kLeft cells before and kRight after the thread's own, of its neighbours.
  template <int kLeft, int kRight>
  STENCIL_DEVICE void fill_halo(Value* body) const {
    STENCIL_UNROLL
    for (int i = 1; i <= kLeft; ++i) body[-i] = shuffle_up(body[Shape::kCells - i], 1, 32);
    STENCIL_UNROLL
    for (int i = 0; i < kRight; ++i) body[Shape::kCells + i] = shuffle_down(body[i], 1, 32);
  }
};

}  // namespace stencil_tune
