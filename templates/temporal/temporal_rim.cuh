// The rows above and below a tile of fused steps that its first level reads. Every level uses up as many rows at the
// tile's top and bottom as it reads, since nobody holds the rows beyond. Those of the input stand in memory: with them
// the first level leaves all rows of the tile right.
//
//     rim      rows of the input     copied by warp 0, and published where a warp above it would publish its own
//     warp 0   rows 0 ..             right after level 0; after the next all but the first
//
// Nothing else changes: level 0 of a warp with a rim reads its rows as it reads another warp's. All that a rim takes
// stands in one branch, which other warps skip.
#pragma once

#include "stencil_tune/choose.cuh"
#include "stencil_tune/temporal/temporal_edges.cuh"

namespace stencil_tune {

/// Where the warp has a rim: above or below its rows, at one side at most. All lanes agree.
struct RimSides {
  bool above, below;

  STENCIL_DEVICE RimSides(bool at_top, bool at_bottom) : above(any_in_warp(at_top)), below(any_in_warp(at_bottom)) {}
};

/// The rim of one input: kBefore rows above the tile and kAfter below it. kRims: that are published in a step.
template <class S, class T, int kInput, int kBefore, int kAfter, int kRims>
struct RimRows {
  using Shape = TemporalShape<S, T>;
  using Tile = TemporalTile<S, T>;
  using Value = typename S::Value;
  using Index = typename S::Index;

  using Array = CopiedCells<S, T, layers_of_input<S, T>(kInput)>;
  static constexpr int kRows = kBefore > kAfter ? kBefore : kAfter;
  static constexpr int kWord = Shape::template word_cells<Value>();
  static constexpr int kSlots = T::kPrefetch + 1;  ///< in one a step publishes a plane's rows, and begins to copy others
  static constexpr int kSlotCells = kRows * Shape::kWarpWidth;
  static constexpr int kWarpBytes = kSlots * kSlotCells * static_cast<int>(sizeof(Value));
  static constexpr int kBytes = 2 * kWarpBytes;

  const Arguments<S>& arguments;
  const Tile& tile;
  const int first_byte;  ///< the rim's first byte in shared memory
  const RimSides sides;  ///< no reference: one from member to member would leave all planes of the walk in memory

  STENCIL_DEVICE RimRows(const Arguments<S>& a, const Tile& t, int first, RimSides s)
      : arguments(a), tile(t), first_byte(first), sides(s) {}

  /// Publishes the rows of plane z as rows of type Row. Those above the tile go to `above`, one after the other, those
  /// below it to `below`. Then begins to copy what the slot has next. kZero: planes beyond the grid are 0.
  template <bool kZero, class Row>
  STENCIL_DEVICE void publish(Index z, int slot, Value* above, Value* below) const {
    if constexpr (T::kCopiedByTma) async_wait<kRims * kSlots - 1>();
    if constexpr (kBefore == kAfter) {
      publish_rows<kBefore, kZero, Row>(z, slot, sides.above ? above : below);
    } else if (sides.above) {
      publish_rows<kBefore, kZero, Row>(z, slot, above);
    } else {
      publish_rows<kAfter, kZero, Row>(z, slot, below);
    }
    copy(z + kSlots, slot);
  }

  /// Starts to copy the rows of plane z. A lane copies its own cells, to where it reads them.
  STENCIL_DEVICE void copy(Index z, int slot) const {
    const Index plane = Array(arguments).template place<2>(plane_in_grid(z)) * Array::stride_z(arguments);
    const Index first_row = sides.above ? tile.y - kBefore : tile.y + Shape::kRows;
    STENCIL_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const Index row = plane + Array(arguments).template place<1>(row_in_grid(first_row + r)) * Array::stride_y(arguments);
      if (T::kCopiedByTma || (T::kVector % kWord == 0 && tile.whole_vectors)) {
        copy_row<kWord>(first_word(slot) + r * Shape::kWarpWidth, row);
      } else {
        copy_row<1>(first_word(slot) + r * Shape::kWarpWidth, row);
      }
    }
    if constexpr (T::kCopiedByTma) async_commit();  // otherwise with what the lane copies next
  }

 private:
  STENCIL_DEVICE Value* first_word(int slot) const {
    return reinterpret_cast<Value*>(shared_memory() + first_byte + (sides.below ? kWarpBytes : 0)) +
           (slot * kSlotCells + Shape::lane() * kWord);
  }

  template <int kCount, bool kZero, class Row>
  STENCIL_DEVICE void publish_rows([[maybe_unused]] Index z, int slot, Value* to) const {
    STENCIL_UNROLL
    for (int r = 0; r < kCount; ++r) {
      Value cells[Shape::kCells];
      STENCIL_UNROLL
      for (int i = 0; i < Shape::kCells; i += kWord) {
        load_cells<LoadHint::cached, kWord>(first_word(slot) + (r * Shape::kWarpWidth + i * 32), cells + i);
      }
      if constexpr (kZero) {
        STENCIL_UNROLL
        for (int i = 0; i < Shape::kCells; ++i) cells[i] = z >= 0 && z < tile.nz ? cells[i] : Value(0);
      }
      Row::store(to + r * Row::kRowCells, cells);
    }
  }

  template <int kCopied>
  STENCIL_DEVICE void copy_row(Value* to, Index row) const {
    STENCIL_UNROLL
    for (int i = 0; i < Shape::kCells; i += kCopied) {
      const Index x = Array(arguments).template place<0, kCopied>(wrapped<S::kBoundaryX>(tile.x + i, tile.nx));
      async_copy<kCopied * static_cast<int>(sizeof(Value))>(
          to + (i / kWord * kWord * 32 + i % kWord), arguments.in[kInput] + (row + x));
    }
  }

  // What is copied for planes and rows beyond the grid: under periodic those that answer for them. Otherwise no cell that
  // is stored depends on them.
  STENCIL_DEVICE Index plane_in_grid(Index z) const {
    if constexpr (S::kBoundaryZ == Boundary::periodic) return inside<S::kBoundaryZ>(z, tile.nz);
    return z < 0 ? Index(0) : z < tile.nz ? z : tile.nz - 1;
  }
  STENCIL_DEVICE Index row_in_grid(Index y) const {
    if constexpr (S::kBoundaryY == Boundary::periodic) return inside_once<S::kBoundaryY>(y, tile.ny);
    return y < 0 ? Index(0) : y < tile.ny ? y : tile.ny - 1;
  }
};

/// Edge rows with those of a rim among them.
template <class S, class T>
struct RimmedEdgeRows : EdgeRows<S, T> {
  using Base = EdgeRows<S, T>;
  using Row = SharedRow<S, T>;
  using Rim = RimRows<S, T, T::kAdvanced, S::kLowY, S::kHighY, 1>;
  using Index = typename S::Index;
  using Value = typename S::Value;

  static constexpr int kEnd = Base::kEnd + Rim::kBytes;

  const RimSides sides;
  const Rim rim;
  int slot = 0;  ///< slot of the rim whose plane is published next

  STENCIL_DEVICE RimmedEdgeRows(const Arguments<S>& a, const TemporalTile<S, T>& t)
      : Base(a, t), sides(t.in_first_group && t.rank == 0 && thread_y() == 0 && !t.top_edge,
                          t.in_first_group && t.rank == T::kCluster - 1 && thread_y() == T::kBlockY - 1 && !t.bottom_edge),
        rim(a, t, Base::kEnd, sides) {}

  STENCIL_DEVICE void start(const TemporalTile<S, T>& tile) {
    Base::start(tile);
    if (!sides.above && !sides.below) return;
    for (int s = 0; s < Rim::kSlots; ++s) rim.copy(tile.first_plane() - T::kRimAge + s, s);
  }

  /// Publishes the rim's rows of plane z, with the warp's own rows of it, for level 0. kZero: planes beyond the grid
  /// are 0.
  template <bool kZero>
  STENCIL_DEVICE void publish_rim(Index z) {
    if (!sides.above && !sides.below) return;
    Value* to = Base::own + Base::next();
    rim.template publish<kZero, Row>(z, slot, to - Base::kWarpCells + S::kHighY * Row::kRowCells, to + Base::kWarpCells);
    slot = slot == Rim::kSlots - 1 ? 0 : slot + 1;
  }
};

template <class S, class T>
using EdgesOf =
    Choose<T::kExchanges, Choose<T::kReadsRim, RimmedEdgeRows<S, T>, EdgeRows<S, T>>, NoEdges<S, T>>;

}  // namespace stencil_tune
