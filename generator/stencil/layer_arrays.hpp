// Arrays of fields in layers that hold the layers alone: two slabs, the low one first.
//
//     the grid's axis     |==low==|............................|=high=|
//     the array's axis    |==low==|=high=|                  the dots are Problem::left_out
//
// Along x as many cells are left out as whole sectors have of the widest field's cells. So cells of the array lie as
// those of the grid do from one multiple of 32 bytes to the next, narrower ones from one multiple of as many cells:
// what loads and copies the grid's rows in vectors does so here.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/grid.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace stencil_tune {

/// Axes with fewer cells between their layers are kept whole: kernels of fused steps see both ends there at once.
inline constexpr std::int64_t kLeastLeftOut = 64;

/// The same problem with such arrays, or with those of the whole grid alone.
Problem with_slabs(Problem problem, bool slabs = true);

/// What makes a part of a step, of some of its fields perhaps, with the step's arrays.
Problem with_slabs_of(const Problem& step, Problem part);

/// Whether kernels of the problem read or store such arrays.
bool has_slabs(const Problem& problem);

/// The array of a field of the whole grid (-1), or of those in the layers of an axis. Of a part of a grid
/// (Problem::whole): the grid's.
ArrayLayout array_in_layers(const Problem& problem, int axis);
ArrayLayout array_of(const Problem& problem, int field);  ///< field: its number; dense for one along axes

/// Cells along an axis of the problem's grid that arrays of fields in its layers have: first <= i < last, and those of
/// the high slab, `left_out` cells further than they stand. first and last are the grid's where arrays are whole.
struct SlabCells {
  static constexpr std::int64_t kNoHighSlab = std::int64_t{1} << 30;  ///< left_out where there is no other slab

  std::int64_t first = 0, last = 0;
  std::int64_t left_out = kNoHighSlab;
  std::int64_t before = 0;  ///< the array begins so many cells behind the grid's first: what stands at 0 has this index
};
SlabCells slab_cells(const Problem& problem, std::size_t axis);

/// The arrays of all fields in layers of an axis, as kernels address them.
struct LayerArray {
  int axis = 0;
  SlabCells cells;
  std::array<std::int64_t, kMaxRank> strides{};  ///< cells from one cell to the next along the grid's axes

  /// Cells from what stands at index 0 to the array's first.
  std::int64_t begins_before() const noexcept { return cells.before * strides[static_cast<std::size_t>(axis)]; }
};
LayerArray layer_array(const Problem& problem, int axis);

/// The cells of a box that arrays of fields in layers of an axis have; the whole box where it is no axis (-1).
std::vector<Box> boxes_in_array(const Problem& problem, int axis, const Box& box);

/// Where the grid's cell stands in the field's array; -1: the array does not have it.
std::int64_t place_in_array(const Problem& problem, int field, const std::array<std::int64_t, kMaxRank>& cell);
/// The same of the arrays of an axis's layers.
std::int64_t place_in_layers(const Problem& problem, int axis, const std::array<std::int64_t, kMaxRank>& cell);

}  // namespace stencil_tune
