// Points inside fused steps: the sources and receivers in the tile of a block.
//
// A block knows the next plane of its tile that has points. Steps before it are plain. While some level may work on such a
// plane, steps are careful, as they are at the ends of the walk:
//
//     z --->    . . . . . . . . . p . . . . . . .
//     steps     plain plain plain |<- first delay .. last delay ->|  plain plain
//                                  level 0 is at p  ...  last level is at p
//
// - A level before the next plane compares two numbers, and looks nothing up.
// - A warp's points of a plane stand in rounds: in each a lane has one of its own cells, or none. So no lane asks for
//   another's registers, and all loads are of whole rows of the tables. All cells of a lane that receivers read are one
//   mask: a load for them all, since each load is waited for.
// - A source is added right after the level that writes its output, in every tile that computes the cell: each needs the
//   sources of its halo too. Those at one cell are a lane's, in the order of the list.
// - A receiver's cell is captured by the tile and the chunk that store it, after the last level of a step. What is captured
//   is summed up after the launch.
#pragma once

#include "stencil_tune/points/point_tables.cuh"
#include "stencil_tune/temporal/plane_walk.cuh"
#include "stencil_tune/temporal/temporal_plane.cuh"

namespace stencil_tune {

/// A warp's points of one plane.
struct PointRounds {
  unsigned source, sources_end;
  unsigned receiver, receivers_end;
};

/// What a source adds in one step.
template <class Value>
struct SourceAmount {
  unsigned cell, field;
  Value value;
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
  int own;     ///< number of the tile among those that have points; -1: it has none
  Index next;  ///< the lowest plane with points that the last level has not left behind, or one beyond the walk's end

  /// number: the tile's, row by row. The next plane is looked up with the first step, when the walk's first copies are
  /// on their way.
  STENCIL_DEVICE BlockPoints(const PointTables<Value>& p, const Tile& t, unsigned number)
      : tables(p), tile(t), own(p.tiles[number]), next(t.first_plane() - T::kDelay - 1) {}

  /// Steps from z up to this one meet no points; `end` at most.
  STENCIL_DEVICE Index plain_end(Index z, Index end) {
    if (z > next + T::kDelay) next = next_plane(z - T::kDelay);
    const Index met = next + kFirstDelay;
    return met < end ? met : end;
  }

  /// The warp's points of plane z, which a level has updated.
  STENCIL_DEVICE PointRounds rounds(Index z) const {
    if (z < next || (S::kBoundaryZ != Boundary::periodic && z >= tile.nz)) return {0, 0, 0, 0};
    if constexpr (S::kBoundaryZ == Boundary::periodic) z = inside<S::kBoundaryZ>(z, tile.nz);
    const PointPlane plane = planes()[z];
    if (plane.next != z) return {0, 0, 0, 0};
    const WarpPoints* warp = tables.warps + (static_cast<long long>(plane.row) * Shape::kWarps + Shape::warp());
    return {warp[0].source, warp[1].source, warp[0].receiver, warp[1].receiver};
  }

  /// The lane's source of a round, at a step of the launch.
  STENCIL_DEVICE SourceAmount<Value> source(unsigned round, int step) const {
    const SourceCell<Value> source = tables.sources[place_in(round)];
    const Value* series = tables.series + step * tables.series_stride;
    return {source.cell, source.field, source.weight * series[source.series]};
  }

  /// Adds the source to the field's plane, which the step has just written.
  STENCIL_DEVICE static void add(const SourceAmount<Value>& source, unsigned field, Plane& plane) {
    STENCIL_UNROLL
    for (unsigned c = 0; c < Shape::kRows * Shape::kCells; ++c) {
      if (source.field == field && source.cell == c) plane.cells[c / Shape::kCells][c % Shape::kCells] += source.value;
    }
  }

  /// Whether the block captures plane z after that step of the launch.
  STENCIL_DEVICE bool captures(int step, Index z) const {
    return z >= tile.low_z && z < tile.high_z && (tables.recorded >> step & 1) != 0;
  }

  /// The lane's receivers of a round.
  STENCIL_DEVICE ReceiverMask receivers(unsigned round) const {
    return tables.receivers[place_in(round)];
  }

  /// Captures cells of the field's plane, after that step of the launch.
  STENCIL_DEVICE void capture(const ReceiverMask& receivers, unsigned field, int step, const Plane& plane) const {
    if (receivers.field != field) return;
    Value* to = tables.captured + step * tables.captured_stride + receivers.place;
    STENCIL_UNROLL
    for (unsigned c = 0; c < Shape::kRows * Shape::kCells; ++c) {
      if (c / 32 == receivers.group && (receivers.cells >> c % 32 & 1) != 0) {
        *to++ = plane.cells[c / Shape::kCells][c % Shape::kCells];
      }
    }
  }

 private:
  STENCIL_DEVICE static long long place_in(unsigned round) {
    return static_cast<long long>(round) * 32 + Shape::lane();
  }
  STENCIL_DEVICE const PointPlane* planes() const { return tables.planes + static_cast<long long>(own) * tile.nz; }

  /// The lowest plane from z on that has points.
  STENCIL_DEVICE Index next_plane(Index z) const {
    const Index none = tile.last_plane();
    if (own < 0) return none;
    if constexpr (S::kBoundaryZ == Boundary::periodic) {
      const Index at = inside<S::kBoundaryZ>(z, tile.nz);
      const auto found = static_cast<Index>(planes()[at].next);
      return z - at + (found < tile.nz ? found : tile.nz + static_cast<Index>(planes()[0].next));
    } else {
      if (z >= tile.nz) return none;
      const auto found = static_cast<Index>(planes()[z < 0 ? Index(0) : z].next);
      return found < tile.nz ? found : none;
    }
  }
};

/// The walk of levels that meet points, in one loop, so that the kernel has each kind of step once: what points need makes
/// steps at the ends long, and copies of them would not stay in the instruction cache.
template <class T, class Steps>
struct WalkToPoints : PlaneWalk<T, Steps> {
  using Walk = PlaneWalk<T, Steps>;
  using Walk::tile, Walk::input, Walk::levels;
  using Index = typename Steps::Index;

  STENCIL_DEVICE void run() {
    Index z = tile.first_plane();
    input.start(z);
#pragma unroll 1
    while (z < tile.last_plane()) {
      const Index plain_end = levels.points.plain_end(z, Steps::last_plain_plane());
      if (z < Steps::first_plain_plane() || z + T::kUnroll > plain_end) {
        Steps::template step<Edges::all>(z++);
      } else if (tile.steps_keep_cells()) {
        z = Walk::template walk_plain<Edges::cells>(z, plain_end);
      } else {
        assume(!tile.grid_ends_within);
        z = Walk::template walk_plain<Edges::none>(z, plain_end);
        levels.clear_held();
      }
    }
    Steps::leave();
  }
};

}  // namespace stencil_tune
