// Weighted sums written so that the outputs of a register tile share partial sums.
//
// Where several taps have the same weight, their values are added first, and multiplied once. In which order they are
// added decides what neighbouring outputs have in common: added along z, then y, then x, the sum of a column serves
// every output whose reach it lies in, and compilers find it, being the same expression of the same cells. A box of 27
// points with 4 weights takes 16 operations an output in a large tile instead of 30.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <vector>

namespace stencil_tune {

/// Operations on field values that one more output costs in a tile that is large in x and y: those that are
/// translations of one another along these axes are one.
int operations_in_tile(const Stencil& stencil, const std::vector<NodeId>& roots);

/// The expression regrouped, with nodes added to the builder; `root` itself where that is no cheaper in a tile. Left
/// alone is also an expression that reads a cell twice: differences written out keep their accuracy.
/// taps: of `root` (StageFacts::linear_taps); empty when it is not linear.
NodeId regroup(StencilBuilder& builder, NodeId root, const std::vector<LinearTap>& taps);

/// A sum of cells that have one weight.
struct EquallyWeighted {
  NodeId weight = -1;  ///< -1 for 1
  NodeId sum = -1;
  bool negative = false;
};

/// The taps as sums of equal weight, each added along z, then y, then x, in the order of each weight's first tap.
std::vector<EquallyWeighted> sum_by_weight(StencilBuilder& builder, const std::vector<LinearTap>& taps);

}  // namespace stencil_tune
