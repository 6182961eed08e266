// Finite differences as expressions, and the arena they are built in.
#pragma once

#include "generator/definition/definition.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// An expression that cannot be built; the parser adds the place.
struct ExpressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Builds nodes for the parser and keeps the limits. Throws ExpressionError.
class ExpressionBuilder {
 public:
  explicit ExpressionBuilder(StencilBuilder& builder) : builder_(builder) {}

  StencilBuilder& builder() noexcept { return builder_; }
  int rank() const noexcept { return builder_.stencil().rank; }
  bool as_written() const noexcept { return builder_.form() == Form::written; }

  NodeId number(double value);
  NodeId read(int field, const Offset& offset);
  /// The value where the cell at that offset lies in a layer of the axis, else 0.
  NodeId within_layer(int axis, int offset, NodeId value);
  NodeId coordinate(int axis, int offset);
  NodeId beyond(Operation op, int axis, int offset);  ///< before, after, outside or in_layer
  NodeId step();
  NodeId random(double key, int seed_coefficient, const Offset& offset);
  NodeId apply(Operation op, NodeId a, NodeId b = -1, NodeId c = -1);
  NodeId power(NodeId base, int exponent);

  /// What a constant expression makes; nothing for others.
  std::optional<double> constant(NodeId expression) const;

  /// The expression's value at a neighbouring cell: every read moved by the offset.
  NodeId shift(NodeId expression, const Offset& by);

 private:
  NodeId read_array(int field, const Offset& offset);  ///< as it is stored, whatever the field's layers
  NodeId checked(NodeId id) const;
  std::size_t allowed(std::size_t most) const noexcept { return as_written() ? 4 * most : most; }

  StencilBuilder& builder_;
  std::size_t shifted_ = 0;  ///< nodes visited by shift() so far
};

/// A difference operator on a unit grid: sum over k of weights[k] * f at position k + first, along one axis.
struct Difference {
  enum class Kind {
    second,    ///< central second derivative
    first,     ///< central first derivative
    forward,   ///< staggered: first derivative half a cell ahead
    backward,  ///< staggered: first derivative half a cell behind
  };

  Kind kind;
  std::size_t axis;
  int accuracy;
};

/// Weights of the distances from the centre. second: [0] the centre, [k] both cells at distance k. first: [k] the cells
/// at +k and (negated) -k, [0] is 0. forward, backward: [k-1] the pair of cells at distance k - 1/2.
/// The closed forms of Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids",
/// Math. Comp. 51 (1988), for equidistant grids; `accuracy` is even.
std::vector<double> difference_weights(Difference::Kind kind, int accuracy);

/// The operator applied to the expression; in the written form cell by cell (written_operators.hpp).
NodeId differentiate(ExpressionBuilder& builder, NodeId expression, const Difference& difference);

/// The sum of second derivatives over all axes, cells at the same distance sharing a weight; in the written form each
/// with its own.
NodeId laplacian(ExpressionBuilder& builder, NodeId expression, int accuracy);

}  // namespace stencil_tune
