// Points inside fused steps: the sources and receivers in the tile of a block.
//
// A block looks up which plane of its tile has points next, and walks plainly up to there. Only the steps in which some
// level works on such a plane ask for them, each warp for its own:
//
//     z --->    . . . . . . . . . p . . . . . . .
//     steps     plain plain plain |<- first delay .. last delay ->|  plain plain
//                                  level 0 is at p  ...  last level is at p
//
// - A source is added right after the level that writes its output, in every tile that computes the cell: each needs the
//   sources of its halo too. Those at one cell add in the order of the list.
// - A receiver's cell is captured by the tile and the chunk that store it, after the last level of a step. A warp's 32
//   lanes take a cell each from the lane that holds it. What is captured is summed up after the launch.
#pragma once

#include "stencil_tune/points/point_tables.cuh"
#include "stencil_tune/temporal/temporal_plane.cuh"

namespace stencil_tune {

/// A warp's points of one plane: indices into the tables.
struct PointRange {
  unsigned source, sources_end;
  unsigned receiver, receivers_end;
};

/// Steps of a walk: plain ones up to the first end, then those in which a level may meet points.
template <class Index>
struct PointStretch {
  Index plain_end, busy_end;
};

/// kFirstDelay: planes that the first level works behind the block's input, the last one kDelay.
template <class S, class T, int kFirstDelay>
struct BlockPoints {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;

  static constexpr bool kAny = true;

  const PointTables<Value>& tables;
  const Tile& tile;
  const PointPlane* planes = nullptr;  ///< of the tile; null where it has no points

  /// number: of the tile, row by row.
  STENCIL_DEVICE BlockPoints(const PointTables<Value>& p, const Tile& t, unsigned number) : tables(p), tile(t) {
    const int own = p.tiles[number];
    if (own >= 0) planes = p.planes + static_cast<long long>(own) * t.nz;
  }

  /// How steps z .. end - 1 are walked: some of them at least.
  STENCIL_DEVICE PointStretch<Index> stretch(Index z, Index end) const {
    const Index plane = next_plane(z - T::kDelay, end);
    return {smaller(plane + kFirstDelay, end), smaller(plane + T::kDelay + 1, end)};
  }

  /// The warp's points of plane z; none where that lies outside the grid.
  STENCIL_DEVICE PointRange range(Index z) const {
    if (planes == nullptr) return {0, 0, 0, 0};
    if constexpr (S::kBoundaryZ == Boundary::periodic) z = inside<S::kBoundaryZ>(z, tile.nz);
    if (z < 0 || z >= tile.nz) return {0, 0, 0, 0};
    const PointPlane plane = planes[z];
    if (plane.next != z) return {0, 0, 0, 0};
    const WarpPoints* warp = tables.warps + (static_cast<long long>(plane.row) * Shape::kWarps + Shape::warp());
    return {warp[0].source, warp[1].source, warp[0].receiver, warp[1].receiver};
  }

  /// Adds the sources of the field, which the launch's step has just written in the plane.
  STENCIL_DEVICE void add(const PointRange& range, int field, int step, Plane& plane) const {
    const Value* series = tables.series + step * tables.series_stride;
    for (unsigned s = range.source; s < range.sources_end; ++s) {
      const SourceCell<Value> source = tables.sources[s];
      if (source.at.field != field || source.at.lane != Shape::lane()) continue;
      const Value amount = source.weight * series[source.series];
      STENCIL_UNROLL
      for (int j = 0; j < Shape::kRows; ++j) {
        STENCIL_UNROLL
        for (int i = 0; i < Shape::kCells; ++i) {
          if (source.at.cell == j * Shape::kCells + i) plane.cells[j][i] += amount;
        }
      }
    }
  }

  /// Captures the field's cells of plane z that receivers record, after the launch's step. All lanes of the warp take
  /// part.
  STENCIL_DEVICE void capture(const PointRange& range, int field, int step, Index z, const Plane& plane) const {
    if (z < tile.low_z || z >= tile.high_z || (tables.recorded >> step & 1) == 0) return;
    Value* to = tables.captured + step * tables.captured_stride;
    for (unsigned first = range.receiver; first < range.receivers_end; first += 32) {
      const unsigned place = first + static_cast<unsigned>(Shape::lane());
      const bool is_one = place < range.receivers_end;
      const WarpCell from = tables.receivers[is_one ? place : first];
      Value value = 0;
      STENCIL_UNROLL
      for (int j = 0; j < Shape::kRows; ++j) {
        STENCIL_UNROLL
        for (int i = 0; i < Shape::kCells; ++i) {
          const Value cell = shuffle_from(plane.cells[j][i], from.lane);
          value = from.cell == j * Shape::kCells + i ? cell : value;
        }
      }
      if (is_one && from.field == field) to[place] = value;
    }
  }

 private:
  /// The lowest plane from z on that has points; `none` where there is none before the grid ends.
  STENCIL_DEVICE Index next_plane(Index z, Index none) const {
    if (planes == nullptr) return none;
    if constexpr (S::kBoundaryZ == Boundary::periodic) {
      const Index at = inside<S::kBoundaryZ>(z, tile.nz);
      const auto next = static_cast<Index>(planes[at].next);
      return z - at + (next < tile.nz ? next : tile.nz + static_cast<Index>(planes[0].next));
    } else {
      if (z >= tile.nz) return none;
      const auto next = static_cast<Index>(planes[z < 0 ? Index(0) : z].next);
      return next < tile.nz ? next : none;
    }
  }
  STENCIL_DEVICE static Index smaller(Index a, Index b) { return a < b ? a : b; }
};

}  // namespace stencil_tune
