// The problem of one part of a grid that is cut.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/decomposition.hpp"

#include <array>
#include <cstdint>

namespace stencil_tune {

/// The problem of a part's kernel: the whole grid's stencil and boundaries, but hold where a periodic axis is cut,
/// since halos answer for what lies beyond it.
struct PartForm {
  Stencil stencil;
  Boundaries boundaries;
};

PartForm form_of_part(const Problem& whole, const Cut& cut);

/// Cells or layers along each axis.
using Lengths = std::array<std::int64_t, kMaxRank>;

/// Layers at both ends of each axis that a step does not write.
Lengths layers_held(const Problem& problem);

/// The same layers of a part's array, whose ends may be a cut.
Lengths layers_held_in_arrays(const Problem& whole, const Decomposition& grid);

/// How many of so many cells a step updates.
double cells_updated(const Lengths& lengths, const Lengths& held);

Lengths lengths_of(const Box& box);

}  // namespace stencil_tune
