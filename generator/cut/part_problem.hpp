// The problem of one part of a grid that is cut.
#pragma once

#include "generator/stencil/problem.hpp"
#include "stencil_tune/decomposition.hpp"

namespace stencil_tune {

/// What a part's kernel is for: the whole grid's stencil and boundaries, but hold where a periodic axis is cut, since
/// halos answer for what lies beyond it.
struct PartForm {
  Stencil stencil;
  Boundaries boundaries;
};

PartForm form_of_part(const Problem& whole, const Cut& cut);

}  // namespace stencil_tune
