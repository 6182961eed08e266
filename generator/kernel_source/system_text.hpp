// The generated type of a system's fused steps: its stages, its levels, and what the kernel reads and stores.
#pragma once

#include "generator/candidates/shape.hpp"

#include <string>

namespace stencil_tune {

/// "struct Stage0 ...", "struct Level0 ...", "struct Step ...", "using Stencil = ...": see templates/system/.
std::string system_text(const Candidate& candidate, bool with_points = false);

}  // namespace stencil_tune
