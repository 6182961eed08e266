// Are the addresses a caller passes fit for a launch? Cheap enough for every launch.
#pragma once

#include "generator/stencil/problem.hpp"
#include "runtime/cuda/driver.hpp"

#include <cstdint>
#include <span>

namespace stencil_tune {

/// fields: one address per Stencil::fields. Judges those that the problem's stage reads or writes.
/// Throws Error(invalid_argument) naming the field: null, misaligned, an output that overlaps another field of the
/// stage; or a wrong number of fields or coefficients.
void check_fields(const Problem& problem, std::size_t alignment, std::span<void* const> fields);

/// Throws Error(invalid_argument) naming a field of the stage that the GPU does not reach: the host's, another GPU's.
void check_reach(Driver& driver, int device, const Problem& problem, std::span<void* const> fields);

/// The array of a field. Throws Error(invalid_argument) where the stencil has no such field, and for one of time.
ArrayLayout checked_array(const Problem& problem, int field);

/// Throws Error(invalid_argument) when the box is not within the updated cells; an empty box is fine.
void check_box(const Box& box, const Box& updated);

}  // namespace stencil_tune
