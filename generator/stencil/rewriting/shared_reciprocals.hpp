// Quotients by one denominator as products with its reciprocal.
#pragma once

#include "stencil_tune/stencil.hpp"

namespace stencil_tune {

/// The same updates, where a stage divides by one and the same expression of fields at least twice: with one division
/// by it, and products. A product is rounded once more than its quotient, as the bounds of a reference expect; where
/// the reciprocal alone is beyond the compute type's range, the products are too.
Stencil with_shared_reciprocals(const Stencil& stencil);

}  // namespace stencil_tune
