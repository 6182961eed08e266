// From the tokens of an expression to nodes: recursive descent, one function a level of precedence.
#pragma once

#include "generator/definition/expression/lexer.hpp"
#include "generator/definition/scope.hpp"

namespace stencil_tune {

/// Throws Error(malformed_definition).
NodeId parse_expression(const ExpressionText& expression, Scope& scope);

/// The value of an expression of numbers alone: 1/3, sqrt(2)/2, pi/10. Throws Error(malformed_definition).
double parse_number(const ExpressionText& expression);

}  // namespace stencil_tune
