// The point update as CUDA text, from the expression graph.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <span>
#include <string>

namespace stencil_tune {

/// Which kernel axis (0 x, 1 y, 2 z) each grid axis becomes.
using AxisMap = std::array<int, kMaxRank>;

/// The body of `update(u, c, out)` of a stage: one statement per line, indented by four spaces. Fields and coefficients
/// appear by number only; no text of the definition is used. Common weights of sums go in front (common_weights.hpp):
/// all kernels but those of partial sums compute a cell by the same operations.
std::string update_text(const Stencil& stencil, int stage, const StageFacts& facts, const AxisMap& axes);

/// Which of the profiles a field is, as the kernel's arguments have them.
int profile_number(const Stencil& stencil, int field);
/// How many of the first profiles have rows: those along two axes.
std::size_t rows_before(const Stencil& stencil, std::size_t profiles);

/// "target expression;" with a target such as "out[0] =".
struct Assignment {
  std::string target;
  NodeId expression = 0;
};

/// The same for any expressions of the stencil. Fields from `first_sum` on are no fields: they read as sum[0], sum[1]
/// ...
std::string statements_text(const Stencil& stencil, std::span<const Assignment> statements, const StageFacts& facts,
                            const AxisMap& axes, int first_sum);

}  // namespace stencil_tune
