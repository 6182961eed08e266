// Definitions of the corpus, by name. Test programs run in the source folder.
#pragma once

#include "generator/definition/definition.hpp"

#include <fmt/format.h>

#include <string_view>

namespace stencil_tune {

/// Without layers along periodic axes, which have no ends.
inline Stencil with_ends(Stencil stencil, const Boundaries& boundaries) {
  for (std::size_t axis = 0; stencil.layers && axis < kMaxRank; ++axis) {
    if (boundaries[axis] == Boundary::periodic) stencil.layers->low[axis] = stencil.layers->high[axis] = 0;
  }
  return stencil;
}

inline Stencil corpus(std::string_view name) { return load_definition(fmt::format("corpus/{}.toml", name)); }

}  // namespace stencil_tune
