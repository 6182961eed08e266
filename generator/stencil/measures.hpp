// What a run measures, as a problem: one stage that computes the measures' values in a cell.
#pragma once

#include "generator/stencil/problem.hpp"

namespace stencil_tune {

/// The measures of a stencil, as a stencil whose outputs they are, with its layers and its coefficients' values. Throws
/// Error(invalid_argument) where it has none.
Stencil measured_stencil(const Stencil& stencil);

/// Kernels answer reads beyond an edge in one way an axis. Where a definition has words for edges, that may be another
/// way for its measures than for its steps. boundaries: those of the steps.
Boundaries measured_boundaries(const Stencil& measured, Boundaries boundaries);

/// The measures of the problem's stencil on its grid. They count the cells that a stage like theirs would update.
Problem measured_problem(const Problem& step);

}  // namespace stencil_tune
