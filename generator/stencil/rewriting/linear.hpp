// Linear updates as weighted sums of taps.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <functional>
#include <vector>

namespace stencil_tune {

/// Whether it says how far beyond an edge a cell lies.
inline bool asks_edge(Operation op) {
  return op == Operation::before || op == Operation::after || op == Operation::outside;
}

/// Whether it is read at no field of the whole grid, and yet is not the same everywhere: a coordinate, the step's
/// number, the distance from an edge, a profile, whether it lies in a layer, a random number.
inline bool is_place(Operation op) {
  return op == Operation::coordinate || op == Operation::step || asks_edge(op) || op == Operation::profile ||
         op == Operation::in_layer || op == Operation::random;
}

/// An `outside` node as what it comes to on the problem's grid: before, after or 0.
inline Node settled_outside(const Node& node) {
  if (node.value == 0) return {};
  Node settled = node;
  settled.op = node.offset[static_cast<std::size_t>(node.index)] < 0 ? Operation::before : Operation::after;
  settled.value = 0;
  return settled;
}

/// Whether the expression is a weighted sum of field reads with read-free weights (and no constant term).
bool is_linear(const Stencil& stencil, NodeId root);

/// A part of a weighted sum: a node that reads fields, and what multiplies it.
struct LinearTerm {
  NodeId node = 0;
  NodeId weight = -1;  ///< no field read in it; -1 for 1
  bool negative = false;
};

/// Whether a node with that weight (-1 for 1) is to be left whole.
using IsTerm = std::function<bool(NodeId node, NodeId weight)>;

/// A linear expression as weighted terms, each node once: weights are distributed over sums down to the reads, or to
/// what is left whole. Nodes for products and sums of weights are added to the builder.
std::vector<LinearTerm> distribute_terms(StencilBuilder& builder, NodeId root, const IsTerm& is_term);

/// The taps of a linear expression, each once, sorted by field, z, y, x. Weights are distributed over sums:
/// c*(a + b) gives a and b the weight c; nodes for products and sums of weights are added to the builder.
std::vector<LinearTap> distribute_weights(StencilBuilder& builder, NodeId root);

/// Field, then z, y, x.
bool comes_before(const Tap& a, const Tap& b);

/// The expressions of all updates.
std::vector<NodeId> roots_of(const Stencil& stencil);

/// Marks the nodes that the roots are made of.
std::vector<bool> reachable(const Stencil& stencil, const std::vector<NodeId>& roots);

}  // namespace stencil_tune
