// Linear updates as weighted sums of taps.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <vector>

namespace stencil_tune {

/// Whether the expression is a weighted sum of field reads with read-free weights (and no constant term).
bool is_linear(const Stencil& stencil, NodeId root);

/// The taps of a linear expression, each once, sorted by field, z, y, x. Weights are distributed over sums:
/// c*(a + b) gives a and b the weight c; nodes for products and sums of weights are added to the builder.
std::vector<LinearTap> distribute_weights(StencilBuilder& builder, NodeId root);

/// Field, then z, y, x.
bool comes_before(const Tap& a, const Tap& b);

/// Marks the nodes that the roots are made of.
std::vector<bool> reachable(const Stencil& stencil, const std::vector<NodeId>& roots);

}  // namespace stencil_tune
