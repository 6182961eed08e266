// The stages of a whole step, each as a problem of its own.
#pragma once

#include "generator/stencil/problem.hpp"

#include <vector>

namespace stencil_tune {

/// One problem for each stage that the problem's steps make, in order: itself where it is one stage's.
std::vector<Problem> stage_problems(const Problem& problem);

/// Throws Error(nothing_to_update) where boundary hold keeps every cell that one of them could update.
void require_updates(const Problem& problem);

}  // namespace stencil_tune
