// Inputs of a kernel run, and the results that it is compared with.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/executor/guarded_array.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/reference/reference.hpp"

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
  bool exact = false;  ///< known to the bit
};

/// Values between -1 and 1; positive where `stencil` could not take others (square roots, divisions).
FieldData random_data(const Problem& problem, std::uint64_t seed);

/// What the numbers say; of several sweeps the last one is expected.
FieldData checked_data(const Problem& problem, const CheckNumbers& numbers, std::uint64_t seed, int sweeps);

/// Small integers and dyadic coefficients, whose result is known to the bit; nothing for stencils that round.
std::optional<FieldData> exact_data(const Problem& problem, std::uint64_t seed);

/// The same with NaN and infinities among the cells: few, as they spread from sweep to sweep.
FieldData with_special_values(const Problem& problem, FieldData data, int sweeps);

/// The field's values, in the type that it is stored in, into an array of cells_of_field(). Padding between rows is
/// left poisoned; a profile is dense.
void store_field(const Problem& problem, int field, const std::vector<double>& values, GuardedArray& array);

/// Cell i of the array, rounded.
void store_cell(ElementType type, double value, std::size_t i, GuardedArray& array);

/// One cell of an array, widened.
double load_cell(ElementType type, const std::byte* cell);

}  // namespace stencil_tune
