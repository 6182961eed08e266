// What goes into a kernel run and what it is compared with.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/executor/guarded_array.hpp"
#include "tuner/verify/reference.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stencil_tune {

/// Random inputs and coefficients, and the reference's answer to them.
struct FieldData {
  std::vector<std::vector<double>> inputs;  ///< rounded to the element type
  std::vector<double> coefficients;
  std::vector<ReferenceField> expected;
};

/// Values between -1 and 1; positive where `stencil` could not take others (square roots, divisions). Of several sweeps
/// the last one is expected, and coefficients are small enough for values to stay as they are.
FieldData random_data(const Problem& problem, std::uint64_t seed, int sweeps = 1);

/// Small integers and dyadic coefficients, whose result is known to the bit; nothing for stencils that round.
std::optional<FieldData> exact_data(const Problem& problem, std::uint64_t seed);

/// The cells in their element type, padding between rows left poisoned.
void store_field(const Problem& problem, const std::vector<double>& values, GuardedArray& array);

/// One cell of an array, widened.
double load_cell(ElementType type, const std::byte* cell);

}  // namespace stencil_tune
