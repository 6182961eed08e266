// What a systolic block works on. The rows of all tiles, tile after tile, are shared out among the blocks, whose number
// is chosen freely: a block has a run of rows, which may begin in one tile and end in the next.
//
//      tile 0    tile 1    tile 2
//      block 0   block 1   block 3        five blocks, three tiles: each block has some 3/5 of a tile's rows
//      block 0   block 2   block 4
//      block 1   block 3   block 4
//
// All blocks are to end at once, so what is shared out evenly is not rows but costs. A row of the first and of the last
// tile, with cells that hold keeps, costs more than another. And a block that goes on in the next tile fills the warps'
// pipeline again, which costs as much as the rows that pass meanwhile.
#pragma once

#include "stencil_tune/arguments.cuh"
#include "stencil_tune/boundary.cuh"

namespace stencil_tune {

template <class S, class T>
struct SystolicShape {
  static constexpr int kCells = T::kRegisterX;  ///< cells of a row that a thread has
  static constexpr int kWord =
      16 / static_cast<int>(sizeof(typename S::Value));  ///< cells that one copy or store moves
  static constexpr int kWarps = T::kGroups;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kLevels = T::kSteps / kWarps;  ///< levels of a warp
  static constexpr int kWidth = 32 * kCells;          ///< cells of a tile, its halo included
  static constexpr int kReach = S::kLowZ + S::kHighZ;
  static constexpr int kSlots = T::kBatch * (T::kPrefetch + 1);      ///< rows of a ring
  static constexpr int kHandOver = kLevels * S::kHighZ + T::kBatch;  ///< rows from a warp's input to the next one's

  // So many columns of the grid on each side keep their value.
  static constexpr int kHeldLeft = S::kBoundaryX == Boundary::hold ? S::kLowX : 0;
  static constexpr int kHeldRight = S::kBoundaryX == Boundary::hold ? S::kHighX : 0;
};

/// The columns of a tile. They overlap by their halos; the first tile begins, the last one ends with the grid, unless
/// it is periodic.
template <class S, class T>
struct SystolicColumns {
  using Shape = SystolicShape<S, T>;
  using Index = typename S::Index;
  static constexpr bool kWraps = S::kBoundaryX == Boundary::periodic;
  static constexpr Index kUseful = Shape::kWidth - T::kLeft - T::kRight;

  Index origin;          ///< negative only where the grid wraps
  Index low, high;       ///< cells that the tile stores
  bool at_low, at_high;  ///< the tile begins, or ends, with the grid

  STENCIL_DEVICE SystolicColumns(Index tile, Index tiles, Index nx)
      : origin(tile * kUseful - (kWraps ? T::kLeft : 0)),
        low(origin + T::kLeft),
        high(low + kUseful),
        at_low(!kWraps && tile == 0),
        at_high(!kWraps && tile == tiles - 1) {
    if (at_low) low = 0;
    if (at_high) origin = nx - Shape::kWidth;
    if (at_high || high > nx) high = nx;
  }

  STENCIL_DEVICE static Index tiles_of(Index nx) {
    return static_cast<Index>(overlapping_tiles(nx, Shape::kWidth, T::kLeft, T::kRight, 0, kWraps));
  }
};

/// The block's runs of rows, one a tile.
template <class S, class T>
struct SystolicShare {
  using Shape = SystolicShape<S, T>;
  using Index = typename S::Index;
  using Columns = SystolicColumns<S, T>;

  static constexpr long long kFill = T::kDelay + T::kSteps * S::kLowZ;  ///< rows that pass while the pipeline fills

  Index tiles;           ///< tiles of the grid
  Index low_x, high_x;   ///< cells to update ...
  Index low_z, high_z;   ///< ... and rows
  Index tile;            ///< the run's
  Index first = 0;       ///< the run's first row, in the grid
  Index last = 0;        ///< one past its last row
  Index next_tile;       ///< that of the run behind it
  Index end_tile;        ///< one past the last that stores any cell
  long long cost = 0;    ///< costs of all tiles before next_tile
  long long begin, end;  ///< the block's part of all costs

  STENCIL_DEVICE explicit SystolicShare(const Arguments<S>& a)
      : tiles(Columns::tiles_of(static_cast<Index>(a.n[0]))),
        low_x(static_cast<Index>(a.low[0])),
        high_x(static_cast<Index>(a.high[0])),
        low_z(static_cast<Index>(a.low[2])),
        high_z(static_cast<Index>(a.high[2])),
        tile(0),
        next_tile(0),
        end_tile(tiles) {
    const Index nx = static_cast<Index>(a.n[0]);
    while (next_tile < tiles && Columns(next_tile, tiles, nx).high <= low_x) ++next_tile;
    while (end_tile > next_tile && Columns(end_tile - 1, tiles, nx).low >= high_x) --end_tile;
    long long all = 0;
    for (Index t = next_tile; t < end_tile; ++t) all += cost_of(t);
    begin = all * block_x() / blocks_in_x();
    end = all * (block_x() + 1) / blocks_in_x();
  }

  /// The next run; false when there is none.
  STENCIL_DEVICE bool next() {
    while (next_tile < end_tile && cost < end) {
      tile = next_tile;
      first = row_at(begin - cost);
      last = row_at(end - cost);
      cost += cost_of(tile);
      ++next_tile;
      if (first < last) return true;
    }
    return false;
  }

 private:
  STENCIL_DEVICE long long row_cost(Index t) const {
    const bool at_side = !Columns::kWraps && (t == 0 || t == tiles - 1);
    return at_side ? T::kSideRowCost : T::kRowCost;
  }
  STENCIL_DEVICE long long cost_of(Index t) const { return (kFill + (high_z - low_z)) * row_cost(t); }

  /// The row of `tile` that begins where that much of its cost has been paid.
  STENCIL_DEVICE Index row_at(long long paid) const {
    const long long row = paid / row_cost(tile) - kFill;
    const long long rows = high_z - low_z;
    return low_z + static_cast<Index>(row < 0 ? 0 : row < rows ? row : rows);
  }
};

/// One run: where its tile lies, which cells it stores, and how far the block walks for them.
template <class S, class T>
struct SystolicPart {
  using Shape = SystolicShape<S, T>;
  using Index = typename S::Index;

  Index nx, nz;                     ///< cells of a row of the grid, and rows
  Index origin;                     ///< the tile's first cell
  Index low_x, high_x;              ///< cells that are stored ...
  Index low_z, high_z;              ///< ... and rows
  bool left_edge, right_edge;       ///< the lane's first cell begins, its last one ends a row of the grid
  bool holds_cells;                 ///< cells beyond an edge of the grid, or held ones, concern the tile
  bool whole_words;                 ///< the tile's rows start on whole words and lie inside the grid
  int low, high;                    ///< the same in a row of the tile
  int line_low, line_high;          ///< the whole words among them
  bool whole_rows;                  ///< ... and no word is stored in part
  Index first_row;                  ///< first row that the first warp takes
  Index rows;                       ///< rows that it takes: whole turns of the rings
  Index first_plain, last_plain;    ///< rows, counted from the first: between them no row is held or outside the grid
  Index first_updated, first_held;  ///< rows before the one and from the other on keep their value, or are outside

  STENCIL_DEVICE SystolicPart(const Arguments<S>& a, const SystolicShare<S, T>& share)
      : nx(static_cast<Index>(a.n[0])), nz(static_cast<Index>(a.n[2])), low_z(share.first), high_z(share.last) {
    const SystolicColumns<S, T> columns(share.tile, share.tiles, nx);
    origin = columns.origin;
    low_x = columns.low > share.low_x ? columns.low : share.low_x;
    high_x = columns.high < share.high_x ? columns.high : share.high_x;
    left_edge = columns.at_low && thread_x() == 0;
    right_edge = columns.at_high && thread_x() == 31;
    holds_cells = (columns.at_low || columns.at_high) && S::kBoundaryX != Boundary::periodic;
    whole_words = origin >= 0 && origin + Shape::kWidth <= nx && origin % Shape::kWord == 0 &&
                  a.stride_z % Shape::kWord == 0 && starts_on_words(a.in[T::kAdvanced]) && starts_on_words(a.out[0]);
    low = static_cast<int>(low_x - origin);
    high = static_cast<int>(high_x - origin);
    line_low = (low + Shape::kWord - 1) / Shape::kWord * Shape::kWord;
    line_high = high / Shape::kWord * Shape::kWord;
    if (line_low >= line_high) line_low = line_high = high;
    whole_rows = whole_words && line_low == low && line_high == high;

    constexpr bool kHolds = S::kBoundaryZ == Boundary::hold;
    first_updated = kHolds ? S::kLowZ : 0;
    first_held = kHolds ? nz - S::kHighZ : nz;
    first_row = low_z - T::kSteps * S::kLowZ;
    rows = 0;
    first_plain = 0;
    if constexpr (S::kBoundaryZ == Boundary::periodic) {
      rows = whole_turns(high_z + T::kDelay - first_row);
      last_plain = rows;
    } else {
      const bool meets_low = first_row < first_updated;
      if (first_row < 0) first_row = 0;
      rows = whole_turns(high_z + T::kDelay - first_row);
      if (meets_low) first_plain = smaller(whole_turns(first_updated + T::kDelay - first_row), rows);
      last_plain = (first_held - first_row) / Shape::kSlots * Shape::kSlots;
      last_plain = smaller(last_plain, rows);
      if (last_plain < first_plain) last_plain = first_plain;
    }
  }

  /// The tile's first cell in the row that the first warp takes as row `row`. For one beyond the grid's last row it is
  /// the last row's: it is taken, but enters no result.
  STENCIL_DEVICE const typename S::Value* input(const Arguments<S>& a, Index row) const {
    Index z = first_row + row;
    if constexpr (S::kBoundaryZ == Boundary::periodic) {
      z = inside<Boundary::periodic>(z, nz);
    } else {
      z = z < nz ? z : nz - 1;
    }
    return a.in[T::kAdvanced] + (z * a.stride_z + origin);
  }
  /// The tile's first cell in row z of the output.
  STENCIL_DEVICE typename S::Value* output(const Arguments<S>& a, Index z) const {
    return a.out[0] + (z * a.stride_z + origin);
  }

  /// A row that hold keeps, or one outside the grid.
  STENCIL_DEVICE bool holds_row(Index z) const { return z < first_updated || z >= first_held; }

 private:
  STENCIL_DEVICE static bool starts_on_words(const void* field) {
    return reinterpret_cast<unsigned long long>(field) % 16 == 0;
  }
  STENCIL_DEVICE static Index whole_turns(Index count) {
    return (count + Shape::kSlots - 1) / Shape::kSlots * Shape::kSlots;
  }
  STENCIL_DEVICE static Index smaller(Index a, Index b) { return a < b ? a : b; }
};

}  // namespace stencil_tune
