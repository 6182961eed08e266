// From a request for a whole grid to that of one rank's part. No GPU.
#pragma once

#include "generator/cut/halo_need.hpp"
#include "stencil_tune/decomposition.hpp"
#include "stencil_tune/library.hpp"

namespace stencil_tune {

/// One step of the whole grid. Throws Error(invalid_argument).
Problem whole_problem(const Request& request);

/// For halos as deep as `steps` steps need. cut: all 0 for the one that sends least.
/// Throws Error(invalid_argument) where parts would be thinner than their halo, or cannot have one.
Decomposition decompose(const Problem& whole, int ranks, const Cut& cut, int steps);

/// The most steps, `wanted` at most, for which parts are as thick as their halos; at least 1.
int feasible_steps(const Problem& whole, int ranks, const Cut& cut, int wanted);

/// What one rank looks up for runs of so many steps, for its array or for its own cells alone (form_of_part).
Request request_of_part(const Request& whole, const Decomposition& grid, const Box& cells, int steps);

/// Its kernel for runs as long as those of the whole, which fuses `most` steps at most.
Kernel look_up_part(Library& library, const Request& whole, const Decomposition& grid, const Box& cells, int most);

}  // namespace stencil_tune
