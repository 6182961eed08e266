// Many grids of one size in one launch: shots, ensembles, channels, images.
#pragma once

#include "stencil_tune/stencil.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

/// The same stencil for grids that lie one behind the other along one more axis, the last one, which no update reads
/// along: of rank 2 for a stencil of rank 1, of rank 3 for one of rank 2. Points count that axis's cells too. shared:
/// fields that all grids have one array of, with the axes that it had. Throws Error(unknown_name), and
/// Error(invalid_argument) for a stencil of rank 3 and for shared fields that steps change, that are read at other
/// cells than the one that is updated, that exist in layers alone, or whose held layers another field has.
Stencil batched(const Stencil& stencil, const std::vector<std::string>& shared = {});

}  // namespace stencil_tune
