// The resident kernels that the tests run, on the host executor and on a GPU.
#pragma once

#include "tests/kernels/kernel_cases.hpp"

#include <string_view>
#include <vector>

namespace stencil_tune {

/// The candidate on grids of one tile, of several, of a tile and a cell, and of fewer cells than a tile, rows padded.
/// Only those that it is legal on.
HostCase resident_case(const Stencil& stencil, ElementType type, const Boundaries& boundaries, std::string_view code);

/// Stars and boxes of both ranks and of all types, one and two levels, with the boundaries on all sides or mixed.
std::vector<HostCase> resident_cases(const Boundaries& boundaries);

/// Exchanges after each step to one in eight, launches that do not end with one, windows of several cells.
std::vector<HostCase> resident_exchange_cases();

/// Stencils that reach further to one side, or to one side alone; constants, coordinates.
std::vector<HostCase> lopsided_resident_cases();

}  // namespace stencil_tune
