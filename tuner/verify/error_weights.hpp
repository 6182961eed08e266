// How errors of earlier levels enter a linear update.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/verify/device/program.h"

#include <span>
#include <vector>

namespace stencil_tune {

/// How much of an error that a cell has enters the cells that the expression, one of the updates of the problem's
/// stage, computes from it. A linear update carries errors by its taps' whole weights, however its terms are summed;
/// nothing for other updates, which carry them through each operation. At least the weight's magnitude, whichever way
/// its own constants are rounded.
std::vector<check::ErrorWeight> error_weights(const Problem& problem, NodeId expression,
                                              std::span<const double> coefficients);

}  // namespace stencil_tune
