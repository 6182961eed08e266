// The point update as CUDA text, from the expression graph.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>

namespace stencil_tune {

/// Which kernel axis (0 x, 1 y, 2 z) each grid axis becomes.
using AxisMap = std::array<int, kMaxRank>;

/// The body of `update(u, c, out)`: one statement per line, indented by four spaces. Fields and coefficients appear by
/// number only; no text of the definition is used.
std::string update_text(const Stencil& stencil, const Stage& stage, const StageFacts& facts, const AxisMap& axes);

}  // namespace stencil_tune
