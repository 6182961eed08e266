// A tile of a system's fused steps: what its kernels share of the temporal ones, said of levels that differ.
#pragma once

#include "stencil_tune/temporal/temporal_tile.cuh"

namespace stencil_tune {

/// Makes a generated step known as one of a system of fields. Step has
///  - types Storage, Value, Index, and a boundary an axis;
///  - kInputs, kOutputs, kCoefficients: what the kernel's arguments hold;
///  - kLevels, LevelAt<l>: a type for each level (system_levels.cuh);
///  - kStateInputs: the input that each field of the first level's state is;
///  - kConstants: fields that no step changes and that are read at the cell alone, kConstantFields of them;
///  - kMakesParts: one of the levels makes what all make of a constant alone, PartOf<k>::value(cell, coefficients);
///  - kOutputMore: cells on each side that each output has beyond the box of the arguments;
///  - kBoxOf: the first output with the same box.
template <class Step>
struct SystemOf : Step {};

/// Layers of the grid that keep their value, on each side.
struct HeldLayers {
  int low_x, high_x, low_y, high_y, low_z, high_z;
};

/// What the host has planned for the launch stands in T: kLeft, kRight, kAbove, kBelow (the tile's halo), kEarly,
/// kDelay (planes that the walk starts before and ends after the stored ones), kFirstPlain (planes at the
/// grid's beginning that need more than plain steps), kExchangedRows, kExchangeSlots, kExchanges (warps wait for each
/// other between two steps, not within levels), kEdgeColumns, kEdgeRows (cells at the ends of rows, of columns, are held
/// or read what a boundary answers), kRowMultiple (the tiles' rows end at a multiple of so many cells;
/// the last tile may end that many less one beyond the grid).
template <class Step, class T>
struct TemporalShape<SystemOf<Step>, T> {
  static constexpr int kCells = T::kRegisterX;  ///< cells of a row that a thread has
  static constexpr int kRows = T::kRegisterY;   ///< rows of a plane that a thread has
  static constexpr int kWarps = T::kBlockY;
  static constexpr int kWarpWidth = 32 * kCells;
  static constexpr int kWidth = kWarpWidth;
  static constexpr int kHeight = T::kBlockY * kRows;
  static constexpr bool kExchangesRows = T::kExchangedRows > 0;

  STENCIL_DEVICE static int lane() { return thread_x(); }
  STENCIL_DEVICE static int warp() { return thread_y(); }

  /// Cells of type C that one access to shared memory moves: a power of two that divides a thread's row.
  template <class C>
  STENCIL_DEVICE static constexpr int word_cells() {
    int cells = 16 / static_cast<int>(sizeof(C));
    while (kCells % cells != 0) cells /= 2;
    return cells;
  }
};

template <class Step, class T>
struct TemporalTile<SystemOf<Step>, T> : TemporalShape<SystemOf<Step>, T> {
  using S = SystemOf<Step>;
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;

  static constexpr int group = 0;

  Index x, y;                  ///< the thread's first cell
  Index low_x, high_x;         ///< cells of the tile that are its own ...
  Index low_y, high_y;         ///< ... rows ...
  Index low_z, high_z;         ///< ... and planes
  Index nx, ny, nz;            ///< cells of the grid along each axis
  bool left_edge, right_edge;  ///< the thread's first cell begins, its last one ends a row of the grid
  bool top_edge, bottom_edge;  ///< the same for its rows and planes
  bool at_edge;                ///< some thread may hold cells or read what a boundary answers, or TMA cannot serve some warp
  bool whole_vectors;          ///< no vector of the tile's rows lies on both sides of an end of the grid
  bool grid_ends_within = false;  ///< a periodic grid ends within the warp's rows, so that TMA cannot copy them

  STENCIL_DEVICE explicit TemporalTile(const Arguments<S>& a)
      : nx(static_cast<Index>(a.n[0])), ny(static_cast<Index>(a.n[1])), nz(static_cast<Index>(a.n[2])) {
    const TileIndex at = tile_of_block<T>(a.tiles);
    const Index row_end = (nx + T::kRowMultiple - 1) / T::kRowMultiple * T::kRowMultiple;
    const TemporalSpan<S::kBoundaryX, Shape::kWidth, T::kLeft, T::kRight, T::kShift, Index> columns(at.x, a.tiles[0],
                                                                                                    row_end);
    TemporalSpan<S::kBoundaryY, Shape::kHeight, T::kAbove, T::kBelow, 0, Index> rows(at.y, a.tiles[1], ny);
    if constexpr (T::kReadsRim && S::kBoundaryY != Boundary::periodic) {
      leave_to_last<T::kRim, decltype(rows), Index>(rows, ny - Shape::kHeight, Shape::kHeight - T::kAbove - T::kBelow, at.y,
                                                    a.tiles[1]);
    }
    x = columns.origin + thread_x() * Shape::kCells;
    y = rows.origin + thread_y() * Shape::kRows;
    left_edge = columns.at_low && thread_x() == 0;
    right_edge = columns.at_high && thread_x() == 31;
    top_edge = rows.at_low && thread_y() == 0;
    bottom_edge = rows.at_high && thread_y() == T::kBlockY - 1;
    at_edge =
        (T::kEdgeColumns && (columns.at_low || columns.at_high)) || (T::kEdgeRows && (rows.at_low || rows.at_high));
    whole_vectors =
        columns.origin >= 0 && columns.origin + Shape::kWidth <= row_end && columns.origin % T::kVector == 0;
    if constexpr (S::kBoundaryX == Boundary::periodic) {
      whole_vectors = columns.origin % T::kVector == 0 && nx % T::kVector == 0;
    }
    if constexpr (T::kCopiedByTma && (S::kBoundaryX == Boundary::periodic || S::kBoundaryY == Boundary::periodic)) {
      at_edge = at_edge || ends_within<S, Shape::kWidth, Shape::kHeight>(columns.origin, rows.origin, nx, ny);
      grid_ends_within = any_in_warp(ends_within<S, Shape::kWarpWidth, Shape::kRows>(columns.origin, y, nx, ny));
    }
    low_x = columns.low;
    high_x = columns.high;
    if constexpr (T::kRowMultiple > 1) high_x = high_x < nx ? high_x : nx;
    low_y = rows.low;
    high_y = rows.high;
    low_z = static_cast<Index>(a.n[2] * at.z / a.tiles[2]);
    high_z = static_cast<Index>(a.n[2] * (at.z + 1) / a.tiles[2]);
  }

  /// Input planes first_plane() .. last_plane() - 1 are walked through.
  STENCIL_DEVICE Index first_plane() const {
    const Index first = low_z - T::kEarly;
    return S::kBoundaryZ != Boundary::periodic && first < 0 ? Index(0) : first;
  }
  STENCIL_DEVICE Index last_plane() const { return high_z + T::kDelay; }

  /// From the first one to the last one - 1 all levels update planes inside the grid that no boundary has a part in,
  /// and the plane that leaves the last level is stored. With kFillsPlain it may come before those that are.
  STENCIL_DEVICE Index first_plain_plane() const {
    if (T::kFillsPlain && (S::kBoundaryZ == Boundary::periodic || low_z - T::kEarly >= T::kFirstPlain)) {
      return first_plane();
    }
    Index first = low_z + T::kDelay;
    if (S::kBoundaryZ != Boundary::periodic && first < T::kFirstPlain) first = T::kFirstPlain;
    return first < last_plane() ? first : last_plane();
  }
  STENCIL_DEVICE Index last_plain_plane() const {
    return S::kBoundaryZ == Boundary::periodic || nz > last_plane() ? last_plane() : nz;
  }

  STENCIL_DEVICE bool steps_keep_cells() const { return at_edge; }

  /// Cell i of the thread's row j is in one of those layers, or beyond the grid's last column.
  template <int kI, int kJ>
  STENCIL_DEVICE bool holds(HeldLayers layers) const {
    bool held = false;
    if constexpr (S::kBoundaryX == Boundary::hold) {
      if constexpr (T::kRowMultiple == 1) {
        held = (left_edge && kI < layers.low_x) || (right_edge && kI >= Shape::kCells - layers.high_x);
      } else {
        held = (left_edge && kI < layers.low_x) || x + kI >= nx - layers.high_x;
      }
    }
    if constexpr (S::kBoundaryY == Boundary::hold) {
      held = held || (top_edge && kJ < layers.low_y) || (bottom_edge && kJ >= Shape::kRows - layers.high_y);
    }
    return held;
  }

  /// The same along x where more lanes than the one at the edge hold cells.
  template <int kI>
  STENCIL_DEVICE bool holds_in_row(HeldLayers layers) const {
    return S::kBoundaryX == Boundary::hold && (x + kI < layers.low_x || x + kI >= nx - layers.high_x);
  }

  STENCIL_DEVICE bool holds_plane(HeldLayers layers, Index z) const {
    return z < layers.low_z || z >= nz - layers.high_z;
  }
};

}  // namespace stencil_tune
