// What an update reads that asks where its cell is and when: coordinates, the step's number, how far beyond an edge a cell
// lies, profiles, which are arrays along one axis, two or with time, whether a cell lies in a layer, and random numbers.
#pragma once

#include "stencil_tune/arguments.cuh"
#include "stencil_tune/boundary.cuh"
#include "stencil_tune/element.cuh"
#include "stencil_tune/philox.cuh"

namespace stencil_tune {

/// What an update reads along one axis: the entry of a profile, or with kLayer as its number whether the cell lies in a
/// layer. The offset is that of the cell that is asked about.
struct AxisRead {
  int profile, axis, offset;
};
inline constexpr int kLayer = -1;

/// Where kernels read what lies along their axes. S: what the kernel's arguments are of; S::kPlace is how many
/// coefficients there are. Behind them the arguments hold 64 bits each: the coordinates of the grid's first cell, along the
/// kernel's axes (0 to 2), the step's number (3), the addresses of the profiles, the cells from one row to the next of each
/// of those along two axes, S::kBeforeLayers in all, and where an update asks for layers, two for each of the kernel's axes:
/// the first cell that lies in none, and the first one behind those.
template <class S>
struct PlaceArguments {
  using Value = typename S::Value;
  using Index = typename S::Index;

  const Arguments<S>& arguments;

  STENCIL_DEVICE long long number(int i) const {
    return whole_number(arguments.coefficients + S::kPlace + i * (8 / static_cast<int>(sizeof(Value))));
  }
  STENCIL_DEVICE Index extent(int axis) const { return static_cast<Index>(arguments.n[axis]); }

  /// Which entry along the axis answers for the cell; -1: it is 0.
  template <int kAxis>
  STENCIL_DEVICE Index answering(Index cell) const {
    constexpr Boundary kBoundary = kAxis == 0 ? S::kBoundaryX : kAxis == 1 ? S::kBoundaryY : S::kBoundaryZ;
    return is_outside<kBoundary>(cell, extent(kAxis)) ? Index(-1) : inside<kBoundary>(cell, extent(kAxis));
  }

  template <class At>
  STENCIL_DEVICE Value entry(int profile, At at) const {
    const auto entries = FieldCells<S>::profile(number(4 + profile), profile);
    Value entry;
    load_cells<LoadHint::read_only, 1>(entries + at, &entry);
    return entry;
  }

  /// cell: its index along the axis.
  template <int kProfile, int kAxis>
  STENCIL_DEVICE Value read(Index cell) const {
    if constexpr (kProfile == kLayer) {
      constexpr int kFirst = 4 + S::kBeforeLayers + 2 * kAxis;
      return Value(cell < static_cast<Index>(number(kFirst)) || cell >= static_cast<Index>(number(kFirst + 1)));
    } else {
      constexpr Boundary kBoundary = kAxis == 0 ? S::kBoundaryX : kAxis == 1 ? S::kBoundaryY : S::kBoundaryZ;
      if (is_outside<kBoundary>(cell, extent(kAxis))) return Value(0);
      return entry(kProfile, inside<kBoundary>(cell, extent(kAxis)));
    }
  }
};

/// Nothing was read before.
struct NothingKept {
  static constexpr bool kAny = false;
};

/// Source: the cells of the update's inputs, called as it calls them. Kept: what the thread has read along axes before
/// (temporal_place.cuh), or nothing. Axes are the kernel's. An offset is that of the cell that is asked about, along the axis.
template <class S, class Source, class Kept = NothingKept>
struct PlacedCells {
  using Value = typename S::Value;
  using Index = typename S::Index;

  Source cells;
  const Arguments<S>& arguments;
  Index x, y, z;  ///< the cell; outside the grid only where its value is never used
  int ahead;      ///< steps that were made since the launch began
  Kept kept;

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

  template <int kProfile, int kAxis, int kOffset>
  STENCIL_DEVICE Value profile() const {
    if constexpr (Kept::kAny) {
      return kept.template read<kProfile, kAxis, kOffset>();
    } else {
      return place().template read<kProfile, kAxis>(index(kAxis) + kOffset);
    }
  }
  template <int kAxis, int kOffset>
  STENCIL_DEVICE Value in_layer() const {
    return profile<kLayer, kAxis, kOffset>();
  }

  /// Along two axes, of which the first is the faster one. kRow: which of the numbers behind the step's says its cells.
  template <int kProfile, int kAxis, int kOffset, int kSlower, int kSlowerOffset, int kRow>
  STENCIL_DEVICE Value plane_profile() const {
    const Index i = place().template answering<kAxis>(index(kAxis) + kOffset);
    const Index j = place().template answering<kSlower>(index(kSlower) + kSlowerOffset);
    return i < 0 || j < 0 ? Value(0) : place().entry(kProfile, j * number(4 + kRow) + i);
  }

  /// The entry of the step that is made.
  STENCIL_DEVICE Value profile_now(int profile) const { return place().entry(profile, number(3) + ahead); }

  /// The low half of a coordinate, for random().
  STENCIL_DEVICE unsigned counter(int axis, int offset) const {
    return static_cast<unsigned>(number(axis) + index(axis) + offset);
  }
  STENCIL_DEVICE Value random(unsigned seed, unsigned call, unsigned cell_x, unsigned cell_y, unsigned cell_z) const {
    const unsigned now = static_cast<unsigned>(number(3) + ahead);
    return uniform<Value>(philox({{cell_x, cell_y, cell_z, now}}, seed, call));
  }

 private:
  STENCIL_DEVICE PlaceArguments<S> place() const { return {arguments}; }
  STENCIL_DEVICE Index index(int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  STENCIL_DEVICE Index extent(int axis) const { return place().extent(axis); }
  STENCIL_DEVICE long long number(int i) const { return place().number(i); }
};

}  // namespace stencil_tune
