// Whole steps of the corpus's systems as fused kernels.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

/// Names of the stencils whose whole steps family system makes, sorted.
std::vector<std::string> corpus_systems();

/// So many fused steps in the smallest tile of some that is legal, on grids as system_case() has them; nothing where
/// none of the tiles is.
std::optional<HostCase> corpus_step_case(const std::string& name, int steps, const Boundaries& boundaries);

/// Cases of all corpus_systems(): one to six steps, each boundary on all sides and mixed ones.
std::vector<HostCase> corpus_step_cases();

}  // namespace stencil_tune
