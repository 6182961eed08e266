// The levels of a warp of a systolic block: their sums, and how one row of each is completed and added.
//
// A row that boundary hold keeps, and a held cell of any row, is no sum's result: when the row comes up, its value
// takes the sum's place, and nothing is added to it after that.
#pragma once

#include "stencil_tune/rows.cuh"
#include "stencil_tune/systolic/systolic_rings.cuh"
#include "stencil_tune/window.cuh"

namespace stencil_tune {

template <class S, class T>
struct SystolicLevels {
  using Shape = SystolicShape<S, T>;
  using Index = typename S::Index;
  using Value = typename S::Value;
  using Row = SystolicRow<S, T>;
  using OfLevels = IndicesBelow<Shape::kLevels>;
  using OfCells = IndicesBelow<Shape::kCells>;

  const Arguments<S>& arguments;
  const SystolicPart<S, T>& part;
  Value sums[Shape::kLevels][Shape::kReach]
            [Shape::kCells];  ///< [level]: sums of the row that is complete next, and of later ones

  STENCIL_DEVICE SystolicLevels(const Arguments<S>& a, const SystolicPart<S, T>& p) : arguments(a), part(p), sums{} {
    static_assert(S::kSums == 1 && Shape::kReach > 0, "the constraints of the family");
  }

  /// rows[0]: row z, which enters the first level; rows[l + 1]: what level l completes, which enters the next.
  template <Edges kEdges>
  STENCIL_DEVICE void complete(Index z, Row (&rows)[Shape::kLevels + 1]) {
    if constexpr (kEdges == Edges::all && S::kBoundaryZ == Boundary::zero) clear_if(part.holds_row(z), rows[0]);
    complete_levels<kEdges>(z, rows, OfLevels{});
  }

  /// Adds the rows, from the last level to the first: so rows are done with in the order in which registers are needed.
  template <Edges kEdges>
  STENCIL_DEVICE void add(Index z, Row (&rows)[Shape::kLevels + 1]) {
    if constexpr (kEdges == Edges::all && S::kBoundaryZ == Boundary::zero) clear_if(part.holds_row(z), rows[0]);
    add_levels<kEdges>(z, rows, OfLevels{});
  }

 private:
  template <Edges kEdges, int... kLevel>
  STENCIL_DEVICE void complete_levels(Index z, Row (&rows)[Shape::kLevels + 1], Indices<kLevel...>) {
    (complete_level<kEdges, kLevel>(z - (kLevel + 1) * S::kHighZ, rows[kLevel], rows[kLevel + 1]), ...);
  }
  template <Edges kEdges, int... kLevel>
  STENCIL_DEVICE void add_levels(Index z, Row (&rows)[Shape::kLevels + 1], Indices<kLevel...>) {
    (add_level<kEdges, Shape::kLevels - 1 - kLevel>(z - (Shape::kLevels - kLevel) * S::kHighZ,
                                                   rows[Shape::kLevels - 1 - kLevel]),
     ...);
  }

  /// z: the row that is complete.
  template <Edges kEdges, int kLevel>
  STENCIL_DEVICE void complete_level(Index z, Row& entering, Row& completed) {
    if constexpr (T::kReadsBesideLast) fill_sides<kEdges, kLevel>(entering);
    if (holds_row<kEdges>(z)) {
      keep_cells<kLevel>(entering, completed, OfCells{});
    } else {
      complete_cells<kEdges, kLevel>(entering, completed, OfCells{});
    }
    if constexpr (kEdges == Edges::all && S::kBoundaryZ == Boundary::zero) clear_if(part.holds_row(z), completed);
  }
  template <int kLevel, int... kI>
  STENCIL_DEVICE void keep_cells(const Row& entering, Row& completed, Indices<kI...>) const {
    ((completed.own(kI) = kept_cell<kLevel, kI>(entering)), ...);
  }
  template <Edges kEdges, int kLevel, int... kI>
  STENCIL_DEVICE void complete_cells(const Row& entering, Row& completed, Indices<kI...>) const {
    ((completed.own(kI) = completed_cell<kEdges, kLevel, kI>(entering)), ...);
  }
  template <Edges kEdges, int kLevel, int kI>
  STENCIL_DEVICE Value completed_cell(const Row& entering) const {
    const Value sum = complete_cell<kLevel, kI>(entering);
    if constexpr (!kMayHold<kEdges, kI>) return sum;
    return choose(holds<kI>(), kept_cell<kLevel, kI>(entering), sum);
  }
  template <int kLevel, int kI>
  STENCIL_DEVICE Value kept_cell(const Row& entering) const {
    return S::kHighZ == 0 ? entering.own(kI) : sums[kLevel][0][kI];
  }
  template <int kLevel, int kI>
  STENCIL_DEVICE Value complete_cell(const Row& entering) const {
    Value sum[1] = {sums[kLevel][0][kI]};
    Value output[1];
    S::template add_plane<S::kHighZ>(Cells<S, Row, kI, 0, 0>{entering}, arguments.coefficients, sum);
    S::finish(Cells<S, Row, kI, 0, 0>{entering}, arguments.coefficients, sum, output);
    return output[0];
  }

  /// z: the row that was completed, kHighZ rows before the one that is added.
  template <Edges kEdges, int kLevel>
  STENCIL_DEVICE void add_level(Index z, Row& entering) {
    if constexpr (!T::kReadsBesideLast) fill_sides<kEdges, kLevel>(entering);
    add_to_rows<kEdges, kLevel>(z, entering, IndicesBelow<Shape::kReach>{});
  }
  template <Edges kEdges, int kLevel, int... kRow>
  STENCIL_DEVICE void add_to_rows(Index z, const Row& entering, Indices<kRow...>) {
    (add_to_row<kEdges, kLevel, kRow + 1>(z + kRow + 1, entering, OfCells{}), ...);
  }
  /// Adds to the row that is kRow later than the completed one. Its sums move to the place before it.
  template <Edges kEdges, int kLevel, int kRow, int... kI>
  STENCIL_DEVICE void add_to_row(Index z, const Row& entering, Indices<kI...>) {
    if (kRow <= kOwn && holds_row<kEdges>(z)) {
      ((sums[kLevel][kRow - 1][kI] = kept_sum<kLevel, kRow, kI>(entering)), ...);
    } else {
      ((sums[kLevel][kRow - 1][kI] = next_sum<kEdges, kLevel, kRow, kI>(entering)), ...);
    }
  }
  template <Edges kEdges, int kLevel, int kRow, int kI>
  STENCIL_DEVICE Value next_sum(const Row& entering) const {
    const Value sum = grown_sum<kLevel, kRow, kI>(entering);
    if constexpr (kRow > kOwn || !kMayHold<kEdges, kI>) return sum;
    return choose(holds<kI>(), kept_sum<kLevel, kRow, kI>(entering), sum);
  }
  static constexpr int kOwn = S::kHighZ;  ///< the entering row itself, counted so

  /// The sum of a cell that hold keeps: the entering row is its value, and nothing is added to it.
  template <int kLevel, int kRow, int kI>
  STENCIL_DEVICE Value kept_sum(const Row& entering) const {
    if constexpr (kRow < kOwn) return sums[kLevel][kRow][kI];
    return entering.own(kI);
  }
  template <int kLevel, int kRow, int kI>
  STENCIL_DEVICE Value grown_sum(const Row& entering) const {
    Value sum[1];
    if constexpr (kRow < Shape::kReach) sum[0] = sums[kLevel][kRow][kI];
    S::template add_plane<S::kHighZ - kRow>(Cells<S, Row, kI, 0, 0>{entering}, arguments.coefficients, sum);
    return sum[0];
  }

  /// Row z is one that hold keeps: all lanes of a warp agree.
  template <Edges kEdges>
  STENCIL_DEVICE bool holds_row(Index z) const {
    return kEdges == Edges::all && S::kBoundaryZ == Boundary::hold && part.holds_row(z);
  }
  /// Cell kI is one that hold keeps in a lane at an edge.
  template <Edges kEdges, int kI>
  static constexpr bool kMayHold = kEdges != Edges::none &&
                                   (kI < Shape::kHeldLeft || kI >= Shape::kCells - Shape::kHeldRight);
  /// ... and in this lane.
  template <int kI>
  STENCIL_DEVICE bool holds() const {
    bool held = false;
    if constexpr (kI < Shape::kHeldLeft) held = held || part.left_edge;
    if constexpr (kI >= Shape::kCells - Shape::kHeldRight) held = held || part.right_edge;
    return held;
  }

  /// Fills in the neighbours' cells. The warp's input has them already; beyond an edge of the grid they are what the
  /// boundary says.
  template <Edges kEdges, int kLevel>
  STENCIL_DEVICE void fill_sides(Row& row) const {
    if constexpr (kLevel > 0) {
      STENCIL_UNROLL
      for (int d = 1; d <= S::kLowX; ++d) row.own(-d) = shuffle_up(row.own(Shape::kCells - d), 1, 32);
      STENCIL_UNROLL
      for (int d = 0; d < S::kHighX; ++d) row.own(Shape::kCells + d) = shuffle_down(row.own(d), 1, 32);
    }
    if constexpr (kEdges != Edges::none) {
      STENCIL_UNROLL
      for (int d = 1; d <= S::kLowX; ++d) row.own(-d) = part.left_edge ? beyond(row, -d) : row.own(-d);
      STENCIL_UNROLL
      for (int d = 0; d < S::kHighX; ++d) {
        row.own(Shape::kCells + d) = part.right_edge ? beyond(row, Shape::kCells + d) : row.own(Shape::kCells + d);
      }
    }
  }
  /// Cell i of the lane's row, which lies outside the grid.
  STENCIL_DEVICE static Value beyond(const Row& row, int i) {
    const int last = Shape::kCells - 1;
    if constexpr (S::kBoundaryX == Boundary::zero) return Value(0);
    if constexpr (S::kBoundaryX == Boundary::clamp) return row.own(i < 0 ? 0 : last);
    if constexpr (S::kBoundaryX == Boundary::reflect) return row.own(i < 0 ? -i : 2 * last - i);
    return row.own(i);
  }

  /// The neighbours' cells too, where they are there by now.
  STENCIL_DEVICE static void clear_if(bool outside, Row& row) {
    STENCIL_UNROLL
    for (Value& cell : row.cells) cell = outside ? Value(0) : cell;
  }
};

}  // namespace stencil_tune
