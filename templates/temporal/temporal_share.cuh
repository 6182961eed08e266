// What a temporal block works on where blocks, or clusters, share out the planes of all tiles (T::kShares): equal
// parts, so that a launch is one wave on every grid, and no block ends before the others. With eight tiles, three
// blocks have two each for themselves. The planes of the other two tiles, tile after tile, are cut into three runs,
// which may begin in one tile and end in the next:
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

  static constexpr Index kFill = T::kDelay + T::kSteps * S::kLowZ;  ///< planes that pass while the levels fill

  /// Run number `run` of the block or cluster, which has no planes where the share begins while a tile's levels fill; false
  /// when there is none. All is computed anew for each run: kept meanwhile, it would take registers from the walk.
  STENCIL_DEVICE static bool part_of(const Arguments<S>& a, int run, TemporalPart<S>& part) {
    const int zero = computed_anew(0);
    const Index tiles_x = static_cast<Index>(overlapping_tiles(a.n[0] + zero, Shape::kWidth, T::kLeft, T::kRight, T::kShift,
                                                               S::kBoundaryX == Boundary::periodic));
    const Index tiles_y = static_cast<Index>(overlapping_tiles(a.n[1] + zero, Shape::kHeight, T::kAbove, T::kBelow, 0,
                                                               S::kBoundaryY == Boundary::periodic));
    const Index low_z = static_cast<Index>(a.low[2]) + zero, planes = static_cast<Index>(a.high[2]) - low_z;
    const Index share = static_cast<Index>(block_x() / T::kCluster) + zero;
    const Index shares = static_cast<Index>(blocks_in_x() / T::kCluster);
    const Index own = tiles_x * tiles_y / shares;  // tiles that each share has for itself

    // The share's planes of the tiles that are cut, counted from the first, with what fills the levels of each.
    const Index of_a_tile = kFill + planes;
    const long long all = static_cast<long long>(tiles_x * tiles_y - own * shares) * of_a_tile;
    const Index begin = static_cast<Index>(all * share / shares), end = static_cast<Index>(all * (share + 1) / shares);
    const Index cut = begin / of_a_tile + run - own, start = cut * of_a_tile;

    const bool is_own = run < own;
    const Index tile = is_own ? share + run * shares : own * shares + cut;
    part.at = {static_cast<unsigned>(tile % tiles_x), static_cast<unsigned>(tile / tiles_x), 0};
    part.tiles[0] = static_cast<unsigned>(tiles_x);
    part.tiles[1] = static_cast<unsigned>(tiles_y);
    part.low_z = low_z + (is_own ? 0 : plane_at(begin - start, planes));
    part.high_z = low_z + (is_own ? planes : plane_at(end - start, planes));
    return is_own || start < end;
  }

 private:
  /// The plane of a tile that begins where so much of it has passed.
  STENCIL_DEVICE static Index plane_at(Index passed, Index planes) {
    const Index plane = passed - kFill;
    return plane < 0 ? 0 : plane < planes ? plane : planes;
  }
};

}  // namespace stencil_tune
