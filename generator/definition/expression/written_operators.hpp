// Powers and finite differences of the written form: what they mean, cell by cell. They share nothing with the
// operators that kernels are made of (operators.hpp), so that a mistake there shows when kernels are checked.
#pragma once

#include "generator/definition/expression/operators.hpp"

#include <vector>

namespace stencil_tune {

/// base * base * ... ; for a negative exponent 1 over that.
NodeId written_power(ExpressionBuilder& builder, NodeId base, int exponent);

NodeId written_difference(ExpressionBuilder& builder, NodeId expression, const Difference& difference);
NodeId written_laplacian(ExpressionBuilder& builder, NodeId expression, int accuracy);

/// Weights with which values at the positions give the derivative of that order at 0, exact for polynomials of as high
/// a degree as the number of positions allows. The recursion of Fornberg, "Calculation of weights in finite difference
/// formulas", SIAM Review 40 (1998).
std::vector<double> derivative_weights(const std::vector<double>& positions, int order);

}  // namespace stencil_tune
