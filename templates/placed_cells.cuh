// What an update reads that asks where its cell is and when: coordinates, the step's number, how far beyond an edge a cell
// lies, profiles, which are arrays along one axis, and whether a cell lies in a layer.
#pragma once

#include "stencil_tune/arguments.cuh"
#include "stencil_tune/boundary.cuh"
#include "stencil_tune/element.cuh"

namespace stencil_tune {

/// Source: the cells of the update's inputs, called as it calls them. S: what the kernel's arguments are of; S::kPlace is
/// how many coefficients there are. Behind them the arguments hold 64 bits each: the coordinates of the grid's first cell,
/// along the kernel's axes (0 to 2), the step's number (3), the addresses of the profiles, and where an update asks for
/// layers, two for each of the kernel's axes: the first cell that lies in none, and the first one behind those.
/// Axes are the kernel's. An offset is that of the cell that is asked about, along the axis.
template <class S, class Source>
struct PlacedCells {
  using Value = typename S::Value;
  using Index = typename S::Index;

  Source cells;
  const Arguments<S>& arguments;
  Index x, y, z;  ///< the cell; outside the grid only where its value is never used
  int ahead;      ///< steps that were made since the launch began

  STENCIL_DEVICE Value operator()(int f, int dx, int dy, int dz) const { return cells(f, dx, dy, dz); }

  STENCIL_DEVICE Value coordinate(int axis, int offset) const {
    return static_cast<Value>(number(axis) + index(axis) + offset);
  }
  STENCIL_DEVICE Value step() const { return static_cast<Value>(number(3) + ahead); }

  /// Cells before the first one of the grid, behind its last one; 0 elsewhere.
  STENCIL_DEVICE Value before(int axis, int offset) const {
    const Index beyond = -(index(axis) + offset);
    return static_cast<Value>(beyond > 0 ? beyond : Index(0));
  }
  STENCIL_DEVICE Value after(int axis, int offset) const {
    const Index beyond = index(axis) + offset - (extent(axis) - 1);
    return static_cast<Value>(beyond > 0 ? beyond : Index(0));
  }

  STENCIL_DEVICE Value profile(int which, int axis, int offset) const {
    if (axis == 0) return entry<S::kBoundaryX>(which, x + offset, extent(0));
    if (axis == 1) return entry<S::kBoundaryY>(which, y + offset, extent(1));
    return entry<S::kBoundaryZ>(which, z + offset, extent(2));
  }

  /// profiles: how many there are.
  STENCIL_DEVICE Value in_layer(int profiles, int axis, int offset) const {
    const int first = 4 + profiles + 2 * axis;
    const Index cell = index(axis) + offset;
    return Value(cell < static_cast<Index>(number(first)) || cell >= static_cast<Index>(number(first + 1)));
  }

 private:
  STENCIL_DEVICE Index index(int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  STENCIL_DEVICE Index extent(int axis) const { return static_cast<Index>(arguments.n[axis]); }

  STENCIL_DEVICE long long number(int i) const {
    return whole_number(arguments.coefficients + S::kPlace + i * (8 / static_cast<int>(sizeof(Value))));
  }

  template <Boundary kBoundary>
  STENCIL_DEVICE Value entry(int which, Index i, Index n) const {
    if (is_outside<kBoundary>(i, n)) return Value(0);
    const auto* entries = reinterpret_cast<const typename S::Storage*>(number(4 + which));
    return entries[inside<kBoundary>(i, n)];
  }
};

}  // namespace stencil_tune
