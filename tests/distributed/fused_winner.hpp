// A winner that fuses as many steps as a test wants, for whatever is asked.
#pragma once

#include "db/records.hpp"
#include "generator/stencil/problem.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

/// Nothing where no kernel can fuse the problem's steps.
std::vector<WinnerRecord> fused_winner(const Problem& problem, int fused, const std::string& architecture);

}  // namespace stencil_tune
