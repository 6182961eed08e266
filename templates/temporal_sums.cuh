// temporal, sums in registers: like temporal.cuh, but a level does not keep the planes that the next sweep reads. It adds
// each plane, once, to the sums of all outputs within its reach (plane_sums.cuh): one plane's rows pass between lanes and
// warps where otherwise all planes of the reach would.
//
//      z --->
//      level l   sum of z-1   sum of z   [ plane z+1 ]   <-  level l-1
//                     \           \__________/ |
//      level l+1   <-  complete: plane z       starts the sum of z+2
//
// What boundary hold keeps is never a sum's result. It has its first value at every step: it is read from the input.
#pragma once

#include "stencil_tune/plane_sums.cuh"
#include "stencil_tune/temporal_walk.cuh"

namespace stencil_tune {

template <class S, class T>
struct SumsPipeline {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;
  using Sums = PlaneSums<S, T>;

  struct Level {
    Sums sums;
    Plane waiting;  ///< until other warps' rows of it are there; unused where none are read
  };

  const Arguments<S>& arguments;
  const Tile& tile;
  Level levels[T::kSteps];
  EdgeRows<S, T> edges;

  /// All planes are 0: what boundary zero reads before the first plane.
  STENCIL_DEVICE SumsPipeline(const Arguments<S>& a, const Tile& t) : arguments(a), tile(t) {
    STENCIL_UNROLL
    for (int l = 0; l < T::kSteps; ++l) levels[l].waiting.fill(Value(0));
    if constexpr (Shape::kExchanges) edges.clear();
  }

  STENCIL_DEVICE bool any_cell_held() const { return Shape::kHoldsCells && any_lane(tile.holds_cells()); }

  /// plane: the input's plane z; comes back as the output's plane z - kDelay.
  template <Edges kEdges>
  STENCIL_DEVICE void step(Index z, Plane& plane) {
    if constexpr (kEdges == Edges::all && S::kBoundaryZ == Boundary::zero) {
      if (z >= tile.nz) plane.fill(Value(0));
    }
    if constexpr (Shape::kExchanges) barrier();
    advance<kEdges>(z, plane, IndicesBelow<T::kSteps>{});
    if constexpr (Shape::kExchanges) edges.next_step();
  }

 private:
  STENCIL_DEVICE TemporalRows<S, T> rows() const { return {tile, edges}; }

  template <Edges kEdges, int... kLevel>
  STENCIL_DEVICE void advance(Index z, Plane& plane, Indices<kLevel...>) {
    (advance_level<kEdges, kLevel>(z - (kLevel + 1) * Shape::kLag, plane), ...);
  }

  /// newest: enters the level; the level's update of plane z takes its place.
  template <Edges kEdges, int kLevel>
  STENCIL_DEVICE void advance_level(Index z, Plane& newest) {
    Level& level = levels[kLevel];
    typename Sums::Plane added;
    gather<kLevel>(Shape::kExchanges ? level.waiting : newest, added, IndicesBelow<Sums::Reads::kRows>{});
    level.sums.add(added, arguments.coefficients);
    Plane updated;
    finish(level.sums, updated, IndicesBelow<Shape::kRows>{});
    level.sums.next();
    if constexpr (kEdges == Edges::all) keep_plane(z, updated);
    if constexpr (kEdges != Edges::none && Shape::kHoldsCells) keep_cells(z, updated, AllCells{});
    if constexpr (Shape::kExchanges) {
      level.waiting = newest;
      edges.template publish<kLevel>(newest);
    }
    newest = updated;
  }

  using AllCells = IndicesBelow<Shape::kRows * Shape::kCells>;

  template <int kLevel, int... kR>
  STENCIL_DEVICE void gather(const Plane& plane, typename Sums::Plane& added, Indices<kR...>) const {
    (gather_row<kLevel, kR>(plane, added), ...);
  }
  template <int kLevel, int kR>
  STENCIL_DEVICE void gather_row(const Plane& plane, typename Sums::Plane& added) const {
    constexpr RowUse kUse = Computed<typename Sums::Reads>::kTable.use[0][0][kR];
    if constexpr (is_used(kUse)) {
      Value* body = added.window.body(0, 0, kR);
      rows().template take<kLevel, kR - S::kLowY>(plane, Shape::kLastExchanged, body);
      rows().template fill_halo<kUse.left, kUse.right>(body);
    }
  }

  template <int... kJ>
  STENCIL_DEVICE void finish(const Sums& sums, Plane& updated, Indices<kJ...>) const {
    (finish_row<kJ>(sums, updated), ...);
  }
  template <int kJ>
  STENCIL_DEVICE void finish_row(const Sums& sums, Plane& updated) const {
    typename Sums::Row outputs;
    sums.template finish<kJ>(LateCells<S, T>{}, arguments.coefficients, outputs);
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; ++i) updated.cells[kJ][i] = as_stored<typename S::Storage>(outputs[0][i]);
  }

  /// Under hold, planes beyond the grid are left as they are: none but planes that are kept would read them.
  STENCIL_DEVICE void keep_plane(Index z, Plane& updated) const {
    if constexpr (S::kBoundaryZ == Boundary::hold) {
      if (tile.holds_planes_at(z) && z >= 0 && z < tile.nz) {
        STENCIL_UNROLL
        for (int j = 0; j < Shape::kRows; ++j) {
          STENCIL_UNROLL
          for (int i = 0; i < Shape::kCells; ++i) updated.cells[j][i] = input_cell(tile, arguments, i, j, z);
        }
      }
    } else if constexpr (S::kBoundaryZ == Boundary::zero) {
      if (tile.holds_planes_at(z)) updated.fill(Value(0));
    }
  }

  template <int... kCell>
  STENCIL_DEVICE void keep_cells(Index z, Plane& updated, Indices<kCell...>) const {
    if constexpr (S::kBoundaryZ != Boundary::periodic) {
      if (z < 0 || z >= tile.nz) return;
    }
    (keep_cell<kCell % Shape::kCells, kCell / Shape::kCells>(z, updated), ...);
  }
  template <int kI, int kJ>
  STENCIL_DEVICE void keep_cell(Index z, Plane& updated) const {
    if constexpr (Tile::template may_hold<kI, kJ>()) {
      if (tile.template holds<kI, kJ>()) updated.cells[kJ][kI] = input_cell(tile, arguments, kI, kJ, z);
    }
  }
};

template <class S, class T>
STENCIL_DEVICE void temporal_sums(const Arguments<S>& arguments) {
  walk_levels<S, T, SumsPipeline<S, T>>(arguments);
}

}  // namespace stencil_tune
