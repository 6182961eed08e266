// The axes that a kernel sees.
//
// Kernels always see three axes: x (contiguous), y, z. Kernels of one thread a cell take the grid's axes as they are.
// Walks take the grid's last axis as their z: a 3D grid keeps its axes, a 2D grid's y becomes the kernel's z and the
// kernel's y has extent 1. A walk along a 3D grid's y (WalkAxis) sees it as its z, and the grid's z as its y.
#pragma once

#include "generator/stencil/problem.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace stencil_tune {

struct Tuning;

using Lengths = std::array<std::int64_t, kMaxRank>;  ///< along the kernel's axes

struct KernelAxes {
  std::array<int, kMaxRank> grid_axis{-1, -1, -1};  ///< grid axis of each kernel axis; -1: the grid has none
  Lengths extents{1, 1, 1};                         ///< cells of the grid, 1 without an axis
  Lengths strides{0, 0, 0};                         ///< cells from one index to the next, 0 without an axis
  std::array<Reach, kMaxRank> reach{};              ///< over all inputs, 0..0 without an axis
  std::array<Boundary, kMaxRank> boundaries{Boundary::hold, Boundary::hold, Boundary::hold};

  bool has(std::size_t axis) const { return grid_axis[axis] >= 0; }
  int reach_width(std::size_t axis) const { return reach[axis].high - reach[axis].low; }
  /// How far taps read beyond an end, where another cell of the axis answers for it (periodic, reflect). On a longer
  /// axis one turn or reflection is enough.
  int turned_reach(std::size_t axis) const {
    const bool turns = boundaries[axis] == Boundary::periodic || boundaries[axis] == Boundary::reflect;
    return turns ? std::max(-reach[axis].low, reach[axis].high) : 0;
  }
  /// A tap's offset along a kernel axis.
  int offset(const Tap& tap, std::size_t axis) const {
    return has(axis) ? tap.offset[static_cast<std::size_t>(grid_axis[axis])] : 0;
  }
};

KernelAxes kernel_axes(const Problem& problem, const Tuning& tuning);

/// How far the stage reads on a grid axis, over all its inputs.
Reach stage_reach(const Problem& problem, int grid_axis);

}  // namespace stencil_tune
