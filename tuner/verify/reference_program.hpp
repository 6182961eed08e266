// The expression tree as a program for the reference evaluator, and numbers on which a stencil computes exactly.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/verify/device/arguments.h"

#include <optional>
#include <span>
#include <vector>

namespace stencil_tune {

struct ReferenceProgram {
  std::vector<check::Instruction> instructions;
  int slots = 1;  ///< how many the program needs
};

/// One output's expression; each shared node is computed once. Coefficients are rounded to the compute type.
/// Throws Error(invalid_argument) for an expression that needs more slots than the device code could hold, or more
/// inputs than kMaxInputs.
ReferenceProgram compile_reference(const Problem& problem, NodeId expression, std::span<const double> coefficients);

/// Dyadic coefficients, one per stencil.coefficients, with which integers from -8 to 8 as input let no kernel round
/// before it stores: whatever it sums first or fuses, the result is known to the bit. Nothing where the stencil has
/// roots, divisions, literals that are not dyadic, or too many digits.
std::optional<std::vector<double>> exact_coefficients(const Problem& problem);

/// The stencil's own default coefficients, each moved a little, so that no two taps that should differ look alike.
std::vector<double> distinct_coefficients(const Stencil& stencil);

/// Which inputs suit a stencil: positive ones when it divides or takes roots.
check::Input suitable_input(const Problem& problem);

/// Which inputs suit the exact coefficients: integers, or 0 and 1 where the stencil compares for equality.
check::Input exact_input(const Problem& problem);

/// The problem's layout as the checking kernels take it.
check::Layout layout_of(const Problem& problem);

}  // namespace stencil_tune
