// How errors of earlier levels enter a linear update.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/verify/device/program.h"

#include <cstddef>
#include <span>
#include <vector>

namespace stencil_tune {

/// How much of an error that a cell has enters the cells of the stage's output that are computed from it. A linear
/// update, in the simplified form that kernels are made of, carries errors by its taps' whole weights, however its
/// terms are summed; nothing for other updates, which carry them through each operation. At least the weight's
/// magnitude, whichever way its own constants are rounded.
std::vector<check::ErrorWeight> error_weights(const Problem& stage, std::size_t output,
                                              std::span<const double> coefficients);

}  // namespace stencil_tune
