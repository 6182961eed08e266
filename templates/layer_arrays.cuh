// Arrays of fields in layers that hold the layers alone: the cells at the two ends of an axis, one slab after the other. The
// kernel sees one end, or both; where it sees one, an index is the grid's, and cells of no layer are neither read nor stored.
#pragma once

#include "stencil_tune/placed_cells.cuh"

namespace stencil_tune {

/// The kernel's axis in whose layers an input, an output exists; -1: its array is one of the whole grid, as all are without
/// T::kSlabs.
template <class S, class T>
STENCIL_DEVICE constexpr int layers_of_input([[maybe_unused]] int i) {
  if constexpr (T::kSlabs) return S::kInputLayers[i];
  return -1;
}
template <class S, class T>
STENCIL_DEVICE constexpr int layers_of_output([[maybe_unused]] int i) {
  if constexpr (T::kSlabs) return S::kOutputLayers[i];
  return -1;
}

/// Cells along an axis that an array holds: first .. last - 1, and those of a high slab, `left_out` cells before where they
/// stand in the grid.
template <class Index>
struct CellsInArray {
  Index first, last, left_out;

  /// Where a cell stands; where the array does not have it, the place of another one. kVector: of as many.
  template <int kVector = 1>
  STENCIL_DEVICE Index place(Index cell) const {
    const Index end = (last - 1) / kVector * kVector, begin = first / kVector * kVector;
    const Index low = cell < end ? cell : end, high = cell - left_out > begin ? cell - left_out : begin;
    return low > high ? low : high;
  }
  STENCIL_DEVICE bool has(Index cell) const { return (cell >= first && cell < last) || cell - left_out >= last; }

  /// Whether an array without a high slab has some of kCells cells.
  template <int kCells = 1>
  STENCIL_DEVICE bool has_some(Index cell) const {
    return cell + kCells > first && cell < last;
  }
};

/// The arrays of fields in the layers of kernel axis kAxis. Behind the layers' ends the arguments hold five numbers an axis.
template <class S, int kAxis>
struct LayerArray : CellsInArray<typename S::Index> {
  using Index = typename S::Index;

  Index stride_y, stride_z;

  STENCIL_DEVICE explicit LayerArray(const Arguments<S>& a)
      : CellsInArray<Index>{number(a, 2), number(a, 3), number(a, 4)}, stride_y(number(a, 0)), stride_z(number(a, 1)) {}

 private:
  STENCIL_DEVICE static Index number(const Arguments<S>& a, int i) {
    constexpr int kFirst = 4 + S::kBeforeLayers + 2 * 3 + 5 * kAxis;
    return static_cast<Index>(PlaceArguments<S>{a}.number(kFirst + i));
  }
};

}  // namespace stencil_tune
