// The systolic kernels that the tests run, on the host executor and on a GPU.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <string_view>
#include <vector>

namespace stencil_tune {

/// The candidate on grids of one tile, of a few cells more, of two tiles and three, with rows padded, with few rows and
/// many. Only those that it is legal on.
HostCase systolic_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code);

/// Stars and a box in f32 and f64, one share and several, with the boundaries along x and along the walk.
std::vector<HostCase> systolic_cases(Boundary x, Boundary walk);

/// Rows between barriers, batches on their way, levels of a warp and warps of a block; 64-bit indices.
std::vector<HostCase> systolic_pipeline_cases();

/// Stencils that reach further to one side, or to one side alone.
std::vector<HostCase> lopsided_systolic_cases();

}  // namespace stencil_tune
