// What the reference evaluates: an output's expression as its author wrote it, not what kernels were made of.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/verify/device/bounded.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace stencil_tune {

/// Nodes that are all needed, operands before their users; the last one is the result.
struct ReferenceExpression {
  std::vector<Node> nodes;
  std::vector<bool> whole;  ///< the node is a product of factors that both vary from cell to cell, or a quotient whose
                            ///< divisor does: kernels distribute weights alone, and compute these as they stand

  NodeId root() const noexcept { return static_cast<NodeId>(nodes.size()) - 1; }
};

/// The expression of one of the stage's outputs in its written form (Stencil::written), where that is known, else as
/// the stencil has it. Constants are carried out in f64, as definitions promise, by the reference's own operations; a
/// select that a constant decides is its branch. Throws Error(internal) where it reads a cell that the stencil's facts
/// do not know of: simplifying has lost it.
ReferenceExpression reference_expression(const Problem& problem, std::size_t output);

/// The expression of a node of the stencil's own, simplified form.
ReferenceExpression simplified_expression(const Stencil& stencil, NodeId root);

/// The operation on bounded values, for as many cells as there are results; operands beyond those that it takes do not
/// count. `whole`: as the expression says. Not for leaves.
void evaluate(Operation op, bool whole, const std::array<const check::Bounded*, 3>& operands,
              const check::Rounding& rounding, std::span<check::Bounded> results);

}  // namespace stencil_tune
