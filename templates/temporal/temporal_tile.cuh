// Where a temporal block's tile lies, which of its cells the block stores, and which keep their value.
#pragma once

#include "stencil_tune/arguments.cuh"
#include "stencil_tune/boundary.cuh"
#include "stencil_tune/rows.cuh"

namespace stencil_tune {

/// What kSteps fused sweeps of S need, known at compile time.
template <class S, class T>
struct TemporalShape {
  static constexpr int kCells = T::kRegisterX;           ///< cells of a row that a thread has
  static constexpr int kRows = T::kRegisterY;            ///< rows of a plane that a thread has
  static constexpr int kWarpsX = T::kBlockX / 32;        ///< warps of the tile side by side
  static constexpr int kWarps = kWarpsX * T::kBlockY;    ///< warps of a block that have the same levels

  static constexpr int kWarpWidth = 32 * kCells;         ///< cells of a tile in x that a warp has
  static constexpr int kWidth = T::kBlockX * kCells;     ///< ... that it has in all, its halo included
  static constexpr int kBlockHeight = T::kBlockY * kRows;
  static constexpr int kHeight = T::kCluster * kBlockHeight;  ///< rows of a tile, of all blocks that share it
  static constexpr int kPlanes = S::kLowZ + S::kHighZ + 1;
  static constexpr int kLevels = T::kSteps / T::kGroups;  ///< levels of a group of warps
  static constexpr int kRowEnds = (T::kBlockX + 1) * (S::kLowX + S::kHighX);  ///< cells, with a place for no thread

  /// clamp and reflect answer for planes beyond an end with planes inside: with any of those in reach.
  static constexpr bool kMapsPlanes =
      !T::kKeepsSums && (S::kBoundaryZ == Boundary::clamp || S::kBoundaryZ == Boundary::reflect);

  /// The thread's place in its warp, and the warp's among those of its levels: row by row.
  STENCIL_DEVICE static int lane() {
    if constexpr (kWarpsX == 1) return thread_x();
    return thread_x() % 32;
  }
  STENCIL_DEVICE static int warp() {
    if constexpr (kWarpsX == 1) return thread_y();
    return thread_y() * kWarpsX + thread_x() / 32;
  }

  /// Cells of type C that one access to shared memory moves: a power of two that divides a thread's row.
  template <class C>
  STENCIL_DEVICE static constexpr int word_cells() {
    int cells = 16 / static_cast<int>(sizeof(C));
    while (kCells % cells != 0) cells /= 2;
    return cells;
  }

  // So many layers of the grid on each side keep their value.
  static constexpr int kHeldLeft = S::kBoundaryX == Boundary::hold ? S::kLowX : 0;
  static constexpr int kHeldRight = S::kBoundaryX == Boundary::hold ? S::kHighX : 0;
  static constexpr int kHeldAbove = S::kBoundaryY == Boundary::hold ? S::kLowY : 0;
  static constexpr int kHeldBelow = S::kBoundaryY == Boundary::hold ? S::kHighY : 0;
};

/// One axis of a tile that spans kSize cells, its halo included. Tiles after the first begin kShift cells earlier than where
/// the one before ends its own cells.
template <Boundary kBoundary, int kSize, int kBefore, int kAfter, int kShift, class Index>
struct TemporalSpan {
  Index origin;  ///< first cell of the tile; negative only under periodic
  Index low;     ///< first cell that this block stores
  Index high;    ///< one past the last
  bool at_low;   ///< the tile starts with the grid
  bool at_high;  ///< the tile ends with the grid

  STENCIL_DEVICE TemporalSpan(Index tile, Index tiles, Index n) {
    constexpr Index kUseful = kSize - kBefore - kAfter;
    if constexpr (kBoundary == Boundary::periodic) {
      origin = tile * kUseful - kBefore;
      low = tile * kUseful;
      high = low + kUseful < n ? low + kUseful : n;
      at_low = at_high = false;
    } else {
      at_low = tile == 0;
      at_high = tile == tiles - 1;
      origin = at_high ? n - kSize : tile * kUseful - (kShift == 0 || at_low ? Index(0) : Index(kShift));
      low = at_low ? 0 : tile * kUseful + kBefore - kShift;
      high = at_high ? n : tile * kUseful + kSize - kAfter - kShift;
    }
  }
};

/// Tiles that read kRim rows beyond their own need them inside the grid and not held. If the last tile but one ends too
/// near the edge for that, it leaves as many of its own rows to the last.
template <int kRim, class Span, class Index>
STENCIL_DEVICE void leave_to_last(Span& span, Index origin_of_last, Index useful, Index tile, Index tiles) {
  if (tiles == 1 || origin_of_last - (tiles - 2) * useful >= kRim) return;
  if (span.at_high) span.low -= kRim;
  if (tile == tiles - 2) span.high -= kRim;
}

/// The cell of a periodic axis that answers for i. A tile, no larger than the grid, leaves it at one side at most.
template <Boundary kBoundary, class Index>
STENCIL_DEVICE Index wrapped(Index i, Index n) {
  if constexpr (kBoundary != Boundary::periodic) return i;
  return inside_once<kBoundary>(i, n);
}

/// What the boundary answers for kLeft cells before and kRight after the thread's own of a row, where those are beyond the
/// grid. A mirrored cell may be the next thread's first one, or the last one of the thread before.
template <class S, int kLeft, int kRight, class Tile>
STENCIL_DEVICE void answer_row_ends(const Tile& tile, typename S::Value* body) {
  using Value = typename S::Value;
  constexpr int kCells = Tile::Shape::kCells, kLast = kCells - 1;
  STENCIL_UNROLL
  for (int i = 1; i <= kLeft; ++i) {
    Value answer = Value(0);
    if constexpr (S::kBoundaryX == Boundary::clamp) answer = body[0];
    if constexpr (S::kBoundaryX == Boundary::reflect) answer = i <= kLast ? body[i] : shuffle_down(body[0], 1, 32);
    body[-i] = tile.left_edge ? answer : body[-i];
  }
  STENCIL_UNROLL
  for (int i = 1; i <= kRight; ++i) {
    Value answer = Value(0);
    if constexpr (S::kBoundaryX == Boundary::clamp) answer = body[kLast];
    if constexpr (S::kBoundaryX == Boundary::reflect) answer = i <= kLast ? body[kLast - i] : shuffle_up(body[kLast], 1, 32);
    body[kLast + i] = tile.right_edge ? answer : body[kLast + i];
  }
}

/// Whether a periodic grid ends within so many cells of so many rows that start at cell (x, y).
template <class S, int kWidth, int kHeight, class Index>
STENCIL_DEVICE bool ends_within(Index x, Index y, Index nx, Index ny) {
  const bool in_x = S::kBoundaryX == Boundary::periodic && wrapped<S::kBoundaryX>(x, nx) + kWidth > nx;
  const bool in_y = S::kBoundaryY == Boundary::periodic && wrapped<S::kBoundaryY>(y, ny) + kHeight > ny;
  return in_x || in_y;
}

/// Planes of a tile: what a block, or a cluster, makes in one walk where blocks share out the planes of all tiles.
template <class S>
struct TemporalPart {
  using Index = typename S::Index;
  TileIndex at;                 ///< number of the tile ...
  unsigned tiles[3] = {};       ///< ... of so many
  Index low_z = 0, high_z = 0;  ///< planes to store
};

/// The tile of the block, or of its cluster, and the thread's part of it.
template <class S, class T>
struct TemporalTile : TemporalShape<S, T> {
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;

  Index x, y;                 ///< the thread's first cell
  int rank = 0;               ///< the block's place among those that share the tile, from above
  int group = 0;              ///< the warp's: which of the steps' levels it has ...
  bool in_first_group = true, in_last_group = true;  ///< ... the first or the last ones; all lanes of a warp agree
  Index low_x, high_x;        ///< cells of the tile that are stored ...
  Index low_y, high_y;        ///< ... rows ...
  Index low_z, high_z;        ///< ... and planes
  Index nx, ny, nz;           ///< cells of the grid along each axis
  Index first_updated_z;      ///< planes before this one ...
  Index first_held_z;         ///< ... and from this one on keep their value under hold, and are 0 under zero
  bool left_edge, right_edge;  ///< the thread's first cell begins, its last one ends a row of the grid
  bool top_edge, bottom_edge;  ///< the same for its rows and planes
  bool at_edge;                ///< hold may keep cells of some thread of the block, or TMA cannot serve some warp of it
  bool whole_vectors;          ///< no vector of the tile's rows lies on both sides of an end of the grid
  bool grid_ends_within = false;  ///< a periodic grid ends within the warp's rows, so that TMA cannot copy them

  /// part: where blocks share planes out; else the tile and its planes are the block's own.
  STENCIL_DEVICE explicit TemporalTile(const Arguments<S>& a, const TemporalPart<S>& part = {})
      : nx(static_cast<Index>(a.n[0])), ny(static_cast<Index>(a.n[1])), nz(static_cast<Index>(a.n[2])),
        first_updated_z(S::kBoundaryZ == Boundary::hold ? S::kLowZ : 0),
        first_held_z(S::kBoundaryZ == Boundary::hold ? nz - S::kHighZ : nz) {
    const TileIndex at = T::kShares ? part.at : tile_of_block<T>(a.tiles);
    const unsigned (&tiles)[3] = T::kShares ? part.tiles : a.tiles;
    const TemporalSpan<S::kBoundaryX, Shape::kWidth, T::kLeft, T::kRight, T::kShift, Index> columns(at.x, tiles[0], nx);
    TemporalSpan<S::kBoundaryY, Shape::kHeight, T::kAbove, T::kBelow, 0, Index> rows(at.y, tiles[1], ny);
    if constexpr (T::kReadsRim && S::kBoundaryY != Boundary::periodic) {
      leave_to_last<T::kRim, decltype(rows), Index>(rows, ny - Shape::kHeight, Shape::kHeight - T::kAbove - T::kBelow, at.y,
                                                    tiles[1]);
    }
    if constexpr (T::kCluster > 1) rank = static_cast<int>(cluster_rank());
    if constexpr (T::kGroups > 1) {
      group = thread_z();
      in_first_group = any_in_warp(group == 0);
      in_last_group = any_in_warp(group == T::kGroups - 1);
    }
    x = columns.origin + thread_x() * Shape::kCells;
    y = rows.origin + rank * Shape::kBlockHeight + thread_y() * Shape::kRows;
    left_edge = columns.at_low && thread_x() == 0;
    right_edge = columns.at_high && thread_x() == T::kBlockX - 1;
    top_edge = rows.at_low && rank == 0 && thread_y() == 0;
    bottom_edge = rows.at_high && rank == T::kCluster - 1 && thread_y() == T::kBlockY - 1;
    at_edge = (Shape::kHeldLeft > 0 && columns.at_low) || (Shape::kHeldRight > 0 && columns.at_high) ||
              (Shape::kHeldAbove > 0 && rows.at_low && rank == 0) ||
              (Shape::kHeldBelow > 0 && rows.at_high && rank == T::kCluster - 1);
    whole_vectors = columns.origin >= 0 && columns.origin + Shape::kWidth <= nx && columns.origin % T::kVector == 0;
    if constexpr (S::kBoundaryX == Boundary::periodic) {
      whole_vectors = columns.origin % T::kVector == 0 && nx % T::kVector == 0;
    }
    if constexpr (T::kCopiedByTma && (S::kBoundaryX == Boundary::periodic || S::kBoundaryY == Boundary::periodic)) {
      at_edge = at_edge || ends_within<S, Shape::kWidth, Shape::kBlockHeight>(
                               columns.origin, rows.origin + rank * Shape::kBlockHeight, nx, ny);
      grid_ends_within = any_in_warp(
          ends_within<S, Shape::kWarpWidth, Shape::kRows>(x - Shape::lane() * Shape::kCells, y, nx, ny));
    }

    low_x = larger(columns.low, static_cast<Index>(a.low[0]));
    high_x = smaller(columns.high, static_cast<Index>(a.high[0]));
    low_y = larger(rows.low, static_cast<Index>(a.low[1]));
    high_y = smaller(rows.high, static_cast<Index>(a.high[1]));
    if constexpr (T::kShares) {
      low_z = part.low_z;
      high_z = part.high_z;
    } else {
      const long long planes = a.high[2] - a.low[2];
      low_z = static_cast<Index>(a.low[2] + planes * at.z / a.tiles[2]);
      high_z = static_cast<Index>(a.low[2] + planes * (at.z + 1) / a.tiles[2]);
    }
  }

  STENCIL_DEVICE bool stores_nothing() const { return low_x >= high_x || low_y >= high_y || low_z >= high_z; }

  /// Input planes first_plane() .. last_plane() - 1 are walked through.
  STENCIL_DEVICE Index first_plane() const {
    const Index first = low_z - T::kSteps * S::kLowZ;
    return S::kBoundaryZ != Boundary::periodic && first < 0 ? Index(0) : first;
  }
  STENCIL_DEVICE Index last_plane() const { return high_z + T::kDelay; }

  /// The output is stored from this plane on.
  STENCIL_DEVICE Index first_storing_plane() const { return low_z + T::kDelay; }

  /// From this plane to last - 1, every level also updates a plane inside the grid and reads none outside.
  STENCIL_DEVICE Index first_plain_plane() const {
    return smaller(first_storing_plane() + (Shape::kMapsPlanes ? S::kLowZ : 0), last_plane());
  }
  STENCIL_DEVICE Index last_plain_plane() const {
    return S::kBoundaryZ == Boundary::periodic ? last_plane() : smaller(last_plane(), first_held_z);
  }

  STENCIL_DEVICE bool holds_planes_at(Index z) const { return z < first_updated_z || z >= first_held_z; }

  static constexpr bool kOneLoop = T::kHeldLoop == HeldLoop::chosen || T::kHeldLoop == HeldLoop::skipped;

  /// Which loop the block's plain steps are made by: one that keeps held cells, or one that knows of none.
  STENCIL_DEVICE bool steps_keep_cells() const { return kOneLoop || at_edge; }

  /// Whether the warp looks for held cells of its own, in a step that keeps them. All lanes agree.
  STENCIL_DEVICE bool looks_for_held() const {
    if constexpr (T::kHeldLoop != HeldLoop::skipped) return true;
    return any_in_warp((Shape::kHeldLeft > 0 && left_edge) || (Shape::kHeldRight > 0 && right_edge) ||
                       (Shape::kHeldAbove > 0 && top_edge) || (Shape::kHeldBelow > 0 && bottom_edge));
  }

  /// Cell i of the thread's row j is one that hold keeps.
  template <int kI, int kJ>
  STENCIL_DEVICE bool holds() const {
    bool held = false;
    if constexpr (kI < Shape::kHeldLeft) held = held || left_edge;
    if constexpr (kI >= Shape::kCells - Shape::kHeldRight) held = held || right_edge;
    if constexpr (kJ < Shape::kHeldAbove) held = held || top_edge;
    if constexpr (kJ >= Shape::kRows - Shape::kHeldBelow) held = held || bottom_edge;
    return held;
  }

 private:
  STENCIL_DEVICE static Index larger(Index a, Index b) { return a > b ? a : b; }
  STENCIL_DEVICE static Index smaller(Index a, Index b) { return a < b ? a : b; }
};

}  // namespace stencil_tune
