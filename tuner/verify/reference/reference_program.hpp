// The written expression as a program for the reference evaluator.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/verify/device/arguments.h"
#include "tuner/verify/reference/reference_expression.hpp"

#include <span>
#include <vector>

namespace stencil_tune {

struct ReferenceProgram {
  std::vector<check::Instruction> instructions;
  int slots = 1;  ///< how many the program needs
};

/// Each shared node is computed once. Coefficients are rounded to the compute type.
/// Throws Error(invalid_argument) for an expression that needs more slots than the device code could hold, or more
/// inputs than kMaxInputs.
ReferenceProgram compile_reference(const Problem& problem, const ReferenceExpression& expression,
                                   std::span<const double> coefficients);

/// The problem's layout as the checking kernels take it, with the cells that they look at: those of one stage.
check::Layout layout_of(const Problem& problem, const Box& box, ElementType type);

/// The same for the cells that a field has in memory: a profile is one row, whatever its axes.
check::Layout layout_of_field(const Problem& problem, int field);

/// The fields that a stage's program reads, as it numbers them: facts.inputs, then profiles.
std::vector<int> reference_inputs(const Problem& stage);

}  // namespace stencil_tune
