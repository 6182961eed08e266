// What a temporal block works on where blocks, or clusters, share out the planes of all tiles (T::kShares): equal parts, so
// that a launch is one wave on every grid, and no block ends before the others. Of eight tiles three blocks have two each
// for themselves. The planes of the other two, tile after tile, are cut into three runs, which may begin in one tile and
// end in the next:
//
//      block 0   tile 0 . . . . . .   tile 3 . . . . . .   tile 6 . . . .
//      block 1   tile 1 . . . . . .   tile 4 . . . . . .                  . .  tile 7 . .
//      block 2   tile 2 . . . . . .   tile 5 . . . . . .                                  . . . .
//
// Blocks walk through tiles of their own side by side, and L2 serves what neighbouring tiles both read. In each tile the
// levels fill again, which costs as much as the planes that pass meanwhile.
#pragma once

#include "stencil_tune/temporal/temporal_tile.cuh"

namespace stencil_tune {

template <class S, class T>
struct TemporalShare {
  using Shape = TemporalShape<S, T>;
  using Index = typename S::Index;

  static constexpr long long kFill = T::kDelay + T::kSteps * S::kLowZ;  ///< planes that pass while the levels fill

  Index tiles_x, tiles_y;  ///< of the grid
  Index low_z, planes;     ///< to update
  Index tile = 0;          ///< of the run
  Index first = 0;         ///< its planes, counted from low_z
  Index last = 0;          ///< one past them
  Index shares;            ///< blocks or clusters
  Index next_own;          ///< tile that the block has for itself
  Index first_cut;         ///< of the tiles that are cut into runs
  long long position;      ///< where the next run begins, and ...
  long long end;           ///< ... where the block's end, in planes of all cut tiles with what fills the levels

  STENCIL_DEVICE explicit TemporalShare(const Arguments<S>& a)
      : tiles_x(static_cast<Index>(overlapping_tiles(a.n[0], Shape::kWidth, T::kLeft, T::kRight, T::kShift,
                                                     S::kBoundaryX == Boundary::periodic))),
        tiles_y(static_cast<Index>(
            overlapping_tiles(a.n[1], Shape::kHeight, T::kAbove, T::kBelow, 0, S::kBoundaryY == Boundary::periodic))),
        low_z(static_cast<Index>(a.low[2])), planes(static_cast<Index>(a.high[2] - a.low[2])),
        shares(static_cast<Index>(blocks_in_x() / T::kCluster)), next_own(static_cast<Index>(block_x() / T::kCluster)),
        first_cut(tiles_x * tiles_y / shares * shares) {
    const long long all = (tiles_x * tiles_y - first_cut) * of_a_tile(), share = next_own;
    position = all * share / shares;
    end = all * (share + 1) / shares;
  }

  /// The next run; false when there is none.
  STENCIL_DEVICE bool next() {
    if (next_own < first_cut) {
      tile = next_own;
      last = planes;
      next_own += shares;
      return true;
    }
    while (position < end) {
      const auto cut = static_cast<Index>(position / of_a_tile());
      const long long start = cut * of_a_tile();
      tile = first_cut + cut;
      first = plane_at(position - start);
      last = plane_at(end - start);
      position = start + of_a_tile();
      if (first < last) return true;
    }
    return false;
  }

  STENCIL_DEVICE TemporalPart<S> part() const {
    return {{static_cast<unsigned>(tile % tiles_x), static_cast<unsigned>(tile / tiles_x), 0},
            {static_cast<unsigned>(tiles_x), static_cast<unsigned>(tiles_y), 1},
            low_z + first,
            low_z + last};
  }

 private:
  STENCIL_DEVICE long long of_a_tile() const { return kFill + planes; }

  /// The plane of a tile that begins where so much of it has passed.
  STENCIL_DEVICE Index plane_at(long long passed) const {
    const long long plane = passed - kFill;
    return static_cast<Index>(plane < 0 ? 0 : plane < planes ? plane : planes);
  }
};

}  // namespace stencil_tune
