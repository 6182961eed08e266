// Stencils that nobody wrote: built-ins, the corpus, and definitions put together at random.
#pragma once

#include "stencil_tune/stencil.hpp"
#include "tests/kernels/random/random_draw.hpp"

namespace stencil_tune {

/// A built-in of any order, a definition of corpus/ (found from the repository's root), or one of:
/// weighted sums with lopsided taps, shared, literal and derived weights, factored or not; nonlinear updates of every
/// operation, some with coordinates and the step's number; one field advanced beside constant ones; two time levels;
/// several fields, outputs and stages.
Stencil random_stencil(Draw& draw);

}  // namespace stencil_tune
