// A level's rows with their halo: the thread's own cells, neighbouring lanes' by shuffle or from shared memory,
// neighbouring warps' from shared memory, and beyond the grid what the boundary says.
#pragma once

#include "stencil_tune/temporal/temporal_rim.cuh"

namespace stencil_tune {

template <class S, class T>
struct TemporalRows {
  using Shape = TemporalShape<S, T>;
  using Value = typename S::Value;
  using Plane = TemporalPlane<S, T>;

  const TemporalTile<S, T>& tile;
  const EdgesOf<S, T>& edges;

  /// Row kJ of the plane, which is plane p of the reach: the thread's own, another warp's, or what the boundary says.
  template <int kLevel, int kJ>
  STENCIL_DEVICE void take(const Plane& plane, int p, Value* body) const {
    if constexpr (kJ >= 0 && kJ < Shape::kRows) {
      copy_cells(plane.cells[kJ], body, IndicesBelow<Shape::kCells>{});
    } else {
      const bool beyond = kJ < 0 ? tile.top_edge : tile.bottom_edge;
      if constexpr (S::kBoundaryY == Boundary::zero || S::kBoundaryY == Boundary::clamp ||
                    S::kBoundaryY == Boundary::reflect) {
        if (beyond) {
          constexpr int kLast = Shape::kRows - 1;
          constexpr int kNearest = kJ < 0 ? 0 : kLast;
          constexpr int kMirrored = kJ < 0 ? (-kJ < kLast ? -kJ : kLast) : (2 * kLast - kJ > 0 ? 2 * kLast - kJ : 0);
          copy_cells(plane.cells[S::kBoundaryY == Boundary::reflect ? kMirrored : kNearest], body,
                     IndicesBelow<Shape::kCells>{});
          if constexpr (S::kBoundaryY == Boundary::zero) {
            STENCIL_UNROLL
            for (int i = 0; i < Shape::kCells; ++i) body[i] = Value(0);
          }
          return;
        }
      }
      if constexpr (T::kExchanges) Row::load(edges.template row<kLevel, kJ>(p), body);
    }
  }

  /// kLeft cells before and kRight after the thread's own of row kJ: its neighbours', or what the boundary says.
  /// kExchanged: warps exchange cells of the plane, which is plane p of the reach.
  template <int kLevel, int kJ, int kLeft, int kRight, bool kExchanged>
  STENCIL_DEVICE void fill_halo(int p, Value* body) const {
    constexpr bool kInMemory = kExchanged && stands_in_memory<kJ>();
    static_assert(Shape::kWarpsX == 1 || kInMemory || (kExchanged && has_ends<kJ>()) || (kLeft == 0 && kRight == 0),
                  "a warp's last lane has no neighbour to shuffle with");
    take_left<kLevel, kJ, kLeft, kInMemory>(p, body);
    take_right<kLevel, kJ, kRight, kInMemory>(p, body);
    if constexpr (S::kBoundaryX != Boundary::hold && S::kBoundaryX != Boundary::periodic) {
      answer_row_ends<S, kLeft, kRight>(tile, body);
    }
  }

 private:
  using Row = SharedRow<S, T>;
  using Ends = SharedEnds<S, T>;

  /// What take() takes for row kJ of a plane of which warps exchange rows is in shared memory, other lanes' cells too.
  template <int kJ>
  STENCIL_DEVICE static constexpr bool stands_in_memory() {
    if constexpr (!T::kExchanges) return false;
    constexpr bool kOwn = kJ >= 0 && kJ < Shape::kRows;
    constexpr bool kOthersMayBeBeyond = S::kBoundaryY != Boundary::hold && S::kBoundaryY != Boundary::periodic;
    return EdgeRows<S, T>::template is_published<kJ>() && (kOwn || !kOthersMayBeBeyond);
  }

  template <int kJ>
  STENCIL_DEVICE static constexpr bool has_ends() {
    if constexpr (!T::kExchanges) return false;
    return kJ >= S::kHighY && kJ < S::kHighY + EdgeRows<S, T>::kEndRows;
  }

  template <int kCount, bool kInMemory>
  STENCIL_DEVICE static constexpr bool stands_beside() {
    if constexpr (!T::kExchanges) return false;
    return kInMemory && Row::template reads_beside<kCount>();
  }

  template <int kLevel, int kJ, int kCount, bool kInMemory>
  STENCIL_DEVICE void take_left(int p, Value* body) const {
    if constexpr (stands_beside<kCount, kInMemory>()) {
      Row::template load_left<kCount>(edges.template row<kLevel, kJ>(p), body);
    } else if constexpr (Shape::kWarpsX > 1) {
      if constexpr (kCount > 0) Ends::template load_left<kCount>(edges.template row_ends<kLevel, kJ>(p), body);
    } else {
      STENCIL_UNROLL
      for (int i = 1; i <= kCount; ++i) body[-i] = shuffle_up(body[Shape::kCells - i], 1, 32);
    }
  }
  template <int kLevel, int kJ, int kCount, bool kInMemory>
  STENCIL_DEVICE void take_right(int p, Value* body) const {
    if constexpr (stands_beside<kCount, kInMemory>()) {
      Row::template load_right<kCount>(edges.template row<kLevel, kJ>(p), body);
    } else if constexpr (Shape::kWarpsX > 1) {
      if constexpr (kCount > 0) Ends::template load_right<kCount>(edges.template row_ends<kLevel, kJ>(p), body);
    } else {
      STENCIL_UNROLL
      for (int i = 0; i < kCount; ++i) body[Shape::kCells + i] = shuffle_down(body[i], 1, 32);
    }
  }
};

}  // namespace stencil_tune
