// Branches that a kernel never takes, taken out of its text.
#pragma once

#include "generator/trim/constants.hpp"

#include <string>
#include <string_view>

namespace stencil_tune {

/// The body of a function of type `type` (empty: of none) with every `if` decided that `constants` can decide: only the
/// statement that runs stays. `head` is what stands before the body.
std::string fold_branches(std::string_view head, std::string body, std::string_view type, const Constants& constants);

}  // namespace stencil_tune
