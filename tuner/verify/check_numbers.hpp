// Which numbers go into a check: inputs and coefficients, and those with which a stencil computes exactly.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/verify/device/arguments.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace stencil_tune {

/// Where the grid of every check lies, in whatever step: a kernel that forgets the origin, or takes one axis for
/// another, is wrong there.
inline constexpr Place kCheckPlace{{3, 11, 5}, 7};

struct CheckNumbers {
  check::Input input{check::Pattern::signed_unit, 0, 1};
  bool exact = false;                ///< results are known to the bit
  std::vector<double> coefficients;  ///< one per stencil.coefficients
};

bool same_numbers(const CheckNumbers& a, const CheckNumbers& b);

/// Random input that suits the stencil (positive where it divides or takes roots, logarithms or powers) and the
/// stencil's own default coefficients, each moved a little, so that no two taps that should differ look alike.
CheckNumbers random_numbers(const Problem& problem);

/// Small integers, or 0 and 1 where the stencil compares for equality, and dyadic coefficients, with which no kernel
/// rounds before it stores: whatever it sums first or fuses, the result of so many sweeps is known to the bit. Nothing
/// where the stencil has roots, divisions, literals that are not dyadic, or too many digits.
std::optional<CheckNumbers> exact_numbers(const Problem& problem, int sweeps = 1);

/// What may be tried where a check with random_numbers() says little, in the order to try: exact numbers; inputs on
/// both sides of what the stencil compares with; smaller and other coefficients.
std::vector<CheckNumbers> other_numbers(const Problem& problem, int sweeps);

/// The seed of a field's input: each has its own.
std::uint64_t input_seed(std::uint64_t session_seed, int field);

/// The input that the device's fill kernel makes, on the host: laid out as the field, 0 in the padding.
std::vector<double> host_input(const Problem& problem, std::uint64_t session_seed, int field,
                               const check::Input& input);

/// The same for all of kernel_inputs().
std::vector<std::vector<double>> host_inputs(const Problem& problem, std::uint64_t session_seed,
                                             const check::Input& input, int steps = 1);

/// The updates that the problem's stage makes; not for whole steps of several.
const std::vector<Update>& updates_of(const Problem& problem);

}  // namespace stencil_tune
