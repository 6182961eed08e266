// What a right kernel computes, evaluated plainly on the CPU, and how far it may honestly be off.
#pragma once

#include "generator/stencil/problem.hpp"
#include "tuner/verify/check_numbers.hpp"
#include "tuner/verify/device/program.h"
#include "tuner/verify/reference/reference_expression.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace stencil_tune {

/// How a kernel for this element type rounds. With `exact` no operation rounds but the last one into storage, whose
/// result is then known to the bit (see round_to_storage).
check::Rounding rounding_of(ElementType type, bool exact = false);

/// The same of a kernel that stores the field, which may have a type of its own. The updates of fields of whole numbers
/// round by themselves.
check::Rounding rounding_of(const Problem& problem, int field, bool exact = false);

/// One field that steps store, laid out as the field itself: (z * ny + y) * pitch + x.
struct ReferenceField {
  int field = 0;                  ///< index into stencil.fields, before the rotation of the last step
  std::vector<double> value;      ///< 0 where the step writes nothing
  std::vector<double> tolerance;  ///< |kernel's result - value| may not exceed it; -1 where the step writes nothing

  /// Is `result`, found at this index, right? An infinite tolerance (a division by what may be 0) accepts anything, a
  /// NaN only NaN.
  bool accepts(std::size_t index, double result) const;

  std::int64_t unbounded_cells() const;  ///< cells whose tolerance is infinite
};

/// inputs: one array per entry of kernel_inputs(problem, steps), laid out as the fields and already rounded to the
/// element type; coefficients: one per stencil.coefficients (rounded to the compute type here, as KernelArguments
/// does). What a kernel of so many steps stores: one ReferenceField per entry of kernel_outputs(problem, steps). Each
/// stage of each step reads what the ones before it computed, in the places that the rotations give it. Until they are
/// stored, values stay in the compute type, as fused steps keep them. With `exact` the inputs and coefficients must be
/// such that no sum or product rounds (small integers, dyadic coefficients): values are then rounded to the element
/// type and tolerances are 0. place: of the first step.
std::vector<ReferenceField> evaluate_reference(const Problem& problem, std::span<const std::vector<double>> inputs,
                                               std::span<const double> coefficients, bool exact = false, int steps = 1,
                                               const Place& place = kCheckPlace);

/// The same after each of 1 to `steps` steps.
std::vector<std::vector<ReferenceField>> evaluate_steps(const Problem& problem,
                                                        std::span<const std::vector<double>> inputs,
                                                        std::span<const double> coefficients, bool exact, int steps,
                                                        const Place& place = kCheckPlace);

/// One cell of an expression over what a stage reads: value and bounds before storing.
check::Bounded evaluate_cell(const Problem& stage, const ReferenceExpression& expression,
                             std::span<const std::vector<double>> inputs, std::span<const double> coefficients,
                             const std::array<std::int64_t, kMaxRank>& cell, const check::Rounding& rounding);

/// To the compute type's precision (f32 for 16-bit types) and to the element type's, to nearest, ties to even.
double round_to_compute(double value, ElementType type);
double round_to_storage(double value, ElementType type);

static_assert(static_cast<int>(ElementType::u8) == 4 && static_cast<int>(ElementType::i32) == 8, "as storage.h counts");

}  // namespace stencil_tune
