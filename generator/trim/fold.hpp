// Branches and types that a kernel's constants decide.
#pragma once

#include "generator/trim/constants.hpp"

#include <string_view>
#include <vector>

namespace stencil_tune {

/// Where the condition of an `if constexpr` or a Choose<condition, A, B> is known, only what is taken stays, and the
/// constants and types of the function that it uses. Where it is not known, text stays.
/// type: around the definitions, and not in a type itself; nested: some type is around them.
void fold(std::vector<Definition>& definitions, const Constants& constants, std::string_view type = {},
          bool nested = false);

}  // namespace stencil_tune
